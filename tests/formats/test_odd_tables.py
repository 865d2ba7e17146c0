"""Tables that hold something else than an example a row: what would be misread is asked about, or left out and said."""

from __future__ import annotations

import random
from pathlib import Path

import openpyxl
import pytest

from pll import formats
from pll.formats import Results
from pll.formats.odd import OddReading


def write(folder: Path, *lines: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


PIVOT = [
    "Coder 1,Politics,Economy,Sport,Arts",
    "Politics,87,9,4,1",
    "Economy,6,82,4,2",
    "Sport,5,7,66,8",
    "Arts,2,3,1,99",
]
FREQUENCY = ["label;Anzahl;Anteil", "gut;120;52,2", "schlecht;80;34,8", "weder noch;25;10,8", "Sonstiges;5;2,2"]
MATRIX = ["name,kot,pies,ptak,koń", "kot,50,3,2,0", "pies,4,48,1,2", "ptak,0,1,55,0", "koń,2,2,0,51"]


@pytest.mark.parametrize(
    ("lines", "columns"),
    [
        (PIVOT, {"Coder 1": "annotator"}),
        (FREQUENCY, {"label": "true_label"}),
        (MATRIX, {"name": "keep"} | dict.fromkeys(MATRIX[0].split(",")[1:], "count")),
    ],
    ids=["pivot", "frequency", "matrix"],
)
def test_a_table_of_what_was_counted_holds_no_examples(
    tmp_path: Path, lines: list[str], columns: dict[str, str]
) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(OddReading, match=r"counts of some examples.*--accept summary"):
        formats.read(path, columns=columns)
    assert len(formats.read(path, columns=columns, accept=["summary"])) == 4


@pytest.mark.parametrize(
    "lines",
    [
        [
            "word,feeling",
            "happy,joy",
            "joy,joy",
            "fear,fear",
            "tears,grief",
            "anger,anger",
            "grief,grief",
            "rage,anger",
            "smile,joy",
        ],
        ["id,label", "1,a", "2,b", "3,c"],
        ["id,label", "1,2", "2,1", "3,4", "4,3"],
    ],
    ids=["lexicon", "a few rows to try", "numbers"],
)
def test_a_small_table_of_examples_is_no_summary(tmp_path: Path, lines: list[str]) -> None:
    name = lines[0].split(",")[1]
    assert len(formats.read(write(tmp_path, *lines), columns={name: "true_label"})) == len(lines) - 1


@pytest.mark.parametrize(
    ("header", "people", "mark"),
    [
        ("post,✅ Keep,❌ Remove,Lock", ["mina", "tom_r", "Zed", "okapi"], ", "),
        ("Meldung,Ja,Nein,Unklar", ["Ute", "Jens", "Kai"], "; "),
        ("文,賛成,反対,保留", ["田中", "佐藤", "鈴木", "高橋"], "、"),
    ],
)
def test_cells_that_name_people_are_the_answers_of_these(
    tmp_path: Path, header: str, people: list[str], mark: str
) -> None:
    rolls, names = random.Random(5), header.split(",")
    rows = []
    for k in range(40):
        chosen = {who: names[1 + k % 3] if rolls.random() < 0.7 else rolls.choice(names[1:]) for who in people}
        written = {who: who.upper() if rolls.random() < 0.1 else who for who in people}
        cells = [mark.join(written[who] for who, one in chosen.items() if one == name) for name in names[1:]]
        rows.append(",".join([f"text number {k}", *(f'"{cell}"' for cell in cells)]))
    data = formats.read(write(tmp_path, header, *rows))
    votes = data.annotations
    assert votes is not None and {*votes.annotator_names} == {*people} and votes.n_answers == 40 * len(people)
    assert {*data.class_names} == {*names[1:]}
    assert f"The cells of {', '.join(names[1:])} name people: each chose that column." in data.notes


@pytest.mark.parametrize("are_apart", [True, False])
def test_voters_who_never_name_the_same_are_odd(tmp_path: Path, are_apart: bool) -> None:
    """What is good and what is bad of a thing is no answer of a voter called good, or bad."""
    rolls, words = random.Random(5), ["price", "food", "staff", "rooms", "noise", "beds"]
    rows = []
    for k in range(60):
        good = rolls.sample(words, 2)
        bad = rolls.sample([one for one in words if one not in good] if are_apart else words, 2)
        rows.append(f"text number {k},{'|'.join(good)},{'|'.join(bad)}")
    path, columns = write(tmp_path, "text,good,bad", *rows), dict.fromkeys(("good", "bad"), "annotator")
    if not are_apart:
        assert formats.read(path, columns=columns).class_names == tuple(sorted(words))
        return
    with pytest.raises(OddReading, match=r"Hardly two voters name the same label .*--accept apart"):
        formats.read(path, columns=columns)


HEADER = ["id", "Anna", "Björn", "Zoë"]
BELOW = [["a", "red", "red", "blue"], ["b", "blue", "red", "blue"], ["c", "red", "red", "red"]]


@pytest.mark.parametrize(
    ("encoding", "end", "above"),
    [("utf-8", "\n", []), ("utf-8-sig", "\r\n", []), ("utf-16", "\r\n", ["Codes of March"]), ("latin-1", "\n", [])],
)
def test_a_header_that_stands_again_is_no_example(tmp_path: Path, encoding: str, end: str, above: list[str]) -> None:
    """At once, in the middle and at the end."""
    rows = [HEADER, HEADER, *BELOW[:2], HEADER, *BELOW[2:], HEADER]
    path = tmp_path / "data.csv"
    path.write_bytes(end.join([*above, *(",".join(row) for row in rows)]).encode(encoding))
    data = formats.read(path)
    assert data.row_ids.tolist() == ["a", "b", "c"] and data.class_names == ("blue", "red")
    assert "The header stands again in 3 rows below, which were left out." in data.notes
    results = Results(data.row_ids.tolist(), {"identified_label": ["red", "blue", "red"]})
    formats.give_back(path, tmp_path / "out.csv", results)
    back = (tmp_path / "out.csv").read_text(encoding=encoding).splitlines()[len(above) :]
    assert [line.rpartition(",")[2] for line in back] == ["label", "", "red", "blue", "", "red", ""]


def test_a_header_that_stands_again_in_a_sheet_is_no_example(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (HEADER, *BELOW[:2], HEADER, *BELOW[2:]):
        book.active.append(row)
    book.save(tmp_path / "data.xlsx")
    data = formats.read(tmp_path / "data.xlsx")
    assert data.row_ids.tolist() == ["a", "b", "c"] and data.class_names == ("blue", "red")
    assert "The header stands again in a row below, which was left out." in data.notes

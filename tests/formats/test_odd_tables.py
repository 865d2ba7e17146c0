"""Tables that hold something else than an example a row: what would be misread is asked about, or left out and said."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import FORMATS, ReadOptions
from pll.formats.odd import OddReading
from pll.formats.reading import question
from pll.formats.tabular.xlsx import _WITHOUT_VALUE


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
BELOW_PIVOT = ["Grand Total,100,101,75,110", "Cohen's kappa,0.78,,,"]
FREQUENCY = ["label;Anzahl;Anteil", "gut;120;52,2", "schlecht;80;34,8", "weder noch;25;10,8", "Sonstiges;5;2,2"]
MATRIX = ["name,kot,pies,ptak,koń", "kot,50,3,2,0", "pies,4,48,1,2", "ptak,0,1,55,0", "koń,2,2,0,51"]


@pytest.mark.parametrize(
    ("lines", "columns"),
    [
        (PIVOT, {"Coder 1": "annotator"}),
        ([*PIVOT, *BELOW_PIVOT], {"Coder 1": "annotator"}),
        (FREQUENCY, {"label": "true_label"}),
        (MATRIX, {"name": "keep"} | dict.fromkeys(MATRIX[0].split(",")[1:], "count")),
    ],
    ids=["pivot", "pivot with agreement", "frequency", "matrix"],
)
def test_a_table_of_what_was_counted_holds_no_examples(
    tmp_path: Path, lines: list[str], columns: dict[str, str]
) -> None:
    path = write(tmp_path, *lines)
    with pytest.raises(OddReading, match=r"counts of some examples.*--accept summary"):
        formats.read(path, columns=columns)
    assert len(formats.read(path, columns=columns, accept=["summary"])) >= 4


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


def sheet(folder: Path, rows: list[list[str]], look: Callable[[Any], None]) -> PartialLabelDataset:
    """A workbook with a sheet of these rows, as it looks after that."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    look(book.active)
    book.save(folder / "data.xlsx")
    return formats.read(folder / "data.xlsx")


def test_cells_that_are_one_over_rows_stand_for_each_of_these(tmp_path: Path) -> None:
    """Also right of empty columns, below a title, and as labels; a title over columns is no value of these."""
    words = ["red", "blue", "green"]
    rows = [["", "Codes of March"], ["", "group", "width", "label"]]
    rows += [["", "abc"[k // 4], str(k / 4), words[k // 2 % 3]] for k in range(12)]

    def look(cells: Any) -> None:
        cells.merge_cells("B1:D1")
        for k in range(3, 15, 4):
            cells.merge_cells(f"B{k}:B{k + 3}")
        for k in range(3, 15, 2):
            cells.merge_cells(f"D{k}:D{k + 1}")

    data = sheet(tmp_path, rows, look)
    assert data.y is not None and [data.class_names[k] for k in data.y] == [words[k // 2 % 3] for k in range(12)]
    assert data.categories["group"].tolist() == ["abc"[k // 4] for k in range(12)]
    assert "Cells that were made one over several rows stand for each of these." in data.notes


def test_cells_of_a_header_that_are_one_over_two_rows_stand_in_the_first(tmp_path: Path) -> None:
    rows = [["id", "text", "width", "Answers", "", ""], ["", "", "", "Ann", "Bo", "Cy"]]
    labels = [["xyz"[k // at % 3] for at in (1, 2, 3)] for k in range(30)]
    rows += [[f"e{k}", f"what stands in row {k}", f"{k}.5", *some] for k, some in enumerate(labels)]

    def look(cells: Any) -> None:
        for area in ("D1:F1", "A1:A2", "B1:B2", "C1:C2", "Q1:R9"):
            cells.merge_cells(area)

    with pytest.raises(UserError, match="3 columns are answers to 'Answers'"):
        sheet(tmp_path, rows, look)


def test_formulas_without_their_value_are_said(tmp_path: Path) -> None:
    """As a program writes them; a formula that gives an empty text has a value."""
    rows = [[*HEADER, "final"], *([*row, f"=B{k}"] for k, row in enumerate(BELOW, start=2))]
    data = sheet(tmp_path, rows, lambda cells: None)
    assert any(note.startswith("3 formulas have no value in the file") for note in data.notes)
    with_value = (
        b'<c r="E2"><f>B2</f><v>1</v></c><c r="E3" t="str"><f>B3</f><v></v></c><c r="E4"><f t="shared" si="0"/><v/></c>'
    )
    assert len(_WITHOUT_VALUE.findall(with_value)) == 1


@pytest.mark.parametrize("key", [["class", "meaning"], ["étiquette", "sens"], ["label", "Bedeutung"]])
def test_a_key_beside_the_table_is_no_truth(tmp_path: Path, key: list[str]) -> None:
    """Behind an empty column, and much shorter."""
    rolls, words = random.Random(3), ["red", "blue", "green"]
    beside = [key, *([word, f"it is {word}"] for word in words)]
    rows = [",".join(["id", "Ann", "Bob", "Cy", "", *beside[0]])]
    for k in range(20):
        cells = [rolls.choice(words) if rolls.random() < 0.3 else words[k % 3] for _ in range(3)]
        rows.append(",".join([f"x{k}", *cells, "", *(beside[k + 1] if k < 3 else ["", ""])]))
    data = formats.read(write(tmp_path, *rows))
    assert data.y is None and data.annotations is not None and data.annotations.n_annotators == 3
    assert {*key} <= {*data.extras} and not data.categories


@pytest.mark.parametrize(
    ("classes", "odd"),
    [
        (["02-Jan", "05-Mar", "6-10"], ["02-Jan", "05-Mar"]),
        (["2024-01-02 00:00:00", "2024-03-05 00:00:00", "6-10"], ["2024-01-02 00:00:00", "2024-03-05 00:00:00"]),
        (["2. Jan", "5. Mrz", "6-10"], ["2. Jan", "5. Mrz"]),
        (["rot", "blau", "87 %"], ["87 %"]),
        (["ja", "nein", "3,5"], ["3,5"]),
        (["1-2", "3-5", "6-10"], []),
        (["2 marks", "3 marks", "May"], []),
        (["10 %", "50 %", "100 %"], []),
    ],
)
def test_classes_that_a_spreadsheet_has_changed_are_odd(tmp_path: Path, classes: list[str], odd: list[str]) -> None:
    rows = [f"x{k};{classes[k % 3]};{classes[k // 2 % 3]}" for k in range(24)]
    path, columns = write(tmp_path, "id;Ann;Bob", *rows), dict.fromkeys(("Ann", "Bob"), "annotator")
    if not odd:
        assert {*formats.read(path, columns=columns).class_names} == {*classes}
        return
    with pytest.raises(OddReading) as refused:
        formats.read(path, columns=columns)
    assert [*refused.value.findings[0].cells] == sorted(odd)


def test_lines_that_give_no_answer_of_their_own_are_counted_and_said(tmp_path: Path) -> None:
    """Empty ones, and a second label of the same person; lines that are withdrawn are said as such."""
    rolls, words = random.Random(2), ["red", "blue", "green"]
    rows = [f"p{who},i{k},{rolls.choice(words[: 2 + k % 2])},done" for k in range(20) for who in range(3)]
    rows += ["p0,i0,green,done", "p1,i0,green,done", "p3,i1,,done", "p3,i2,,done", "p3,i3,,done", "p4,i4,red,rejected"]
    path = write(tmp_path, "worker,item,label,status", *rows)
    data = formats.read(path)
    assert data.annotations is not None and data.annotations.n_answers == 60
    assert "Lines without an answer: 3." in data.notes
    assert "Lines that name one more label of the same person for the same example: 2." in data.notes
    assert any("1 lines do not count, by status: rejected" in note for note in data.notes)
    assert not any(
        note.startswith("Lines ")
        for note in formats.read(
            write(tmp_path, "worker,item,label", *(row.rpartition(",")[0] for row in rows[:60]))
        ).notes
    )


@pytest.mark.parametrize(
    ("lines", "has_header"),
    [
        ([f"{'abc'[k % 3]},{k % 5},{'red' if k % 4 else 'blue'}" for k in range(30)], False),
        (["id,red,blue", *(f"img_{k}.jpg,{'red' if k % 3 else 'blue'},x" for k in range(30))], True),
        (
            ["gut,Satz", *(f"{'gut' if k % 3 else 'schlecht'},Die Katze Nummer {k} war heute da" for k in range(30))],
            True,
        ),
        (["x1,x2,kind", *(f"{k}.5,{k % 7},{'ab'[k % 2]}" for k in range(30))], True),
    ],
)
def test_a_first_row_that_holds_what_the_others_do_is_no_header(
    tmp_path: Path, lines: list[str], has_header: bool
) -> None:
    path = write(tmp_path, *lines)
    names = [column.name for column in formats.columns(path)]
    assert names == (lines[0].split(",") if has_header else [f"column {at}" for at in range(1, len(names) + 1)])


@pytest.mark.parametrize("are_ranks", [True, False])
def test_places_in_an_order_are_no_counts(tmp_path: Path, are_ranks: bool) -> None:
    """1 is the best place, and would count least."""
    rolls = random.Random(1)
    rows = [[1, 2, 3] if are_ranks or k else [2, 2, 3] for k in range(20)]
    lines = [
        "id,n_cat,n_dog,n_owl",
        *(f"x{k},{','.join(map(str, rolls.sample(row, 3)))}" for k, row in enumerate(rows)),
    ]
    path, columns = write(tmp_path, *lines), dict.fromkeys(("n_cat", "n_dog", "n_owl"), "count")
    if not are_ranks:
        assert formats.read(path, columns=columns).prior is not None
        return
    with pytest.raises(OddReading, match="numbers 1 to 3: places in an order"):
        formats.read(path, columns=columns)


def test_an_object_of_lists_read_as_one_example_is_odd(tmp_path: Path) -> None:
    votes = {who: ["red", "blue"] * 10 for who in ("Ann", "Bob")}
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"texts": [f"text number {k}" for k in range(20)], "votes": votes, "v": 2}))
    with pytest.raises(OddReading, match="read as one example"):
        formats.read(path)


def test_whole_numbers_with_a_point_are_the_same_answers(tmp_path: Path) -> None:
    rolls = random.Random(1)
    rows = [f"x{k},{k % 3},{rolls.choice([k % 3, 2])}.0,{rolls.choice([k % 3, 0])}" for k in range(30)]
    data = formats.read(write(tmp_path, "id,rater_1,rater_2,rater_3", *rows))
    assert data.annotations is not None and data.class_names == ("0", "1", "2")
    data = formats.read(write(tmp_path, "id,rater_1,rater_2", *(row.rpartition(",")[0] for row in rows)))
    assert data.annotations is not None and data.annotations.n_annotators == 2


def test_lines_with_counts_are_no_lines_without_an_answer(tmp_path: Path) -> None:
    rows = [f"i{k},{label},{(k + at) % 4}" for k in range(20) for at, label in enumerate(("red", "blue", "green"))]
    path = write(tmp_path, "item,label,n", *rows)
    asked = next(column.asks for column in formats.columns(path) if column.asks)
    data = formats.read(path, columns=asked.answers[0][1])
    assert data.prior is not None and not any(note.startswith("Lines") for note in data.notes)


def test_answers_to_two_questions_in_one_column_are_odd(tmp_path: Path) -> None:
    """Some people answered one of them, and some another: no example has all answers of anybody."""
    rolls, rows = random.Random(3), list[str]()
    words = {"tone": ["good", "bad"], "topic": ["food", "room", "staff"]}
    for k in range(40):
        for about, some in words.items():
            said = rolls.choice(some)
            for who in rolls.sample(range(9), 3):
                rows.append(f"i{k},r{who},{about},{said if rolls.random() < 0.8 else rolls.choice(some)}")
    with pytest.raises(OddReading, match=r"answers are to several questions.*--accept questions"):
        formats.read(write(tmp_path, "item,rater,question,answer", *rows))


def test_a_revision_is_no_part_of_the_name_of_the_example(tmp_path: Path) -> None:
    rolls, rows = random.Random(3), list[str]()
    for k in range(30):
        for who in range(3):
            rows += [f"i{k},r{who},{rolls.choice('xy')},{n}" for n in range(1, 2 + (rolls.random() < 0.3))]
    data = formats.read(write(tmp_path, "task,worker,answer,revision", *rows))
    assert (len(data), data.annotations and data.annotations.n_answers) == (30, 90)


@pytest.mark.parametrize(("known", "is_odd"), [("agreed", True), ("some", False)])
def test_true_labels_that_say_what_all_agree_on_are_odd(tmp_path: Path, known: str, is_odd: bool) -> None:
    rolls, rows = random.Random(3), list[str]()
    for k in range(40):
        one = rolls.choice("xyz")
        other = one if rolls.random() < 0.6 else rolls.choice("xyz")
        final = (one if one == other else "") if known == "agreed" else (other if k % 3 else "")
        rows.append(f"i{k},{one},{other},{final}")
    path, columns = write(tmp_path, "id,A,B,final", *rows), {"A": "annotator", "B": "annotator", "final": "true_label"}
    if not is_odd:
        assert formats.read(path, columns=columns).y is not None
        return
    with pytest.raises(OddReading, match="it is made of their answers"):
        formats.read(path, columns=columns)


@pytest.mark.parametrize(
    ("columns", "n", "found"),
    [("abAB", 40, 2), ("aba", 40, 1), ("aaab", 40, 0), ("aaab", 600, 2), ("aaa", 600, 2), ("abc", 40, 0)],
)
def test_columns_that_are_there_twice_are_odd_and_three_who_agree_on_few_rows_are_not(
    tmp_path: Path, columns: str, n: int, found: int
) -> None:
    rolls = random.Random(3)
    rows = []
    for k in range(n):
        said = {who: "xyz"[k % 3] if rolls.random() < 0.7 else rolls.choice("xyz") for who in "abc"}
        rows.append(",".join([f"i{k}", *(said[who.lower()] for who in columns)]))
    names = [f"rater {at}" for at, _ in enumerate(columns)]
    path, roles = write(tmp_path, ",".join(["id", *names]), *rows), dict.fromkeys(names, "annotator")
    if not found:
        assert len(formats.read(path, columns=roles)) == n
        return
    with pytest.raises(OddReading) as refused:
        formats.read(path, columns=roles)
    assert [one.kind for one in refused.value.findings] == ["copies"] * found


@pytest.mark.parametrize(
    "people", [["評価者1", "評価者2"], ["Оценщик А", "Оценщик Б"], ["etichetta"], ["Kategória 1", "Kategória 2"]]
)
def test_a_form_that_nobody_has_filled_in_is_called_so(tmp_path: Path, people: list[str]) -> None:
    """Also beside words that may be labels, where columns called alike but for their numbers are empty."""
    header = ",".join(["text", "part", *people])
    for parts, is_said in (((), True), (("wing", "tail"), people[0].endswith("1"))):
        rows = [f"what number {k} says of it,{''.join(parts[k % 2 :][:1])}" + "," * len(people) for k in range(30)]
        said = " ".join(
            map(
                str,
                formats.read(write(tmp_path, header, *rows), columns={"part": "category" if parts else "keep"}).notes,
            )
        )
        assert "No column was taken for labels" in said
        assert (f"nobody has filled in {', '.join(people)} yet" in said) is is_said
        assert ("Perhaps part." in said) is not is_said


@pytest.mark.parametrize("slip", ["elektronika", "Electronika"])
def test_a_slip_in_a_label_that_may_be_wrong_is_odd_as_one_of_a_voter_is(tmp_path: Path, slip: str) -> None:
    kinds = ("Elektronika", "Sport", "Zabawki")
    rows = [f"{k}.5,{slip if k in (7, 9) else kinds[k % 3]}" for k in range(90)]
    path = write(tmp_path, "price,candidates", *rows)
    if slip == "elektronika":
        assert {*formats.read(path).class_names} == {*kinds}
    else:
        with pytest.raises(OddReading, match="Electronika → Elektronika"):
            formats.read(path)


def test_what_databases_and_archives_write_around_a_table_is_left_out(tmp_path: Path) -> None:
    above = "".join(f"##column {k}: what it holds, in words; and more\n" for k in range(15))
    rows = "".join(f"{k}|some words of {k}|{'xyz'[k % 3]}\n" for k in range(24))
    (tmp_path / "t.csv").write_text(f"{above}#nr|text|label\n{rows}(24 rows)\n")
    data = formats.read(tmp_path / "t.csv")
    assert len(data) == 24 and data.class_names == ("x", "y", "z") and data.texts is not None
    assert any("(24 rows)" in note for note in data.notes) and any("##column 0" in note for note in data.notes)


def test_a_table_that_pandas_split_is_one(tmp_path: Path) -> None:
    rows = [[f"e{k}", k / 4, "xyz"[k % 3]] for k in range(12)]
    path = tmp_path / "t.json"
    for more in ({}, {"index": list(range(12))}):
        path.write_text(json.dumps({"columns": ["uid", "width", "label"], **more, "data": rows}))
        data = formats.read(path)
        assert len(data) == 12 and data.feature_names == ("width",) and data.class_names == ("x", "y", "z")
    assert FORMATS["jsonl"].no_place(path, ReadOptions())
    path.write_text(json.dumps({"columns": ["uid", "width", "label"], "data": [*rows, ["e13"]]}))
    with pytest.raises(UserError, match="not a list of 3 values"):
        formats.read(path)


def test_the_class_of_a_pupil_is_no_label_beside_grades(tmp_path: Path) -> None:
    rolls = random.Random(0)
    grades = [rolls.randint(1, 5) for _ in range(40)]
    rows = [
        [str(k), f"9{'ab'[k % 2]}", *(str(max(1, grade - rolls.randint(0, 1))) for _ in range(2))]
        for k, grade in enumerate(grades)
    ]
    lines = [["Nr.", "Klasse", "Erstkorrektur", "Zweitkorrektur"], *rows]
    (tmp_path / "t.csv").write_text("\n".join(map(",".join, lines)))
    roles = {column.name: column.role for column in formats.columns(tmp_path / "t.csv")}
    assert roles["Klasse"] != "true_label"


def test_people_below_one_heading_who_agree_are_voters_though_each_row_has_its_time(tmp_path: Path) -> None:
    rolls = random.Random(0)
    book = openpyxl.Workbook()
    book.active.append(["Case", "When", "Signs", None, "Priority", None, None])
    book.active.append([None, None, "pulse", "temp", "Rute", "Nuno", "Sandra"])
    for area in ("A1:A2", "B1:B2", "C1:D1", "E1:G1"):
        book.active.merge_cells(area)
    for k in range(40):
        kind = rolls.choice(["red", "green", "blue"])
        said = [kind if rolls.random() < 0.8 else "red" for _ in range(3)]
        book.active.append([f"C{k}", f"2024-05-0{k % 9 + 1} 1{k % 10}:{k + 10}", 60 + k, 36 + k / 10, *said])
    book.save(tmp_path / "t.xlsx")
    asked = question(formats.columns(tmp_path / "t.xlsx"))
    assert asked is not None and "annotator" in asked.answers[0][1].values()


def test_a_class_that_several_voters_give_is_one_though_a_column_is_called_so(tmp_path: Path) -> None:
    """Beside the votes stands how likely a model found each class."""
    rolls = random.Random(5)
    lines = ["text,worker_0,worker_1,worker_2,agrees,neutral,disagrees"]
    for k in range(60):
        meant = rolls.choice(["agrees", "neutral", "disagrees"])
        said = [meant if rolls.random() < 0.8 else rolls.choice(["agrees", "neutral"]) for _ in range(3)]
        lines.append(f"what was said about number {k},{','.join(said)},0.5,0.3,0.2")
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    data = formats.read(tmp_path / "t.csv")
    assert {*data.class_names} == {"agrees", "neutral", "disagrees"} and data.annotations is not None

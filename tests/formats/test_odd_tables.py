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
from pll.formats.odd import OddReading
from pll.formats.tabular.xlsx import _WITHOUT_VALUE


def write(folder: Path, *lines: str, name: str = "data.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


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


def test_formulas_without_their_value_are_said(tmp_path: Path) -> None:
    """As a program writes them; a formula that gives an empty text has a value."""
    rows = [[*HEADER, "final"], *([*row, f"=B{k}"] for k, row in enumerate(BELOW, start=2))]
    data = sheet(tmp_path, rows, lambda cells: None)
    assert any(note.startswith("3 formulas have no value in the file") for note in data.notes)
    with_value = (
        b'<c r="E2"><f>B2</f><v>1</v></c><c r="E3" t="str"><f>B3</f><v></v></c><c r="E4"><f t="shared" si="0"/><v/></c>'
    )
    assert len(_WITHOUT_VALUE.findall(with_value)) == 1


@pytest.mark.parametrize(
    ("classes", "odd"),
    [
        (["rot", "blau", "87 %"], ["87 %"]),
        (["ja", "nein", "3,5"], ["3,5"]),
        (["1-2", "3-5", "6-10"], []),
        (["2 marks", "3 marks", "May"], []),
        (["10 %", "50 %", "100 %"], []),
    ],
)
def test_a_number_beside_words_is_odd(tmp_path: Path, classes: list[str], odd: list[str]) -> None:
    rows = [f"x{k};{classes[k % 3]};{classes[k // 2 % 3]}" for k in range(24)]
    path, columns = write(tmp_path, "id;Ann;Bob", *rows), dict.fromkeys(("Ann", "Bob"), "annotator")
    if not odd:
        assert {*formats.read(path, columns=columns).class_names} == {*classes}
        return
    with pytest.raises(OddReading) as refused:
        formats.read(path, columns=columns)
    assert [*refused.value.findings[0].cells] == sorted(odd)


def test_lines_that_give_no_answer_of_their_own_are_counted_and_said(tmp_path: Path) -> None:
    """Empty ones, and a second label of the same person; lines whose state says so do not count."""
    rolls, words = random.Random(2), ["red", "blue", "green"]
    rows = [f"p{who},i{k},{rolls.choice(words[: 2 + k % 2])},done" for k in range(20) for who in range(3)]
    rows += ["p0,i0,green,done", "p1,i0,green,done", "p3,i1,,done", "p3,i2,,done", "p3,i3,,done", "p4,i4,red,rejected"]
    path = write(tmp_path, "worker,item,label,status", *rows)
    data = formats.read(path, columns={"status": "state"})
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


def test_a_revision_is_no_part_of_the_name_of_the_example(tmp_path: Path) -> None:
    rolls, rows = random.Random(3), list[str]()
    for k in range(30):
        for who in range(3):
            rows += [f"i{k},r{who},{rolls.choice('xy')},{n}" for n in range(1, 2 + (rolls.random() < 0.3))]
    data = formats.read(write(tmp_path, "task,worker,answer,revision", *rows))
    assert (len(data), data.annotations and data.annotations.n_answers) == (30, 90)


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

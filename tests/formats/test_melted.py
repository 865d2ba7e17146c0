"""A table with a row for each value is made wide where it is no table of answers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pll import formats
from pll.formats.reading import question

CLASSES = ["H*", "none", "L*"]
GRADES = ["gold", "silver", "bronze"]


def melted(path: Path, header: str, *, heading: str, people: tuple[str, ...], agree: bool = True) -> Path:
    """A file of what is under a heading, another one in nearly every row, and what people say, each a row."""
    rolls, lines = random.Random(0), [header]
    for k in range(60):
        start = f"{k / 3:.3f}"
        lines.append(f"{start},{heading},the word number {k}")
        for who in people:
            label = CLASSES[k % 3] if agree and rolls.random() < 0.8 else rolls.choice(CLASSES)
            lines += [f"{start},{who},{label}"] * (rolls.random() < 0.95)
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("header", ["tmin,tier,text", "id,variable,value", "Beginn,Ebene,Inhalt"])
def test_words_and_what_people_say_of_them_become_columns(tmp_path: Path, header: str) -> None:
    path = melted(tmp_path / "t.csv", header, heading="word", people=("AK", "BR", "CD"))
    data = formats.read(path)
    assert data.annotations is not None and data.annotations.annotator_names == ("AK", "BR", "CD")
    assert {*data.class_names} == {*CLASSES} and len(data) == 60 and not data.X.shape[1]
    assert data.texts is not None and data.texts[0] == "the word number 0"
    form = formats.detect(path)
    assert "a row a value" in form.no_place(path, formats.ReadOptions())
    what, value = header.split(",")[1:]
    asked = formats.columns(path, options=formats.ReadOptions(columns={what: "worker", value: "vote"}))
    assert [one.name for one in asked] == header.split(",")  # roles by hand win


def test_answers_of_people_and_of_questions_stay_lines(tmp_path: Path) -> None:
    survey = melted(tmp_path / "s.csv", "nr,question,answer", heading="Q0", people=("Q1", "Q2", "Q3"), agree=False)
    assert [one.name for one in formats.columns(survey)] == ["nr", "question", "answer"]
    path = tmp_path / "t.csv"
    rolls = random.Random(1)
    lines = [f"{k},{who},{rolls.choice(CLASSES)}" for k in range(40) for who in ("AK", "BR", "CD")]
    path.write_text("\n".join(["item,worker,label", *lines]), encoding="utf-8")
    assert question(formats.columns(path)) is None and formats.read(path).class_names == ("H*", "L*", "none")


def across(path: Path, known: list[str], people: list[str], below: list[str], *, agree: bool = True) -> Path:
    """A file with a column for each of 36 samples: numbers or texts of each, what people say, and a total below."""
    rolls = random.Random(2)
    rows = [["sample", *(f"S{k:02}" for k in range(36))]]
    for name in known:
        is_text = name.startswith("note")
        rows.append([name, *(f"note {k} of a taster" if is_text else f"{rolls.uniform(1, 9):.1f}" for k in range(36))])
    for name in people:
        said = [GRADES[k % 3] if agree and rolls.random() < 0.8 else rolls.choice(GRADES) for k in range(36)]
        rows.append([name, *(cell if rolls.random() < 0.9 else "" for cell in said)])
    rows += [[name, *(str(k % 5) for k in range(36))] for name in below]
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("known", [["pH", "sucre (g/l)"], ["酸度", "糖度", "note"], ["note"], ["влажность"]])
@pytest.mark.parametrize(
    "people", [["Mme Petit", "M. Roux", "Zoé"], ["田中", "鈴木", "佐藤"], ["Иванова", "Петров", "Ким"]]
)
def test_a_table_with_a_column_for_each_example_is_turned(tmp_path: Path, known: list[str], people: list[str]) -> None:
    path = across(tmp_path / "t.tsv", known, people, [])
    data = formats.read(path)
    assert len(data) == 36 and data.row_ids[1] == "S01" and {*data.class_names} == {*GRADES}
    assert data.annotations is not None and data.annotations.annotator_names == tuple(people)
    assert data.X.shape[1] == sum(name != "note" for name in known)
    assert "a column an example" in formats.detect(path).no_place(path, formats.ReadOptions())
    given = formats.ReadOptions(columns={"S03": "keep"})
    assert len(formats.columns(path, options=given)) == 37  # roles by hand win


@pytest.mark.parametrize(
    ("known", "people", "below", "agree"),
    [
        ([], ["ana", "bo", "cem"], [], True),  # a row a person, as a form has it
        (["pH", "sugar"], ["variety"], [], True),  # what is known of each, and nobody's answers
        ([], ["ana", "bo"], ["points"], True),  # what was counted stands below
        (["pH", "sugar"], ["field", "colour"], [], False),  # words that say other things
    ],
)
def test_other_wide_tables_are_not_turned(
    tmp_path: Path, known: list[str], people: list[str], below: list[str], *, agree: bool
) -> None:
    assert len(formats.columns(across(tmp_path / "t.tsv", known, people, below, agree=agree))) == 37

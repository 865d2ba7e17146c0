"""A table with a row for each value is made wide where it is no table of answers; a row pasted again counts once."""

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


def pasted(path: Path, names: str, *, own: bool = False) -> Path:
    """A file of what two people say of 60 things, of which two are pasted again at its end, one perhaps changed."""
    said = [CLASSES[k % 3] for k in range(60)]
    said_by = [f"{said[k]},{said[k - (k % 5 == 0)]}" for k in range(60)]
    lines = [f"{f'P{k:02}' if k != 7 else 'P 7b'},{said_by[k]}" for k in range(60)]
    again = [lines[5], lines[9].rpartition(",")[0] + ",none" if own else lines[9]]
    path.write_text("\n".join([names, *lines, *again]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("names", ["case no,Amy,Bo", "plate,Amy,Bo"])
def test_rows_that_stand_twice_count_once_and_come_back(tmp_path: Path, names: str) -> None:
    path = pasted(tmp_path / "t.csv", names)
    options = formats.ReadOptions(columns={"Amy": "annotator", "Bo": "annotator"})
    data = formats.read(path, options=options)
    assert len(data) == 60 and any("count once: 2, the first of them row 62" in note for note in data.notes)
    ids = data.row_ids.tolist()
    results = formats.Results(ids, {"identified_label": ["gold"] * 9 + ["none"] * 51, "confidence": ["0.5"] * 60})
    form = formats.detect(path)
    form.give_back(path, tmp_path / "back.csv", results, options)
    back = (tmp_path / "back.csv").read_text(encoding="utf-8").splitlines()
    assert len(back) == 63 and back[-2] == back[6] and back[-1] == back[10]
    assert back[-2].endswith("gold,0.5") and back[-1].endswith("none,0.5")


@pytest.mark.parametrize(("names", "own"), [("case no,Amy,Bo", True), ("width,Amy,Bo", False)])
def test_rows_of_one_id_that_differ_stay_and_so_do_things_without_names(
    tmp_path: Path, names: str, *, own: bool
) -> None:
    path = pasted(tmp_path / "t.csv", names, own=own)
    if not own:
        path.write_text(path.read_text(encoding="utf-8").replace("P 7b", "7.5").replace("P", "1."), encoding="utf-8")
    data = formats.read(path, options=formats.ReadOptions(columns={"Amy": "annotator", "Bo": "annotator"}))
    assert len(data) == 62 and not any("count once" in note for note in data.notes)

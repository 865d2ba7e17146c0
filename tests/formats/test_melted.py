"""A table with a row for each value is made wide where it is no table of answers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pll import formats
from pll.formats.reading import question

CLASSES = ["H*", "none", "L*"]


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

"""Where no name says what a column is, those that may hold labels are asked about."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pll import formats
from pll.formats.reading import question
from tests.formats.test_about_the_labelling import WORDS, read_first, table

ROWS = 120
NAMES = ["tavi", "roskel", "minuk"]


def _rows(classes: tuple[str, ...], agreed: float) -> list[list[str]]:
    """Numbers beside what three people say, who have the true one so often."""
    rolls, rows = random.Random(31), list[list[str]]()
    for _ in range(ROWS):
        true = rolls.choice(classes)
        said = [true if rolls.random() < agreed else rolls.choice(classes) for _ in NAMES]
        rows.append([f"{rolls.gauss(9, 3):.3f}", *said])
    return rows


@pytest.mark.parametrize("classes", [("0", "1"), ("1.0", "1.1", "1.2")])
def test_columns_that_do_not_agree_are_numbers_to_learn_from(tmp_path: Path, classes: tuple[str, ...]) -> None:
    columns = formats.columns(table(tmp_path, ["gazo", *NAMES], _rows(classes, 0.0)))
    assert question(columns) is None and {column.role for column in columns} == {"feature"}


def test_of_several_columns_of_words_beside_a_text_the_one_with_fewer_words_is_offered_first(tmp_path: Path) -> None:
    rolls = random.Random(32)
    places = [f"place {chr(97 + k)}" for k in range(9)]
    rows = [
        [f"Text {k} is about {rolls.random()} things.", rolls.choice(places), rolls.choice(WORDS)] for k in range(ROWS)
    ]
    data, asked = read_first(table(tmp_path, ["gazo", "tavi", "roskel"], rows))
    assert asked is not None and [*asked.answers[0][1].items()] == [("roskel", "candidates"), ("tavi", "keep")]
    assert {*data.class_names} == {*WORDS} and not data.categories


@pytest.mark.parametrize("names", ["Vurderer 1,Vurderer 2", "Κριτής 1,Κριτής 2"])
def test_a_form_that_nobody_has_filled_in_has_no_labels(tmp_path: Path, names: str) -> None:
    rows = [[f"Text {k} is about {k * k} things.", WORDS[k % len(WORDS)], "", ""] for k in range(60)]
    data, asked = read_first(table(tmp_path, ["text", "tavi", *names.split(",")], rows))
    assert asked is None and data.candidates is None and data.y is None
    assert any(f"nobody has filled in {names.replace(',', ', ')} yet" in note for note in data.notes)


@pytest.mark.parametrize("name", ["kategoria", "カテゴリ", "třída"])
def test_a_column_called_as_labels_are_in_any_language_may_hold_them(tmp_path: Path, name: str) -> None:
    rows = [[f"{k}.5", WORDS[k % len(WORDS)], "xyz"[k % 3]] for k in range(60)]
    data, asked = read_first(table(tmp_path, ["price", name, "shelf"], rows))
    assert asked is not None and [*asked.answers[0][1].items()] == [(name, "candidates")]
    assert {*data.class_names} == {*WORDS} and data.y is None

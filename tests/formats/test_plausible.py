"""Where no name says what a column is, columns that agree as people do, or that may hold labels, are asked about."""

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
def test_columns_that_agree_are_voters_if_the_user_says_so(tmp_path: Path, classes: tuple[str, ...]) -> None:
    data, asked = read_first(table(tmp_path, ["gazo", *NAMES], _rows(classes, 0.8)))
    assert asked is not None and asked.columns >= {*NAMES}
    assert data.annotations is not None and data.annotations.annotator_names == tuple(NAMES)
    assert data.feature_names == ("gazo",)


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


def test_of_columns_that_agree_the_one_that_is_seldom_filled_is_asked_about_apart(tmp_path: Path) -> None:
    """As a grade that was settled, be it written as a number or as one with a letter: the marks of a triage."""
    rolls, rows = random.Random(33), list[list[str]]()
    for k in range(ROWS):
        true = rolls.choice(("1", "2", "3A", "3B", "4"))
        said = [true if rolls.random() < 0.8 else rolls.choice(("2", "3A", "4")) for _ in NAMES]
        rows.append([f"{rolls.gauss(9, 3):.3f}", *said, true if k % 4 == 0 else ""])
    data, asked = read_first(table(tmp_path, ["gazo", *NAMES, "pirek"], rows))
    assert asked is not None and asked.columns == {*NAMES} and data.y is not None
    assert data.annotations is not None and data.annotations.annotator_names == tuple(NAMES)
    assert data.class_names == ("1", "2", "3A", "3B", "4")


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


def test_numbers_that_add_up_to_the_total_beside_them_may_be_shares_of_classes(tmp_path: Path) -> None:
    rolls, rows = random.Random(33), list[list[str]]()
    for k in range(40):
        first = rolls.choice((0.0, 12.5, 40.0, 100.0))
        rows.append([f"{rolls.gauss(90, 9):.1f}", f"{first}", f"{100 - first}", "100.0", f"Head {k % 4} (?)"])
    data, asked = read_first(table(tmp_path, ["width", "Bol", "Flinck", "Sum", "title"], rows))
    assert asked is not None and asked.columns == {"Bol", "Flinck"}
    assert {*data.class_names} == {"Bol", "Flinck"} and "width" in data.feature_names


def test_counts_beside_their_sum_may_be_votes_for_classes(tmp_path: Path) -> None:
    """Before or after it, whatever it is called; columns that add up to nothing are numbers."""
    rolls, rows = random.Random(34), list[list[str]]()
    for _ in range(40):
        counts = [rolls.randrange(9) for _ in range(3)]
        rows.append([f"{rolls.gauss(90, 9):.1f}", *map(str, counts), str(sum(counts))])
    data, asked = read_first(table(tmp_path, ["width", "Gummel", "Bodebire", "Erdapfel", "Gewährspersonen"], rows))
    assert asked is not None and {*data.class_names} == {"Gummel", "Bodebire", "Erdapfel"}
    moved = [[width, total, *counts] for width, *counts, total in rows]
    data, _ = read_first(table(tmp_path, ["width", "asked", "Gummel", "Bodebire", "Erdapfel"], moved))
    assert {*data.class_names} == {"Gummel", "Bodebire", "Erdapfel"} and data.feature_names == ("width",)
    odd = [[*row[:-1], str(int(row[-1]) + 1)] for row in rows[:1]] + rows[1:]
    columns = formats.columns(table(tmp_path, ["width", "Gummel", "Bodebire", "Erdapfel", "Gewährspersonen"], odd))
    assert question(columns) is None and {column.role for column in columns} == {"feature"}


@pytest.mark.parametrize("whole", [1, 100])
def test_numbers_that_add_up_to_a_whole_may_be_shares_of_classes(tmp_path: Path, whole: int) -> None:
    rolls, rows = random.Random(35), list[list[str]]()
    for _ in range(40):
        parts = [rolls.randrange(1, 9) for _ in range(3)]
        shares = [f"{whole * one / sum(parts):.{2 if whole == 1 else 0}f}" for one in parts]
        rows.append([f"{rolls.gauss(9, 2):.1f}", *shares])
    data, asked = read_first(table(tmp_path, ["Mentol [%]", "Mięta %", "Melisa %", "Szałwia %"], rows))
    assert asked is not None and {*data.class_names} == {"Mięta", "Melisa", "Szałwia"}
    assert data.feature_names == ("Mentol [%]",)


def test_counts_of_rows_that_not_everybody_answered_are_asked_about(tmp_path: Path) -> None:
    rolls, rows = random.Random(7), list[list[str]]()
    for k in range(60):
        said = [rolls.choice([k % 4, k % 4, rolls.randrange(4)]) for _ in range(rolls.randint(3, 9))]
        rows.append([f"P{k}", f"{rolls.gauss(118, 9):.2f}", *(str(said.count(label)) for label in range(4))])
    header = ["part", "length_mm", "Scratch", "Dent", "Burr / sharp edge", "No defect"]
    data, asked = read_first(table(tmp_path, header, rows))
    assert asked is not None and asked.columns >= {*header[2:]}
    assert set(data.class_names) == {*header[2:]} and data.feature_names == ("length_mm",)
    assert data.annotations is not None and data.annotations.anonymous

"""Numbered pairs of columns, of who answered and what."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pll import formats
from pll.formats.reading import question

from .test_about_the_labelling import WORDS, read_first, said, table

PEOPLE = ("Ann", "Bo", "Cy", "Di", "Eve")


def rows_of(order: tuple[int, int], *, years: bool) -> list[list[str]]:
    """Rows of an id, a width and three answers, each of somebody, a label and perhaps a year; some of two people."""
    rolls, rows = random.Random(7), list[list[str]]()
    for k in range(60):
        truth, cells = rolls.choice(WORDS), list[str]()
        for at, who in enumerate(rolls.sample(PEOPLE, 3)):
            pair = [who, said(rolls, truth)] if at < 2 or k % 4 else ["", ""]
            cells += [pair[one] for one in order] + [str(1950 + rolls.randrange(60)) if pair[0] else ""] * years
        rows.append([f"x{k}", f"{rolls.gauss(9, 3):.2f}", *cells])
    return rows


@pytest.mark.parametrize("years", [True, False])
@pytest.mark.parametrize(
    ("order", "names"),
    [
        ((0, 1), ("annotator_{}", "label_{}")),
        ((1, 0), ("det{}", "det_by{}")),
        ((0, 1), ("Person {}: Name", "Urteil {}")),
    ],
)
def test_pairs_are_answers_of_people(
    tmp_path: Path, order: tuple[int, int], names: tuple[str, str], years: bool
) -> None:
    header = ["id", "width", *(one.format(k) for k in (1, 2, 3) for one in (*names, *["year {}"] * years))]
    rows = rows_of(order, years=years)
    data = formats.read(table(tmp_path, header, rows))
    votes = data.annotations
    assert votes is not None and {*votes.annotator_names} == {*PEOPLE} and {*data.class_names} == {*WORDS}
    assert votes.n_answers == 60 * 2 + 45 and data.feature_names == ("width",) and not data.categories
    step, (who, what) = 2 + years, (order.index(0), order.index(1))
    meant = {row[2 + k * step + who]: row[2 + k * step + what] for k in range(3) for row in rows[:1]}
    given = zip(votes.annotators[votes.rows == 0], votes.labels[votes.rows == 0], strict=True)
    assert {votes.annotator_names[a]: data.class_names[label] for a, label in given} == {
        n: one for n, one in meant.items() if n
    }


def test_of_a_code_and_a_name_of_each_candidate_the_name_is_the_label(tmp_path: Path) -> None:
    rolls, rows = random.Random(8), list[list[str]]()
    for k in range(60):
        some, scores = rolls.sample(WORDS, 3), sorted((rolls.random() for _ in "abc"), reverse=True)
        pairs = zip(some, scores, strict=True)
        rows.append([f"x{k}", *(cell for one, sure in pairs for cell in (f"Q{WORDS.index(one)}", one, f"{sure:.3f}"))])
    header = ["id", *(f"cand{k}_{what}" for k in (1, 2, 3) for what in ("qid", "label", "score"))]
    data = formats.read(table(tmp_path, header, rows))
    assert {*data.class_names} == {*WORDS} and data.annotations is None and data.prior is not None
    assert not data.categories and data.sets().sizes.max() <= 3


def test_a_role_given_by_hand_leaves_pairs_as_they_are(tmp_path: Path) -> None:
    header = ["id", "width", *(f"{one}_{k}" for k in (1, 2, 3) for one in ("annotator", "label"))]
    path = table(tmp_path, header, rows_of((0, 1), years=False))
    roles = {f"label_{k}": "annotator" for k in (1, 2, 3)} | {f"annotator_{k}": "keep" for k in (1, 2, 3)}
    votes = formats.read(path, columns=roles).annotations
    assert votes is not None and votes.annotator_names == ("label_1", "label_2", "label_3")


@pytest.mark.parametrize("beside", ["text", "measure"])
def test_what_stands_beside_pairs_is_learnt_from(tmp_path: Path, beside: str) -> None:
    """Two texts, or two measures, of which every row has both."""
    rows = rows_of((0, 1), years=False)
    said = [
        ["it was said in the street", "nobody went there"] if beside == "text" else [f"{len(r[1])}.5", r[1]]
        for r in rows
    ]
    rows = [
        [r[0], *(f"{one} {k}" if beside == "text" else one for one in two), *r[2:6]]
        for k, (r, two) in enumerate(zip(rows, said, strict=True))
    ]
    header = ["id", f"{beside}_1", f"{beside}_2", *(f"{one}_{k}" for k in (1, 2) for one in ("annotator", "label"))]
    data = formats.read(table(tmp_path, header, rows))
    assert data.annotations is not None and {*data.annotations.annotator_names} == {*PEOPLE}
    assert (data.texts is not None) is (beside == "text") and bool(data.feature_names) is (beside == "measure")


def test_drugs_and_their_routes_are_no_people_and_labels(tmp_path: Path) -> None:
    rolls = random.Random(4)
    rows = [
        [str(20 + k), *rolls.sample(PEOPLE, 2), *(rolls.choice(WORDS) for _ in "ab"), rolls.choice(("well", "ill"))]
        for k in range(60)
    ]
    path = table(tmp_path, ["age", "drug_1", "drug_2", "route_1", "route_2", "outcome"], rows)
    assert "answers" not in [column.role for column in formats.columns(path)]


def test_facts_that_come_in_twos_are_no_pairs(tmp_path: Path) -> None:
    """Colours and shapes of two parts: no name comes under both numbers."""
    rolls = random.Random(3)
    rows = [
        [f"x{k}", rolls.choice(("red", "blue")), rolls.choice(("round", "flat")), rolls.choice(("oak", "ash")), "long"]
        for k in range(40)
    ]
    header = ["id", "colour 1", "shape 1", "colour 2", "shape 2"]
    assert formats.read(table(tmp_path, header, rows)).annotations is None


@pytest.mark.parametrize("words", [WORDS, ["54010", "61110", "79100", "80110"]])
@pytest.mark.parametrize("names", [("species_{}", "score_{}"), ("top{}_species", "top{}_score")])
@pytest.mark.parametrize("from_the_last", [False, True])
def test_the_likeliest_of_many_are_candidates_with_how_likely_each_is(
    tmp_path: Path, names: tuple[str, str], words: list[str], from_the_last: bool
) -> None:
    """Whatever the shares add up to, and in whatever order the columns stand; what was found out is asked about."""
    rolls, rows = random.Random(9), list[list[str]]()
    for k in range(60):
        shares = sorted((0.1 + rolls.random() for _ in range(3)), reverse=True)
        pairs = [*zip(rolls.sample(words, 3), shares, strict=True)]
        about = [f"x{k}", f"{rolls.gauss(9, 3):.2f}"]
        rows.append([*about, *(cell for word, x in pairs for cell in (word, f"{x:.4f}")), pairs[k % 5 == 0][0]])
    names = ("code_{}", "prob_{}") if words[0].isdecimal() else names  # of codes the names say it
    header = ["id", "width", *(one.format(k) for k in (1, 2, 3) for one in names), "checked_by_botanist"]
    turn = -1 if from_the_last else 1
    data, asked = read_first(table(tmp_path, header[::turn], [row[::turn] for row in rows]))
    assert {*data.class_names} == {*words} and data.feature_names == ("width",)
    assert data.candidates is not None and (data.candidates.sizes == 3).all()
    assert data.prior is not None and abs(data.prior[:3].sum() - 1) < 1e-6 and data.prior[:3].std() > 0
    assert not data.categories and asked is not None and "checked_by_botanist" in asked.text
    assert data.y is not None and data.class_names[data.y[0]] == rows[0][-1]


def test_numbers_beside_numbers_from_the_largest_on_are_no_labels(tmp_path: Path) -> None:
    rolls, rows = random.Random(3), list[list[str]]()
    for k in range(60):
        shares = sorted((rolls.random() for _ in "abc"), reverse=True)
        pairs = zip(rolls.sample("12345", 3), shares, strict=True)
        rows.append([f"x{k}", *(cell for lag, x in pairs for cell in (lag, f"{x:.3f}")), rolls.choice(WORDS)])
    header = ["id", *(f"{one}_{k}" for k in (1, 2, 3) for one in ("lag", "share")), "candidates"]
    data, _ = read_first(table(tmp_path, header, rows))
    assert {*data.class_names} == {*WORDS} and len(data.feature_names) == 6


@pytest.mark.parametrize("turns", [("1L {}", "2L {}", "QC {}"), ("{} first", "{} second", "{} third")])
def test_pairs_are_told_by_a_word_as_by_a_number(tmp_path: Path, turns: tuple[str, ...]) -> None:
    rolls, rows, given = random.Random(5), list[list[str]](), 0
    teams = (("dtran", "akhan"), ("egarcia", "fmeyer"), ("gross",))
    for k in range(60):
        truth, cells = rolls.choice(WORDS), [f"d{k}", f"what document {k} of the matter is about, at some length"]
        for team in teams:
            is_there = team != teams[2] or k % 3 == 0
            cells += (
                [rolls.choice(team), truth if rolls.random() < 0.8 else rolls.choice(WORDS)] if is_there else ["", ""]
            )
            given += is_there
        rows.append(cells)
    header = ["doc", "text", *(turn.format(one) for turn in turns for one in ("Reviewer", "Coding"))]
    data, asked = read_first(table(tmp_path, header, rows))
    assert asked is None and data.annotations is not None
    assert {*data.annotations.annotator_names} == {who for team in teams for who in team}
    assert data.annotations.votes.sum() == given


def test_names_with_a_raised_number_are_no_reason_to_fail(tmp_path: Path) -> None:
    rolls = random.Random(4)
    rows = [[f"{rolls.random():.3f}", f"{rolls.random():.3f}", *(said(rolls, "elm") for _ in "abc")] for _ in range(40)]
    data = formats.read(table(tmp_path, ["m²_1", "m²_2", "ann", "bob", "cy"], rows))
    assert data.feature_names == ("m²_1", "m²_2")


@pytest.mark.parametrize("is_given", [False, True])
def test_the_likeliest_of_two_questions_are_asked_about(tmp_path: Path, is_given: bool) -> None:
    """They are not candidates of one; what is said of the labels leaves the shares beside them carried along."""
    rolls = random.Random(6)
    kinds = {
        "species": ["C. nigra", "C. elata", "C. rostrata", "C. canescens"],
        "genus": ["Carex", "Poa", "Viola", "Iris"],
    }
    header = ["width", *(f"{what}_{k}" for one in kinds for k in (1, 2) for what in (one, f"{one}_score"))]
    rows = []
    for _ in range(60):
        shares = sorted((rolls.random() / 2 for _ in "ab"), reverse=True)
        pairs = [zip(rolls.sample(words, 2), shares, strict=True) for words in kinds.values()]
        rows.append([f"{rolls.random():.3f}", *(str(cell) for some in pairs for pair in some for cell in pair)])
    path = table(tmp_path, header, rows)
    columns = formats.columns(path)
    asks = question(columns)
    assert asks is not None and {"species_1", "genus_1"} <= {*asks.answers[0][1]}
    if is_given:
        data = formats.read(path, columns=asks.answers[0][1], check=False)
        assert {*data.class_names} == {*kinds["species"]} and data.feature_names == ("width",)

"""Lines of answers to several questions, one a line."""

from __future__ import annotations

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from pll import formats
from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.tabular.builder import TableFormat

TOPIC, TONE = ["food", "room", "staff"], ["good", "bad", "mixed"]
WORDS = {"own": {"topic": TOPIC, "tone": TONE}, "scale": {"clear": ["1", "2", "3"], "kind": ["1", "2", "3"]}}


def lines(words: dict[str, list[str]], missing: float = 0.05, *, own_people: bool = False) -> list[list[str]]:
    """Answers of three people on thirty reviews: a number, who, which question, the answer, and how long it took.

    Parameters
    ----------
    words
        The answers to each question.
    missing
        Share of the answers that are not there.
    own_people
        Whether other people answered each question.
    """
    rolls, rows = random.Random(4), list[list[str]]()
    for k in range(30):
        truth = {asked: rolls.choice(some) for asked, some in words.items()}
        for who in ("Ida", "Bo", "Cy"):
            for asked, some in words.items():
                said = truth[asked] if rolls.random() < 0.8 else rolls.choice(some)
                row = [
                    f"r{k}",
                    f"{k % 7}.5",
                    f"{who} {asked[-1]}" if own_people else who,
                    asked,
                    said,
                    f"{rolls.random():.3f}",
                ]
                rows += [row] if rolls.random() > missing else []
    return rows


def written(folder: Path, rows: Sequence[Sequence[str]], asked: str = "aspect") -> Path:
    """A file of these lines, whose column of questions is called so."""
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["review", "stars", "coder", asked, "answer", "took"], *rows])
    return folder / "t.csv"


@pytest.mark.parametrize(("kind", "called"), [("own", "aspect"), ("own", "thing"), ("scale", "criterion")])
@pytest.mark.parametrize("order", ["by example", "by question", "mixed", "own people"])
def test_which_question_has_the_labels_is_asked_and_the_others_are_no_labels(
    tmp_path: Path, kind: str, called: str, order: str
) -> None:
    words = WORDS[kind]
    rows = lines(words, own_people=order == "own people")
    if order == "by question":
        rows.sort(key=lambda row: row[3])
    if order == "mixed":
        random.Random(1).shuffle(rows)
    path = written(tmp_path, rows, called)
    with pytest.raises(UserError, match="Which column is the label"):
        formats.read(path)
    for asked, some in words.items():
        given = next(option for column in formats.columns(path) if column.asks for option in column.asks.answers)[1]
        given = {**given, **dict.fromkeys(words, "keep"), asked: "vote"}
        data = formats.read(path, columns=given)
        votes = data.annotations
        assert votes is not None and len(data) == 30 and {*data.class_names} == {*some}
        assert {*data.feature_names} == {"stars"} and {name.split()[0] for name in votes.annotator_names} == {
            "Ida",
            "Bo",
            "Cy",
        }
        expected = {(row[0], row[2], row[4]) for row in rows if row[3] == asked}
        names, ids = votes.annotator_names, data.row_ids
        cells = zip(votes.rows, votes.annotators, votes.labels, strict=True)
        assert {(ids[row], names[who], votes.class_names[label]) for row, who, label in cells} == expected


def test_every_line_of_the_file_that_came_in_gets_the_label_of_its_example(tmp_path: Path) -> None:
    rows = lines(WORDS["own"])
    path = written(tmp_path, rows)
    given = {"review": "task", "coder": "worker", "topic": "vote", "tone": "keep"}
    options = ReadOptions(columns=given)
    form = formats.detect(path)
    assert isinstance(form, TableFormat)
    table = form.unfolded(path, options)
    assert len(table.again) == len(rows) and table.rows == len({(row[0], row[2]) for row in rows})
    of_line = list(table.texts(list(table.names).index("review")))
    assert [of_line[at] for at in table.again] == [row[0] for row in rows]


@pytest.mark.parametrize("column", ["round", "aspect"])
def test_rounds_of_the_same_answers_and_a_few_things_to_answer_are_no_questions(tmp_path: Path, column: str) -> None:
    """Of two people on twelve phrases, which are called questions, the phrases are the examples."""
    rolls, rows = random.Random(2), list[list[str]]()
    for k in range(12):
        for who in ("Ida", "Bo", "Cy", "Di"):
            for again in ("first", "second") if column == "round" else (f"phrase {k}",):
                rows.append(
                    [f"r{k}" if column == "round" else rolls.choice("xy"), "", who, again, rolls.choice("ab"), ""]
                )
    names = [name for one in formats.columns(written(tmp_path, rows, column)) for name in [one.name]]
    assert column in names


def test_a_family_whose_kinds_nothing_else_is_called_is_no_question(tmp_path: Path) -> None:
    """Of each specimen there is one: people tell what kind of that family it is."""
    rolls, rows = random.Random(5), list[list[str]]()
    kinds = {"bees": ["Bombus", "Apis"], "flies": ["Syrphus", "Eristalis"]}
    for k in range(40):
        family = rolls.choice([*kinds])
        rows += [[f"s{k}", f"{k % 9}", who, family, rolls.choice(kinds[family]), ""] for who in ("Ida", "Bo", "Cy")]
    names = [one.name for one in formats.columns(written(tmp_path, rows, "family"))]
    assert "family" in names and "bees" not in names


def test_a_role_for_the_column_of_questions_or_of_answers_leaves_the_lines_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, lines(WORDS["own"]))
    for given in ({"aspect": "task", "review": "task"}, {"answer": "vote"}):
        names = [column.name for column in formats.columns(path, options=ReadOptions(columns=given))]
        assert {"aspect", "answer"} <= {*names} and "topic" not in names

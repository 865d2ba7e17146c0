"""What several signs say alike is proposed and not asked about, and asked about where one of them is missing."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pll import formats
from pll.formats.reading import question
from tests.formats.test_about_the_labelling import WORDS, said, table

# ---- one answer a line -----------------------------------------------------------------------------------------------


def lines_in(
    folder: Path, header: list[str], cells: Callable[[random.Random, str, int], Sequence[str]]
) -> tuple[dict[str, str], bool]:
    """The roles where each of fifty things stands in four lines, of a person each."""
    rolls, people, rows = random.Random(1), ["Ann", "Bob", "Cem", "Dee", "Eve", "Flo"], list[list[str]]()
    for thing in range(50):
        truth = rolls.choice(WORDS)
        for at, who in enumerate(rolls.sample(people, 4)):
            rows.append([f"t{thing}", who, said(rolls, truth), *cells(rolls, truth, at)])
    columns = formats.columns(table(folder, header, rows))
    return {column.name: column.role for column in columns}, question(columns) is not None


@pytest.mark.parametrize("who", ["reader", "rater"])
@pytest.mark.parametrize("beside", ["repeat instance", "how certain", "handle_time_s"])
def test_what_counts_or_times_the_lines_or_says_how_sure_one_was_is_no_label(
    tmp_path: Path, who: str, beside: str
) -> None:
    def cells(rolls: random.Random, truth: str, at: int) -> list[str]:
        return [{"r": str(at + 1), "h": rolls.choice(["low", "mid", "high"])}[beside[0]]]

    roles, is_asked = lines_in(tmp_path, ["thing", who, "kind", beside], cells)
    assert not is_asked and (roles["thing"], roles[who], roles["kind"]) == ("task", "worker", "vote")
    assert roles[beside] == "keep"


@pytest.mark.parametrize(
    ("who", "beside", "share", "is_clear"),
    [
        ("annotator", "could be read", 0.0, True),
        ("annotator", "tone label", 0.0, False),  # called as labels are
        ("annotator", "tone", 0.5, False),  # another question, on which they agree somewhat
        ("user", "sold", 0.0, False),  # a line may be an example
    ],
)
def test_on_what_nobody_agrees_is_no_label_where_people_agree_on_another(
    tmp_path: Path, who: str, beside: str, share: float, is_clear: bool
) -> None:
    def cells(rolls: random.Random, truth: str, at: int) -> list[str]:
        agrees = rolls.random() < share
        return ["yes" if truth in WORDS[:2] else "no"] if agrees else [rolls.choice(["yes", "no"])]

    roles, is_asked = lines_in(tmp_path, ["thing", who, "kind", beside], cells)
    assert is_asked is not is_clear and (roles["kind"] == "vote") is is_clear


@pytest.mark.parametrize(
    ("who", "name", "kind", "is_clear"),
    [
        ("rater", "reply_id", "id", True),  # of the answer
        ("moderator", "visit_id", "id", False),  # perhaps of an example
        ("rater", "width", "number", False),  # what is learnt from
        ("worker", "usage", "object", True),
    ],
)
def test_a_line_of_somebody_who_only_labels_may_have_an_id_and_no_features(
    tmp_path: Path, who: str, name: str, kind: str, is_clear: bool
) -> None:
    def cells(rolls: random.Random, truth: str, at: int) -> list[str]:
        number = rolls.randrange(10**6)
        return [{"id": f"x{number}", "number": f"{number / 7:.2f}", "object": f'{{"tokens": {number}}}'}[kind]]

    roles, is_asked = lines_in(tmp_path, ["thing", who, "kind", name], cells)
    assert is_asked is not is_clear and (roles["kind"] == "vote") is is_clear


@pytest.mark.parametrize(("who", "name", "is_clear"), [("worker", "answer", True), ("observer", "value", False)])
def test_numbers_are_answers_of_somebody_who_only_labels_and_else_perhaps_measured(
    tmp_path: Path, who: str, name: str, is_clear: bool
) -> None:
    rolls, rows = random.Random(2), list[list[str]]()
    for thing in range(50):
        truth = rolls.randrange(3)
        rows += [[f"t{thing}", one, str(truth if rolls.random() < 0.7 else 1)] for one in rolls.sample("ABCDEF", 4)]
    assert (question(formats.columns(table(tmp_path, ["thing", who, name], rows))) is None) is is_clear

"""What decisions say of voters: a new class and none of these are mistakes of all, what nobody looked at is nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pll.annotations import ALL_WRONG, Annotations
from pll.annotations.agreement import majority_sentence
from pll.annotations.independence import worth_of_votes
from pll.annotations.voters import fit_voters, voter_cards
from pll.candidates import CandidateSets
from pll.review.desk import Desk
from pll.review.state import ReviewState, with_decisions
from pll.weights import normalise
from tests.review_helpers import close, labels_of, open_with

CLASSES = ("ant", "bee", "cat")


def reviewed(folder: Path, lists: list[list[int]], decisions: list[tuple[str, str | None]]) -> ReviewState:
    """The state of a review of these candidates, where so many of the first rows are decided."""
    sets = CandidateSets.from_lists(lists, len(CLASSES), CLASSES)
    weights = normalise(np.ones(sets.nnz, dtype=np.float32), sets)
    review = open_with(f"sqlite:///{folder / 'review.sqlite3'}", labels_of(sets, weights))
    desk = Desk(review, "Ann")
    for row, (kind, label) in enumerate(decisions):
        desk.decide(desk.show(row), kind, label)
    close(review)
    return review.state


def test_known_mistakes_of_all_count_and_what_is_open_does_not(tmp_path: Path) -> None:
    votes = np.array([[0, 0, 1]] * 40)
    annotations, nothing = Annotations.from_votes(votes, CLASSES), np.full(40, -1)
    decisions = [("pick", "ant")] * 20 + [("none", None)] * 5 + [("other", "wasp")] * 5 + [("unsure", None)] * 2
    y = with_decisions(nothing, annotations, reviewed(tmp_path, [[0, 1]] * 40, decisions))
    assert y.tolist() == [0] * 20 + [ALL_WRONG] * 10 + [-1] * 10
    card = voter_cards(fit_voters(annotations, true_labels=y), y)[0]
    assert (card.checked, card.accuracy) == (30, 20 / 30) and card.low < 0.67 < card.high
    worth = worth_of_votes(annotations, y)
    assert worth is not None and (worth.rows, worth.all_wrong) == (30, 10)
    assert with_decisions(nothing, annotations, None).tolist() == nothing.tolist()


def test_none_of_these_says_nothing_of_a_label_that_the_rule_left_out(tmp_path: Path) -> None:
    votes = np.array([[0, 0, 1], [0, 0, 0]])
    state = reviewed(tmp_path, [[0], [0]], [("none", None)] * 2)  # by a rule of two votes
    assert with_decisions(np.full(2, -1), Annotations.from_votes(votes, CLASSES), state).tolist() == [-1, ALL_WRONG]


def test_the_majority_differs_where_the_label_is_none_of_theirs() -> None:
    votes = Annotations.from_votes([[0, 0], [0, 0]], ["ant"])
    assert majority_sentence(np.array([ALL_WRONG, 0]), votes).startswith("The majority would differ on 1.")

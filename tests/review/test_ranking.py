"""The order of the queue: what comes first."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.review.decided import Decided
from pll.review.logit import propose
from pll.review.queue import review_order
from pll.review.signals import ReviewSignals
from pll.synthesis import flip_binomial
from pll.weights import normalise
from tests.review_helpers import labels_of
from tests.strategies import candidate_sets


def full(sets: CandidateSets, seed: int = 0) -> ReviewSignals:
    """Every signal there is, at random."""
    rng = np.random.default_rng(seed)

    def weights() -> np.ndarray:
        return normalise(rng.random(sets.nnz) ** 4, sets)

    near = rng.integers(0, len(sets), (len(sets), 10)).astype(np.int32)
    return ReviewSignals(labels_of(sets, weights()), near, rng.random(sets.nnz).astype(np.float32))


def test_without_neighbours_and_decisions_the_least_certain_comes_first_and_decided_ones_last() -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 4, n_classes=2)
    weights = np.array([0.9, 0.1, 0.6, 0.4, 0.8, 0.2, 0.7, 0.3], dtype=np.float32)
    signals = ReviewSignals(labels_of(sets, weights))
    assert review_order(signals).tolist() == [1, 3, 2, 0]
    assert review_order(signals, Decided.of(sets, {1: 0})).tolist()[-1] == 1


def test_ties_of_votes_alone_come_first() -> None:
    sets = CandidateSets.from_lists([[0, 1, 2], [0, 1], [0, 1, 2], [0]], n_classes=3)
    weights = np.array([0.4, 0.32, 0.28, 0.5, 0.5, 0.45, 0.45, 0.1, 1], dtype=np.float32)
    own = labels_of(sets, weights)
    order = {alone: review_order(ReviewSignals(own, votes_alone=alone)).tolist() for alone in (True, False)}
    assert set(order[True][:2]) == {1, 2} and order[True][3] == 3
    assert order[False][0] == 0


def test_one_label_that_may_be_wrong_comes_before_surer_ones() -> None:
    sets = CandidateSets.from_lists([[0], [0, 1], [1]], n_classes=2)
    held_out = np.array([1, 0.9, 0.1, 0.6], dtype=np.float32)  # of votes: a label that nobody named may be true
    signals = ReviewSignals(labels_of(sets, np.ones(4, dtype=np.float32), held_out))
    assert review_order(signals).tolist() == [2, 1, 0]


def test_it_moves_with_the_decisions() -> None:
    sets = flip_binomial(np.arange(300) % 5, 5, 0.5, seed=0)
    signals = full(sets)
    decided = {int(row): int(sets[row][0]) for row in range(60)}
    before, after = review_order(signals), review_order(signals, Decided.of(sets, decided))
    assert [row for row in before if row not in decided] != after[:-60].tolist()
    assert set(after[-60:].tolist()) == set(decided)


@given(candidate_sets(min_n=2), st.integers(0, 99))
def test_it_is_a_permutation_by_falling_doubt(sets: CandidateSets, seed: int) -> None:
    signals = full(sets, seed)
    order = review_order(signals, seed=seed)
    assert sorted(order.tolist()) == list(range(len(sets)))
    top = np.maximum.reduceat(propose(signals, Decided.of(sets)), sets.indptr[:-1])
    assert (np.diff(top[order]) >= 0).all()

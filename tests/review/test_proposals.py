"""Proposals: what the decisions speak for where nobody has looked."""

from __future__ import annotations

import numpy as np

from pll.candidates import CandidateSets
from pll.review.decided import Decided
from pll.review.logit import propose
from pll.review.orders import rank
from pll.review.proposals import proposals
from pll.review.signals import ReviewSignals

# Twelve examples; the first six resemble each other, and so do the others. The run says 0 everywhere.
SETS = CandidateSets.from_lists([[0, 1]] * 12, n_classes=2)
NEAR = np.array([[j for j in range(6) if j != i] for i in range(6)] * 2, dtype=np.int32)
NEAR[6:] += 6
RUN = ReviewSignals(SETS, np.tile(np.array([0.6, 0.4], dtype=np.float32), 12), neighbours=NEAR)


def test_without_decisions_nothing_changes() -> None:
    made = proposals(RUN)
    assert made.labels.tolist() == [0] * 12
    assert made.changed.tolist() == []


def test_decisions_change_their_neighbours_and_those_only() -> None:
    decided = {0: 1, 1: 1, 2: 1, 6: 0, 7: 0, 8: 0}
    made = proposals(RUN, decided)
    assert set(made.changed.tolist()) == {3, 4, 5}
    assert made.labels.tolist() == [1] * 6 + [0] * 6
    assert (np.diff(made.confidence[made.changed]) <= 0).all()
    np.testing.assert_array_equal(made.weights, propose(RUN, Decided.of(SETS, decided)))


def test_what_would_change_comes_first_in_the_order_of_doubt() -> None:
    decided = {0: 1, 1: 1, 2: 1, 6: 0, 7: 0, 8: 0}
    assert set(rank("doubt", RUN, SETS, decided)[:3].tolist()) == {3, 4, 5}

"""The simulated reviewer of the benchmark: what it counts is what a reviewer would see."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.review import Row, ratio, review, reviews_needed
from pll.review.decided import Decided
from pll.review.queue import rank
from pll.review.signals import ReviewSignals
from pll.synthesis import flip_binomial
from pll.weights import normalise


@pytest.fixture(scope="module")
def run() -> tuple[ReviewSignals, np.ndarray]:
    """Three hundred examples, about a fifth of them identified wrongly, more of those with little confidence."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 300)
    sets = flip_binomial(y, 4, 0.6, seed=0)
    scores = rng.random(sets.nnz) + 0.6 * (sets.indices == y[sets.rows])
    near = np.array([rng.choice(np.flatnonzero(y == y[i]), 5) for i in range(300)], dtype=np.int32)
    return ReviewSignals(sets, normalise(scores**4, sets), neighbours=near), y


def by_confidence(signals: ReviewSignals, decided: Decided) -> np.ndarray:
    return np.argsort(signals.sharp.confidence, kind="stable")


def test_errors_fall_by_one_with_each_wrong_label_that_is_seen(run: tuple[ReviewSignals, np.ndarray]) -> None:
    signals, y = run
    curve = review(signals, y, by_confidence)
    wrong = signals.sharp.identified != y
    found = np.cumsum(wrong[by_confidence(signals, Decided.of(signals.sets))])
    last = int(np.flatnonzero(curve >= 0)[-1])
    assert (curve[0], curve[last]) == (wrong.sum(), 0)
    np.testing.assert_array_equal(curve[1 : last + 1], wrong.sum() - found[:last])


def test_better_orders_need_fewer_reviews(run: tuple[ReviewSignals, np.ndarray]) -> None:
    signals, y = run
    half = int((signals.sharp.identified != y).sum()) // 2
    shuffled = np.random.default_rng(0).permutation(300)
    needed = [
        reviews_needed(review(signals, y, ranking, follows=follows, until=half), half)
        for ranking, follows in ((rank, True), (by_confidence, False), (lambda *_: shuffled, False))
    ]
    assert needed == sorted(needed)


def test_a_review_can_be_ended(run: tuple[ReviewSignals, np.ndarray]) -> None:
    signals, y = run
    curve = review(signals, y, by_confidence, until=20)
    done = np.flatnonzero(curve >= 0)
    assert curve[done[-1]] <= 20 and done.tolist() == list(range(len(done)))


def test_figures_of_a_curve() -> None:
    curve = np.array([8, 8, 6, 6, 4, 3, 2, 1, 1, 0, 0])
    assert reviews_needed(curve, 4) == 4
    assert reviews_needed(np.array([8, 8, -1, -1]), 4) == float("inf")
    rows = [Row("s", "auto", order, seed, 10, 8, (need, 9.0)) for order, seed, need in
            (("confidence", 0, 4.0), ("confidence", 1, 8.0), ("learning", 0, 1.0), ("learning", 1, 2.0))]  # fmt: skip
    assert ratio(rows, "s", "auto", "learning", 0) == 0.25

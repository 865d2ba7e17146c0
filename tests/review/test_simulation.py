"""The simulated reviewer of the benchmark: what it counts is what a reviewer would see."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.review_simulation import Way, found_within, review, reviews_needed
from benchmarks.review_tables import ratio
from pll.candidates import CandidateSets
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


def test_errors_fall_by_one_with_each_wrong_label_that_is_seen(run: tuple[ReviewSignals, np.ndarray]) -> None:
    signals, y = run
    curve = review(signals, y, Way("confidence"))
    wrong = signals.sharp.identified != y
    assert (curve[0], curve[-1]) == (wrong.sum(), 0)
    assert set(np.diff(curve).tolist()) <= {0, -1}
    order = np.argsort(signals.sharp.confidence, kind="stable")
    np.testing.assert_array_equal(curve[1:], wrong.sum() - np.cumsum(wrong[order]))


def test_better_orders_need_fewer_reviews(run: tuple[ReviewSignals, np.ndarray]) -> None:
    signals, y = run
    half = int((signals.sharp.identified != y).sum()) // 2

    def needed(way: Way, given: object = None) -> float:
        return reviews_needed(review(signals, y, way, given=given), half)  # type: ignore[arg-type]

    oracle = needed(Way("oracle"), lambda signals, decided: np.argsort(signals.sharp.identified == y))
    assert oracle == (signals.sharp.identified != y).sum() - half
    assert oracle <= needed(Way("confidence")) < needed(Way("random"))
    assert needed(Way("learning", follows=True)) < needed(Way("confidence"))


def test_retraining_is_given_what_was_decided(run: tuple[ReviewSignals, np.ndarray]) -> None:
    signals, y = run
    given: list[CandidateSets] = []

    def retrain(sets: CandidateSets) -> ReviewSignals:
        given.append(sets)
        near = signals.neighbours
        return ReviewSignals(sets, normalise(np.where(sets.indices == y[sets.rows], 3.0, 1.0), sets), neighbours=near)

    curve = review(signals, y, Way("learning", follows=True), retrain=retrain)
    assert curve[0] > 0 and curve[6:].max() < curve[0]
    for sets in given:
        narrowed = sets.sizes < signals.sets.sizes
        assert (sets.sizes[narrowed] == 1).all()
        assert (sets.indices[sets.indptr[:-1][narrowed]] == y[narrowed]).all()
        for row in np.flatnonzero(~narrowed)[:20]:
            assert sets[row].tolist() == signals.sets[row].tolist()
    assert np.diff([int((sets.sizes == 1).sum()) for sets in given]).min() >= 0


def test_a_review_can_be_ended(run: tuple[ReviewSignals, np.ndarray]) -> None:
    signals, y = run
    curve = review(signals, y, Way("confidence"), until=lambda curve, done: done >= 30)
    done = np.flatnonzero(curve >= 0)
    assert 30 <= done[-1] <= 33 and done.tolist() == list(range(len(done)))


def test_figures_of_a_curve() -> None:
    curve = np.array([8, 8, 6, 6, 4, 3, 2, 1, 1, 0, 0])
    assert reviews_needed(curve, 4) == 4
    assert reviews_needed(np.array([8, 8, -1, -1]), 4) == float("inf")
    assert found_within(curve, 0.2) == 0.25
    found = {("s", "base", False): [curve], ("s", "half", False): [curve[[0, 2, 4, 6, 8, 9, 10, 10, 10, 10, 10]]]}
    assert ratio(found, "s", "half", False, "base") == 0.5
    assert np.isnan(ratio(found, "s", "none", False, "base"))

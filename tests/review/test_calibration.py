"""Calibration: the right temperature is found, no label changes, and the gain is measured on other decisions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.review.calibration import FEWEST, calibrate, calibration_of, fit_temperature, with_temperature
from pll.review.desk import Desk
from pll.weights import identified_labels, normalise, restricted_softmax
from tests.review_helpers import answer, close, open_with, snapshot
from tests.strategies import sets_and_scores


def labelled(n: int, true_temperature: float, seed: int) -> tuple[np.ndarray, CandidateSets, np.ndarray]:
    """Label weights too sharp by `true_temperature`, and truths drawn from the weights as they should be."""
    random = np.random.default_rng(seed)
    mask = random.random((n, 5)) < 0.6
    mask[np.arange(n), random.integers(0, 5, n)] = True
    sets = CandidateSets.from_mask(mask)
    honest = restricted_softmax(random.normal(0, 1.5, sets.nnz), sets)
    draws = np.log(honest) + random.gumbel(size=sets.nnz)  # Gumbel: the argmax is a draw from the weights
    truth = identified_labels(restricted_softmax(draws, sets), sets)
    return with_temperature(honest, sets, 1 / true_temperature), sets, truth


class TestTemperature:
    @pytest.mark.parametrize("true_temperature", [0.5, 1.0, 3.0])
    def test_is_found(self, true_temperature: float) -> None:
        weights, sets, truth = labelled(4000, true_temperature, seed=1)
        rows = np.random.default_rng(2).permutation(4000)[:2000]
        result = fit_temperature(weights, sets, rows, truth[rows])
        assert result == pytest.approx(true_temperature, rel=0.1)

    @given(sets_and_scores(largest=50.0), st.floats(0.02, 50.0))
    @settings(deadline=None)
    def test_weights_stay_weights_and_their_order_stays(
        self, made: tuple[CandidateSets, np.ndarray], temperature: float
    ) -> None:
        sets, scores = made
        weights = restricted_softmax(scores[sets.rows, sets.indices], sets)
        scaled = with_temperature(weights, sets, temperature)
        assert np.isfinite(scaled).all()
        assert np.add.reduceat(scaled, sets.indptr[:-1]) == pytest.approx(np.ones(len(sets)), abs=1e-5)
        at_top = sets.indptr[:-1] + [weights[a:b].argmax() for a, b in zip(sets.indptr, sets.indptr[1:], strict=False)]
        assert (scaled[at_top] >= np.maximum.reduceat(scaled, sets.indptr[:-1])).all()
        assert with_temperature(weights, sets, 1.0) == pytest.approx(normalise(weights, sets), abs=1e-6)


class TestCalibrate:
    def test_overconfidence_is_put_right(self) -> None:
        weights, sets, truth = labelled(3000, 3.0, seed=6)
        rows = np.random.default_rng(7).permutation(3000)
        fit, rest = rows[:600], rows[600:]
        result = calibrate(weights, sets, fit, truth[fit])
        assert result.before.error > 0.1
        assert result.after.error < result.before.error / 2
        right = identified_labels(weights, sets)[rest] == truth[rest]
        spread = np.sqrt(0.25 / len(fit) + 0.25 / len(rest))
        assert abs(result.confidence[rest].mean() - right.mean()) < 3 * spread  # and on what nobody decided
        assert result.decisions == 600
        assert result.confidence.shape == (3000,) and result.confidence.dtype == np.float32
        assert result.temperature > 1

    def test_too_few_decisions(self) -> None:
        weights, sets, truth = labelled(200, 1.0, seed=11)
        few = FEWEST - 7
        with pytest.raises(UserError, match=f"at least {FEWEST} .* there are {few}"):
            calibrate(weights, sets, np.arange(few), truth[:few])


def test_calibration_rests_on_what_is_decided(url: str) -> None:
    review = open_with(url, snapshot(400))
    desk = Desk(review, "Ann")
    with pytest.raises(UserError, match="at least 30"):
        calibration_of(review.root.candidates, review.own, review.current, review.state)
    for row in range(40):
        answer(desk, desk.show(row), right=row % 4 == 0)
    for row in range(40, 43):
        desk.decide(desk.show(row), "unsure")  # says nothing of a confidence
    result = calibration_of(review.root.candidates, review.own, review.current, review.state)
    assert result.decisions == 40 and result.temperature > 1
    close(review)

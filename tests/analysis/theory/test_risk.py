"""The three readings of a candidate set, against small computations of another kind."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pll.analysis.theory.risk import Carousel, carousel, loss_curves, one_example

READINGS = ("mean", "min", "weights")


def test_one_example_by_hand() -> None:
    found = one_example(0.6, outside=0.1)
    a, b = -math.log(0.6), -math.log(0.3)
    assert found.losses == pytest.approx([a, b])
    assert (found.mean, found.least) == pytest.approx(((a + b) / 2, a))
    assert found.weights == pytest.approx([2 / 3, 1 / 3], abs=1e-6)
    assert found.weighted == pytest.approx((2 * a + b) / 3, abs=1e-6)


def test_the_minimum_has_two_valleys_and_the_average_one() -> None:
    at, readings = loss_curves()
    middle = len(at) // 2
    assert readings["min"].argmax() == pytest.approx(middle, abs=1)  # the ridge is where the average is least
    assert readings["mean"].argmin() == pytest.approx(middle, abs=1)
    assert (readings["min"] <= readings["weights"] + 1e-9).all()
    assert (readings["weights"] <= readings["mean"] + 1e-9).all()  # more weight on what costs less


def by_hand(drawn: Carousel, theta: float, s: float, reading: str) -> float:
    """The risk of one angle, point by point."""
    total = 0.0
    for i, angle in enumerate(drawn.angles):
        z = [s * math.cos(angle - math.radians(120 * j) - math.radians(theta)) for j in range(3)]
        g = [math.exp(v) / sum(math.exp(u) for u in z) for v in z]
        inside = [g[j] for j in drawn.candidates[i]]
        costs = [-math.log(v) for v in inside]
        total += {"mean": sum(costs) / len(costs), "min": min(costs), "weights": -math.log(sum(inside))}[reading]
    return total / len(drawn.angles)


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("theta", [-170.0, 0.0, 33.0])
def test_risk_point_by_point(reading: str, theta: float) -> None:
    drawn = carousel("pair", 0.6, n=20)
    assert drawn.risk(theta, 3.0, reading)[0] == pytest.approx(by_hand(drawn, theta, 3.0, reading))  # type: ignore[arg-type]


@pytest.mark.parametrize("reading", READINGS)
def test_the_slope_with_fixed_weights_is_that_of_the_risk(reading: str) -> None:
    """For `weights` this is the claim of the page: fixed weights of Eq. (norm) descend −log Σ g_j."""
    drawn = carousel("binomial", 0.7)
    for theta in (-100.0, 12.3, 77.0):
        down, up = drawn.risk([theta - 1e-4, theta + 1e-4], 4.0, reading)  # type: ignore[arg-type]
        assert drawn.slope(theta, 4.0, reading) == pytest.approx((up - down) / 2e-4, rel=1e-3)  # type: ignore[arg-type]


def test_the_deepest_valley_of_the_minimum_is_the_true_one_while_gamma_is_below_one() -> None:
    angles = np.arange(-180.0, 180.0, 1.5)
    for seed in range(3):
        risk = carousel("binomial", 0.8, seed=seed).risk(angles, 1.0, "min")
        assert abs(angles[risk.argmin()]) < 10
    level = carousel("binomial", 1.0).risk([0.0, 120.0, -120.0], 1.0, "min")
    assert np.ptp(level) < 1e-9  # γ = 1: nothing prefers the true one


@pytest.mark.parametrize("reading", READINGS)
def test_descent_goes_down_and_ends_in_a_valley(reading: str) -> None:
    drawn = carousel("binomial", 0.9)
    for start in (-150.0, 110.0, 40.0):
        way = drawn.descend(start, 1.0, reading)  # type: ignore[arg-type]
        heights = drawn.risk(way, 1.0, reading)  # type: ignore[arg-type]
        assert heights[-1] <= heights[0] + 1e-9
        near = drawn.risk(way[-1] + np.arange(-3.0, 3.5, 0.5), 1.0, reading)  # type: ignore[arg-type]
        assert near.min() >= heights[-1] - 2e-3
        assert (np.abs(way) <= 180).all()


def test_from_the_pages_own_start_the_minimum_gets_stuck_and_the_weights_do_not() -> None:
    drawn = carousel("binomial", 0.9)
    assert abs(drawn.descend(110, 1.0, "min")[-1]) > 60
    assert abs(drawn.descend(110, 1.0, "weights")[-1]) < 60

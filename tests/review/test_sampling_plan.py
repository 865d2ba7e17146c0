"""How many controls a promise takes, and which rows they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from pll.errors import UserError
from pll.review.certificate import certify
from pll.review.evidence import Prior, log_choose, log_evidence
from pll.review.sampling_plan import achievable, draw_controls, more_controls_needed, threshold_grid


def clean_limit(n: int, k: int) -> int:
    """The smallest number of wrong labels that any method could certify: all k controls right, one look at the end.

    It is the largest W with C(n−W, k) / C(n, k) > .05.
    """
    wrong = np.arange(n + 1) if n < 10_000 else np.arange(n // 50)
    return int(np.flatnonzero(log_choose(n - wrong, k) - log_choose(n, k) > math.log(0.05))[-1])


class TestPlanning:
    def test_controls_are_a_uniform_draw(self) -> None:
        draws = np.array([draw_controls(5, 0.4, seed) for seed in range(2000)])
        pairs = np.bincount(draws[:, 0] * 5 + draws[:, 1], minlength=25).reshape(5, 5)
        assert np.trace(pairs) == 0
        off = pairs[~np.eye(5, dtype=bool)]  # each ordered pair 100 times, standard deviation 9.7
        assert off.min() > 60 and off.max() < 140

    def test_a_larger_share_begins_with_the_same_rows(self) -> None:
        assert draw_controls(50, 0.5, 3)[:5].tolist() == draw_controls(50, 0.1, 3).tolist()

    def test_299_clean_controls_show_one_per_cent_and_no_fewer(self) -> None:
        assert math.ceil(math.log(0.05) / math.log(0.99)) == 299
        n = 10_000_000
        assert clean_limit(n, 299) < n // 100 <= clean_limit(n, 298)

    @given(st.integers(1, 400), st.data())
    def test_no_method_beats_the_clean_limit(self, n: int, data: st.DataObject) -> None:
        k = data.draw(st.integers(1, n))
        limit = clean_limit(n, k)
        assert hypergeom.pmf(0, n, limit, k) > 0.05 - 1e-9
        if limit < n:
            assert hypergeom.pmf(0, n, limit + 1, k) <= 0.05 + 1e-9
        assert achievable(n, k / n) * n >= limit - 1e-9

    def test_digits_with_a_tenth_controlled(self) -> None:
        assert clean_limit(1437, 144) / 1437 == pytest.approx(0.0195, abs=5e-5)  # training part of digits
        assert clean_limit(1797, 180) / 1797 == pytest.approx(0.0156, abs=5e-5)  # all of digits
        assert 0.0195 < achievable(1437, 0.1) < 0.022

    @given(st.integers(20, 3000), st.floats(0.02, 1.0))
    @settings(max_examples=40, deadline=None)
    def test_what_is_achievable_is_certified_by_clean_controls_and_less_is_not(self, n: int, share: float) -> None:
        x, rows = achievable(n, share), draw_controls(n, share)
        confidence, right = np.linspace(0, 1, n), np.ones(len(rows), dtype=bool)
        if 0 < x < 1:
            assert certify(confidence, rows, right, max_error=x, thresholds=[0.0]).accepted == n
        if x > 1 / n:
            tighter = certify(confidence, rows, right, max_error=x - 1 / n, thresholds=[0.0])
            assert tighter.threshold is None

    @given(st.integers(1, 2000), st.floats(0.01, 1.0))
    @settings(max_examples=40, deadline=None)
    def test_wrong_controls_cost(self, n: int, share: float) -> None:
        k = len(draw_controls(n, share))
        reach = [achievable(n, share, wrong=wrong) for wrong in range(min(k, 6) + 1)]
        assert (np.diff(reach) >= 0).all()
        assert all(x >= wrong / n for wrong, x in enumerate(reach))
        with pytest.raises(UserError, match="cannot be wrong"):
            achievable(n, share, wrong=k + 1)

    @given(st.integers(50, 2000), st.integers(0, 30), st.integers(0, 3), st.sampled_from([0.01, 0.05, 0.2]))
    @settings(deadline=None)
    def test_as_many_more_controls_as_it_says(self, n: int, k: int, s: int, x: float) -> None:
        s = min(s, k)
        more = more_controls_needed(n, k, s, max_error=x)
        reach = log_evidence(n, int(x * n + 1e-9) + 1, k + np.arange(n - k + 1), s, Prior.for_error(x)) >= math.log(20)
        assert more == (int(reach.argmax()) if reach.any() else None)
        likely = more_controls_needed(n, k, s, max_error=x, error_rate=x / 2)
        assert likely is None or (more is not None and likely >= more)

    def test_too_many_wrong_can_never_be_certified(self) -> None:
        assert more_controls_needed(100, 20, 6, max_error=0.05) is None

    @given(st.integers(1, 3000), st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.1]))
    @settings(max_examples=30, deadline=None)
    def test_the_grid_falls_to_everything(self, n: int, seed: int, x: float) -> None:
        confidence = np.random.default_rng(seed).integers(0, 30, n) / 29  # many ties
        grid = threshold_grid(confidence, max(1, n // 10), x)
        assert (np.diff(grid) < 0).all()
        assert grid[-1] == confidence.min()

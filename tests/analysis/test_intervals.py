"""Shares and their differences against the binomial distribution itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pll.analysis.intervals import difference, wilson


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_the_difference_of_two_lanes(pairs: list[tuple[bool, bool]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    found = difference(a, b)
    only, other = int((a & ~b).sum()), int((b & ~a).sum())
    assert found.share == pytest.approx(a.mean() - b.mean())
    assert found.low <= found.high
    # McNemar's exact test, from the tails of the binomial distribution.
    tail = binom.cdf(min(only, other), only + other, 0.5)
    assert found.p == pytest.approx(min(1.0, 2 * tail))
    back = difference(b, a)
    assert (back.share, back.low, back.high, back.p) == pytest.approx((-found.share, -found.high, -found.low, found.p))


@given(st.integers(0, 500), st.integers(1, 500))
def test_the_interval_of_a_share_holds_it(k: int, n: int) -> None:
    low, high = wilson(min(k, n), n)
    assert 0 <= low <= min(k, n) / n <= high <= 1
    assert wilson(0, 0) == (0.0, 1.0)

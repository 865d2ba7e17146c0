"""Shares and their differences against the binomial distribution itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pll.analysis.intervals import difference, hypergeometric, wilson


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60))
def test_the_difference_of_two_lanes(pairs: list[tuple[bool, bool]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    result = difference(a, b)
    only, other = int((a & ~b).sum()), int((b & ~a).sum())
    assert result.share == pytest.approx(a.mean() - b.mean())
    assert result.low <= result.high
    # McNemar's exact test, from the tails of the binomial distribution.
    tail = binom.cdf(min(only, other), only + other, 0.5)
    assert result.p == pytest.approx(min(1.0, 2 * tail))
    back = difference(b, a)
    assert (back.share, back.low, back.high, back.p) == pytest.approx(
        (-result.share, -result.high, -result.low, result.p)
    )


@given(st.integers(0, 500), st.integers(1, 500))
def test_the_interval_of_a_share_holds_it(k: int, n: int) -> None:
    low, high = wilson(min(k, n), n)
    assert 0 <= low <= min(k, n) / n <= high <= 1
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize("missing", [0, 3, 20, 80])
def test_the_exact_interval_holds_the_share_in_95_percent_of_the_draws(missing: int) -> None:
    """2,000 simulated draws of 40 of 200; the probabilities themselves give at least 95 %, simulation noise aside."""
    drawn = np.random.default_rng(missing).hypergeometric(missing, 200 - missing, 40, 2000)
    ends = {k: hypergeometric(k, 40, 200) for k in set(drawn.tolist())}
    assert np.mean([ends[k][0] <= missing / 200 <= ends[k][1] for k in drawn.tolist()]) >= 0.94


@given(st.data())
def test_what_is_unknown_only_widens_the_exact_interval(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 60))
    m = data.draw(st.integers(0, n))
    k = data.draw(st.integers(0, m))
    unknown = data.draw(st.integers(0, m - k))
    low, high = hypergeometric(k, m, n, unknown=unknown)
    every = [hypergeometric(k + more, m, n) for more in range(unknown + 1)]
    assert (low, high) == (min(end[0] for end in every), max(end[1] for end in every))
    assert m == 0 or low <= k / m <= high

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pll.analysis.significance import holm, wilcoxon

FIGURES = st.lists(st.integers(0, 8), min_size=3, max_size=12)


@given(FIGURES, st.integers(0, 2**32 - 1))
def test_wilcoxon_is_the_share_of_sign_patterns_as_extreme(a: list[int], seed: int) -> None:
    """Against all sign patterns, counted one by one."""
    b = np.random.default_rng(seed).integers(0, 8, len(a))
    difference = np.array(a) - b
    difference = difference[difference != 0]
    n = len(difference)
    if n < 2:
        assert wilcoxon(a, b) == 1.0
        return
    ranks = scipy.stats.rankdata(np.abs(difference))
    signs = (np.arange(2**n)[:, None] >> np.arange(n)) & 1  # every pattern
    sums = signs @ ranks
    least = min(ranks[difference > 0].sum(), ranks[difference < 0].sum())
    assert wilcoxon(a, b) == pytest.approx(min(1.0, 2 * np.mean(sums <= least + 1e-9)))
    assert wilcoxon(b, a) == wilcoxon(a, b)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])

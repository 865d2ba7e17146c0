"""Reliability and expected calibration error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pll.analysis.calibration import reliability


def test_against_a_count_by_hand():
    confidence = np.array([0.05, 0.95, 0.91, 0.92, 0.5], dtype=np.float32)
    right = np.array([False, True, True, False, True])
    result = reliability(confidence, right)
    assert result.counts.tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 0, 3]
    assert result.accuracy[[0, 4, 9]].tolist() == pytest.approx([0, 1, 2 / 3])
    assert np.isnan(result.accuracy[1]) and np.isnan(result.confidence[1])
    by_hand = (abs(0 - 0.05) + abs(1 - 0.5) + 3 * abs(2 / 3 - (0.95 + 0.91 + 0.92) / 3)) / 5
    assert result.error == pytest.approx(by_hand, abs=1e-6)


@given(some.lists(some.tuples(some.floats(0, 1), some.booleans()), min_size=1, max_size=50), some.integers(1, 20))
def test_the_error_is_a_mean_of_gaps(pairs, bins):
    confidence, right = np.array([c for c, _ in pairs]), np.array([r for _, r in pairs])
    result = reliability(confidence, right, bins)
    assert result.counts.sum() == len(pairs)
    assert 0 <= result.error <= 1
    # Bins can only hide gaps that cancel out: never less than the gap of all examples together.
    assert result.error >= abs(confidence.mean() - right.mean()) - 1e-9

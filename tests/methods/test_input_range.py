from __future__ import annotations

import numpy as np
import pytest

from pll.methods.input_range import input_range, range_warnings


@pytest.mark.parametrize("shape", [(64,), (300,), (1, 8, 8)])
def test_another_scale_is_warned_about_and_the_same_is_not(shape: tuple[int, ...]) -> None:
    X = np.random.default_rng(0).uniform(0, 16, (200, *shape)).astype(np.float32)
    X[3].flat[0] = np.nan
    trained = input_range(X)
    assert range_warnings(X[:40], trained) == range_warnings(X[:0], trained) == []
    assert len(range_warnings(X[:40] / 16, trained)) == 1
    assert len(range_warnings(X[:40] * 16, trained)) == 1

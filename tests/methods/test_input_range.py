from __future__ import annotations

import numpy as np
import pytest

from pll.methods.input_range import input_range, range_warnings


@pytest.mark.parametrize("shape", [(64,), (300,), (1, 8, 8)])
def test_another_scale_is_warned_about_and_the_same_is_not(shape: tuple[int, ...]) -> None:
    X = np.random.default_rng(0).uniform(0, 16, (200, *shape)).astype(np.float32)
    X[3].flat[0] = np.nan
    known = input_range(X)
    assert range_warnings(X[:40], known) == range_warnings(X[:0], known) == []
    assert len(range_warnings(X[:40] / 16, known)) == 1
    assert len(range_warnings(X[:40] * 16, known)) == 1


def test_constant_and_rare_columns_do_not_warn() -> None:
    X = np.zeros((500, 50), dtype=np.float32)
    X[np.arange(500), np.random.default_rng(0).integers(0, 50, 500)] = 1  # words: nearly all 0
    X[:, 7] = 5
    assert range_warnings(X[:30], input_range(X)) == []
    X[:, 3] = np.nan
    assert range_warnings(X[:1], input_range(X)) == []


def test_no_columns_have_an_empty_range() -> None:
    X = np.zeros((5, 0), np.float32)  # votes alone
    known = input_range(X)
    assert (known["shape"], known["minimum"], known["deviation"]) == ([0], [], [])
    assert range_warnings(X, known) == []

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from pll.errors import UserError
from pll.synthesis.cross_val import out_of_fold


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(2, 5), st.integers(0, 3))
def test_rows_are_probabilities_whatever_the_classes(labels: list[int], folds: int, seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(len(labels), 3))
    result = out_of_fold(X, labels, 4, folds=folds, seed=seed)
    assert result.shape == (len(labels), 4) and result.dtype == np.float32
    np.testing.assert_allclose(result.sum(axis=1), 1, atol=1e-5)
    assert (result >= 0).all() and (result[:, np.setdiff1d(range(4), labels)] == 0).all()


def test_nobody_sees_their_own_label() -> None:
    """A label that features cannot tell is not learnt by heart."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 50)), rng.integers(0, 2, 200)
    assert 0.35 < (out_of_fold(X, y, 2).argmax(axis=1) == y).mean() < 0.65  # 5 σ are .18


def test_the_same_seed_gives_the_same_and_progress_is_reported() -> None:
    X, y = load_iris(return_X_y=True)
    calls: list[tuple[int, int]] = []
    first = out_of_fold(X, y, 3, folds=3, seed=5, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1, 3), (2, 3), (3, 3)]
    np.testing.assert_array_equal(first, out_of_fold(X, y, 3, folds=3, seed=5))
    assert (first != out_of_fold(X, y, 3, folds=3, seed=6)).any()


@pytest.mark.parametrize(
    ("X", "labels", "settings", "message"),
    [
        ([[1.0]], [0], {}, "at least two examples"),
        ([[1.0], [2.0]], [0], {}, "There are 2 rows of features but 1 labels"),
        ([[1.0], [2.0]], [0, 3], {}, "Row 1: label 3 is unknown"),
        ([[1.0], [np.inf]], [0, 1], {}, "Row 1, feature 0 is inf"),
        ([[1.0], [2.0]], [0, 1], {"folds": 1}, "1 folds cannot be made"),
        ([[1.0], [2.0]], [0, 1], {"seed": -1}, "The seed is -1"),
        (np.empty((2, 0)), [0, 1], {}, "no features"),
    ],
)
def test_bad_input_is_refused(X: list, labels: list, settings: dict, message: str) -> None:
    with pytest.raises(UserError) as caught:
        out_of_fold(X, labels, 2, **settings)
    assert message in str(caught.value)


def test_a_copy_with_the_same_label_is_no_witness() -> None:
    """Labels say nothing of the features: who has seen the label of a copy would say it again."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 80)).astype(np.float32), rng.integers(2, size=60)
    four = np.tile(np.arange(60), 4)
    is_said = out_of_fold(X[four], y[four], 2).argmax(axis=1) == y[four]
    assert 0.3 < is_said.mean() < 0.7
    apart = X[four] + rng.normal(size=(240, 80)) * 1e-6
    assert (out_of_fold(apart, y[four], 2).argmax(axis=1) == y[four]).mean() > 0.9

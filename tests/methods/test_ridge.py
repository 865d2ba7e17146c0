"""The regression of SURE in blocks against numpy's own, in loops."""

from __future__ import annotations

import numpy as np
import pytest

from pll.errors import UserError
from pll.methods import sure
from pll.methods.sure import cholesky_in_place, kernel_matrix


def kernel_in_loops(A: np.ndarray, B: np.ndarray, width: float) -> np.ndarray:
    return np.array([[np.exp(-((a - b) ** 2).sum() / (2 * width**2)) for b in B] for a in A])


def mean_distance(A: np.ndarray) -> float:
    return float(np.mean([np.sqrt(((A[i] - A[j]) ** 2).sum()) for i in range(len(A)) for j in range(len(A)) if i != j]))


def test_the_factorisation_in_blocks_is_cholesky_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sure, "BLOCK", 3)
    root = np.random.default_rng(0).normal(size=(10, 10))
    matrix = root @ root.T + np.eye(10)
    calls: list[int] = []
    factor = cholesky_in_place(matrix.copy(), lambda: calls.append(1))
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), atol=1e-12)
    assert len(calls) == 4


def test_the_kernel_in_blocks_is_that_of_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(4).normal(size=(6, 2))
    monkeypatch.setattr(sure, "BLOCK", 4)
    matrix, width = kernel_matrix(A, lambda: None)
    assert width == pytest.approx(mean_distance(A))
    np.testing.assert_allclose(matrix, kernel_in_loops(A, A, width), atol=1e-12)


def test_a_kernel_that_does_not_fit_is_refused() -> None:
    with pytest.raises(UserError, match=r"kernel of 10,000,000 examples takes 800000 GB.*kernel='linear'"):
        kernel_matrix(np.broadcast_to(np.zeros((1, 1)), (10_000_000, 1)), lambda: None)

"""Ridge regression of one right side after the other on the same examples: the matrix is factorised once.

Block by block, so that a stop is felt within a second: LAPACK's own factorisation cannot be interrupted.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, solve_triangular
from sklearn.metrics.pairwise import euclidean_distances

from pll.errors import UserError
from pll.methods.classical import Matrix, blocks
from pll.training.metrics import Hook

BLOCK = 256
"""Rows or columns of a kernel matrix that are worked on at once; a stop is felt between blocks."""


class Ridge(Protocol):
    """Regression of any P (n, c) on the features it was made for."""

    coef: Matrix
    intercept: npt.NDArray[np.float64]
    width: float

    def fit(self, P: Matrix) -> Matrix:
        """Set `coef` and `intercept` to the solution for P; returns the outputs Q (n, c)."""


class KernelRidge:
    """With the rbf kernel: (K + βI) A + 1 b' = P, 1'A = 0."""

    def __init__(self, X: Matrix, beta: float, hook: Hook) -> None:
        self.beta = beta
        matrix, self.width = kernel_matrix(X, hook)
        matrix[np.diag_indices(len(X))] += beta
        self._factor = cholesky_in_place(matrix, hook)
        self._ones = _solve(self._factor, np.ones((len(X), 1)))  # (K + βI)⁻¹ 1

    def fit(self, P: Matrix) -> Matrix:
        solved = _solve(self._factor, P)
        self.intercept = solved.sum(axis=0) / self._ones.sum()
        self.coef = solved - self._ones * self.intercept
        return P - self.beta * self.coef


class LinearRidge:
    """With the features themselves: W = (X̄'X̄ + βI)⁻¹ X̄'P on centred features X̄, b = mean(P) − mean(X)'W."""

    width = 1.0

    def __init__(self, X: Matrix, beta: float, hook: Hook) -> None:
        self._mean = X.mean(axis=0)
        self._centred = X - self._mean
        gram = beta * np.eye(X.shape[1])
        for rows in blocks(len(X), 4 * BLOCK):
            hook()
            part = self._centred[rows]
            gram += part.T @ part
        self._factor = cholesky_in_place(gram, hook)

    def fit(self, P: Matrix) -> Matrix:
        average = P.mean(axis=0)
        self.coef = _solve(self._factor, self._centred.T @ P)
        self.intercept = average - self._mean @ self.coef
        return self._centred @ self.coef + average


def kernel_matrix(X: Matrix, hook: Hook) -> tuple[Matrix, float]:
    """exp(−‖x_i − x_j‖² / 2σ²), (n, n) float64, and σ, the mean distance between two different rows (1 if that is 0).

    Raises:
        UserError: the matrix does not fit into memory.
    """
    n = len(X)
    try:
        matrix = np.empty((n, n))
    except MemoryError as error:
        raise UserError(
            f"The kernel of {n:,} examples takes {8 * n * n / 1e9:.0f} GB, more than there is; "
            "use kernel='linear', or fewer examples."
        ) from error
    distances = 0.0
    for rows in blocks(n, BLOCK):
        hook()
        matrix[rows] = euclidean_distances(X[rows], X, squared=True)
        distances += float(np.sqrt(matrix[rows]).sum())
    np.fill_diagonal(matrix, 0.0)  # rounding leaves up to 1e-12 there
    width = distances / (n * (n - 1)) or 1.0
    for rows in blocks(n, BLOCK):
        hook()
        matrix[rows] = gaussian(matrix[rows], width)
    return matrix, width


def gaussian(squared: Matrix, width: float) -> Matrix:
    """exp(−‖x − z‖² / 2σ²) of squared distances."""
    return np.exp(squared / (-2.0 * width * width))


def cholesky_in_place(matrix: Matrix, hook: Hook) -> Matrix:
    """The lower Cholesky factor L of a positive definite matrix (n, n), in its lower triangle; the rest is undefined.

    LAPACK would do it in one call, which for 10,000 rows cannot be stopped for half a minute. One block of columns
    after the other: subtract what the columns to its left explain, factorise the corner, solve for the rows below.
    """
    for start in range(0, len(matrix), BLOCK):
        hook()
        end = min(start + BLOCK, len(matrix))
        matrix[start:, start:end] -= matrix[start:, :start] @ matrix[start:end, :start].T
        corner = matrix[start:end, start:end] = np.linalg.cholesky(matrix[start:end, start:end])
        matrix[end:, start:end] = solve_triangular(corner, matrix[end:, start:end].T, lower=True, check_finite=False).T
    return matrix


def _solve(factor: Matrix, right: Matrix) -> Matrix:
    # The transpose of a row-major L is a column-major upper factor: LAPACK takes it without a copy of n² numbers.
    return cho_solve((factor.T, False), right, check_finite=False)

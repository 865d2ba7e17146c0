"""The Gaussian kernel, exact or approximate, and ridge regressions on it.

k(x, z) = exp(−‖x − z‖² / 2σ²). Where its (n, n) matrix K takes too much, Nyström's K̃ = Φ Φ' stands for it: Φ = K_nm L⁻'
with K_mm = L L' of m *centres*, rows drawn at random (`Nystrom`). What is linear in Φ has the kernel K̃. K − K̃ is
positive semi-definite, so that no entry of it exceeds the largest on its diagonal, which is known: 1 − ‖φ_i‖².

Ridge regression of any targets P (n, c): with the exact kernel (`KernelRidge`), on features that may be Φ
(`LinearRidge`), or with one of several ridges, chosen by predictions of each row from all others (`RidgeGrid`).

References
----------
Williams, Seeger. Using the Nyström method to speed up kernel machines. NIPS 2000. Allen. The relationship between
variable selection and data augmentation and a method for prediction. Technometrics 16, 1974 (a row without itself).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, solve_triangular
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from pll.errors import UserError
from pll.io import blocks
from pll.training.metrics import Hook, no_hook
from pll.weights import Floats

EXACT_KERNEL_UP_TO = 10_000
"""Maximum number of examples for which methods compute the exact kernel."""
JITTER = 1e-6
"""Added to the diagonal of the kernel of the centres, of which some may be equal."""
KERNEL_BLOCK = 256
"""Rows or columns of a kernel matrix that are computed at once; work can be stopped between blocks."""
MOST_LEVERAGE = 0.999
"""Of a row; what is predicted without a row of more would be noise."""

Points = npt.NDArray[np.floating]
Features = npt.NDArray[np.float32]


def gaussian(X: Points, Z: Points, width: float) -> Floats:
    """Return k of the rows of X (n, d) and of Z (m, d), (n, m).

    Parameters
    ----------
    X, Z
        Rows of features.
    width
        σ.
    """
    return np.asarray(rbf_kernel(X, Z, gamma=1 / (2 * width * width)))


def linear_in_kernel(
    X: Points, support: Points, width: float, coef: Floats, intercept: Floats, hook: Hook = no_hook
) -> Floats:
    """Return the (n, c) outputs of a machine for the rows of X (n, d): K coef + b, without support X coef + b.

    Parameters
    ----------
    X
        Rows of features.
    support
        (m, d) rows that K is of, or none.
    width
        σ.
    coef, intercept
        (m, c), or (d, c) without support; and b, (c,).
    hook
        Called between blocks of rows.
    """
    if not len(support):
        return np.asarray(X @ coef + intercept)
    outputs = np.empty((len(X), coef.shape[1]))
    for rows in blocks(len(X), KERNEL_BLOCK):
        hook()
        outputs[rows] = gaussian(X[rows], support, width) @ coef + intercept
    return outputs


def mean_distance(X: Points, centres: Points, hook: Hook = no_hook) -> float:
    """Return the mean distance of the rows of X (n, d) to centres (m, d) among them, a row to itself not counted.

    1 where that is 0.

    Parameters
    ----------
    X
        (n, d).
    centres
        (m, d), rows of X.
    hook
        Called between units of work; may wait, may raise.
    """
    distances = 0.0
    for rows in blocks(len(X), KERNEL_BLOCK):
        hook()
        distances += float(euclidean_distances(X[rows], centres).sum())
    return distances / max((len(X) - 1) * len(centres), 1) or 1.0


class Nystrom:
    """The features Φ of Nyström's kernel.

    Parameters
    ----------
    centres
        (m, d).
    width
        σ.
    hook
        Called between blocks.
    """

    def __init__(self, centres: Points, width: float, hook: Hook = no_hook) -> None:
        self.centres = np.asarray(centres, dtype=np.float64)
        self.width = width
        near = gaussian(self.centres, self.centres, width)
        near[np.diag_indices(len(near))] += JITTER
        self._root = cholesky_in_place(near, hook)

    def features(self, X: Points, *, constant: bool = False, hook: Hook = no_hook) -> Features:
        """Return Φ, (n, m) float32.

        Parameters
        ----------
        X
            (n, d).
        constant
            Whether to add a last column of ones.
        hook
            Called between blocks.
        """
        m = len(self.centres)
        result = np.ones((len(X), m + constant), dtype=np.float32)
        for rows in blocks(len(X), KERNEL_BLOCK):
            hook()
            near = gaussian(X[rows], self.centres, self.width)
            result[rows, :m] = solve_triangular(self._root, near.T, lower=True, check_finite=False).T
        return result

    def error(self, features: Features) -> Floats:
        """Return the diagonal of K − K̃, (n,) in [0, 1], of rows with these features."""
        own = features[:, : len(self.centres)]
        return np.asarray(np.clip(1.0 - np.einsum("ij,ij->i", own, own).astype(np.float64), 0.0, 1.0))

    def coefficients(self, weights: Floats) -> Floats:
        """Return what K_nm is multiplied with instead of Φ with weights (m, c): L⁻' weights."""
        return np.asarray(solve_triangular(self._root, weights, lower=True, trans="T", check_finite=False))


def nystrom_note(centres: int, error: Floats) -> str:
    """Return what a user should know of the approximate kernel, of which `error` (n,) is `Nystrom.error`.

    Parameters
    ----------
    centres
        How many.
    error
        (n,) `Nystrom.error`.
    """
    return (
        f"There are more than {EXACT_KERNEL_UP_TO:,} examples: the kernel is approximated by {centres:,} of them "
        f"(Nyström). Its entries are off by at most {error.max():.2f}, on the diagonal by {error.mean():.2f} on "
        "average (exact: 1)."
    )


class KernelRidge:
    """Ridge regression with the exact kernel: (K + βI) A + 1 b' = P, 1'A = 0; σ is the mean distance of two rows.

    Parameters
    ----------
    X
        (n, d).
    beta
        β, above 0; the intercept b is not regularised.
    hook
        Called between blocks.
    """

    def __init__(self, X: Floats, beta: float, hook: Hook = no_hook) -> None:
        self.beta, self.width = beta, mean_distance(X, X, hook)
        matrix = kernel_matrix(X, self.width, hook)
        matrix[np.diag_indices(len(X))] += beta
        self._factor = cholesky_in_place(matrix, hook)
        self._ones = _solve(self._factor, np.ones((len(X), 1)))  # (K + βI)⁻¹ 1

    def fit(self, P: Floats) -> Floats:
        """Set `coef` (n, c) and `intercept` (c,) to the solution for P; return the outputs (n, c)."""
        solved = _solve(self._factor, P)
        self.intercept = solved.sum(axis=0) / self._ones.sum()
        self.coef = solved - self._ones * self.intercept
        return np.asarray(P - self.beta * self.coef)


class LinearRidge:
    """Ridge regression on features Φ: W = (Φ̄'Φ̄ + βI)⁻¹ Φ̄'P on centred ones Φ̄, b = mean(P) − mean(Φ)'W.

    Parameters
    ----------
    features
        (n, m), float32 or float64; they are centred in place.
    beta
        β, above 0; the intercept b is not regularised.
    hook
        Called between blocks.
    """

    def __init__(self, features: Points, beta: float, hook: Hook = no_hook) -> None:
        self._mean = features.mean(axis=0, dtype=np.float64)
        self._centred = features
        gram = beta * np.eye(features.shape[1])
        for rows in blocks(len(features), 4 * KERNEL_BLOCK):
            hook()
            part = features[rows]
            part -= self._mean
            gram += part.T @ part
        self._factor = cholesky_in_place(gram, hook)

    def fit(self, P: Floats) -> Floats:
        """Set `coef` (m, c) and `intercept` (c,) to the solution for P; return the outputs (n, c)."""
        average, kind = P.mean(axis=0), self._centred.dtype
        self.coef = _solve(self._factor, (self._centred.T @ P.astype(kind)).astype(np.float64))
        self.intercept = average - self._mean @ self.coef
        return np.asarray(self._centred @ self.coef.astype(kind) + average)


class RidgeGrid:
    """Ridge regressions on features Φ (n, m), one for each λ; with the eigenvectors of Φ'Φ each is one product.

    Parameters
    ----------
    gram
        (m, m) Φ'Φ.

    Attributes
    ----------
    values, vectors
        (m,) eigenvalues, at least 0; (m, m) eigenvectors. *Rotated* is what is multiplied by these.
    """

    def __init__(self, gram: Floats) -> None:
        values, self.vectors = np.linalg.eigh(gram)
        self.values = np.maximum(values, 0.0)

    def without_own(self, rotated: Floats, reached: Floats, targets: Floats, ridge: float) -> Floats:
        """Return what is predicted of rows from all others, (f_i − h_i y_i) / (1 − h_i), h_i the leverage: (k, c).

        Parameters
        ----------
        rotated
            (k, m) features of rows that were learnt from.
        reached
            (m, c) Φ'Y of all rows, rotated.
        targets
            (k, c) Y of these rows.
        ridge
            λ, above 0.
        """
        shrinkage = 1 / (self.values + ridge)
        leverage = np.minimum((rotated**2 @ shrinkage)[:, None], MOST_LEVERAGE)
        return np.asarray((rotated @ (shrinkage[:, None] * reached) - leverage * targets) / (1 - leverage))

    def coefficients(self, reached: Floats, ridge: float) -> Floats:
        """Return the (m, c) solution for `reached` and λ, as for `without_own`.

        Parameters
        ----------
        reached, ridge
            As for `without_own`.
        """
        return np.asarray(self.vectors @ (reached / (self.values + ridge)[:, None]))


def kernel_matrix(X: Floats, width: float, hook: Hook = no_hook) -> Floats:
    """Return k of all pairs of rows of X (n, d), (n, n) float64.

    Parameters
    ----------
    X
        Rows of features.
    width
        σ.
    hook
        Called between blocks of rows.

    Raises
    ------
    UserError
        Not enough memory.
    """
    n = len(X)
    try:
        matrix = np.empty((n, n))
    except MemoryError as error:
        raise UserError(
            f"The kernel of {n:,} examples takes {8 * n * n / 1e9:.0f} GB, more than there is; "
            "use kernel='linear', or fewer examples."
        ) from error
    for rows in blocks(n, KERNEL_BLOCK):
        hook()
        matrix[rows] = gaussian(X[rows], X, width)
    return matrix


def cholesky_in_place(matrix: Floats, hook: Hook = no_hook) -> Floats:
    """Replace a positive definite matrix (n, n) by its lower Cholesky factor L; the upper triangle is undefined.

    LAPACK does it in one call, which for 10,000 rows cannot be stopped for half a minute. Here blocks of columns are
    processed from left to right: subtract the product of the columns before, factorise the diagonal block, solve for
    the rows below.

    Parameters
    ----------
    matrix
        (n, n), positive definite; it is overwritten.
    hook
        Called between units of work; may wait, may raise.
    """
    for start in range(0, len(matrix), KERNEL_BLOCK):
        hook()
        end = min(start + KERNEL_BLOCK, len(matrix))
        matrix[start:, start:end] -= matrix[start:, :start] @ matrix[start:end, :start].T
        corner = matrix[start:end, start:end] = np.linalg.cholesky(matrix[start:end, start:end])
        matrix[end:, start:end] = solve_triangular(corner, matrix[end:, start:end].T, lower=True, check_finite=False).T
    return matrix


def _solve(factor: Floats, right: Floats) -> Floats:
    # The transpose of a row-major L is a column-major upper factor: LAPACK takes it without a copy of n² numbers.
    return np.asarray(cho_solve((factor.T, False), right, check_finite=False))

"""The Gaussian kernel and the ridge regressions on it, against direct solutions."""

from __future__ import annotations

import numpy as np
import pytest

from pll.methods.kernels import KernelRidge, LinearRidge, Nystrom, RidgeGrid, kernel_matrix, mean_distance

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
P = RNG.dirichlet(np.ones(4), size=40)
SQUARED = ((X[:, None] - X[None]) ** 2).sum(axis=2)


def test_with_every_row_a_centre_nystrom_is_exact() -> None:
    kernel = Nystrom(X, 2.0)
    features = kernel.features(X)
    np.testing.assert_allclose(features @ features.T, np.exp(SQUARED / -8), atol=1e-4)
    assert kernel.error(features).max() < 1e-4
    weights = RNG.normal(size=(40, 2))
    further = RNG.normal(size=(5, 3))
    near = np.exp(((further[:, None] - X[None]) ** 2).sum(axis=2) / -8)
    np.testing.assert_allclose(near @ kernel.coefficients(weights), kernel.features(further) @ weights, atol=1e-3)


def test_no_entry_of_the_kernel_is_off_by_more_than_its_error() -> None:
    kernel = Nystrom(X[:7], 1.0)
    features = kernel.features(X)
    difference = np.exp(SQUARED / -2) - features @ features.T
    np.testing.assert_allclose(kernel.error(features), np.diag(difference), atol=1e-5)
    assert np.abs(difference).max() <= kernel.error(features).max() + 1e-5


def test_equal_centres_are_no_error() -> None:
    assert np.isfinite(Nystrom(np.ones((5, 2)), 1.0).features(X[:, :2])).all()


def test_the_width_is_the_mean_distance_of_two_rows() -> None:
    expected = np.sqrt(SQUARED).sum() / (40 * 39)
    assert mean_distance(X, X) == pytest.approx(expected)
    assert KernelRidge(X, 1.0).width == pytest.approx(expected)
    assert mean_distance(np.ones((3, 2)), np.ones((3, 2))) == 1.0


@pytest.mark.parametrize("kind", ["exact", "features"])
def test_a_ridge_is_least_squares_with_a_free_intercept(kind: str) -> None:
    beta = 0.3
    if kind == "exact":
        ridge: KernelRidge | LinearRidge = KernelRidge(X, beta)
        K = kernel_matrix(X, ridge.width)
    else:
        ridge = LinearRidge(X.copy(), beta)
        K = X @ X.T
    outputs = ridge.fit(P)
    centring = np.eye(40) - 1 / 40
    centred = centring @ K @ centring
    expected = P.mean(axis=0) + centred @ np.linalg.solve(centred + beta * np.eye(40), centring @ P)
    np.testing.assert_allclose(outputs, expected, atol=1e-8)
    np.testing.assert_allclose((K if kind == "exact" else X) @ ridge.coef + ridge.intercept, expected, atol=1e-8)


def test_a_row_without_itself_is_what_a_fit_of_all_others_says() -> None:
    grid = RidgeGrid(X.T @ X)
    rotated = X @ grid.vectors
    said = grid.without_own(rotated, rotated.T @ P, P, 0.5)
    for i in range(40):
        others = np.delete(np.arange(40), i)
        one = np.linalg.solve(X[others].T @ X[others] + 0.5 * np.eye(3), X[others].T @ P[others])
        np.testing.assert_allclose(said[i], X[i] @ one, atol=1e-10)
    whole = np.linalg.solve(X.T @ X + 0.5 * np.eye(3), X.T @ P)
    np.testing.assert_allclose(grid.coefficients(rotated.T @ P, 0.5), whole, atol=1e-10)

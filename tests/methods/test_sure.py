"""SURE against a whole system of equations and a quadratic program a row, both solved by general solvers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from pll.candidates import CandidateSets
from pll.methods import sure
from pll.methods.base import Task
from pll.methods.persistence import load_model, save_model
from pll.methods.sure import SURE
from pll.synthesis import flip_binomial
from pll.weights import dense, on_candidates

# 6 examples × 2 features × 4 classes: a singleton and a whole label set among them.
X = np.random.default_rng(4).normal(size=(6, 2)).astype(np.float32)
SETS = CandidateSets.from_lists([[0, 1], [1, 2, 3], [2], [0, 1, 2, 3], [0, 3], [1, 3]], 4)


def kernel_in_loops(A: np.ndarray, B: np.ndarray, width: float) -> np.ndarray:
    return np.array([[np.exp(-((a - b) ** 2).sum() / (2 * width**2)) for b in B] for a in A])


def mean_distance(A: np.ndarray) -> float:
    return float(np.mean([np.sqrt(((A[i] - A[j]) ** 2).sum()) for i in range(len(A)) for j in range(len(A)) if i != j]))


def row_by_a_solver(q: np.ndarray, lam: float) -> np.ndarray:
    """The p on the simplex that minimises ‖p − q‖² − λ max_j p_j: a quadratic program for each j to be the top."""
    best, value = q, np.inf
    for j in range(len(q)):
        constraints = [{"type": "eq", "fun": lambda p: p.sum() - 1}]
        constraints += [{"type": "ineq", "fun": lambda p, j=j, k=k: p[j] - p[k]} for k in range(len(q)) if k != j]
        result = minimize(
            lambda p, j=j: ((p - q) ** 2).sum() - lam * p[j],
            np.full(len(q), 1 / len(q)),
            method="SLSQP",
            bounds=[(0, 1)] * len(q),
            constraints=constraints,
            options={"ftol": 1e-14, "maxiter": 500},
        )
        if result.fun < value - 1e-12:
            best, value = result.x, result.fun
    return best


def sure_in_loops(rounds: int, lam: float, beta: float, kernel: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P after some rounds, and A and b of the last regression, from K (n, n) by one big system of equations."""
    A = X.astype(np.float64)
    K = kernel_in_loops(A, A, mean_distance(A)) if kernel == "rbf" else A @ A.T
    system = np.block([[K + beta * np.eye(6), np.ones((6, 1))], [np.ones((1, 6)), np.zeros((1, 1))]])
    P = dense(SETS.uniform_weights().astype(np.float64), SETS)
    for _ in range(rounds):
        solved = np.linalg.solve(system, np.vstack([P, np.zeros((1, 4))]))
        Q = K @ solved[:6] + solved[6]
        P = np.zeros((6, 4))
        for i in range(6):
            P[i, SETS[i]] = row_by_a_solver(Q[i, SETS[i]], lam)
    return P, solved[:6], solved[6]


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize(("lam", "beta"), [(0.3, 0.05), (0.05, 1.0)])
def test_three_rounds_are_those_of_general_solvers(kernel: str, lam: float, beta: float) -> None:
    P, A, b = sure_in_loops(3, lam, beta, kernel)
    fitted = SURE(lam=lam, beta=beta, kernel=kernel, max_rounds=3, tol=0, scale="none").fit(X, SETS)
    np.testing.assert_allclose(fitted.label_weights_, on_candidates(P, SETS), atol=1e-5)
    np.testing.assert_allclose(fitted.coef_, A if kernel == "rbf" else X.T.astype(np.float64) @ A, atol=1e-4)
    np.testing.assert_allclose(fitted.intercept_, b, atol=1e-5)
    new = np.random.default_rng(0).normal(size=(3, 2)).astype(np.float32)
    width = mean_distance(X.astype(np.float64))
    K = kernel_in_loops(new, X, width) if kernel == "rbf" else new @ X.T
    np.testing.assert_allclose(fitted.predict_scores(new), K @ A + b, atol=1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_objective_is_what_it_says_and_never_rises(kernel: str) -> None:
    lam, beta = 0.2, 0.1
    estimator = SURE(lam=lam, beta=beta, kernel=kernel, max_rounds=8, tol=0, scale="none")
    K = X.astype(np.float64) @ X.T.astype(np.float64)
    if kernel == "rbf":
        K = kernel_in_loops(X, X, mean_distance(X.astype(np.float64)))
    losses = []
    for record in estimator.iter_fit(Task(X, SETS)):
        P, Q = dense(record.label_weights, SETS), estimator.predict_scores(X)
        norm = (estimator.coef_**2).sum() if kernel == "linear" else (estimator.coef_ * (K @ estimator.coef_)).sum()
        expected = ((P - Q) ** 2).sum() - lam * P.max(axis=1).sum() + beta * norm
        assert record.loss == pytest.approx(expected / 6, abs=1e-4)
        losses.append(record.loss)
    assert all(later <= earlier + 1e-9 for earlier, later in pairwise(losses))
    assert len(losses) == 8


# ---- regression in blocks, against numpy's own -----------------------------------------------------------------------


def test_the_kernel_is_chosen_by_the_covering_rate(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    corners = rng.uniform(-1, 1, size=(150, 2)).astype(np.float32)
    y = (corners.prod(axis=1) > 0).astype(int) + 2 * (np.abs(corners).max(axis=1) < 0.5)  # no line tells them apart
    sets = flip_binomial(y, 4, 0.2, seed=0)
    fitted = SURE().fit(corners, sets)
    assert fitted.kernel_ == "rbf"
    np.testing.assert_array_equal(fitted.label_weights_, SURE(kernel="rbf").fit(corners, sets).label_weights_)
    save_model(fitted, tmp_path, method="sure")
    again = load_model(tmp_path)
    assert again.kernel == "rbf"
    np.testing.assert_array_equal(again.predict_scores(corners), fitted.predict_scores(corners))


class TestManyExamples:
    """Beyond EXACT_UP_TO the kernel is Nyström's."""

    @pytest.fixture
    def small_limits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sure, "EXACT_KERNEL_UP_TO", 40)
        monkeypatch.setattr(sure, "KERNEL_CENTRES", 30)

    @staticmethod
    def data() -> tuple[np.ndarray, CandidateSets, np.ndarray]:
        rng = np.random.default_rng(1)
        y = np.arange(60) % 3
        X = (rng.normal(size=(60, 3)) + 4 * np.eye(3)[y]).astype(np.float32)
        return X, flip_binomial(y, 3, 0.4, seed=0), y

    @pytest.mark.usefixtures("small_limits")
    def test_it_is_ridge_regression_with_the_kernel_of_the_centres(self) -> None:
        X, sets, _ = self.data()
        model = SURE(kernel="rbf", max_rounds=1, scale="none").fit(X, sets)
        assert model.support_.shape == (30, 3) and model.coef_.shape == (30, 3)
        K_mm = kernel_in_loops(model.support_, model.support_, float(model.width_)) + 1e-6 * np.eye(30)
        K_nm = kernel_in_loops(X.astype(np.float64), model.support_, float(model.width_))
        approximate = K_nm @ np.linalg.solve(K_mm, K_nm.T)
        P = dense(sets.uniform_weights().astype(np.float64), sets)
        centring = np.eye(60) - 1 / 60
        centred = centring @ approximate @ centring
        Q = P.mean(axis=0) + centred @ np.linalg.solve(centred + model.beta * np.eye(60), centring @ P)
        np.testing.assert_allclose(model.predict_scores(X), Q, atol=1e-3)

    @pytest.mark.usefixtures("small_limits")
    def test_the_stated_error_bounds_every_entry_of_the_kernel(self) -> None:
        X, sets, _ = self.data()
        model = SURE(kernel="rbf", max_rounds=1, scale="none").fit(X, sets)
        width = float(model.width_)
        K = kernel_in_loops(X.astype(np.float64), X.astype(np.float64), width)
        K_nm = kernel_in_loops(X.astype(np.float64), model.support_, width)
        K_mm = kernel_in_loops(model.support_, model.support_, width)
        difference = K - K_nm @ np.linalg.solve(K_mm + 1e-6 * np.eye(30), K_nm.T)
        np.testing.assert_allclose(model.kernel_error_, np.diag(difference), atol=1e-5)
        assert np.abs(difference).max() <= model.kernel_error_.max() + 1e-5
        assert f"{model.kernel_error_.max():.2f}" in model.notes_[0]

    def test_with_every_example_a_centre_it_is_exact(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X, sets, _ = self.data()
        exact = SURE(kernel="rbf").fit(X, sets)
        monkeypatch.setattr(sure, "EXACT_KERNEL_UP_TO", 40)
        monkeypatch.setattr(sure, "KERNEL_CENTRES", 59)
        near = SURE(kernel="rbf").fit(X, sets)
        np.testing.assert_allclose(near.label_weights_, exact.label_weights_, atol=0.05)
        np.testing.assert_array_equal(near.identify(), exact.identify())
        assert not exact.notes_ and len(exact.kernel_error_) == 0

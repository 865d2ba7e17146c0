"""SURE against a whole system of equations and a quadratic program a row, both solved by general solvers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import sure
from pll.methods.base import Task
from pll.methods.persistence import load_model, save_model
from pll.methods.sure import SURE, cholesky_in_place, confidences, kernel_matrix, project_on_simplex
from pll.synthesis import flip_binomial
from pll.training.metrics import StopTraining
from pll.weights import dense, on_candidates
from tests.methods.cases import mean_accuracy
from tests.strategies import candidate_sets, sets_and_scores

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
        found = minimize(
            lambda p, j=j: ((p - q) ** 2).sum() - lam * p[j],
            np.full(len(q), 1 / len(q)),
            method="SLSQP",
            bounds=[(0, 1)] * len(q),
            constraints=constraints,
            options={"ftol": 1e-14, "maxiter": 500},
        )
        if found.fun < value - 1e-12:
            best, value = found.x, found.fun
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


def test_the_linear_kernel_is_ridge_regression() -> None:
    fitted = SURE(kernel="linear", max_rounds=1, beta=0.7, scale="none").fit(X, SETS)
    ridge = Ridge(alpha=0.7).fit(X, dense(SETS.uniform_weights(), SETS))
    np.testing.assert_allclose(fitted.coef_, ridge.coef_.T, atol=1e-5)
    np.testing.assert_allclose(fitted.intercept_, ridge.intercept_, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(sets_and_scores(largest=3.0), st.sampled_from([0.0, 0.05, 0.3, 1.0]))
def test_confidences_are_the_best_there_are(case: tuple[CandidateSets, np.ndarray], lam: float) -> None:
    sets, scores = case
    q = on_candidates(scores.astype(np.float64), sets)
    p = confidences(q, sets, lam)
    for i in range(len(sets)):
        at = slice(sets.indptr[i], sets.indptr[i + 1])
        best = row_by_a_solver(q[at], lam)

        def value(row: np.ndarray, at: slice = at) -> float:
            return float(((row - q[at]) ** 2).sum() - lam * row.max())

        assert p[at].min() >= 0 and p[at].sum() == pytest.approx(1)
        assert value(p[at]) <= value(best) + 1e-6 * (1 + np.abs(q[at]).max())
        assert p[at].argmax() == q[at].argmax()  # the identified label is the regression's own


@settings(max_examples=60, deadline=None)
@given(sets_and_scores(largest=1e6))
def test_projection_meets_the_conditions_of_optimality(case: tuple[CandidateSets, np.ndarray]) -> None:
    """p = max(v − θ, 0) for one θ a row, on the simplex: there is only one such p."""
    sets, scores = case
    values = on_candidates(scores.astype(np.float64), sets)
    p = project_on_simplex(values, sets.indptr)
    for i in range(len(sets)):
        at = slice(sets.indptr[i], sets.indptr[i + 1])
        row, v = p[at], values[at]
        assert row.min() >= 0 and row.sum() == pytest.approx(1, abs=1e-9)
        theta = (v - row)[row > 0]
        scale = 1e-12 * (1 + np.abs(v).max())
        assert np.ptp(theta) <= 10 * scale
        assert (v[row == 0] <= theta[0] + 10 * scale).all()


def test_many_rows_lose_no_precision() -> None:
    rng = np.random.default_rng(0)
    values, indptr = rng.normal(size=600_000) * 100, np.arange(0, 600_001, 3)
    p = project_on_simplex(values, indptr).reshape(-1, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(project_on_simplex(values[-3:], np.array([0, 3])), p[-1], atol=1e-9)


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


def test_it_ends_when_the_confidences_settle() -> None:
    assert len(list(SURE(tol=1e-6).iter_fit(Task(X, SETS)))) < 100
    assert len(list(SURE(tol=1.0).iter_fit(Task(X, SETS)))) == 1


@settings(max_examples=20, deadline=None)
@given(candidate_sets(min_n=3, min_c=2), st.integers(0, 2**32 - 1), st.sampled_from(["rbf", "linear"]))
def test_the_order_of_examples_and_classes_does_not_matter(sets: CandidateSets, seed: int, kernel: str) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(len(sets), 2)).astype(np.float32)
    examples, classes = rng.permutation(len(sets)), rng.permutation(sets.n_classes)
    mixed = CandidateSets.from_mask(sets.mask()[examples][:, classes])
    # λ = 0 keeps it continuous: with λ > 0 a tie within rounding may fall to either side.
    plain = SURE(lam=0.0, kernel=kernel, max_rounds=5).fit(features, sets)
    moved = SURE(lam=0.0, kernel=kernel, max_rounds=5).fit(features[examples], mixed)
    expected = dense(plain.label_weights_, sets)[examples][:, classes]
    np.testing.assert_allclose(dense(moved.label_weights_, mixed), expected, atol=1e-4)


def test_prediction_in_blocks_is_prediction_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    new = np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32)
    fitted = SURE().fit(X, SETS)
    at_once = fitted.predict_scores(new)
    monkeypatch.setattr(sure, "BLOCK", 4)
    np.testing.assert_allclose(fitted.predict_scores(new), at_once, atol=1e-5)


def test_a_large_kernel_is_announced() -> None:
    assert SURE.cost(5_000, 50, 20, 15_000).note is None
    assert "10,000 examples takes 0.9 GB" in str(SURE.cost(10_000, 50, 20, 30_000).note)


def test_probabilities_are_the_nearest_point_of_the_simplex() -> None:
    fitted = SURE().fit(X, SETS)
    scores, shares = fitted.predict_scores(X * 3), fitted.predict_proba(X * 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_array_equal(shares.argmax(axis=1), scores.argmax(axis=1))
    for row, share in zip(scores, shares, strict=True):
        np.testing.assert_allclose(row_by_a_solver(row.astype(np.float64), 0.0), share, atol=1e-4)


def test_the_linear_model_is_a_torch_module_and_the_kernel_is_not() -> None:
    fitted = SURE(kernel="linear").fit(X * 50, SETS)
    module = fitted.module()
    assert module is not None
    with torch.no_grad():
        np.testing.assert_allclose(module(torch.from_numpy(X * 50)), fitted.predict_scores(X * 50), atol=1e-5)
    assert SURE().fit(X, SETS).module() is None


def test_stopped_before_the_first_round_it_can_still_predict() -> None:
    def hook() -> None:
        raise StopTraining

    for kernel in ("rbf", "linear"):
        estimator = SURE(kernel=kernel)
        with pytest.raises(StopTraining):
            list(estimator.iter_fit(Task(X, SETS), hook=hook))
        assert estimator.predict_proba(X).sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(
    "bad", [{"lam": -0.1}, {"lam": "auto"}, {"beta": 0}, {"beta": float("nan")}, {"max_rounds": 0}, {"tol": -1}]
)
def test_settings_that_do_not_exist_are_refused_in_words(bad: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=rf"^{next(iter(bad))} is .*; it must be a "):
        SURE(**bad).fit(X, SETS)
    with pytest.raises(UserError, match="no kernel called 'poly'; use one of rbf, linear"):
        SURE(kernel="poly").fit(X, SETS)


@pytest.mark.slow
@pytest.mark.parametrize(("q", "transductive", "test"), [(0.1, 99.8, 98.8), (0.7, 98.2, 97.3)])
@pytest.mark.parametrize("scale", ["auto", "none"])
def test_digits_are_within_two_points_of_other_implementations(
    q: float, transductive: float, test: float, scale: str
) -> None:
    np.testing.assert_allclose(mean_accuracy(SURE, q, scale=scale), [transductive, test], atol=2.0)


# ---- regression in blocks, against numpy's own -----------------------------------------------------------------------


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


def test_the_kernel_is_chosen_by_the_covering_rate(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    corners = rng.uniform(-1, 1, size=(150, 2)).astype(np.float32)
    y = (corners.prod(axis=1) > 0).astype(int) + 2 * (np.abs(corners).max(axis=1) < 0.5)  # no line tells them apart
    sets = flip_binomial(y, 4, 0.2, seed=0)
    fitted = SURE().fit(corners, sets)
    assert fitted.kernel_ == "rbf"
    np.testing.assert_array_equal(fitted.label_weights_, SURE(kernel="rbf").fit(corners, sets).label_weights_)
    save_model(fitted, tmp_path, method="sure", input_shape=(2,))
    again = load_model(tmp_path)
    assert again.kernel == "rbf"
    np.testing.assert_array_equal(again.predict_scores(corners), fitted.predict_scores(corners))


class TestManyExamples:
    """Beyond EXACT_UP_TO the kernel is Nyström's."""

    @pytest.fixture
    def small_limits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sure, "EXACT_UP_TO", 40)
        monkeypatch.setattr(sure, "CENTRES", 30)

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
        monkeypatch.setattr(sure, "EXACT_UP_TO", 40)
        monkeypatch.setattr(sure, "CENTRES", 59)
        near = SURE(kernel="rbf").fit(X, sets)
        np.testing.assert_allclose(near.label_weights_, exact.label_weights_, atol=0.05)
        np.testing.assert_array_equal(near.identify(), exact.identify())
        assert not exact.notes_ and len(exact.kernel_error_) == 0

    @pytest.mark.usefixtures("small_limits")
    def test_a_saved_model_predicts_the_same(self, tmp_path: Path) -> None:
        X, sets, _ = self.data()
        model = SURE(kernel="rbf").fit(X, sets)
        save_model(model, tmp_path, method="sure", input_shape=(3,))
        np.testing.assert_allclose(load_model(tmp_path).predict_scores(X), model.predict_scores(X), atol=1e-6)

    def test_the_estimate_of_the_cost_no_longer_grows_with_the_square(self) -> None:
        cost = SURE.cost(20_000, 280, 170, 80_000)
        assert cost.memory_bytes < 1e9 and cost.seconds < 60

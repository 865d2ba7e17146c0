"""PL-SVM against Pegasos written out in loops, finite differences, and a quadratic program where it is convex."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from pll.candidates import CandidateSets
from pll.methods.plsvm import LAM_GRID, PLSVM, Pegasos, with_constant
from pll.synthesis import flip_binomial

# 8 examples × 2 features × 3 classes: singletons and a whole label set among them.
X = np.random.default_rng(1).normal(size=(8, 2))
SETS = CandidateSets.from_lists([[0, 1], [1, 2], [2], [0, 1, 2], [0, 2], [1], [0], [1, 2]], 3)


def hinge(scores: np.ndarray, inside: list[int]) -> float:
    others = [scores[j] for j in range(len(scores)) if j not in inside]
    return max(0.0, 1 - (max(scores[j] for j in inside) - max(others))) if others else 0.0


def pegasos_in_loops(X: np.ndarray, sets: CandidateSets, lam: float, batches: list[list[int]]) -> np.ndarray:
    """One example and one weight after the other."""
    d, c = X.shape[1], sets.n_classes
    W = np.zeros((d, c))
    for t, batch in enumerate(batches, start=1):
        step = np.zeros((d, c))
        for i in batch:
            inside, others = sets[i].tolist(), [j for j in range(c) if j not in sets[i]]
            g = X[i] @ W
            if hinge(g, inside) == 0:
                continue
            good = [j for j in inside if g[j] >= max(g[inside]) - 1e-9]
            bad = [j for j in others if g[j] >= max(g[others]) - 1e-9]
            for j in good:
                step[:, j] += X[i] / len(good)
            for j in bad:
                step[:, j] -= X[i] / len(bad)
        W = (1 - 1 / t) * W + step / (lam * t * len(batch))
        W *= min(1.0, 1 / np.sqrt(lam) / np.linalg.norm(W))
    return W


@pytest.mark.parametrize("lam", [0.01, 1.0, 100.0])
def test_steps_are_those_of_pegasos(lam: float) -> None:
    features = with_constant(X)
    batches = [[0, 3, 5], [1, 2, 4], [6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [3], [7]]
    machine = Pegasos((lam,), 3, 3)
    machine.begin(features, SETS, [np.array(batches[0])])
    for number, batch in enumerate(batches[1:], start=1):
        before = pegasos_in_loops(features, SETS, lam, batches[:number])
        np.testing.assert_allclose(machine.W[0], before)
        expected = sum(hinge(features[i] @ before, SETS[i].tolist()) for i in batch)
        assert machine.step(features[batch], SETS.mask()[batch])[0] == pytest.approx(expected)
    np.testing.assert_allclose(machine.W[0], pegasos_in_loops(features, SETS, lam, batches))


def test_without_ambiguity_it_reaches_the_optimum_of_the_convex_problem() -> None:
    """With one candidate each it is Crammer & Singer's machine, a quadratic program."""
    sets = CandidateSets.from_labels([0, 1, 2, 0, 1, 2, 0, 1], 3)
    features, lam, y = with_constant(X), 0.1, sets.indices

    def objective(theta: np.ndarray) -> float:
        return 0.5 * lam * (theta[:9] ** 2).sum() + theta[9:].mean()

    def slack(theta: np.ndarray) -> np.ndarray:
        g = features @ theta[:9].reshape(3, 3)
        return np.array([theta[9 + i] - (j != y[i]) + g[i, y[i]] - g[i, j] for i in range(8) for j in range(3)])

    program = minimize(objective, np.ones(17), method="SLSQP", constraints={"type": "ineq", "fun": slack}, tol=1e-12)
    assert program.success
    fitted = PLSVM(lam=lam, epochs=3000, batch_size=8, scale="none").fit(X, sets)
    W = np.vstack([fitted.coef_, fitted.intercept_])
    reached = 0.5 * lam * (W**2).sum() + np.mean([hinge(features[i] @ W, [y[i]]) for i in range(8)])
    assert program.fun - 1e-6 <= reached <= 1.01 * program.fun


def test_the_order_of_the_classes_does_not_matter() -> None:
    classes = np.array([2, 0, 1])
    for lam in (0.01, 1.0):
        plain = PLSVM(lam=lam, epochs=20, batch_size=3).fit(X, SETS)
        moved = PLSVM(lam=lam, epochs=20, batch_size=3).fit(X, CandidateSets.from_mask(SETS.mask()[:, classes]))
        np.testing.assert_allclose(moved.coef_, plain.coef_[:, classes], atol=1e-9)


def test_lambda_is_chosen_by_the_covering_rate() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    features = (rng.normal(size=(90, 3)) + 2 * np.eye(3)[y]).astype(np.float32)
    sets = flip_binomial(y, 3, 0.3, seed=0)
    estimator = PLSVM(epochs=5).fit(features, sets)
    assert tuple(estimator.covering_rates_) == LAM_GRID
    assert estimator.covering_rates_[estimator.lam_] == max(estimator.covering_rates_.values())
    assert PLSVM(lam=0.5, epochs=1).fit(features, sets).lam_ == 0.5

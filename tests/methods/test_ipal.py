"""IPAL against loops over examples, with non-negative least squares by trying every set of active neighbours."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.methods.ipal import IPAL, reconstruction_weights
from tests.methods.cases import table

RNG = np.random.default_rng(8)
X = RNG.normal([2.0, 0.0, 0.0], size=(7, 3))
X_NEW = RNG.normal([2.0, 0.0, 0.0], size=(5, 3))
SETS = CandidateSets.from_lists([[0, 1], [1, 2, 3], [2], [0, 1, 2, 3], [0, 3], [1, 3], [2, 3]], 4)
K = 3


def unit(rows: np.ndarray) -> np.ndarray:
    rows = rows.astype(np.float32).astype(np.float64)
    return rows / np.sqrt((rows**2).sum(axis=-1, keepdims=True))


def best_weights(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """min ‖x − z'w‖², w ≥ 0: the best of all least-squares solutions on a subset that have no negative weight."""
    best, error = np.zeros(len(z)), (x**2).sum()
    for size in range(1, len(z) + 1):
        for subset in combinations(range(len(z)), size):
            w = np.zeros(len(z))
            w[list(subset)] = np.linalg.lstsq(z[list(subset)].T, x, rcond=None)[0]
            if (w >= 0).all() and ((x - w @ z) ** 2).sum() < error - 1e-12:
                best, error = w, ((x - w @ z) ** 2).sum()
    return best


def nearest(x: np.ndarray, others: list[int], rows: np.ndarray) -> list[int]:
    return sorted(others, key=lambda j: float(((x - rows[j]) ** 2).sum()))[:K]


def ipal_in_loops(rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Label weights (n, c), and the squared error of each class on X_NEW (infinite without a neighbour)."""
    rows, mask, n = unit(X), SETS.mask(), len(X)
    W = np.zeros((n, n))
    for i in range(n):
        near = nearest(rows[i], [j for j in range(n) if j != i], rows)
        w = best_weights(rows[i], rows[near])
        W[i, near] = w / w.sum() if w.sum() else 1 / K
    F0 = mask / mask.sum(axis=1, keepdims=True)
    F = F0.copy()
    for _ in range(rounds):
        F = (0.95 * W @ F + 0.05 * F0) * mask
        F /= F.sum(axis=1, keepdims=True)
    F = F * F0.sum(axis=0) / F.sum(axis=0)
    F /= F.sum(axis=1, keepdims=True)
    labels = F.argmax(axis=1)
    errors = np.full((len(X_NEW), 4), np.inf)
    for i, x in enumerate(unit(X_NEW)):
        near = nearest(x, list(range(n)), rows)
        w = best_weights(x, rows[near])
        for label in set(labels[near].tolist()):
            part = sum(w[r] * rows[near[r]] for r in range(K) if labels[near[r]] == label)
            errors[i, label] = ((x - part) ** 2).sum()
    return F, errors


@pytest.mark.parametrize("rounds", [1, 2, 100])
def test_it_equals_the_loops(rounds: int) -> None:
    estimator = IPAL(k=K, propagations=rounds, scale="none").fit(X, SETS)
    weights, errors = ipal_in_loops(rounds)
    np.testing.assert_allclose(table(estimator), weights, atol=1e-5)
    explained = estimator.predict_scores(X_NEW)
    near = np.isfinite(errors)
    np.testing.assert_allclose(explained[near], 1 - errors[near], atol=1e-5)
    assert (explained[~near] == -1).all() and (~near).any()
    np.testing.assert_array_equal(estimator.predict(X_NEW), errors.argmin(axis=1))


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 6))
def test_reconstruction_weights_are_the_least_squares_without_negative_ones(seed: int, k: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(3, d)), rng.normal(size=(3, k, d))
    for i, w in enumerate(reconstruction_weights(x, z)):
        expected = best_weights(x[i], z[i])
        assert (w >= 0).all()
        assert ((x[i] - w @ z[i]) ** 2).sum() == pytest.approx(((x[i] - expected @ z[i]) ** 2).sum(), abs=1e-9)


def test_twins_and_examples_of_zeros_are_no_trouble() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    sets = CandidateSets.from_lists([[0, 1], [0], [0, 2], [1, 2], [0, 1, 2], [2]], 3)
    estimator = IPAL(k=2, scale="none").fit(rows, sets)
    assert table(estimator)[0, 0] > 0.9  # its twin is sure
    probabilities = estimator.predict_proba(-rows)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)

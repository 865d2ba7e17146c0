"""What the tests of the classical methods share: a small problem, digits with a fifth held out, permutations."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from pll.candidates import CandidateSets
from pll.methods.base import PartialLabelEstimator
from pll.synthesis import flip_binomial
from pll.weights import dense

Digits = tuple[np.ndarray, np.ndarray, CandidateSets, np.ndarray, np.ndarray]


def digits(seed: int, q: float) -> Digits:
    """X, y, candidates, X_test, y_test: 20 % held out, binomial flipping."""
    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    test, train = order[:359], order[359:]
    X = (data.data / 16).astype(np.float32)
    y = data.target.astype(np.int64)
    return X[train], y[train], flip_binomial(y[train], 10, q, seed), X[test], y[test]


def mean_accuracy(method: type[PartialLabelEstimator], q: float, seeds: int = 2, **own: Any) -> tuple[float, float]:
    """Transductive and test accuracy on digits in %, mean over the seeds."""
    both = []
    for seed in range(seeds):
        X, y, sets, X_test, y_test = digits(seed, q)
        estimator = method(seed=seed, **own).fit(X, sets)  # type: ignore[call-arg]
        both.append(((estimator.identify() == y).mean(), (estimator.predict(X_test) == y_test).mean()))
    transductive, test = 100 * np.mean(both, axis=0)
    return float(transductive), float(test)


def clusters(seed: int, n: int = 40, c: int = 4, d: int = 5, q: float = 0.4) -> tuple[np.ndarray, CandidateSets]:
    """Features around a centre a class, and candidate sets, some of them singletons."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, c, n)
    X = (rng.normal(size=(n, d)) + 2 * rng.normal(size=(c, d))[y]).astype(np.float32)
    mask = rng.random((n, c)) < q
    mask[np.arange(n), y] = True
    return X, CandidateSets.from_mask(mask)


def permuted(sets: CandidateSets, rows: np.ndarray, classes: np.ndarray) -> CandidateSets:
    """The sets in another order of examples and classes: class j becomes position j of `classes`."""
    return CandidateSets.from_mask(sets.mask()[rows][:, classes])


def table(estimator: PartialLabelEstimator) -> np.ndarray:
    """(n, c) label weights."""
    return dense(estimator.label_weights_, estimator.candidates_)

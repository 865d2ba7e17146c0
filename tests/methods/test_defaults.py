"""Learning rate and batch size where nothing is said."""

from __future__ import annotations

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.defaults import TABLE_LR, default_lr
from pll.methods.proden import PRODEN

RNG = np.random.default_rng(0)
TABLE_X = RNG.normal(size=(40, 9)).astype(np.float32)
PICTURES = (RNG.normal(size=(40, 1, 1, 1)) + 0.2 * RNG.normal(size=(40, 1, 9, 9))).astype(np.float32)
SETS = CandidateSets.from_lists([[k % 3, (k + 1) % 3] for k in range(40)], n_classes=3)


def rate(X: np.ndarray, model: str = "linear", optimiser: str = "sgd") -> float:
    return default_lr(model, optimiser, X, "auto")


@pytest.mark.parametrize("n", [40, 12])
def test_linear_models_of_pictures_take_a_step_by_the_largest_moment(n: int) -> None:
    X = PICTURES[:n]
    x = ((X - X.mean()) / X.std()).reshape(n, -1).astype(np.float64)
    largest = np.linalg.eigvalsh(x.T @ x / n)[-1]
    assert rate(X) == pytest.approx(min(2 / largest, TABLE_LR), rel=0.05)
    assert rate(np.zeros_like(X)) == TABLE_LR


@pytest.mark.parametrize("X", [TABLE_X, PICTURES])
def test_it_is_what_training_uses_and_saves(X: np.ndarray) -> None:
    estimator = PRODEN(epochs=1)
    for _ in estimator.iter_fit(Task(X, SETS)):
        assert estimator.trainer is not None
        assert estimator.trainer.optimisation.lr == rate(X)
    assert estimator.get_params()["lr"] is None
    assert estimator.fitted_params()["lr"] == rate(X)
    fixed = PRODEN(epochs=1, lr=rate(X)).fit(X, SETS)
    np.testing.assert_array_equal(fixed.predict_proba(X), estimator.predict_proba(X))

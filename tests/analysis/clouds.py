"""Examples in one cloud per class, and PRODEN fitted on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pll.candidates import CandidateSets
from pll.methods import METHODS
from pll.methods.base import Task
from pll.synthesis import flip_binomial

C = 4


def clouds(n: int = 200, *, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], CandidateSets]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, C, n)
    X = (rng.normal(size=(n, 5)) + 4 * np.eye(C, 5)[y]).astype(np.float32)
    return X, y, flip_binomial(y, C, q=0.4, seed=seed)


def fitted(sets: CandidateSets, X: np.ndarray[Any, Any], **params: Any) -> tuple[Any, list[dict[str, Any]]]:
    estimator = METHODS["proden"](model="linear", epochs=20, threads=1, **params)
    return estimator, [record.metrics() for record in estimator.iter_fit(Task(X, sets))]

"""Small sources to export from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pll.export import ExportSource
from pll.methods import METHODS
from pll.synthesis import flip_binomial

NAMES = ("NA", "None", "1", "日本語", "a|b", 'say "hi", ok', "two\nlines", "=1+1", "back\rward", " `x` ")
"""What breaks tables: missing-value words, numbers, separators, quotes, line ends, formulas, spaces."""


def make_source(model: object = "linear", shape: tuple[int, ...] = (5,), n: int = 60, **more: object) -> ExportSource:
    """A fitted PRODEN over the names that break tables."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(NAMES), n)
    X = (rng.normal(size=(n, *shape)) * 30 + 200).astype(np.float32)  # raw: far from mean 0 and variance 1
    candidates = flip_binomial(y, len(NAMES), 0.4, class_names=NAMES)
    estimator = METHODS["proden"](model=model, epochs=2, missing="mean").fit(X, candidates)
    truth = np.where(rng.random(n) < 0.3, -1, y)
    given = {
        "name": "Odd names, 10",
        "input_shape": shape,
        "config": {"epochs": 2},
        "metrics": {"transductive_accuracy": 0.5},
        "y": truth,
        "held_out": estimator.label_weights_,
        "replay": lambda: "<!doctype html><title>replay</title>",
    }
    ids = np.array([f"id {row}" for row in range(n)])
    return ExportSource(estimator, "proden", candidates, estimator.label_weights_, ids, **(given | more))


@pytest.fixture(scope="session")
def source() -> ExportSource:
    """A linear model on a table."""
    return make_source()


@pytest.fixture(scope="session")
def sources() -> Callable[..., ExportSource]:
    """Makes others."""
    return make_source

"""Small sources to export from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pytest
from torch.onnx._internal.exporter import _registration

from pll.dataset import PartialLabelDataset
from pll.export.source import ExportSource
from pll.methods import METHODS
from pll.review.label_snapshot import LabelSnapshot
from pll.runs.data import Splits
from pll.synthesis import flip_binomial

NAMES = ("NA", "None", "1", "日本語", "a|b", 'say "hi", ok', "two\nlines", "=1+1", "back\rward", " `x` ")
"""What breaks tables: missing-value words, numbers, separators, quotes, line ends, formulas, spaces."""


def make_source(
    model: object = "linear", shape: tuple[int, ...] = (5,), n: int = 60, feature_names: tuple[str, ...] = ()
) -> ExportSource:
    """A fitted PRODEN over the names that break tables."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, len(NAMES), n)
    X = (rng.normal(size=(n, *shape)) * 30 + 200).astype(np.float32)  # raw: far from mean 0 and variance 1
    candidates = flip_binomial(y, len(NAMES), 0.4, class_names=NAMES)
    estimator = METHODS["proden"](model=model, epochs=2, missing="mean").fit(X, candidates)
    truth = np.where(rng.random(n) < 0.3, -1, y)
    ids = np.array([f"id {row}" for row in range(n)])
    data = PartialLabelDataset(X, candidates, truth, ids=ids, feature_names=feature_names)
    return ExportSource(
        estimator,
        "proden",
        LabelSnapshot("run", ids, candidates, estimator.label_weights_, estimator.label_weights_),
        Splits(data),
        "Odd names, 10",
        config={"epochs": 2},
        metrics={"transductive_accuracy": 0.5},
        replay=lambda: "<!doctype html><title>replay</title>",
    )


@pytest.fixture(autouse=True, scope="session")
def _one_table_of_operators() -> Iterator[None]:
    """What torch knows of ONNX operators is put together once, and not for each program."""
    with pytest.MonkeyPatch.context() as patched:
        once = staticmethod(cache(_registration.ONNXRegistry.from_torchlib))
        patched.setattr(_registration.ONNXRegistry, "from_torchlib", once)
        yield


@pytest.fixture(scope="session")
def source() -> ExportSource:
    """A linear model on a table."""
    return make_source()


@pytest.fixture(scope="session")
def sources() -> Callable[..., ExportSource]:
    """Makes others."""
    return make_source

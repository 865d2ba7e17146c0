"""The real files beside the checkout, found by name, against the counts of their README."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pll.catalog import load


@pytest.mark.slow
def test_mnist(shared: Path, cache: Path) -> None:
    data = load("mnist", download=False)
    assert data.X.shape == (70_000, 1, 28, 28) and data.X.dtype == np.float32
    assert (float(data.X.min()), float(data.X.max())) == (0.0, 1.0)
    assert data.is_test is not None and data.is_test.sum() == 10_000 and data.is_test[60_000:].all()
    assert data.y is not None and data.y[:5].tolist() == [5, 0, 4, 1, 9] and data.y[60_000:60_003].tolist() == [7, 2, 1]
    assert float(data.X[:60_000].mean(dtype=np.float64)) == pytest.approx(0.1307, abs=1e-4)  # known to every tutorial
    assert not cache.exists()


@pytest.mark.slow
def test_cifar10_subset(shared: Path) -> None:
    data = load("cifar10-subset", download=False)
    assert data.X.shape == (20_000, 3, 32, 32) and float(data.X.max()) == 1.0
    assert data.is_test is not None and data.is_test.sum() == 10_000
    assert data.y is not None and np.bincount(data.y[10_000:]).tolist() == [1000] * 10
    assert data.class_names[data.y[0]] == "frog"

"""Datasets bundled with scikit-learn: Digits, Iris and Wine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pll.catalog.entry import Entry
from pll.dataset import PartialLabelDataset

_UCI = "https://archive.ics.uci.edu/dataset"


def _digits(_: Mapping[str, Path]) -> PartialLabelDataset:
    from sklearn.datasets import load_digits

    digits = load_digits()
    pixels = digits.images[:, None] / 16  # (n, 1, 8, 8); 16 is white
    return PartialLabelDataset(
        X=pixels.astype(np.float32), y=digits.target, class_names=_names(digits.target_names), kind="image"
    )


def _iris(_: Mapping[str, Path]) -> PartialLabelDataset:
    from sklearn.datasets import load_iris

    return _table(load_iris())


def _wine(_: Mapping[str, Path]) -> PartialLabelDataset:
    from sklearn.datasets import load_wine

    return _table(load_wine())


def _table(bunch: Any) -> PartialLabelDataset:
    return PartialLabelDataset(
        X=bunch.data.astype(np.float32),
        y=bunch.target,
        class_names=_names(bunch.target_names),
        feature_names=tuple(bunch.feature_names),
        kind="table",
    )


def _names(values: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in values)


ENTRIES = (
    Entry(
        name="digits",
        title="Digits",
        about="Handwritten digits, 8 × 8 pixels each; comes with Candid, and is what its demo shows.",
        kind="image",
        n=1797,
        shape=(1, 8, 8),
        c=10,
        licence="CC BY 4.0",
        page=f"{_UCI}/80/optical+recognition+of+handwritten+digits",
        loader=_digits,
    ),
    Entry(
        name="iris",
        title="Iris",
        about="Three species of iris flowers by the lengths and widths of their petals and sepals.",
        kind="table",
        n=150,
        shape=(4,),
        c=3,
        licence="CC BY 4.0",
        page=f"{_UCI}/53/iris",
        loader=_iris,
        class_sizes=(50, 50, 50),
    ),
    Entry(
        name="wine",
        title="Wine",
        about="Wines of three cultivars from one region of Italy by thirteen chemical measurements.",
        kind="table",
        n=178,
        shape=(13,),
        c=3,
        licence="CC BY 4.0",
        page=f"{_UCI}/109/wine",
        loader=_wine,
        class_sizes=(59, 71, 48),
    ),
)

"""A small dataset of three classes, to be changed in one thing at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset

X = np.arange(12, dtype=np.float32).reshape(4, 3)
SETS = CandidateSets.from_lists([[0, 1], [1], [0, 1, 2], [2]], 3, ["ant", "bee", "cat"])


def made(**changes: Any) -> PartialLabelDataset:
    return PartialLabelDataset(**({"X": X, "candidates": SETS, "y": np.array([0, 1, 2, -1])} | changes))

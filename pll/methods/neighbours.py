"""Base class of nearest-neighbour methods: stored examples, exact search in blocks that can be stopped, its cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

from pll.candidates import CandidateSets
from pll.io import blocks
from pll.methods.base import setting
from pll.methods.classical import ClassicalEstimator, Cost
from pll.training.metrics import Hook
from pll.weights import Floats, Ints

QUERY_BLOCK = 256
"""Maximum number of queries of a block."""
BLOCK_WORK = 4e9
"""Maximum number of multiplications of a block: at most a second of one core, so that training can be stopped."""


class NeighbourEstimator(ClassicalEstimator):
    """Base class of methods that use the k nearest training examples (Euclidean distance).

    Parameters
    ----------
    k
        Neighbours, at least 1; fewer where there are fewer examples. An example is never its own neighbour.
    clip
        z-scores are cut off at ±clip, above 0; None leaves them. A feature that hardly ever varies (a pixel at the
        border) has z-scores of 10 and more where it does, and would decide alone who is near whom; ±3 is what is usual
        against outliers. Only z-scores are cut.
    scale, missing, seed
        As for every classical method.

    Attributes
    ----------
    train_
        (n, d) float32, the training examples as they are compared.
    """

    cheaper: ClassVar[str] = " Every prediction compares with all examples again."

    k: int | str = setting(10, whole=True, least=1)
    clip: float | None = setting(3.0, (None,), above=0)

    train_: npt.NDArray[np.float32]
    _search: tuple[npt.NDArray[np.float32], NearestNeighbors] | None = None
    """The search, and the training examples that it was built of."""
    _memo: dict[str, Any] | None = None
    """In training: results for the test examples that every iteration needs, computed once."""

    def _scaled(self, X: npt.NDArray[np.float32]) -> Floats:
        scaled = super()._scaled(X)
        if self.clip is None or self.in_use("scale") not in ("auto", "zscore"):
            return scaled
        return np.clip(scaled, -self.clip, self.clip)

    def _untrained(self, X: Floats, candidates: CandidateSets) -> None:
        """Store the training examples for the search."""
        self.train_ = X.astype(np.float32)
        self._memo = {}

    def _neighbours(self, queries: Floats | None, hook: Hook) -> Iterator[tuple[slice, Floats, Ints]]:
        """Yield the neighbours of `queries`, or of training examples without themselves where it is None.

        Of each block: its rows, the Euclidean distances (B, k), ascending, and the neighbours' rows in `train_`.

        The result does not depend on how the rows are cut into blocks.
        """
        n, d = self.train_.shape
        k = min(self.in_use("k"), n if queries is not None else n - 1)
        size = int(np.clip(BLOCK_WORK // (n * d), 8, QUERY_BLOCK))
        for block in blocks(n if queries is None else len(queries), size):
            hook()
            if queries is None:
                distances, at = self._others(np.arange(block.start, block.stop), k)
            else:
                distances, at = self._prepared().kneighbors(queries[block].astype(np.float32), k)
            yield block, distances.astype(np.float64), at

    def _others(self, rows: Ints, k: int) -> tuple[Floats, Ints]:
        """Return distances and indices (B, k) of the nearest training examples of some, without themselves."""
        distances, at = self._prepared().kneighbors(self.train_[rows], k + 1)
        return without_self(distances.astype(np.float64), at, rows)

    def _prepared(self) -> NearestNeighbors:
        """Return the search among the training examples, built when it is first needed."""
        if self._search is None or self._search[0] is not self.train_:
            self._search = self.train_, NearestNeighbors().fit(self.train_)
        return self._search[1]


def without_self(distances: Floats, at: Ints, rows: Ints) -> tuple[Floats, Ints]:
    """Drop each query from its own k + 1 neighbours; the last one where duplicates displaced it.

    Parameters
    ----------
    distances, at
        (B, k + 1) of its neighbours.
    rows
        (B,) what it is itself.
    """
    own = at == rows[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(at), at.shape[1] - 1)
    return distances[~own].reshape(shape), at[~own].reshape(shape)


def search_cost(n: int, d: int) -> Cost:
    """Estimate the cost of a search of n examples among themselves: in float64 and float32, and a copy of them.

    Parameters
    ----------
    n, d
        Examples and features.
    """
    return Cost(memory_bytes=16 * n * d, seconds=2.0 * n * n * d / 2e10 + 2e-9 * n * n)

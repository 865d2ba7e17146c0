"""Base class of nearest-neighbour methods: stored examples, search in blocks that can be stopped, its cost.

The search is exact up to `COMPARE_ALL_UP_TO` examples, and beyond where there are few features or no faiss
(`pip install "candid-labels[neighbours]"`). Else it is approximate: k-means divides the examples into about 2 √n cells
and only the nearest cells of a query are looked through, as many as find 95 % of the neighbours of a sample of 200
examples, at most 64. `recall_` and `notes_` state the recall on another 200. See docs/decisions.md on the choice of
faiss.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from sklearn.neighbors import NearestNeighbors

from pll.errors import UserError
from pll.methods.base import setting
from pll.methods.classical import ClassicalEstimator, Matrix, blocks
from pll.training.metrics import Hook, no_hook

QUERY_BLOCK = 256
"""Maximum number of queries of a block."""
BLOCK_WORK = 4e9
"""Maximum number of multiplications of a block: at most a second of one core, so that training can be stopped."""


COMPARE_ALL_UP_TO = 100_000
"""Maximum number of examples that are always compared with all others."""
FEW_FEATURES = 15
"""Up to so many features scikit-learn's exact search uses a tree and is fast."""
RECALL = 0.95
"""Share of the nearest neighbours that the approximate search aims at."""
MOST_PROBES = 64
"""Maximum number of cells looked through for a query, whatever the recall is: data without structure (noise in 100
dimensions) has no neighbourhoods to find."""
SAMPLED = 200
"""Examples by which the number of cells is chosen, and as many others by which the recall is measured."""
APPROXIMATE_BLOCK = 1024
"""Maximum number of queries of a block of the approximate search."""

Floats = npt.NDArray[np.float32]


class Search(Protocol):
    """Nearest neighbours among stored points, as scikit-learn's `NearestNeighbors`."""

    def kneighbors(self, X: Floats, n_neighbors: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Return (m, k) Euclidean distances, ascending, and row numbers.

        Parameters
        ----------
        X
            (m, d).
        n_neighbors
            k.
        """


class QueryNeighbours(NamedTuple):
    """The neighbours of some queries.

    Parameters
    ----------
    rows
        Which queries.
    distances
        (B, k) float64, Euclidean, ascending.
    at
        (B, k) int64, the neighbours' rows in `train_`.
    """

    rows: slice
    distances: Matrix
    at: npt.NDArray[np.int64]


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
    search
        `"exact"`, `"approximate"` (needs faiss), or `"auto"`: see the docstring of the module.
    scale, missing, seed
        As for every classical method.

    Attributes
    ----------
    train_
        (n, d) float32, the training examples as they are compared.
    recall_
        Share of the k nearest neighbours that the search finds, measured on a sample; 1 where it is exact.
    """

    cheaper: ClassVar[str] = " Every prediction compares with all examples again."

    k: int | str = setting(10, whole=True, least=1)
    clip: float | None = setting(3.0, (None,), above=0)
    search: str = setting("auto", ("exact", "approximate"))

    train_: npt.NDArray[np.float32]
    recall_: float = 1.0
    _search: Search | None = None
    _memo: dict[str, Any] | None = None
    """In training: results for the test examples that every iteration needs, computed once."""

    def restore(
        self, arrays: dict[str, npt.NDArray[Any]], input_shape: tuple[int, ...], class_names: tuple[str, ...]
    ) -> NeighbourEstimator:
        self._search = self._memo = None
        return super().restore(arrays, input_shape, class_names)

    def _scaled(self, X: npt.NDArray[np.float32]) -> Matrix:
        scaled = super()._scaled(X)
        if self.clip is None or self.scale_in_use() not in ("auto", "zscore"):
            return scaled
        return np.clip(scaled, -self.clip, self.clip)

    def _remember(self, X: Matrix) -> None:
        """Store the training examples for the search."""
        self.train_ = X.astype(np.float32)
        self._search = None
        self._memo = {}

    def _neighbours(self, queries: Matrix | None, hook: Hook) -> Iterator[QueryNeighbours]:
        """Yield the neighbours of `queries`, or of training examples without themselves where it is None.

        The result does not depend on how the rows are cut into blocks.
        """
        search = self._prepared(hook)
        n, d = self.train_.shape
        points = self.train_ if queries is None else queries.astype(np.float32)
        k = min(self._count(), n if queries is not None else n - 1)
        exact = isinstance(search, NearestNeighbors)
        size = int(np.clip(BLOCK_WORK // (n * d), 8, QUERY_BLOCK)) if exact else APPROXIMATE_BLOCK
        for block in blocks(len(points), size):
            hook()
            if queries is not None:
                distances, at = search.kneighbors(points[block], k)
            else:
                distances, at = search.kneighbors(points[block], k + 1)
                distances, at = _without_self(distances, at, np.arange(block.start, block.stop))
            yield QueryNeighbours(block, distances.astype(np.float64), at)

    def _others(self, rows: npt.NDArray[np.int64], k: int) -> tuple[Matrix, npt.NDArray[np.int64]]:
        """Return distances and indices (B, k) of the nearest training examples of some, without themselves."""
        distances, at = self._prepared(no_hook).kneighbors(self.train_[rows], k + 1)
        return _without_self(distances.astype(np.float64), at, rows)

    def _prepared(self, hook: Hook) -> Search:
        """Return the search among the training examples, built when it is first needed."""
        if self._search is None:
            n, d = self.train_.shape
            if approximate(self.search, n, d):
                index = ApproximateSearch(self.train_, self._count(), self.seed, hook)
                self._search, self.recall_ = index, index.recall
            else:
                self._search, self.recall_ = NearestNeighbors().fit(self.train_), 1.0
        return self._search

    def _search_notes(self) -> tuple[str, ...]:
        """Return notes on an approximate or slow search."""
        n, d = self.train_.shape
        if isinstance(self._search, ApproximateSearch):
            return (
                f"The neighbours of {n:,} examples were searched approximately (faiss, {self._search.probes} of "
                f"{self._search.cells:,} cells): {100 * self.recall_:.0f} % of the {self._search.k} nearest ones of "
                f"{self._search.sampled} examples were found.",
            )
        if self.search == "auto" and n > COMPARE_ALL_UP_TO and d > FEW_FEATURES:
            return (f"All {n:,} examples were compared with each other; an approximate search needs {INSTALL}.",)
        return ()

    def _count(self) -> int:
        """Return the number of neighbours."""
        return int(self.k)

    def check_settings(self) -> None:
        super().check_settings()
        if self.search == "approximate" and find_spec("faiss") is None:
            raise UserError(f"search='approximate' needs {INSTALL}.")


def _without_self(
    distances: Matrix, at: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """Drop each query from its own k + 1 neighbours; the last one where duplicates displaced it."""
    own = at == rows[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (len(at), at.shape[1] - 1)
    return distances[~own].reshape(shape), at[~own].reshape(shape)


INSTALL = 'faiss: pip install "candid-labels[neighbours]"'


def approximate(search: str, n: int, d: int) -> bool:
    """Return whether the neighbours of n examples with d features are searched approximately.

    Parameters
    ----------
    search
        The setting of that name.
    n, d
        Examples and features.
    """
    if search == "auto":
        return n > COMPARE_ALL_UP_TO and d > FEW_FEATURES and find_spec("faiss") is not None
    return search == "approximate"


class ApproximateSearch:
    """Nearest neighbours by faiss: an inverted file of k-means cells.

    Parameters
    ----------
    points
        (n, d) the examples.
    k
        Neighbours, other than itself, for which the number of cells is chosen.
    seed
        Of k-means and of the samples.
    hook
        Called between the parts of the work.

    Attributes
    ----------
    cells
        Number of cells. probes: how many of them are looked through for a query.
    recall
        Share of the k nearest neighbours of `sampled` examples that the search finds.
    """

    def __init__(self, points: Floats, k: int, seed: int, hook: Hook) -> None:
        import faiss

        n, d = points.shape
        self.k = min(k, n - 1)
        self.cells = max(1, min(round(2 * n**0.5), n // 39))  # below 39 points a cell k-means warns
        hook()
        self._index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, self.cells)
        self._index.cp.seed = seed
        self._index.cp.niter = 10
        self._index.cp.max_points_per_centroid = 64
        faiss.omp_set_num_threads(torch.get_num_threads())
        self._index.train(points)
        for start in range(0, n, ADDED_AT_ONCE):
            hook()
            self._index.add(points[start : start + ADDED_AT_ONCE])
        rows = np.random.default_rng(seed).permutation(n)[: 2 * SAMPLED]
        first, second = np.array_split(rows, 2)
        self.probes, wanted = 1, _farthest(points, first, self.k, hook)
        most = min(MOST_PROBES, self.cells)
        while self._share(points, first, wanted) < RECALL and self.probes < most:
            hook()
            self.probes = min(2 * self.probes, most)
        self.sampled = len(second)
        self.recall = self._share(points, second, _farthest(points, second, self.k, hook))

    def kneighbors(self, X: Floats, n_neighbors: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
        """Return (m, k) Euclidean distances, ascending, and row numbers.

        Parameters
        ----------
        X
            (m, d).
        n_neighbors
            k.
        """
        import faiss

        faiss.omp_set_num_threads(torch.get_num_threads())
        self._index.nprobe = self.probes
        squared, at = self._index.search(np.ascontiguousarray(X), n_neighbors)
        short = np.flatnonzero((at < 0).any(axis=1))
        if len(short):  # fewer than k in these cells: look in all
            self._index.nprobe = self.cells
            squared[short], at[short] = self._index.search(np.ascontiguousarray(X[short]), n_neighbors)
        return np.sqrt(np.maximum(squared, 0.0)), at

    def _share(self, points: Floats, rows: npt.NDArray[np.int64], farthest: npt.NDArray[np.float64]) -> float:
        """Return the share of the k nearest neighbours of these rows that the search finds, by their distances."""
        distances, at = self.kneighbors(points[rows], self.k + 1)
        distances, _ = _without_self(distances.astype(np.float64), at, rows)
        return float((distances <= farthest[:, None] * (1 + 1e-3) + 1e-6).mean())


ADDED_AT_ONCE = 50_000
"""Points that are added to the index at once."""


def _farthest(points: Floats, rows: npt.NDArray[np.int64], k: int, hook: Hook) -> npt.NDArray[np.float64]:
    """Return (m,) the exact distances of the k-th nearest neighbours of some points, without themselves."""
    best = np.full((len(rows), 0), np.inf)
    squares = (points[rows].astype(np.float64) ** 2).sum(axis=1)[:, None]
    for start in range(0, len(points), ADDED_AT_ONCE):
        hook()
        part = points[start : start + ADDED_AT_ONCE]
        squared = squares + np.einsum("ij,ij->i", part, part, dtype=np.float64) - 2.0 * (points[rows] @ part.T)
        own = np.flatnonzero((rows >= start) & (rows < start + len(part)))
        squared[own, rows[own] - start] = np.inf
        both = np.hstack([best, squared])
        best = np.partition(both, min(k, both.shape[1]) - 1, axis=1)[:, :k]
    return np.asarray(np.sqrt(np.maximum(best.max(axis=1), 0.0)), dtype=np.float64)


def search_seconds(n: int, d: int) -> float:
    """Estimate the seconds of a search of n examples among themselves, on one core.

    Parameters
    ----------
    n, d
        Examples and features.
    """
    if approximate("auto", n, d):
        return float(1.6e-9 * n**1.5 * d)  # the distances to 2 √n cells, and to what is in some 16 of them
    return float(2.0 * n * n * d / 2e10 + 2e-9 * n * n)


def search_memory(n: int, d: int) -> int:
    """Return the bytes of the examples in float64 and float32, and of a copy in the search.

    Parameters
    ----------
    n, d
        Examples and features.
    """
    return 16 * n * d

"""Nearest neighbours of every example, and their mean label weights.

The search is exact and may take minutes (60,000 × 784 on one core), so it runs in the background and is stored with the
run. Mean label weights are cheap (a few million additions) and computed again after decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

from pll.candidates import CandidateSets
from pll.methods.plknn import without_self
from pll.training.scaling import clipped, fit_scaling
from pll.weights import Flags, Ints, Values, Weights, normalise, sparse

NEIGHBOURS = 10
SPACE_JUDGED_ON = 1000
"""Examples whose neighbours are looked at to choose the space."""

Neighbours = npt.NDArray[np.int32]
"""(n, k) rows of the nearest other examples, the nearest first."""
Points = npt.NDArray[np.float32]


def best_points(X: npt.NDArray[np.float32], sets: CandidateSets, weights: Values) -> Points:
    """Return the examples as points of the space in which neighbours agree most about their labels.

    The spaces: z-scored columns, the same with rows of length 1 (as in IPAL), raw rows of length 1 (texts). The choice
    needs label weights alone, no truth. Measured in docs/review.md.

    Parameters
    ----------
    X : (n, d) or (n, C, H, W)
        Raw features, NaN where missing.
    sets : CandidateSets
        Of the run.
    weights : (nnz,)
        Label weights of the run.

    Returns
    -------
    (n, d) float32
    """
    n = len(X)
    rows = np.sort(np.random.default_rng(0).choice(n, size=min(SPACE_JUDGED_ON, n), replace=False))
    best, most = np.empty((n, 0), dtype=np.float32), -1.0
    for make in (comparable, lambda some: _of_length_one(comparable(some)), _raw_directions):
        points = make(X)
        agreed = neighbour_agreement(find_neighbours(points, rows=rows), rows, sets, weights)
        if agreed > most:
            best, most = points, agreed
    return best


def find_neighbours(points: Points, k: int = NEIGHBOURS, *, rows: Ints | None = None) -> Neighbours:
    """Return the k nearest other examples of each; exact.

    Parameters
    ----------
    points : (n, d)
        Of `best_points` or `comparable`.
    k : int
        At least 1; fewer where there are fewer examples.
    rows : (r,), optional
        Of the examples whose neighbours are sought; by default all.

    Returns
    -------
    (r, k) int32
        The nearest first.

    Examples
    --------
    >>> find_neighbours(np.array([[0.0], [1.0], [5.0], [5.5]], dtype=np.float32), k=1).ravel().tolist()
    [1, 0, 3, 2]
    """
    rows = np.arange(len(points)) if rows is None else rows
    k = min(k, len(points) - 1)
    if k < 1:
        return np.empty((len(rows), 0), dtype=np.int32)
    distances, at = NearestNeighbors(n_neighbors=k + 1).fit(points).kneighbors(points[rows])
    return without_self(distances, at, rows)[1].astype(np.int32)


def _of_length_one(points: Points) -> Points:
    """Normalise rows to length 1, in place."""
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-12)
    return points


def _raw_directions(X: npt.NDArray[np.float32]) -> Points:
    """(n, d) rows of length 1 as they are, a missing cell 0."""
    return _of_length_one(np.nan_to_num(np.array(X, dtype=np.float32).reshape(len(X), -1)))


def neighbour_agreement(
    neighbours: npt.NDArray[np.integer[Any]], rows: Ints, sets: CandidateSets, weights: Values
) -> float:
    """How often examples and their neighbours have the same label, by the label weights: mean of Σ_j w_ij w_kj.

    Parameters
    ----------
    neighbours
        (r, k) of the r examples `rows`.
    rows
        (m,) of the examples.
    sets
        n candidate sets.
    weights
        (nnz,).

    Returns
    -------
    float
        In [0, 1].
    """
    matrix = sparse(weights.astype(np.float64), sets)
    together = [matrix[rows].multiply(matrix[neighbours[:, t]]).sum() for t in range(neighbours.shape[1])]
    return float(np.sum(together)) / max(1, neighbours.size)


def comparable(X: npt.NDArray[np.float32]) -> Points:
    """Return X as (n, d) float32: columns z-scored and clipped to ±3, images by channel and flattened, NaN filled."""
    return clipped(fit_scaling(X), X)


class Neighbourhood:
    """Mean label weights of the k nearest examples, for each candidate.

    Memory is 4 k bytes for each candidate of each example: 15 MB for 60,000 × 6.4 and k = 10.

    Parameters
    ----------
    neighbours
        (n, k) rows; −1 for none.
    sets
        The candidate sets.
    """

    def __init__(self, neighbours: Neighbours, sets: CandidateSets) -> None:
        self.neighbours = neighbours
        self.sets = sets
        self.places = _places(neighbours, sets)
        """(k, nnz): where the t-th neighbour of the entry's example has the same label; nnz where it has not."""

    def means(self, weights: Values) -> npt.NDArray[np.float32]:
        """Return (nnz,) means over the neighbours of their `weights` (nnz,) of the same label, not normalised.

        Examples
        --------
        >>> sets = CandidateSets.from_lists([[0, 1], [0, 2], [1, 2]], n_classes=3)
        >>> three = Neighbourhood(np.array([[1, 2], [0, 2], [0, 1]], dtype=np.int32), sets)
        >>> three.means(np.array([0.5, 0.5, 1.0, 0.0, 0.25, 0.75])).tolist()
        [0.5, 0.125, 0.25, 0.375, 0.25, 0.0]
        """
        padded = np.append(weights, 0).astype(np.float32)
        total = np.zeros(self.sets.nnz, dtype=np.float32)
        for places in self.places:
            total += padded.take(places)
        return total / np.float32(max(1, len(self.places)))

    def shares(self, weights: Values) -> Weights:
        """Return `means` normalised on each S_i; uniform where no neighbour has any of its labels."""
        return normalise(self.means(weights), self.sets)

    def means_at(
        self, positions: Ints, weights: Values, others: Values, swapped: Callable[[npt.NDArray[np.int32]], Flags]
    ) -> npt.NDArray[np.float32]:
        """`means` of some entries only, where some neighbours are read from another version of the weights.

        Parameters
        ----------
        positions
            (p,) entries.
        weights, others
            (nnz,) label weights: the usual ones, and those of marked neighbours.
        swapped
            From the (p,) rows of one neighbour each to (p,) marks.

        Returns
        -------
        npt.NDArray[np.float32]
            (p,) means.
        """
        # Concatenated: a marked neighbour is read with an offset.
        padded = np.concatenate([weights, [0], others, [0]]).astype(np.float32)
        total = np.zeros(len(positions), dtype=np.float32)
        rows = self.sets.rows.take(positions)
        for neighbour, places in zip(self.neighbours.T, self.places, strict=True):
            at = places.take(positions) + (self.sets.nnz + 1) * swapped(neighbour.take(rows)).astype(places.dtype)
            total += padded.take(at)
        return total / np.float32(max(1, len(self.places)))


def _places(neighbours: Neighbours, sets: CandidateSets) -> npt.NDArray[np.signedinteger]:
    c, nnz = sets.n_classes, sets.nnz
    kind = np.int32 if nnz < 2**30 - 1 else np.int64  # `means_at` goes up to twice as far
    rows, labels = sets.rows, sets.indices.astype(np.int64)
    result = np.empty((neighbours.shape[1], nnz), dtype=kind)
    keys = rows * c + labels  # ascending: rows in order, labels in order within each
    for t in range(len(result)):
        wanted = neighbours[rows, t].astype(np.int64) * c + labels
        at = np.searchsorted(keys, wanted)
        hit = keys[np.minimum(at, nnz - 1)] == wanted
        result[t] = np.where(hit, at, nnz)
    return result

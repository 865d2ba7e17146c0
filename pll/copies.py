"""Copies: examples with the features of another, and with the same answers, that came into the data more than once.

A model that learnt from an example has seen its copies too: what it says of them is what it was told, and no evidence.
So a copy is never judged by a model that learnt from another one. Examples with equal features and *other* answers are
something else: each is a new answer about the same thing, which one may learn from to judge the others
(docs/research/confidence.md has the figures).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from pll.weights import Flags, Ints

MOST_ALIKE = 0.1
"""Share of the examples from which equal ones are no copies, but usual: others like them will come."""
NEAR, GAP = 0.05, 0.8
"""Up to which share of the usual distance two examples are nearly one, and how many of those up to twice as far are."""
LEAST_SEARCHED, MOST_NEIGHBOURS = 32, 200
"""Examples from which near ones are looked for, and how many of each at most."""
MOST_COMPARED = 2 * 10**10
"""Squares of differences that are computed to find them, at most: some seconds."""
COMPARED = 1000
"""Different examples that say how often values coincide."""
BLOCK = 2**22
"""Numbers that are looked at together: 16 MB."""


def first_copies(
    X: npt.NDArray[np.float32], starts: Ints | None = None, *answers: npt.NDArray[Any], are_texts: bool = False
) -> Ints | None:
    """Return the row of the first of the copies that each example is one of, its own row where it is none.

    Where columns hold few values, examples coincide that have nothing to do with each other. Equal ones are copies
    where fewer than one pair is expected by chance, if every second column followed from the others.

    Parameters
    ----------
    X
        (n, …) features.
    starts
        (n + 1,) where the answers to each example start and end; None asks for equal features alone.
    *answers
        (nnz,) arrays that copies have in common there: candidates, their prior, who gave which label.
    are_texts
        Whether equal features are hardly a chance, however few columns there are.

    Returns
    -------
    Ints | None
        (n,) rows; None where there is no copy.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((30, 5), dtype=np.float32)
    >>> first_copies(X) is None
    True
    >>> X[7] = X[20] = X[3]
    >>> first_copies(X)[[3, 7, 20, 21]].tolist()
    [3, 3, 3, 21]
    >>> labels = np.zeros(30)
    >>> labels[7] = 1
    >>> first_copies(X, np.arange(31), labels)[[3, 7, 20]].tolist()
    [3, 7, 3]
    """
    n = len(X)
    if not X[:1].size:
        return None
    keys = _keys(X)
    first, counts = _firsts(keys)
    if counts.max() == 1 or (not are_texts and _coincide_by_chance(X, np.unique(first), n * (n - 1) / 2)):
        return None
    if starts is not None:
        for row in np.flatnonzero(counts > 1).tolist():
            span = slice(*starts[row : row + 2])
            keys[row] = hash((int(keys[row]), *(values[span].tobytes() for values in answers)))
        first, counts = _firsts(keys)
    are_copies = (counts > 1) & (counts <= MOST_ALIKE * n)
    return np.where(are_copies, first, np.arange(n)) if are_copies.any() else None


def near_copies(
    X: npt.NDArray[np.float32], first: Ints | None, starts: Ints | None = None, *answers: npt.NDArray[Any]
) -> Ints | None:
    """Return `first_copies` with those added whose features are nearly those of another example with the same answers.

    Such as frames of a film or crops of a picture: up to `NEAR` of the usual distance of two examples apart, where
    hardly any others are up to twice as far. Examples that fill a line or a plane have no such gap. Parts of one thing
    may be farther apart: there answers tell, where neighbours have the same ones far more often than by chance
    (`_are_one`). Larger tables than can be searched at once are left as they are.

    Parameters
    ----------
    X
        (n, …) features; NaN where missing.
    first
        `first_copies` of them.
    starts, *answers
        As for `first_copies`.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    >>> X[7] = X[3] + 1e-3
    >>> near_copies(X, None, np.arange(61), np.zeros(60))[[3, 7, 8]].tolist()
    [3, 3, 8]
    """
    n, width = len(X), math.prod(X.shape[1:])
    if n < LEAST_SEARCHED or not width or n * n * width > MOST_COMPARED:
        return first
    from sklearn.neighbors import NearestNeighbors  # late: reading data does not need it

    flat = X.reshape(n, -1).astype(np.float64)  # squares overflow float32
    known = ~np.isnan(flat)
    mean = np.where(known, flat, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, flat, mean)
    spread = filled.std(axis=0)
    scaled = ((filled - mean) / np.where(spread > 0, spread, 1)).astype(np.float32)
    most = min(n - 1, max(int(MOST_ALIKE * n), LEAST_SEARCHED // 2), MOST_NEIGHBOURS)
    distances, others = NearestNeighbors(n_neighbors=most, algorithm="brute").fit(scaled).kneighbors()
    order = np.random.default_rng(0).permutation(n)
    reach = NEAR * float(np.median(np.linalg.norm(scaled - scaled[order], axis=1)))
    keys = _keys(X)  # equal ones are not always at a distance of 0
    other = keys[others] != keys[:, None]
    near, wider = (other & (distances <= far) for far in (reach, 2 * reach))
    if near.sum() < GAP * wider.sum():
        near[:] = False
    if starts is not None:
        spans = [slice(*starts[row : row + 2]) for row in range(n)]
        told = np.array([hash(tuple(values[span].tobytes() for values in answers)) for span in spans])
        alike = other & (told[others] == told[:, None])
        near = alike & (near | _are_one(alike, other, told, len(np.unique(answers[0]))))
    if not near.any():
        return first
    rows, which = np.nonzero(near)
    own = np.arange(n) if first is None else first
    ends = np.concatenate([rows, np.arange(n)]), np.concatenate([others[rows, which], own])
    graph = scipy.sparse.coo_array((np.ones(len(ends[0]), dtype=np.bool_), ends), shape=(n, n))
    group = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
    joined, counts = _firsts(group.astype(np.int64))
    return np.where(counts <= MOST_ALIKE * n, joined, own)


def _are_one(alike: Flags, other: Flags, told: Ints, labels: int) -> Flags:
    """Return (k,) whether neighbours of each rank that were answered alike are likelier one thing than by chance so.

    Of two examples at random a share has the same answers, and at least one pair in `labels` is of one label: were
    answers independent given the label, examples of one label would be alike at most `labels` times as often.
    """
    counts = np.unique(told, return_counts=True)[1]
    by_chance = (counts * (counts - 1)).sum() / (len(told) * (len(told) - 1))
    return np.asarray(alike.sum(axis=0) > 2 * labels * by_chance * other.sum(axis=0))


def seen_in(X: npt.NDArray[np.float32], learnt_from: npt.NDArray[np.float32], *, are_texts: bool = False) -> Flags:
    """Return (m,) whether each example is a copy of one that a model learnt from, as `first_copies` has it.

    Parameters
    ----------
    X
        (m, …) features.
    learnt_from
        (n, …) features.
    are_texts
        As in `first_copies`.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((30, 5), dtype=np.float32)
    >>> seen_in(X[8:12], X[:10]).tolist()
    [True, True, False, False]
    """
    if not X[:1].size or not len(learnt_from):
        return np.zeros(len(X), dtype=np.bool_)
    keys, rows, counts = np.unique(_keys(learnt_from), return_index=True, return_counts=True)
    is_seen = np.isin(_keys(X), keys[counts <= max(1, MOST_ALIKE * len(learnt_from))])
    return is_seen & (
        are_texts or not is_seen.any() or not _coincide_by_chance(learnt_from, rows, len(X) * len(learnt_from))
    )


def _keys(X: npt.NDArray[np.float32]) -> Ints:
    """Return (n,) int64, equal where rows are; -0 is 0."""
    width = X[0].size
    keys, size = np.empty(len(X), dtype=np.int64), max(1, BLOCK // width)
    for start in range(0, len(X), size):
        block = X[start : start + size].reshape(-1, width) + np.float32(0)
        keys[start : start + size] = [hash(row) for row in block.view(f"V{4 * width}")[:, 0].tolist()]
    return keys


def _firsts(keys: Ints) -> tuple[Ints, Ints]:
    """Return (n,) the first row with the key of each, and how many there are."""
    _, index, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return index[inverse], counts[inverse]


def _coincide_by_chance(X: npt.NDArray[np.float32], different: Ints, compared: float) -> bool:
    """Whether of so many pairs with the values of these rows, which are all different, one is equal by chance."""
    some = np.random.default_rng(0).permutation(different)[:COMPARED]
    sample = X[np.sort(some)].reshape(len(some), -1)
    pairs = len(some) * (len(some) - 1) / 2
    expected = math.log(compared)
    for column in sample.T:
        times = np.unique(column, return_counts=True)[1]
        equal = float((times * (times - 1)).sum()) / 2
        expected += math.log((equal + 1) / (pairs + 1)) / 2  # +1: of what was never seen, the chance is not 0
        if expected < 0:
            return False
    return True


def together(order: Ints, first: Ints) -> Ints:
    """Return an order of rows in which copies stand where the first of them stood.

    Parameters
    ----------
    order
        (n,) all rows.
    first
        `first_copies`.

    Examples
    --------
    >>> together(np.array([2, 0, 3, 1]), np.array([0, 1, 2, 2])).tolist()
    [2, 3, 0, 1]
    """
    place = np.full(len(order), len(order))
    np.minimum.at(place, first[order], np.arange(len(order)))
    return order[np.argsort(place[first[order]], kind="stable")]


def dealt(order: Ints, folds: int, first: Ints | None = None) -> Ints:
    """Return (n,) the fold of each row: they are dealt out in this order, copies to one fold.

    Parameters
    ----------
    order
        (n,) all rows.
    folds
        Their number.
    first
        `first_copies`.

    Examples
    --------
    >>> dealt(np.array([2, 0, 3, 1]), 2).tolist(), dealt(np.array([2, 0, 3, 1]), 2, np.array([0, 1, 2, 2])).tolist()
    ([1, 1, 0, 0], [1, 0, 0, 0])
    """
    groups = order if first is None else first[order]
    _, begins, which = np.unique(groups, return_index=True, return_inverse=True)
    fold_of = np.empty(len(order), dtype=np.int64)
    fold_of[order] = np.argsort(np.argsort(begins))[which] % folds
    return fold_of


def with_copies(rows: Ints, first: Ints | None, n: int) -> Flags:
    """Return (n,) whether an example is among these rows, or a copy of one of them.

    Parameters
    ----------
    rows
        (m,) rows.
    first
        `first_copies`.
    n
        Number of examples.

    Examples
    --------
    >>> with_copies(np.array([1, 2]), np.array([0, 1, 2, 2]), 4).tolist()
    [False, True, True, True]
    """
    is_in = np.zeros(n, dtype=np.bool_)
    is_in[rows] = True
    if first is not None:
        reached = np.zeros(n, dtype=np.bool_)
        reached[first[rows]] = True
        is_in |= reached[first]
    return is_in

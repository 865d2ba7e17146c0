"""Label weights and what is computed from them: identified label, confidence, margin, entropy.

Label weights are (nnz,) float32, aligned with `CandidateSets.indices`: at least 0, summing to 1 over each S_i.
Off S_i there is nothing stored, so they are 0 there by construction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import Block, CandidateSets

Weights = npt.NDArray[np.float32]


def restricted_softmax(scores: npt.NDArray[np.floating[Any]], candidates: CandidateSets) -> Weights:
    """Compute the softmax of the scores restricted to each candidate set (paper, Eq. norm).

    Args:
        scores: (nnz,) logits of the candidates, aligned with `candidates.indices`.

    Returns:
        (nnz,) float32 label weights.

    >>> sets = CandidateSets.from_lists([[0, 1], [2]], n_classes=3)
    >>> restricted_softmax(np.array([0.0, 0.0, -900.0]), sets).tolist()
    [0.5, 0.5, 1.0]
    """
    starts = candidates.indptr[:-1]
    top = np.maximum.reduceat(scores, starts)
    raised = np.exp((scores - top[candidates.rows]).astype(np.float64))
    total = np.add.reduceat(raised, starts)  # at least 1: the top candidate contributes exp(0)
    return (raised / total[candidates.rows]).astype(np.float32)


def normalise(values: npt.NDArray[np.floating[Any]], candidates: CandidateSets) -> Weights:
    """Divide non-negative (nnz,) values by their sum over S_i; uniform where that sum is 0."""
    total = np.add.reduceat(values.astype(np.float64), candidates.indptr[:-1])[candidates.rows]
    usable = total > 0
    shares = np.divide(values, total, out=np.zeros(len(values)), where=usable)
    return np.where(usable, shares, candidates.uniform_weights()).astype(np.float32)


def on_candidates(matrix: npt.NDArray[Any], candidates: CandidateSets) -> npt.NDArray[Any]:
    """Return the entries of a dense (n, c) matrix on the candidates, as (nnz,)."""
    return matrix[candidates.rows, candidates.indices]


def dense(weights: npt.NDArray[Any], candidates: CandidateSets) -> npt.NDArray[Any]:
    """Return (nnz,) values as a dense (n, c) matrix, 0 off the candidates."""
    matrix = np.zeros((len(candidates), candidates.n_classes), dtype=weights.dtype)
    matrix[candidates.rows, candidates.indices] = weights
    return matrix


def top_positions(weights: npt.NDArray[np.floating[Any]], candidates: CandidateSets) -> npt.NDArray[np.int64]:
    """(n,) position in `indices` of the largest label weight of each example (the first of equals)."""
    found = candidates.indptr[:-1].copy()
    for block, values in _in_blocks(weights, candidates):
        found[block.rows] += _top_two(values)[2]
    return found


def identified_labels(weights: Weights, candidates: CandidateSets) -> npt.NDArray[np.int64]:
    """(n,) identified label: argmax over S_i of the label weights.

    >>> sets = CandidateSets.from_lists([[0, 2], [1]], n_classes=3)
    >>> identified_labels(np.array([0.4, 0.6, 1.0], dtype=np.float32), sets).tolist()
    [2, 1]
    """
    return candidates.indices[top_positions(weights, candidates)].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Sharpness:
    """Identified label, confidence, margin and entropy of each example.

    Attributes:
        identified: (n,) int64, argmax over S_i.
        confidence: (n,) float32 in (0, 1], the top weight. 1 is certain.
        margin: (n,) float32 in [0, 1], top minus second weight; 1 for singletons.
        entropy: (n,) float32 in [0, 1], −Σ w log w over log |S_i|. 0 is certain; 0 for singletons.
    """

    identified: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float32]
    margin: npt.NDArray[np.float32]
    entropy: npt.NDArray[np.float32]


def sharpness(weights: Weights, candidates: CandidateSets) -> Sharpness:
    """Compute identified label, confidence, margin and entropy of all examples.

    Args:
        weights: (nnz,) label weights.

    Raises:
        ValueError: NaN among the weights.
    """
    n = len(candidates)
    at = candidates.indptr[:-1].copy()
    confidence, margin, entropy = (np.empty(n, dtype=np.float32) for _ in range(3))
    for block, values in _in_blocks(weights, candidates):
        top, second, place = _top_two(values)
        at[block.rows] += place
        confidence[block.rows] = top
        margin[block.rows] = top - second
        entropy[block.rows] = _entropy(values, candidates.sizes[block.rows])
    return Sharpness(candidates.indices[at].astype(np.int64), confidence, margin, entropy)


Values = npt.NDArray[np.floating[Any]]


def _in_blocks(weights: Values, candidates: CandidateSets) -> Iterator[tuple[Block, Values]]:
    """Each block of the candidates with its weights, (k, m); 0 where an example has fewer than k candidates."""
    padded = np.append(weights, weights.dtype.type(0))
    for block in candidates.blocks:
        yield block, padded.take(block.places)


def _top_two(values: Values) -> tuple[Values, Values, npt.NDArray[Any]]:
    """For each column of (k, m): the largest value, the second (0 if there is none), the first place of the largest."""
    top, second = values[0].copy(), np.zeros_like(values[0])
    place = np.zeros(len(top), dtype=np.min_scalar_type(len(values)))
    for j, other in enumerate(values[1:], start=1):
        np.maximum(place, (other > top) * place.dtype.type(j), out=place)  # j grows: the latest is the largest
        np.maximum(second, np.minimum(top, other), out=second)
        np.maximum(top, other, out=top)
    if np.isnan(top).any():  # NaN compares as smaller than everything: another candidate would silently win
        raise ValueError("Label weights must be numbers; some are NaN.")
    return top, second, place


def _entropy(values: Values, sizes: npt.NDArray[np.int64]) -> Values:
    # log of the smallest float keeps 0 · log 0 at 0 without a branch an element.
    total = -(values * np.log(np.maximum(values, np.finfo(np.float32).tiny))).sum(axis=0)
    return np.asarray(np.clip(total / np.log(np.maximum(sizes, 2)).astype(np.float32), 0.0, 1.0))


def accuracy(predicted: npt.NDArray[np.int64], y: npt.NDArray[np.int64] | None) -> float | None:
    """Share of examples of known truth (y ≥ 0) whose predicted label is the true one; None where none is known."""
    if y is None:
        return None
    known = y >= 0
    if not known.any():
        return None
    return float((predicted[known] == y[known]).mean())


def covering_rate(predicted: npt.NDArray[np.int64], candidates: CandidateSets) -> float:
    """Share of examples whose predicted label is among their candidates.

    A right prediction always is, a wrong one only by chance: the rate rises with the accuracy wherever the wrong
    candidates do not follow the features, and needs no true label (it is what PLENCH, ICLR 2025, chooses settings by).

    Args:
        predicted: (n,) class indices.
        candidates: n candidate sets, n at least 1.

    >>> covering_rate(np.array([0, 2]), CandidateSets.from_lists([[0, 1], [1]], n_classes=3))
    0.5
    """
    return float(candidates.contains(predicted).mean())

"""How well class probabilities explain candidate sets that they were not trained on.

What is observed of an example is its set S, so that S is what a model can be judged by without truth. With class
probabilities g(x) and *flip rates* r_jb, the probability that label b joins the set of an example of class j (that
of the class itself is 1), labels joining independently of each other and of x given the class, as in uniform and in
pair flips (PRODEN, section 5):

    log P(S | x) = log Σ_{j ∈ S} g_j(x) P(S | j),    P(S | j) = Π_{b ∈ S, b ≠ j} r_jb · Π_{b ∉ S} (1 − r_jb)

Where all rates are equal this is log Σ_{j ∈ S} g_j and a constant. Where they are not, a right label says which others
come with it, which no rate of predictions that are candidates can see.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax

from pll.candidates import CandidateSets

MIXED = 0.01
"""Share of the uniform distribution in the class probabilities: one confident mistake must not decide."""
MOST_CLASSES = 200
"""With more classes all rates are taken to be equal: c² rates of a few thousand examples say nothing."""
TEMPERATURES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0)
_PARTS = 4
_ROUNDS = 3
_PSEUDO = 2.0
"""Examples with the mean rate that are added to those of a class."""

Values = npt.NDArray[np.float64]


def set_log_likelihood(log_g: npt.NDArray[np.floating[Any]], sets: CandidateSets, seed: int = 0) -> Values:
    """Return log P(S_i | x_i) of examples that were not trained on.

    The rates are found by EM on these examples, in four parts: those that an example is judged by come from the other
    three.

    Args:
        log_g: (nnz,) log-probabilities of the candidates, at most 0.
        sets: h candidate sets.
        seed: of the parts.

    Returns:
        (h,) float64, at most 0.

    >>> y = np.arange(400) % 2  # of three classes; label 2 joins class 0 only
    >>> sets = CandidateSets.from_lists([[0, 2] if label == 0 else [0, 1] for label in y], n_classes=3)
    >>> right = np.where(sets.indices == y[sets.rows], 0.0, -9.0)
    >>> always_0 = np.where(sets.indices == 0, 0.0, -9.0)  # covers as many
    >>> [round(float(set_log_likelihood(log_g, sets).mean()), 1) for log_g in (right, always_0)]
    [-0.0, -1.4]
    """
    h, c = len(sets), sets.n_classes
    g = (1 - MIXED) * np.exp(log_g, dtype=np.float64) + MIXED / c
    mean = float(np.clip((sets.nnz - h) / max(1, h * (c - 1)), 1e-6, 1 - 1e-6))
    if c > MOST_CLASSES:
        others = sets.sizes - 1
        equal: Values = np.log(np.add.reduceat(g, sets.indptr[:-1]))
        equal += others * np.log(mean) + (c - 1 - others) * np.log1p(-mean)
        return equal
    mask = sets.mask()
    inside = np.full((h, c), -np.inf)
    inside[sets.rows, sets.indices] = np.log(g)
    part = np.random.default_rng([seed, 6]).permutation(h) % _PARTS
    joined = mask.astype(np.float64)
    q = _normalised(inside)[0]  # (h, c) probability of each class, given the set
    total = np.empty(h)
    for _ in range(_ROUNDS):
        counts = [q[part == k].sum(axis=0) for k in range(_PARTS)]  # (c,) each: examples of a class
        pairs = [q[part == k].T @ joined[part == k] for k in range(_PARTS)]  # (c, c): of them, with label b
        updated = np.empty_like(q)
        for k in range(_PARTS):
            rows = part == k
            n = sum(counts) - counts[k]
            rates = (sum(pairs) - pairs[k] + _PSEUDO * mean) / (n[:, None] + _PSEUDO)
            rates = np.clip(rates, 1e-9, 1 - 1e-9)
            on, off = np.log(rates), np.log1p(-rates)
            np.fill_diagonal(on, 0.0)
            np.fill_diagonal(off, 0.0)
            log_p = joined[rows] @ (on - off).T + off.sum(axis=1)  # (h_k, c): log P(S | j)
            updated[rows], total[rows] = _normalised(inside[rows] + log_p)
        q = updated
    return total


def best_tempered(probabilities: npt.NDArray[np.floating[Any]], sets: CandidateSets, seed: int = 0) -> Values:
    """Return `set_log_likelihood` with the log-probabilities divided by the temperature that suits the sets best.

    Methods whose probabilities are made of scores can be compared by it.

    Args:
        probabilities: (h, c), rows sum to 1.
        sets: h candidate sets.
        seed: as above.
    """
    log_p = np.log(np.clip(probabilities, 1e-12, 1.0, dtype=np.float64))
    tempered = (log_softmax(log_p / t, axis=1)[sets.rows, sets.indices] for t in TEMPERATURES)
    return max((set_log_likelihood(log_g, sets, seed) for log_g in tempered), key=lambda found: float(found.mean()))


def _normalised(log_p: Values) -> tuple[Values, Values]:
    """Return (h, c) probabilities and (h,) logarithms of their sums."""
    top = log_p.max(axis=1, keepdims=True)
    p = np.exp(log_p - top)
    total = p.sum(axis=1, keepdims=True)
    return p / total, (top + np.log(total))[:, 0]


def is_significantly_less(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether the mean of a is below that of b, by a paired comparison of the same examples at 5 %."""
    gap = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    return bool(gap.mean() > 1.96 * gap.std() / np.sqrt(len(gap)))

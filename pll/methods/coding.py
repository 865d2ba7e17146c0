"""Which columns PL-ECOC learns: dichotomies of the classes, and which examples each can use."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse

from pll.candidates import CandidateSets
from pll.methods.classical import blocks
from pll.training.metrics import Hook

PURITIES = (1.0, 0.9, 0.8, 0.7, 0.6)
"""The steps by which purity is relaxed."""
BALANCE = 0.25
"""The smaller side of a column holds at least this share of the threshold τ."""
BLOCK_CELLS = 1_000_000
"""Examples × dichotomies that are counted at once, at most."""

Signs = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Coding:
    """The columns that were chosen.

    Args:
        signs: (c, L) int8, +1 or −1; class j is on that side of column t.
        purities: (L,) the purity each column uses its examples with; 0 marks one of `one_against_rest`.
        notes: what had to be done that the original does not, in words.
    """

    signs: Signs
    purities: npt.NDArray[np.float64]
    notes: tuple[str, ...]

    def sides(self, column: int, candidates: CandidateSets) -> Signs:
        """(n,) int8: on which side each example trains this column, 0 where on none."""
        positive = scipy.sparse.csr_array(_sets(candidates)) @ (self.signs[:, column] > 0).astype(np.float64)
        share = positive / candidates.sizes  # |S ∩ Y⁺| / |S|
        if self.purities[column] == 0:
            return np.where(share > 0, 1, -1).astype(np.int8)
        return _sides(share, self.purities[column])


def default_length(n_classes: int) -> int:
    """L = ⌈10 log2 c⌉.

    >>> default_length(10)
    34
    """
    return math.ceil(10 * math.log2(n_classes))


def choose_columns(
    candidates: CandidateSets,
    length: int,
    *,
    min_usable: float,
    min_purity: float,
    stand_ins: int,
    max_tries: int,
    rng: np.random.Generator,
    hook: Hook,
) -> Coding:
    """The purest columns that enough examples can use: `length` of them, or more where they are not pure.

    A dichotomy qualifies at purity ρ if at least τ = `min_usable` · n examples have a share ρ of their candidates on
    one side, at least τ/4 of them on each. At ρ = 1, the original's condition, dichotomies are taken as they were
    drawn; below, those with the largest smaller side come first: a set that tells nothing lies mostly on the side with
    more classes, so a lopsided dichotomy would learn the sizes of its sides. A relaxed column is a weaker witness:
    `stand_ins` of them stand in for each one that is missing.
    """
    drawn = draw_dichotomies(candidates.n_classes, max_tries, rng)  # (T, c)
    steps = [purity for purity in PURITIES if purity >= min_purity]
    threshold = min_usable * len(candidates)
    counts = np.zeros((0, len(steps), 2), dtype=np.int64)
    for block in _counted(drawn, candidates, steps, hook):
        counts = np.concatenate([counts, block])
        if (_qualifies(counts[:, 0], threshold)).sum() >= length:
            break  # the original's way: it draws until it has enough
    chosen, purities = _purest(counts, steps, threshold, length, stand_ins)
    notes = []
    if (purities < 1).any():
        notes.append(_relaxed_note(purities))
    if not len(chosen):
        chosen, purities = _best_available(counts, steps[-1], stand_ins * length)
        if len(chosen):
            notes.append(_best_note(threshold, steps[-1], len(chosen), int(counts[chosen, -1].min())))
    if not len(chosen):
        return one_against_rest(candidates)
    if len(chosen) < min(length, len(drawn)):
        notes.append(
            f"The code has {len(chosen)} columns instead of {length}; {len(drawn):,} splits of the classes were tried."
        )
    return Coding(drawn[chosen].T.copy(), purities, tuple(notes))


def draw_dichotomies(n_classes: int, max_tries: int, rng: np.random.Generator) -> Signs:
    """(T, c) different ways to divide the classes in two, in random order; class 0 is always on the side of +1.

    All 2^(c−1) − 1 of them where that is at most `max_tries`, else so many uniform draws, without the repeated ones.
    """
    if n_classes - 1 < 60 and 2 ** (n_classes - 1) - 1 <= max_tries:
        codes = rng.permutation(2 ** (n_classes - 1) - 1)[:, None]
        bits = (codes >> np.arange(n_classes - 1)) & 1  # never all ones: that is no division
    else:
        bits = rng.integers(0, 2, size=(max_tries, n_classes - 1))
        bits = bits[~bits.all(axis=1)]
        bits = bits[np.sort(np.unique(bits, axis=0, return_index=True)[1])]
    together = np.ones((len(bits), 1), dtype=np.int64)
    return (2 * np.hstack([together, bits]) - 1).astype(np.int8)


def one_against_rest(candidates: CandidateSets) -> Coding:
    """The last way out, for sets that no division of the classes can use (three classes, all sets of two).

    Column j tells the sets that hold class j (+1) from those that do not: the negative side is as the original asks,
    the positive one is not. Classes that are in every set or in none get no column.
    """
    holders = np.bincount(candidates.indices, minlength=candidates.n_classes)
    classes = np.flatnonzero((holders > 0) & (holders < len(candidates)))
    signs = np.full((candidates.n_classes, len(classes)), -1, dtype=np.int8)
    signs[classes, np.arange(len(classes))] = 1
    note = (
        "No split of the classes has a usable example on both sides; each column tells the sets that hold one class "
        "from those that do not."
        if len(classes)
        else "Every candidate set is the same; there is nothing to learn from, and all candidates weigh the same."
    )
    return Coding(signs, np.zeros(len(classes)), (note,))


def _counted(
    drawn: Signs, candidates: CandidateSets, steps: list[float], hook: Hook
) -> Iterator[npt.NDArray[np.int64]]:
    """(B, steps, 2) for blocks of dichotomies: how many examples are usable on each side at each purity."""
    sets = _sets(candidates)
    sizes = candidates.sizes[:, None]
    size = max(1, BLOCK_CELLS // len(candidates))
    for block in blocks(len(drawn), size):
        hook()
        share = (sets @ (drawn[block].T > 0).astype(np.float64)) / sizes  # (n, B)
        sides = np.stack([_sides(share, purity) for purity in steps])  # (steps, n, B)
        yield np.stack([(sides > 0).sum(axis=1), (sides < 0).sum(axis=1)], axis=-1).transpose(1, 0, 2)


def _purest(
    counts: npt.NDArray[np.int64], steps: list[float], threshold: float, length: int, stand_ins: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The columns that qualify, each at its highest purity, the purest first; and these purities."""
    chosen: list[int] = []
    purities: list[float] = []
    for step, purity in enumerate(steps):
        able = np.flatnonzero(_qualifies(counts[:, step], threshold))
        able = able[~np.isin(able, chosen)]
        if purity < 1:
            able = able[np.argsort(-counts[able, step].min(axis=1), kind="stable")]
        able = able[: length - len(chosen)]
        chosen += able.tolist()
        purities += [purity] * len(able)
        if purity == 1:
            length += (stand_ins - 1) * (length - len(chosen))
    return np.array(chosen, dtype=np.int64), np.array(purities)


def _best_available(
    counts: npt.NDArray[np.int64], purity: float, length: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Where none qualifies: those with the largest smaller side at the lowest purity, if it holds anything."""
    smaller = counts[:, -1].min(axis=1)
    order = np.argsort(-smaller, kind="stable")[:length]
    order = order[smaller[order] > 0]
    return order, np.full(len(order), purity)


def _qualifies(counts: npt.NDArray[np.int64], threshold: float) -> npt.NDArray[np.bool_]:
    smaller = counts.min(axis=-1)
    return (counts.sum(axis=-1) >= threshold) & (smaller >= max(1.0, BALANCE * threshold))


def _sides(share: npt.NDArray[np.float64], purity: float) -> Signs:
    purity -= 1e-9  # 3 of 5 is .6, whatever the rounding
    return (share >= purity).astype(np.int8) - (1.0 - share >= purity).astype(np.int8)


def _sets(candidates: CandidateSets) -> scipy.sparse.csr_array:
    shape = (len(candidates), candidates.n_classes)
    return scipy.sparse.csr_array((np.ones(candidates.nnz), candidates.indices, candidates.indptr), shape=shape)


def _relaxed_note(purities: npt.NDArray[np.float64]) -> str:
    values, numbers = np.unique(purities, return_counts=True)
    parts = [
        f"{count} with whole sets" if value == 1 else f"{count} with at least {100 * value:.0f} % of a set"
        for value, count in zip(values[::-1].tolist(), numbers[::-1].tolist(), strict=True)
    ]
    return (
        "The candidate sets are large: too few lie wholly on one side of a split of the classes, as the method asks. "
        f"Columns of the code, by what has to lie on one side: {', '.join(parts)}."
    )


def _best_note(threshold: float, purity: float, count: int, smallest: int) -> str:
    share = "wholly" if purity == 1 else f"for {100 * purity:.0f} % or more"
    return (
        f"No split of the classes has the {threshold:.0f} examples that the method asks for, whose sets lie {share} on "
        f"one side. The best {count} splits are used; the worst of them has {smallest:,} on its smaller side."
    )

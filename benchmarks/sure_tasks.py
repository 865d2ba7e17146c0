"""Generated tasks to measure confidence on: features, candidate sets and truth of many kinds, all drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.synthesis import flip_binomial, flip_pair
from pll.synthesis.cross_val import out_of_fold
from pll.synthesis.flips import flip_by_instance

Labels = npt.NDArray[np.int64]
Features = npt.NDArray[np.float32]
FAMILIES = ("clusters", "clusters", "patches", "words")
"""Of features: a centre a class (twice as often as the others), several, counts of words."""
SETS = ("binomial", "binomial", "pair", "instance", "companion", "bags", "noise")


@dataclass(frozen=True, eq=False)
class Generated:
    """A task with its truth.

    Attributes
    ----------
    name
        What was drawn, in short.
    kind
        How the sets were made, of `SETS`.
    """

    name: str
    kind: str
    X: Features
    sets: CandidateSets
    y: Labels


def generated(seed: int, place: int, *, most: int = 3000, kind: str = "") -> Generated:
    """Return the task of a seed and place; the sizes, how far classes are apart and how sets are made are drawn.

    Parameters
    ----------
    most
        Examples at most.
    kind
        How sets are made, of `SETS`; "" draws it.
    """
    rng = np.random.default_rng([seed, place])
    family = FAMILIES[rng.integers(len(FAMILIES))]
    kind = kind or SETS[rng.integers(len(SETS))]
    n = int(min(most, np.exp(rng.uniform(np.log(150), np.log(3000)))))
    c = int(np.exp(rng.uniform(np.log(3), np.log(min(25, n / 15)))))
    shares = rng.dirichlet(np.full(c, rng.choice([1.0, 5.0, 50.0]))) * 0.8 + 0.2 / c  # often unbalanced
    if kind == "bags":
        y, bags = _bags(rng, n, c)
    else:
        y, bags = rng.choice(c, size=n, p=shares), np.zeros(0, dtype=np.int64)
    y[rng.permutation(n)[:c]] = np.arange(c)  # every class is there
    X = _FEATURES[family](rng, y, c)
    sets, said = _sets(rng, kind, X, y, c, bags)
    return Generated(f"{family} {said} ({n} × {X.shape[1]} × {c})", kind, X, sets, y)


def _clusters(rng: np.random.Generator, y: Labels, c: int) -> Features:
    d, apart = int(np.exp(rng.uniform(np.log(5), np.log(60)))), rng.uniform(1.5, 4.5)
    centres = rng.normal(size=(c, d)) * apart / np.sqrt(d)
    spread = np.exp(rng.normal(size=d) * 0.5)
    X: Features = ((centres[y] + rng.normal(size=(len(y), d)) * rng.uniform(0.5, 1.2)) * spread).astype(np.float32)
    return X


def _patches(rng: np.random.Generator, y: Labels, c: int) -> Features:
    """Several centres a class: not linear."""
    d, apart, each = int(rng.integers(4, 20)), rng.uniform(2.5, 5.0), int(rng.integers(2, 4))
    centres = rng.normal(size=(c, each, d)) * apart / np.sqrt(d)
    of = rng.integers(each, size=len(y))
    X: Features = (centres[y, of] + rng.normal(size=(len(y), d)) * 0.8).astype(np.float32)
    return X


def _words(rng: np.random.Generator, y: Labels, c: int) -> Features:
    """Sparse counts, few of them telling."""
    d = int(rng.integers(80, 200))
    common = rng.dirichlet(np.full(d, 0.3))
    topics = np.stack([rng.dirichlet(np.full(d, 0.05)) for _ in range(c)])
    share = rng.uniform(0.15, 0.5)
    counts = np.stack([rng.multinomial(rng.integers(5, 25), share * topics[k] + (1 - share) * common) for k in y])
    logs: Features = np.log1p(counts).astype(np.float32)
    return logs


_FEATURES: dict[str, Callable[[np.random.Generator, Labels, int], Features]] = {
    "clusters": _clusters,
    "patches": _patches,
    "words": _words,
}


def _bags(rng: np.random.Generator, n: int, c: int) -> tuple[Labels, Labels]:
    """Labels that come together: parts of things, whose kinds each have a few labels of their own."""
    kinds = [rng.permutation(c)[: int(rng.integers(2, min(c, 4) + 1))] for _ in range(max(2, c))]
    bags = np.sort(rng.integers(max(2, n // 4), size=n))
    kind_of = rng.integers(len(kinds), size=bags.max() + 1)
    y = np.array([rng.choice(kinds[kind_of[bag]]) for bag in bags])
    return y, bags


def _sets(
    rng: np.random.Generator, kind: str, X: Features, y: Labels, c: int, bags: Labels
) -> tuple[CandidateSets, str]:
    """Return candidate sets, and how they were made in words."""
    seed = int(rng.integers(2**31))
    q = float(rng.choice([0.1, 0.3, 0.5, 0.7]))
    if kind == "binomial":
        return flip_binomial(y, c, q, seed), f"binomial {q:g}"
    if kind == "pair":
        return flip_pair(y, c, q, seed), f"pair {q:g}"
    if kind == "instance":
        return flip_by_instance(y, c, out_of_fold(X, y, c, folds=2, seed=seed), q, seed), f"by instance {q:g}"
    mask = rng.random((len(y), c)) < min(q, 0.3)
    mask[np.arange(len(y)), y] = True
    if kind == "bags":  # the labels of all parts of the same thing
        mask[:] = False
        for bag in np.unique(bags):
            mask[np.ix_(bags == bag, np.unique(y[bags == bag]))] = True
        return CandidateSets.from_mask(mask), "bags"
    if kind == "companion":  # of some classes another label comes with each, or nearly each, example
        some = rng.permutation(c)[: max(1, c // 3)]
        with_it = (some + 1 + rng.integers(c - 1, size=len(some))) % c
        share = float(rng.choice([0.9, 1.0]))
        for one, other in zip(some, with_it, strict=True):
            mask[(y == one) & (rng.random(len(y)) < share), other] = True
        return CandidateSets.from_mask(mask), f"companions {share:g}"
    missed = rng.random(len(y)) < 0.02  # annotators miss the truth
    mask[missed, y[missed]] = False
    empty = np.flatnonzero(~mask.any(axis=1))
    mask[empty, (y[empty] + 1) % c] = True
    return CandidateSets.from_mask(mask), f"2 % missed, binomial {min(q, 0.3):g}"

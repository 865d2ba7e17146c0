"""Generated votes to measure confidence on: voters of many kinds with features and truth, all drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations

Labels = npt.NDArray[np.int64]
Features = npt.NDArray[np.float32]
VOTERS = ("panel", "panel", "panel", "sparse panel", "crowd", "functions")
MISTAKES = ("independent", "hard examples", "decoys", "copies", "of features")
FEATURES = ("useless", "helpful", "strong")


@dataclass(frozen=True, eq=False)
class Panel:
    """Votes with their truth.

    Attributes
    ----------
    name
        What was drawn, in short.
    voters, mistakes
        Of `VOTERS` and of `MISTAKES`.
    annotations
        The votes.
    X
        By name, of `FEATURES`: (n, d).
    y
        (n,) the truth.
    """

    name: str
    voters: str
    mistakes: str
    annotations: Annotations
    X: dict[str, Features]
    y: Labels


def panel(seed: int, place: int, *, most: int = 1000) -> Panel:
    """Return the votes of a seed and place; sizes, abilities, who answers and what mistakes share are drawn.

    Parameters
    ----------
    most
        Examples at most.
    """
    rng = np.random.default_rng([seed, place, 5])
    voters, mistakes = (kinds[rng.integers(len(kinds))] for kinds in (VOTERS, MISTAKES))
    n = int(np.exp(rng.uniform(np.log(80), np.log(most))))
    c = int(np.exp(rng.uniform(np.log(2), np.log(min(20, n / 12)))))
    shares = rng.dirichlet(np.full(c, rng.choice([2.0, 10.0, 50.0]))) * 0.8 + 0.2 / c
    y = rng.choice(c, size=n, p=shares)
    X = {
        "useless": np.eye(4)[rng.integers(0, 4, n)] if place % 2 else rng.normal(size=(n, 6)),
        "helpful": _clusters(rng, y, c, rng.uniform(1.5, 3.0)),
        "strong": _clusters(rng, y, c, rng.uniform(3.0, 6.0)),
    }
    if voters == "functions":
        votes = _functions(rng, y, c)
    else:
        m = int(rng.integers(15, 60)) if voters == "crowd" else int(rng.integers(3, 8))
        votes = _answers(rng, mistakes, y, c, m, X["helpful"])
        if voters == "crowd":
            each = int(rng.integers(2, 7))
            votes[rng.random((n, m)).argsort(axis=1) >= each] = -1
        elif voters == "sparse panel":
            votes[rng.random((n, m)) < rng.uniform(0.2, 0.6)] = -1
    voted = votes[:, (votes >= 0).any(axis=0)]
    annotations = Annotations.from_votes(voted, [f"class {k}" for k in range(c)])
    said = "one class each" if voters == "functions" else mistakes
    name = f"{voters} of {voted.shape[1]}, {said} ({n} × {c})"
    return Panel(name, voters, mistakes, annotations, {k: x.astype(np.float32) for k, x in X.items()}, y)


def _clusters(rng: np.random.Generator, y: Labels, c: int, apart: float) -> npt.NDArray[np.float64]:
    """A centre a class, about so many standard deviations apart."""
    d = int(np.exp(rng.uniform(np.log(5), np.log(60))))
    centres = rng.normal(size=(c, d)) * apart / np.sqrt(2 * d)
    return np.asarray(centres[y] + rng.normal(size=(len(y), d)))


def _answers(
    rng: np.random.Generator, mistakes: str, y: Labels, c: int, m: int, X: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """(n, m) answers of voters who answer all."""
    n = len(y)
    chance = 1 / c
    ability = chance + (1 - chance) * rng.uniform(0.35, 0.9, m)
    if m >= 4 and rng.random() < 0.3:
        ability[rng.integers(m)] = chance  # one is useless
    of_class = np.stack([rng.dirichlet(np.full(c, 0.5), size=c) for _ in range(m)])  # each has own confusions
    shared = rng.dirichlet(np.full(c, 0.5), size=c)  # and those of all
    confusions = 0.5 * of_class + 0.5 * shared
    confusions[:, np.arange(c), np.arange(c)] = 0
    confusions += 1e-3
    confusions[:, np.arange(c), np.arange(c)] = 0
    confusions /= confusions.sum(axis=2, keepdims=True)
    drawn = rng.random((n, m, 1)) < np.cumsum(confusions[:, y].transpose(1, 0, 2), axis=2)
    wrong = np.where(drawn.any(axis=2), drawn.argmax(axis=2), (y[:, None] + 1) % c)
    p = np.broadcast_to(ability, (n, m)).copy()
    share = float(rng.choice([0.15, 0.3, 0.5]))
    if mistakes == "hard examples":
        p += (chance - p) * rng.beta(1.0, 1 / share, n)[:, None]
    elif mistakes in ("decoys", "of features"):
        if mistakes == "decoys":
            decoy, hard = (y + rng.integers(1, c, n)) % c, rng.random(n) < share
        else:  # the class whose centre is nearest, but for the true one
            centres = np.stack([X[y == k].mean(axis=0) if (y == k).any() else X[0] * np.inf for k in range(c)])
            far = ((X[:, None] - centres) ** 2).sum(axis=2) if c * X.size < 5e7 else np.zeros((n, c))
            far = np.where(np.isfinite(far), far, np.inf)
            own = far[np.arange(n), y]
            far[np.arange(n), y] = np.inf
            decoy, lead = far.argmin(axis=1), own - far.min(axis=1)
            hard = lead >= np.quantile(lead, 1 - share)
        misled = hard[:, None] & (rng.random((n, m)) < 0.8)
        wrong = np.where(misled, decoy[:, None], wrong)
        p = np.where(hard[:, None], p * rng.uniform(0.4, 0.9), p)
    votes = np.where(rng.random((n, m)) < p, y[:, None], wrong)
    if mistakes == "copies":
        one, other = rng.choice(m, 2, replace=False)
        copied = rng.random(n) < 0.7
        votes[copied, other] = votes[copied, one]
    return votes.astype(np.int64)


def _functions(rng: np.random.Generator, y: Labels, c: int) -> npt.NDArray[np.int64]:
    """(n, m) answers of functions that name one class, or nothing."""
    m = int(rng.integers(2, 5)) * c
    votes = np.full((len(y), m), -1)
    for v in range(m):
        of = v % c
        hits = np.where(y == of, rng.uniform(0.1, 0.5), rng.uniform(0.0, 0.3) / c)
        votes[rng.random(len(y)) < hits, v] = of
    return votes

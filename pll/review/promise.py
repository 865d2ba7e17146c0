"""A promise about all labels of a dataset: "at most ε of these n labels are wrong, with 95 % confidence".

Labels and their order (the surest first, ties shuffled) are frozen. Of the n rows K are drawn at random: the controls.
People say of each whether its label is right. Everything ahead of the (c+1)-th wrong control is accepted; people look
at the rest, and wrong controls are corrected.

With A = ⌊εn⌋ labels allowed to be wrong, c is the largest number with

    Pr(Hypergeometric(n, A + 1 + c, K) ≤ c) ≤ α.

Then more than A of the n labels stay wrong with probability at most α, whatever the labels, their order and how often
they are wrong. A breach needs more than A + c wrong labels ahead of the (c+1)-th wrong control, hence at most c
controls among the *first* A + 1 + c wrong labels in the order. Which these are does not depend on the draw, so the
number of controls among them is hypergeometric: choosing the cut by the same answers costs nothing. docs/certificate.md
has the proof in full, also for an order that changes with the answers, and measurements.

Conditions: labels and confidences are fixed before the draw; there is one draw, whose seed was not chosen by
its result; ties are broken by another random stream than the draw; "unsure" counts as wrong; reviewers are right.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, logsumexp

from pll.errors import UserError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEVEL = 0.95

UNANSWERED, WRONG, RIGHT = -1, 0, 1
"""Answers to controls: whether the label is right. Unsure is `WRONG`."""

Answers = npt.NDArray[np.int8]


@dataclass(frozen=True)
class DatasetPlan:
    """How many controls to draw, and how many of them may be wrong among the accepted labels.

    Attributes
    ----------
    n
        Labels.
    error
        ε, the share of them that may be wrong, in (0, 1).
    level
        1 − α.
    controls
        K.
    tolerated
        c, wrong controls that the accepted labels may hold.
    """

    n: int
    error: float
    level: float
    controls: int
    tolerated: int

    @property
    def allowed(self) -> int:
        """A = ⌊εn⌋: labels that may stay wrong."""
        return allowed_wrong(self.n, self.error)

    @property
    def attained(self) -> float:
        """The largest probability that more than A labels stay wrong, over all datasets and orders; at most α."""
        return attained_risk(self.n, self.allowed, self.controls, self.tolerated)


def plan_dataset(n: int, error: float, level: float = LEVEL, *, controls: int | None = None) -> DatasetPlan:
    """Choose (c, K) from n, ε and α alone: no label, confidence or answer is looked at.

    For each c the smallest K that is valid; of these pairs the one with the largest (1 − K/n) · √((c + ½) n / K), which
    weighs the labels accepted unseen against the precision of the cut.

    Parameters
    ----------
    n
        Number of labels, at least 1.
    error
        ε in (0, 1).
    level
        1 − α in (0, 1).
    controls
        K, where it is given; c is then the largest valid.

    Raises
    ------
    UserError
        Numbers out of range, or too few controls to accept anything.

    Examples
    --------
    >>> plan = plan_dataset(2299, 0.05)
    >>> plan.tolerated, plan.controls, round(plan.attained, 4)
    (17, 426, 0.0499)
    """
    check_guarantee(error, level)
    if n < 1:
        raise UserError("There are no labels to make a promise about.")
    return _planned(n, error, level, controls)


@lru_cache(maxsize=256)
def _planned(n: int, error: float, level: float, controls: int | None) -> DatasetPlan:
    allowed, alpha = allowed_wrong(n, error), alpha_of(level)
    if controls is not None:
        if not 1 <= controls <= n:
            raise UserError(f"Draw 1 to {n:,} controls from {n:,} labels, not {controls:,}.")
        tolerated = most_tolerated(n, allowed, controls, alpha)
        if tolerated is None:
            least = fewest_controls(n, allowed, 0, alpha)
            raise UserError(
                f"With {controls:,} of {n:,} labels as controls, an error of {error:g} cannot be shown even if all of "
                f"them are right. Draw at least {least:,}, or allow a larger error."
            )
        return DatasetPlan(n, error, level, controls, tolerated)
    worth: dict[int, tuple[float, int]] = {}

    def value(c: int) -> float:
        if c not in worth:
            least = max((k for other, (_, k) in worth.items() if other < c), default=1)
            most_of = min((k for other, (_, k) in worth.items() if other > c), default=n)
            k = fewest_controls(n, allowed, c, alpha, within=(least, most_of))
            worth[c] = ((1 - k / n) * math.sqrt((c + 0.5) * n / k), k)
        return worth[c][0]

    most = n - allowed - 1  # so that A + 1 + c ≤ n
    last, c = -1.0, 0
    while c <= most and (result := value(c)) >= 0.97 * last:  # the value rises and falls once, but for small steps
        last, c = max(last, result), c + max(1, c // 8)
    best = max(worth, key=lambda c: worth[c][0])
    for c in range(max(0, best - best // 6 - 2), min(most, best + best // 6 + 2) + 1, max(1, best // 180)):
        value(c)
    best = max(worth, key=lambda c: (worth[c][0], -c))
    return DatasetPlan(n, error, level, worth[best][1], best)


def log_risk(n: int, allowed: int, controls: npt.ArrayLike, tolerated: int) -> Floats:
    """Return log Pr(at most c of A + 1 + c given labels are controls).

    Parameters
    ----------
    n
        Number of labels.
    allowed
        A, wrong labels that the promise allows.
    controls
        K, one or (k,) numbers of controls.
    tolerated
        c, wrong controls among the accepted.

    Returns
    -------
    Floats
        float64 of the shape of `controls`.
    """
    k = np.asarray(controls, dtype=np.float64)[..., None]
    m, s = allowed + 1 + tolerated, np.arange(tolerated + 1.0)
    terms = log_choose(m, s) + log_choose(n - m, k - s) - log_choose(n, k)
    return np.asarray(logsumexp(terms, axis=-1), dtype=np.float64)


@lru_cache(maxsize=4096)
def attained_risk(n: int, allowed: int, controls: int, tolerated: int) -> float:
    """Return the exact probability that the least favourable dataset breaks a plan; arguments as for `log_risk`.

    Every dataset with at least A + 1 + c wrong labels attains it, in any order.
    """
    if allowed + 1 + tolerated > n:
        return 0.0
    return min(1.0, float(np.exp(log_risk(n, allowed, controls, tolerated))))


def fewest_controls(
    n: int,
    allowed: int,
    tolerated: int,
    alpha: float,
    *,
    within: tuple[int, int] | None = None,
) -> int:
    """Return the smallest K in 1 … n (or `within` bounds) that tolerates c wrong controls at risk `alpha`."""
    (low, high), bar = within or (1, n), math.log(alpha)
    while low < high:  # the more controls, the less likely that so few of the wrong labels are among them
        middle = (low + high) // 2
        if float(log_risk(n, allowed, middle, tolerated)) <= bar:
            high = middle
        else:
            low = middle + 1
    return low


def most_tolerated(n: int, allowed: int, controls: int, alpha: float) -> int | None:
    """Return the largest c that K controls allow at risk `alpha`; None where even c = 0 fails."""
    low, high, bar = -1, min(controls, n - allowed - 1), math.log(alpha)
    if allowed + 1 > n:
        return controls
    while low < high:  # the risk grows with c (docs/certificate.md)
        middle = (low + high + 1) // 2
        if float(log_risk(n, allowed, controls, middle)) <= bar:
            low = middle
        else:
            high = middle - 1
    return None if low < 0 else low


# ---- numbers ---------------------------------------------------------------------------------------------------------


def log_choose(n: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """log C(n, k), −∞ outside 0 ≤ k ≤ n."""
    n, k = np.asarray(n, dtype=np.float64), np.asarray(k, dtype=np.float64)
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0.0)
    return np.where(inside, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)


def alpha_of(level: float) -> float:
    """α = 1 − level; raises UserError unless it lies strictly between 0 and 1."""
    if not 0 < level < 1:
        raise UserError(f"The level of the certificate must lie between 0 and 1 (0.95, say), not {level}.")
    return 1 - level


def check_guarantee(max_error: float, level: float) -> None:
    """Raises UserError unless both lie strictly between 0 and 1."""
    alpha_of(level)
    if not 0 < max_error < 1:
        raise UserError(
            f"The error to be excluded must lie between 0 and 1 (0.02, say), not {max_error}; "
            "that no label at all is wrong can only be shown by checking them all."
        )


def allowed_wrong(population: int, max_error: float) -> int:
    """⌊x · N⌋, not spoilt by 0.29 · 100 = 28.999…"""
    return math.floor(max_error * population + 1e-9)


def how_many(n: int, share: float) -> int:
    """Controls that a share of n rows comes to, at least one.

    Raises
    ------
    UserError
        No rows, or a share outside (0, 1].
    """
    if n < 1:
        raise UserError("There are no labelled examples to draw controls from.")
    if not 0 < share <= 1:
        raise UserError(f"The control share must be above 0 and at most 1, not {share}.")
    return max(1, int(share * n + 0.5))


# ---- the draw and the order ------------------------------------------------------------------------------------------


def hash_keys(seed: int, purpose: str, ids: Sequence[str] | npt.NDArray[np.str_]) -> npt.NDArray[np.uint64]:
    """Return (n,) uint64: for each of the n ids the first 64 bits of SHA-256 of "seed:purpose:id".

    They depend on nothing else, such as the order of rows or the version of a library, and keys of two purposes are two
    independent streams.

    Examples
    --------
    >>> hash_keys(1, "draw", ["a"]).tolist()
    [3243511289833509501]
    """
    start = hashlib.sha256(f"{seed}:{purpose}:".encode())
    digests = []
    for one in ids:
        key = start.copy()
        key.update(str(one).encode())
        digests.append(key.digest()[:8])
    return np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64)


def draw_dataset_controls(plan: DatasetPlan, seed: int, ids: Sequence[str] | npt.NDArray[np.str_]) -> Ints:
    """Rows to be checked, in the random order in which they are to be answered.

    Parameters
    ----------
    seed
        Of the draw; it must not be chosen by what it draws.
    ids
        (n,) text, unique.

    Returns
    -------
    Ints
        (K,) int64.
    """
    keys = hash_keys(seed, "draw", ids)
    return np.argsort(keys, kind="stable").astype(np.int64)[: plan.controls]


def dataset_order(confidence: npt.ArrayLike, seed: int, ids: Sequence[str] | npt.NDArray[np.str_]) -> Ints:
    """Return (n,) int64: all rows by falling `confidence` (n,); ties by a hash of seed and id."""
    return np.lexsort((hash_keys(seed, "ties", ids), -np.asarray(confidence, dtype=np.float64))).astype(np.int64)


def commitment(seed: int, fingerprint: str, plan: DatasetPlan) -> str:
    """SHA-256 (hex) of everything that decides the draw; published before the first answer, it binds the seed."""
    fields = (seed, fingerprint, plan.n, plan.error, plan.level, plan.controls, plan.tolerated)
    return hashlib.sha256("\n".join(map(str, fields)).encode()).hexdigest()


# ---- the rule --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cut:
    """Where acceptance ends.

    Attributes
    ----------
    accepted
        Labels ahead of the (c+1)-th wrong control, the controls among them included.
    unseen
        Those of them accepted unseen.
    wrong_inside
        Wrong controls among the accepted.
    waiting
        (k,) rows of controls among the accepted that are not answered yet.
    left
        (m,) rows that are not accepted: people look at all of them. The least sure first.
    """

    accepted: int
    unseen: int
    wrong_inside: int
    waiting: Ints
    left: Ints


def cut_of(order: Ints, controls: Ints, answers: Answers, tolerated: int) -> Cut:
    """Accept everything ahead of the (c+1)-th wrong control.

    An unanswered control counts as right here: nothing is certified while the accepted part holds one (`waiting`).

    Parameters
    ----------
    order
        (n,) rows, the surest first.
    controls
        (K,) rows.
    answers
        (K,) `RIGHT`, `WRONG` or `UNANSWERED`, aligned with `controls`.
    """
    n = len(order)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    at = place[controls]
    wrong = np.sort(at[answers == WRONG])
    accepted = n if len(wrong) <= tolerated else int(wrong[tolerated])
    inside = at < accepted
    return Cut(
        accepted=accepted,
        unseen=accepted - int(inside.sum()),
        wrong_inside=int((wrong < accepted).sum()),
        waiting=controls[inside & (answers == UNANSWERED)],
        left=order[accepted:][::-1].copy(),
    )

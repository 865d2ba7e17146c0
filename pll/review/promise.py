"""A promise about all labels of a dataset: "at most ε of these n labels are wrong, with 95 % confidence".

Labels and their order (the surest first, ties shuffled) are frozen. Of the n rows K are drawn at random: the controls.
People say of each whether its label is right. Everything ahead of the (c+1)-th wrong control is accepted; people look
at the rest and at nothing else, and wrong controls are corrected.

With A = ⌊εn⌋ labels allowed to be wrong, c is the largest number with

    Pr(Hypergeometric(n, A + 1 + c, K) ≤ c) ≤ α.

Then more than A of the n labels stay wrong with probability at most α, whatever the labels, their order and how often
they are wrong. A breach needs more than A + c wrong labels ahead of the (c+1)-th wrong control, hence at most c
controls among the *first* A + 1 + c wrong labels in the order. Which these are does not depend on the draw, so the
number of controls among them is hypergeometric: choosing the cut by the same answers costs nothing. docs/certificate.md
has the proof in full, the variant with a changing order (independent controls, binomial c) and measurements.

What must hold: labels and confidences are fixed before the draw; there is one draw, whose seed was not chosen by
its result; ties are broken by another random stream than the draw; "unsure" counts as wrong; reviewers are right.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, logsumexp

from pll.errors import UserError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEVEL = 0.95

Draw = Literal["fixed", "independent"]
"""`fixed`: K of n without replacement. `independent`: each row with probability K / n, for orders that change."""

ERRORS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2)
"""Errors of the curve "decisions → certified error"."""
UNANSWERED, WRONG, RIGHT = -1, 0, 1
"""Answers to controls: whether the label is right. Unsure is `WRONG`."""

Answers = npt.NDArray[np.int8]


@dataclass(frozen=True)
class DatasetPlan:
    """How many controls to draw, and how many of them may be wrong among the accepted labels.

    Attributes:
        n: labels.
        error: ε, the share of them that may be wrong, in (0, 1).
        level: 1 − α.
        controls: K; of independent draws the expected number.
        tolerated: c, wrong controls that the accepted labels may hold.
        draw: how controls are drawn.
    """

    n: int
    error: float
    level: float
    controls: int
    tolerated: int
    draw: Draw = "fixed"

    @property
    def allowed(self) -> int:
        """A = ⌊εn⌋: labels that may stay wrong."""
        return allowed_wrong(self.n, self.error)

    @property
    def attained(self) -> float:
        """The largest probability that more than A labels stay wrong, over all datasets and orders; at most α."""
        return attained_risk(self.n, self.allowed, self.controls, self.tolerated, self.draw)


def plan_dataset(
    n: int, error: float, level: float = LEVEL, *, controls: int | None = None, draw: Draw = "fixed"
) -> DatasetPlan:
    """Choose (c, K) from n, ε and α alone: no label, confidence or answer is looked at.

    For each c the smallest K that is valid; of these pairs the one with the largest (1 − K/n) · √((c + ½) n / K), which
    weighs the labels accepted unseen against the precision of the cut.

    Args:
        n: number of labels, at least 1.
        error: ε in (0, 1).
        level: 1 − α in (0, 1).
        controls: K, where it is given; c is then the largest valid.
        draw: see `Draw`.

    Raises:
        UserError: numbers out of range, or too few controls to accept anything.

    >>> plan = plan_dataset(2299, 0.05)
    >>> plan.tolerated, plan.controls, round(plan.attained, 4)
    (17, 426, 0.0499)
    """
    check_guarantee(error, level)
    if n < 1:
        raise UserError("There are no labels to make a promise about.")
    return _planned(n, error, level, controls, draw)


@lru_cache(maxsize=256)
def _planned(n: int, error: float, level: float, controls: int | None, draw: Draw) -> DatasetPlan:
    allowed, alpha = allowed_wrong(n, error), alpha_of(level)
    if controls is not None:
        if not 1 <= controls <= n:
            raise UserError(f"Draw 1 to {n:,} controls from {n:,} labels, not {controls:,}.")
        tolerated = most_tolerated(n, allowed, controls, alpha, draw)
        if tolerated is None:
            least = fewest_controls(n, allowed, 0, alpha, draw)
            raise UserError(
                f"With {controls:,} of {n:,} labels as controls, an error of {error:g} cannot be shown even if all of "
                f"them are right. Draw at least {least:,}, or allow a larger error."
            )
        return DatasetPlan(n, error, level, controls, tolerated, draw)
    worth: dict[int, tuple[float, int]] = {}

    def value(c: int) -> float:
        if c not in worth:
            least = max((k for other, (_, k) in worth.items() if other < c), default=1)
            most_of = min((k for other, (_, k) in worth.items() if other > c), default=n)
            k = fewest_controls(n, allowed, c, alpha, draw, within=(least, most_of))
            worth[c] = ((1 - k / n) * math.sqrt((c + 0.5) * n / k), k)
        return worth[c][0]

    most = n - allowed - 1  # so that A + 1 + c ≤ n
    last, c = -1.0, 0
    while c <= most and (found := value(c)) >= 0.97 * last:  # the value rises and falls once, but for small steps
        last, c = max(last, found), c + max(1, c // 8)
    best = max(worth, key=lambda c: worth[c][0])
    for c in range(max(0, best - best // 6 - 2), min(most, best + best // 6 + 2) + 1, max(1, best // 180)):
        value(c)
    best = max(worth, key=lambda c: (worth[c][0], -c))
    return DatasetPlan(n, error, level, worth[best][1], best, draw)


def log_risk(n: int, allowed: int, controls: npt.ArrayLike, tolerated: int, draw: Draw = "fixed") -> Floats:
    """Return log Pr(at most c of A + 1 + c given labels are controls).

    Args:
        n: number of labels.
        allowed: A, wrong labels that the promise allows.
        controls: K, one or (k,) numbers of controls.
        tolerated: c, wrong controls among the accepted.
        draw: "fixed" draws just K controls, "independent" each label with probability K / n.

    Returns:
        float64 of the shape of `controls`.
    """
    k = np.asarray(controls, dtype=np.float64)[..., None]
    m, s = allowed + 1 + tolerated, np.arange(tolerated + 1.0)
    if draw == "fixed":
        terms = log_choose(m, s) + log_choose(n - m, k - s) - log_choose(n, k)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):  # K = n: nothing is left out
            none = np.where(s == m, 0.0, (m - s) * np.log1p(-k / n))
        terms = log_choose(m, s) + s * np.log(k / n) + none
    return np.asarray(logsumexp(terms, axis=-1), dtype=np.float64)


@lru_cache(maxsize=4096)
def attained_risk(n: int, allowed: int, controls: int, tolerated: int, draw: Draw = "fixed") -> float:
    """Return the exact probability that the least favourable dataset breaks a plan; arguments as for `log_risk`.

    Every dataset with at least A + 1 + c wrong labels attains it, in any order.
    """
    if allowed + 1 + tolerated > n:
        return 0.0
    return min(1.0, float(np.exp(log_risk(n, allowed, controls, tolerated, draw))))


def fewest_controls(
    n: int,
    allowed: int,
    tolerated: int,
    alpha: float,
    draw: Draw = "fixed",
    *,
    within: tuple[int, int] | None = None,
) -> int:
    """Return the smallest K in 1 … n (or `within` bounds) that tolerates c wrong controls at risk `alpha`."""
    (low, high), bar = within or (1, n), math.log(alpha)
    while low < high:  # the more controls, the less likely that so few of the wrong labels are among them
        middle = (low + high) // 2
        if float(log_risk(n, allowed, middle, tolerated, draw)) <= bar:
            high = middle
        else:
            low = middle + 1
    return low


def most_tolerated(n: int, allowed: int, controls: int, alpha: float, draw: Draw = "fixed") -> int | None:
    """Return the largest c that K controls allow at risk `alpha`; None where even c = 0 fails."""
    low, high, bar = -1, min(controls, n - allowed - 1), math.log(alpha)
    if allowed + 1 > n:
        return controls
    while low < high:  # the risk grows with c (docs/certificate.md)
        middle = (low + high + 1) // 2
        if float(log_risk(n, allowed, controls, middle, draw)) <= bar:
            low = middle
        else:
            high = middle - 1
    return None if low < 0 else low


# ---- numbers ----


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

    Raises:
        UserError: no rows, or a share outside (0, 1].
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

    Args:
        seed: of the draw; it must not be chosen by what it draws.
        ids: (n,) text, unique.

    Returns:
        (K,) int64; of independent draws about K.
    """
    keys = hash_keys(seed, "draw", ids)
    order = np.argsort(keys, kind="stable").astype(np.int64)
    if plan.draw == "fixed":
        return order[: plan.controls]
    inside = keys[order].astype(np.float64) / 2.0**64 < plan.controls / plan.n
    return order[inside]


def dataset_order(confidence: npt.ArrayLike, seed: int, ids: Sequence[str] | npt.NDArray[np.str_]) -> Ints:
    """Return (n,) int64: all rows by falling `confidence` (n,); ties by a hash of seed and id."""
    return np.lexsort((hash_keys(seed, "ties", ids), -np.asarray(confidence, dtype=np.float64))).astype(np.int64)


def commitment(seed: int, fingerprint: str, plan: DatasetPlan) -> str:
    """SHA-256 (hex) of everything that decides the draw; published before the first answer, it binds the seed."""
    parts = (seed, fingerprint, plan.n, plan.error, plan.level, plan.controls, plan.tolerated, plan.draw)
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


# ---- the rule --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Cut:
    """Where acceptance ends.

    Attributes:
        accepted: labels ahead of the (c+1)-th wrong control, the controls among them included.
        unseen: those of them accepted unseen.
        wrong_inside: wrong controls among the accepted.
        waiting: (k,) rows of controls among the accepted that are not answered yet.
        left: (m,) rows that are not accepted: people look at all of them. The least sure first.
    """

    accepted: int
    unseen: int
    wrong_inside: int
    waiting: Ints
    left: Ints


def cut_of(order: Ints, controls: Ints, answers: Answers, tolerated: int) -> Cut:
    """Accept everything ahead of the (c+1)-th wrong control.

    An unanswered control is taken for right here: nothing is certified while the accepted part holds one (`waiting`).

    Args:
        order: (n,) rows, the surest first.
        controls: (K,) rows.
        answers: (K,) `RIGHT`, `WRONG` or `UNANSWERED`, aligned with `controls`.
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


# ---- several errors at once ------------------------------------------------------------------------------------------


def joint_risk(n: int, controls: int, pairs: Sequence[tuple[int, int]], draw: Draw = "fixed") -> float:
    """Pr(at least one of several promises is broken), for the least favourable dataset: exact.

    Go through the wrong labels in the order; S_m of the first m are controls. Promise (A, c) is broken only where
    S_{A+1+c} ≤ c. No dataset changes the law of this random walk, so a dynamic programme gives the probability.

    Args:
        pairs: (A, c) of each promise.

    >>> round(joint_risk(2299, 426, [(114, 17)]), 4), round(joint_risk(2299, 426, [(114, 17), (229, 17)]), 4)
    (0.0499, 0.0499)
    """
    steps = sorted((allowed + 1 + c, c) for allowed, c in pairs if allowed + 1 + c <= n)
    if not steps:
        return 0.0
    top = max(c for _, c in steps) + 1  # from here on no promise can be broken
    state = np.zeros(top + 1)
    state[0] = 1.0
    broken, before = 0.0, 0
    s = np.arange(top + 1.0)
    for m, c in steps:
        d = float(m - before)
        gained = s[None, :] - s[:-1, None]  # (from, to)
        if draw == "fixed":
            left, rest = controls - s[:-1, None], n - before
            logs = log_choose(left, gained) + log_choose(rest - left, d - gained) - log_choose(rest, d)
        else:
            p = min(controls / n, 1 - 1e-15)
            logs = log_choose(d, gained) + gained * math.log(p) + (d - gained) * math.log1p(-p)
        moves = np.exp(logs)
        moves[:, top] = np.maximum(0.0, 1 - moves[:, :top].sum(axis=1))
        state = np.append(state[:-1] @ moves[:, :top], state[top] + state[:-1] @ moves[:, top])
        broken += float(state[: c + 1].sum())
        state[: c + 1] = 0.0
        before = m
    return min(1.0, broken)


@lru_cache(maxsize=64)
def joint_tolerated(
    n: int, controls: int, errors: tuple[float, ...] = ERRORS, level: float = LEVEL, draw: Draw = "fixed"
) -> dict[float, int]:
    """c for each of several errors, such that *all* of these promises hold together with probability `level`.

    Each is calibrated at the same risk of its own, the largest with which the joint risk stays within α. So one may
    look at all of them and choose afterwards.

    Returns:
        Error → c; errors that the controls cannot show even if all are right are left out.
    """
    alpha = alpha_of(level)

    def chosen(own: float) -> dict[float, int]:
        found = {error: most_tolerated(n, allowed_wrong(n, error), controls, own, draw) for error in errors}
        return {error: c for error, c in found.items() if c is not None}

    def risk(of: dict[float, int]) -> float:
        return joint_risk(n, controls, [(allowed_wrong(n, error), c) for error, c in of.items()], draw)

    low, high = math.log(alpha / max(1, len(errors))), math.log(alpha)  # by Bonferroni the lower end is valid
    if risk(found := chosen(math.exp(high))) <= alpha:
        return found
    best = chosen(math.exp(low))
    for _ in range(10):
        middle = (low + high) / 2
        if risk(found := chosen(math.exp(middle))) <= alpha:
            low, best = middle, found
        else:
            high = middle
    return best


@dataclass(frozen=True)
class CurvePoint:
    """One point of the curve "decisions → certified error".

    Attributes:
        error: ε.
        tolerated: c.
        decisions: labels that people look at in all, controls included.
        left: of these, how many are not answered yet.
        certain: every control that matters is answered, so that the number of decisions is final.
    """

    error: float
    tolerated: int
    decisions: int
    left: int
    certain: bool


def curve(
    order: Ints,
    controls: Ints,
    answers: Answers,
    looked_at: npt.NDArray[np.bool_],
    tolerated: dict[float, int],
) -> list[CurvePoint]:
    """What each error costs, with the answers so far. All points hold together where `tolerated` is a joint one.

    Args:
        order, controls, answers: as for `cut_of`.
        looked_at: (n,) bool, answered rows.
        tolerated: error → c (`joint_tolerated`).
    """
    points = []
    for error, c in sorted(tolerated.items()):
        found = cut_of(order, controls, answers, c)
        points.append(
            CurvePoint(
                error=error,
                tolerated=c,
                decisions=len(order) - found.unseen,
                left=int((~looked_at[found.left]).sum()) + len(found.waiting),
                certain=not len(found.waiting),
            )
        )
    return points


@dataclass(frozen=True)
class DecisionsForecast:
    """How many labels people will have looked at when the promise holds.

    Attributes:
        low, likely, high: decisions in all, controls included.
        coverage: at least this probability that the number lies between `low` and `high`, for every dataset.
    """

    low: int
    likely: int
    high: int
    coverage: float


def forecast_decisions(
    order: Ints, controls: Ints, answers: Answers, tolerated: int, coverage: float = 0.9
) -> DecisionsForecast:
    """Predict where the cut will be from the controls answered so far.

    The (c+1)-th wrong control of all K ends the accepted part. How many of the first c+1 wrong controls are among the k
    answered ones is hypergeometric (K, c+1, k), since the controls are answered in random order. So the band between
    the answered wrong controls of these ranks holds the cut with at least this probability, whatever the labels are.

    Args:
        order, controls, answers: as for `cut_of`, the controls in the order drawn. Those behind the first open one do
            not count: they may have been answered because they looked wrong.
    """
    n, k_all = len(order), len(controls)
    k = int(np.append(answers != UNANSWERED, False).argmin())
    answers = np.where(np.arange(k_all) < k, answers, UNANSWERED)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    at = np.sort(place[controls])
    wrong = np.append(np.sort(place[controls[answers == WRONG]]), n)  # n: everything is accepted

    def decisions(cut: float) -> int:
        return n - (int(cut) - int(np.searchsorted(at, cut)))

    if k == k_all:
        found = decisions(wrong[min(tolerated, len(wrong) - 1)])
        return DecisionsForecast(found, found, found, 1.0)
    fewest, most = _band_ranks(k_all, min(tolerated + 1, k_all), k, coverage)
    early = 0 if fewest == 0 else wrong[min(fewest, len(wrong)) - 1]
    late = wrong[min(most, len(wrong) - 1)]
    rank = (tolerated + 1) * k / k_all  # expected rank of the cut among the answered
    known = np.concatenate([[0], wrong]).astype(np.float64)
    middle = np.interp(rank, np.arange(len(known)), known)
    return DecisionsForecast(decisions(late), decisions(min(max(middle, early), late)), decisions(early), coverage)


@lru_cache(maxsize=4096)
def _band_ranks(controls: int, marked: int, answered: int, coverage: float) -> tuple[int, int]:
    """How many of `marked` controls are among the answered ones: lower and upper limit."""
    from scipy.stats import hypergeom

    rest = (1 - coverage) / 2
    fewest, most = (int(hypergeom.ppf(q, controls, marked, answered)) for q in (rest, 1 - rest))
    return fewest, most

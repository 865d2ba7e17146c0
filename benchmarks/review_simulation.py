"""A simulated reviewer who knows the truth, works down a queue, and is watched: errors left after every review."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.review.decided import OUTSIDE, Decided
from pll.review.logit import propose
from pll.review.ranking import rank
from pll.review.signals import ReviewSignals
from pll.weights import identified_labels

Curve = npt.NDArray[np.int64]
"""(n+1,) wrong labels left after 0, 1, … reviews; −1 where the review was not simulated that far."""
Ranking = Callable[[ReviewSignals, Decided], npt.NDArray[np.int64]]
Retrain = Callable[[CandidateSets], ReviewSignals]
"""From candidate sets, decided ones singletons, to the signals of a newly trained run."""

STEP = 0.01
"""Share of n that is decided between two looks at an order that learns."""
RETRAIN_STEP = 0.02
"""Share of n that is decided between two trainings."""


@dataclass(frozen=True)
class Way:
    """One way to review.

    Args:
        order: learning (the product's), confidence, random; others come with a ranking of their own.
        follows: labels that nobody has looked at follow the decisions; else they stay the run's.
    """

    order: str
    follows: bool = False


def order_of(way: Way, seed: int, given: Ranking | None = None) -> Ranking:
    """How this way ranks; `given` for those that are no order of the product."""
    if given is not None:
        return given
    if way.order == "learning":
        return lambda signals, decided: rank(signals, decided, seed=seed)
    if way.order == "confidence":
        return lambda signals, decided: np.argsort(signals.sharp.confidence, kind="stable")
    return lambda signals, decided: np.random.default_rng(seed).permutation(len(signals.sets))


def review(
    signals: ReviewSignals,
    y: npt.NDArray[np.int64],
    way: Way,
    *,
    seed: int = 0,
    given: Ranking | None = None,
    until: Callable[[Curve, int], bool] | None = None,
    retrain: Retrain | None = None,
    every: float = STEP,
) -> Curve:
    """Review everything, or until told to stop, and count what is still wrong.

    The order is made anew after every `every` · n reviews (orders that do not learn come out the same), and the first
    time after a fifth of that, so that the first batch is not wasted.

    Args:
        signals: of the run.
        y: (n,) the truth.
        until: called with the curve so far and the reviews done; True ends the review.
        retrain: train anew after every `RETRAIN_STEP` · n reviews; the labels shown are then those of the last run.
    """
    n, sets = len(y), signals.sets
    curve = np.full(n + 1, -1, dtype=np.int64)
    ranking = order_of(way, seed, given)
    taught: dict[int, int] = {}  # what the order may learn from, in the order decided
    seen, ever_taught = np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    now, trained_at = signals, 0
    step, first = max(1, round(every * n)), max(1, round(every * n / 5))
    done = 0
    while done < n:
        if retrain is not None and done >= trained_at + round(RETRAIN_STEP * n):
            ever_taught[list(taught)] = True
            now, trained_at, taught = retrain(_fixed(sets, y, ever_taught)), done, {}
        known = _as_seen(now, taught)
        labels = identified_labels(propose(now, known) if way.follows else now.weights, now.sets)
        wrong = (labels != y) & ~seen
        curve[done] = int(wrong.sum())
        if until is not None and until(curve, done):
            break
        order = ranking(now, known)
        order = order[~seen[order]]
        for row in order[: first if done == 0 else step].tolist():
            done += 1
            seen[row] = True
            curve[done] = curve[done - 1] - int(wrong[row])
            taught[row] = int(y[row])
    return curve


def reviews_needed(curve: Curve, errors: int) -> float:
    """Reviews after which at most `errors` wrong labels are left for the first time; inf if never.

    >>> reviews_needed(np.array([4, 4, 3, 1, 0]), 2)
    3.0
    """
    enough = np.flatnonzero((curve >= 0) & (curve <= errors))
    return float(enough[0]) if len(enough) else float("inf")


def found_within(curve: Curve, share: float) -> float:
    """Share of the wrong labels that is gone after `share` · n reviews."""
    return float(1 - curve[round(share * (len(curve) - 1))] / max(1, curve[0]))


def _as_seen(signals: ReviewSignals, decisions: dict[int, int]) -> Decided:
    """The decisions since the last training; what came before is in the candidate sets."""
    sets = signals.sets
    rows = np.fromiter(decisions, dtype=np.int64, count=len(decisions))
    labels = np.fromiter(decisions.values(), dtype=np.int64, count=len(decisions))
    inside = sets.take(rows).contains(labels) if len(rows) else np.zeros(0, dtype=np.bool_)
    return Decided(sets, rows, np.where(inside, labels, OUTSIDE))


def _fixed(sets: CandidateSets, y: npt.NDArray[np.int64], seen: npt.NDArray[np.bool_]) -> CandidateSets:
    """The candidate sets with each reviewed example's true label alone."""
    sizes = np.where(seen, 1, sets.sizes)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    indices = np.empty(int(indptr[-1]), dtype=np.int32)
    indices[indptr[:-1][seen]] = y[seen]
    kept = ~seen[sets.rows]
    target = np.repeat(indptr[:-1] - sets.indptr[:-1], sets.sizes) + np.arange(sets.nnz)
    indices[target[kept]] = sets.indices[kept]
    return CandidateSets(indptr, indices, sets.n_classes, sets.class_names)

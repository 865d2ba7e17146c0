"""Conditional logit: the probability of each candidate, learnt from the decisions made so far.

For example i and candidate j, with ℓ(a) = log(a + .01), the run gives

    f_ij = [ℓ(w_ij), ℓ(k_ij), ℓ(g_ij), ℓ(t_ij), ℓ(v_ij), r_j, |r_j − mean r over S_i|]

    w held-out weight (label weight where that is not known); k its mean among the nearest neighbours; g what a kernel
    ridge on the labels and decisions of all others says (pll.review.kernel_ridge), t what a forest says
    (pll.review.forest); v share of the annotators who named the label; r, where class names are numbers, the rank of
    the class
    p_ij = exp(θ·f_ij + b_j) / Σ_{l ∈ S_i} exp(θ·f_il + b_l)

(McFadden's conditional logit, S_i being the choices). θ and b maximise the likelihood of the decisions less a ridge
toward θ₀ and b = 0, so that a few answers do not outweigh the run. In k, g and t a decided example counts one-hot
and as much as `COUNTS` others, which have the model's opinion alone, so a decision affects the examples around it at
once. A decided example enters with the k of the time it was decided, since later
decisions around it would make k more informative than it is for undecided examples.

Where decisions are off their sets, p_ij is multiplied by the probability that S_i holds the truth,

    P(truth ∈ S_i) = 1 − σ(a − b logit max_j p_ij)

with a and b fitted to which decisions were off their sets (b under a ridge toward `MISS_SLOPE`): people begin with what
is least sure, so that their share of misses is not that of all. Votes say that themselves (`LabelSnapshot.inside`).

Of a run that was retrained, θ, b and these are fitted to all decisions with the weights and sets of the run that the
review began with (`ReviewSignals.first`). Its own would teach to trust them blindly: where it learnt a decision, it
agrees with it.

p orders the queue (the smallest max_j p_ij first) and proposes labels for examples that nobody has looked at.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from pll.candidates import CandidateSets
from pll.review import forest, kernel_ridge
from pll.review.decided import Decided
from pll.review.signals import ReviewSignals
from pll.weights import Floats, Ints, Values, Weights, normalise, restricted_softmax, softmax_on_sets

LOGIT_RIDGE = 10.0
"""λ of λ/2 · (‖θ − θ₀‖² + ‖b‖²), against a log-likelihood of 1 a decision."""
ADDED_TO_LOG = 0.01
"""Added before the logarithm, so that a weight of 0 is unlikely and not impossible."""
START_THETA = {
    "weights": 0.3,
    "near": 0.1,
    "others": 0.2,
    "forest": 0.4,
    "votes": 1.0,
    "rank": 0.0,
    "off_middle": 0.0,
}
"""θ₀ by feature, chosen on the development sets of docs/review.md: what does not come from the run's model counts most.

Votes count in full where the run was trained on the sets alone; else they are in its weights (`ReviewSignals.votes`).
"""
MISS_SLOPE = 0.5
"""Where b begins: 1 would take sets that look sure for right, 0 would take none for it before many are decided."""
SUREST = 1e-3
"""How far from 0 and 1 a probability counts as that itself."""


def propose(signals: ReviewSignals, decided: Decided, said: Decided | None = None) -> Weights:
    """(nnz,) p_ij of every example: one-hot where decided, 0 where ruled out; sums to P(truth ∈ S_i) on S_i.

    That is 1 where no decision is off its set. An example decided as "none of these" has the model's p.

    Parameters
    ----------
    signals
        Of the run.
    decided
        What people decided; decisions that judge the certificate are to be left out by the caller.
    said
        The same over the sets of `signals.first`, where there is one.
    """
    features, first = features_now(signals, decided), signals.first or signals
    at_first, said = (features, decided) if said is None else (features_now(first, said), said)
    theta, bias = fit(first, said, at_first)

    def chosen(features: dict[str, Values], decided: Decided) -> Weights:
        sets = decided.sets
        of_class = np.append(bias, np.zeros(sets.n_classes - len(bias)))  # of classes that people added
        scores = sum(theta[name] * part for name, part in features.items() if name in theta) + of_class[sets.indices]
        return restricted_softmax(np.where(decided.open, scores, -np.inf), sets)

    p = chosen(features, decided)
    if (signals.labels.inside == 1).all():
        p *= _inside(_sure(p, signals.sets), _sure(chosen(at_first, said), said.sets), said)[signals.sets.rows]
    labelled = decided.positions[decided.positions >= 0]
    p[signals.sets.positions(decided.rows[decided.positions >= 0])] = 0
    p[labelled] = 1
    return p


def fit(signals: ReviewSignals, decided: Decided, features: dict[str, Values]) -> tuple[dict[str, np.float64], Floats]:
    """θ of each feature and b, (c,), from the decisions so far; θ₀ and 0 where there are none.

    What was decided as "none of these", and sets of one label, teach nothing of how to choose.

    Parameters
    ----------
    signals
        Of the run.
    decided
        The decisions so far.
    features
        Of `features_now`, by these.
    """
    sets = signals.sets
    usable = np.flatnonzero((decided.positions >= 0) & decided.had_choice)
    rows = decided.rows[usable]
    at, some = sets.positions(rows), sets.take(rows)  # the candidates of these m examples, p in all
    then = {name: part[at] for name, part in features.items()} | near_then(signals, decided, rows)
    start, bias = _start(tuple(then)), np.zeros(sets.n_classes)
    if len(rows):
        chosen = some.indptr[:-1] + decided.positions[usable] - sets.indptr[rows]  # (m,) of the p
        start, bias = _maximise(np.stack(list(then.values()), axis=1), some, chosen, start)
    return dict(zip(then, start, strict=True)), bias


def features_now(signals: ReviewSignals, decided: Decided) -> dict[str, Values]:
    """Each feature that there is, (nnz,), in the order of `START_THETA`, with all that has been decided counting.

    Parameters
    ----------
    signals
        Of the run.
    decided
        The decisions so far.
    """
    result: dict[str, Values] = {"weights": log_of(signals.labels.shown)}
    sets, counts, near = signals.sets, decided.counts, signals.neighbourhood
    weights, of_each = decided.apply_to(signals.labels.shown), counts[sets.rows]
    if near is not None:
        result["near"] = log_of(near.shares(weights * of_each))
    if signals.factor is not None:
        result["others"] = log_of(kernel_ridge.leave_one_out(signals.factor, sets, weights, counts))
    if signals.leaves is not None:
        result["forest"] = log_of(forest.leave_one_out(signals.leaves, sets, weights, counts))
    if signals.votes is not None:
        result["votes"] = log_of(signals.votes)
    return result | signals.ordered


def near_then(signals: ReviewSignals, decided: Decided, rows: Ints) -> dict[str, Values]:
    """Neighbour means of the candidates of decided examples just before each was decided.

    Parameters
    ----------
    signals
        Of the run.
    decided
        The decisions so far.
    rows
        (m,) of the examples.
    """
    near, at = signals.neighbourhood, signals.sets.positions(rows)
    if near is None:
        return {}
    own_turn = decided.turn[signals.sets.rows[at]]
    shown = signals.labels.shown
    before, after = decided.undecided.apply_to(shown), decided.apply_to(shown) * decided.counts[signals.sets.rows]
    means = near.means_at(at, before, after, lambda rows: decided.turn.take(rows) < own_turn)
    return {"near": log_of(normalise(means, signals.sets.take(rows)))}


def _sure(p: Weights, sets: CandidateSets) -> Floats:
    """(n,) logit max_j p_ij."""
    return np.asarray(logit(np.clip(np.maximum.reduceat(p, sets.indptr[:-1]), SUREST, 1 - SUREST)))


def _inside(sure: Floats, at_first: Floats, decided: Decided) -> Weights:
    """Return (n,) P(truth ∈ S_i), by which decisions were off their sets; 1 where none was.

    Parameters
    ----------
    sure, at_first
        (n,) logit max_j p_ij, where the truth is a candidate; at first, by which a and b are fitted.
    decided
        The decisions so far, over the sets at first.
    """
    missed = (decided.positions < 0)[decided.had_choice]
    if not missed.any():
        return np.ones(len(sure), dtype=np.float32)
    # Half a decision more of each kind, as sure as the others are: all may have been off their sets.
    of_decided = at_first[decided.rows[decided.had_choice]]
    of_decided = np.append(of_decided, [of_decided.mean()] * 2)
    missed, times = np.append(missed, [True, False]), np.append(np.ones(len(missed)), [0.5, 0.5])

    def loss(x: Floats) -> float:
        odds = x[0] - x[1] * of_decided
        likelihood = times @ np.where(missed, log_expit(odds), log_expit(-odds))
        return LOGIT_RIDGE / 2 * float(x[1] - MISS_SLOPE) ** 2 - float(likelihood)

    start = np.array([logit(times @ missed / times.sum()), MISS_SLOPE])
    a, b = minimize(loss, start, method="L-BFGS-B", bounds=((-15, 15), (0, None))).x
    return np.asarray(expit(b * sure - a), dtype=np.float32)


def log_of(weights: Values) -> npt.NDArray[np.float32]:
    """Return ℓ(a) = log(a + .01) of (nnz,) weights, float32."""
    return np.asarray(np.log(weights.astype(np.float32) + np.float32(ADDED_TO_LOG)))


def _maximise(table: Values, sets: CandidateSets, chosen: Ints, start: Floats) -> tuple[Floats, Floats]:
    """θ (K,) and b (c,) at the largest Σ log p(chosen) − λ/2 · (‖θ − θ₀‖² + ‖b‖²).

    Parameters
    ----------
    table
        (p, K) features of all candidates of the m decided examples, one after the other.
    sets
        Of these examples, with the p candidates.
    chosen
        (m,) which of the p was right.
    """
    width, features = len(start), table.astype(np.float64)
    labels, centre = sets.indices, np.concatenate([start, np.zeros(sets.n_classes)])

    def loss_and_slope(x: Floats) -> tuple[float, Floats]:
        p = softmax_on_sets(features @ x[:width] + x[width:][labels], sets)
        off = x - centre
        excess = p.copy()
        excess[chosen] -= 1
        slope = np.concatenate([excess @ features, np.bincount(labels, excess, sets.n_classes)]) + LOGIT_RIDGE * off
        return -float(np.log(np.maximum(p[chosen], 1e-300)).sum()) + LOGIT_RIDGE / 2 * float(off @ off), slope

    result = minimize(loss_and_slope, centre, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return result[:width], result[width:]


def _start(names: tuple[str, ...]) -> Floats:
    """θ₀ of the available features; that of missing ones is added to the weights'."""
    start = np.array([START_THETA[name] for name in names])
    start[0] += 1.0 - sum(weight for name, weight in zip(names, start, strict=True) if name != "votes")
    return start

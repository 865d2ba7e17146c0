"""Calibration of label weights and confidence on decided examples, by one temperature.

w^(1/T), normalised on S_i (Guo et al. 2017, restricted to the candidates): it keeps every identified label. How far it
helps is measured on decisions that T was not fitted to (cross-fitting).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from pll.analysis.calibration import ReliabilityDiagram, reliability
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.review.decided import OUTSIDE
from pll.review.label_snapshot import LabelSnapshot
from pll.review.state import ReviewState
from pll.weights import Weights, restricted_softmax, sharpness

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FEWEST = 30
"""Decisions that T is fitted to, at the least."""

FOLDS = 5
WIDEST = 4.0  # |log T| at most: from 1/55 to 55


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibrated label weights or confidences, and whether that helped.

    Attributes
    ----------
    temperature
        T; above 1 the model was too sure.
    weights
        (nnz,) float32, calibrated label weights.
    confidence
        (n,) float32 in [0, 1], the calibrated probability that the identified label is right.
    before, after
        Reliability on the decided examples; `after` is cross-fitted.
    decisions
        How many that were.
    """

    temperature: float
    weights: Weights
    confidence: npt.NDArray[np.float32]
    before: ReliabilityDiagram
    after: ReliabilityDiagram
    decisions: int


def calibrate(
    weights: Weights,
    candidates: CandidateSets,
    at: Ints,
    decided: Ints,
    *,
    followed: Weights | None = None,
) -> Calibration:
    """Fit a calibration on decided examples and apply it to all.

    The label weights must come from a model that has not learned from these decisions.

    Parameters
    ----------
    weights
        (nnz,) label weights, before any decision is put into them.
    candidates
        Their candidate sets.
    at
        (m,) decided examples, each once.
    decided
        (m,) class index decided for each, -1 for "none of these"; a label outside S_i counts as wrong.
    followed
        (nnz,) label weights that follow the decisions, where they do: the scale of their logit is fitted on the same
        decisions, so that their confidence is not changed.

    Raises
    ------
    UserError
        Too few decisions.
    """
    if len(at) < FEWEST:
        raise UserError(f"Calibration needs at least {FEWEST} decided examples; there are {len(at)}.")
    sharp = sharpness(weights, candidates)
    right = sharp.identified[at] == decided
    before = sharp.top.astype(np.float64)
    out_of_fold = np.empty(len(at))
    part = np.random.default_rng(0).permutation(len(at)) % FOLDS
    for fold in range(FOLDS):
        fit, test = part != fold, part == fold
        result = fit_temperature(weights, candidates, at[fit], decided[fit])
        few = candidates.take(at[test])
        scaled = with_temperature(weights[candidates.positions(at[test])], few, result)
        out_of_fold[test] = sharpness(scaled, few).top
    temperature = fit_temperature(weights, candidates, at, decided)
    calibrated = with_temperature(weights, candidates, temperature) if followed is None else followed
    return Calibration(
        temperature=temperature,
        weights=calibrated,
        confidence=sharpness(calibrated, candidates).top,
        before=reliability(before[at], right),
        after=reliability(np.clip(out_of_fold, 0.0, 1.0), right),
        decisions=len(at),
    )


def calibration_of(root: CandidateSets, own: LabelSnapshot, labels: LabelSnapshot, state: ReviewState) -> Calibration:
    """Calibrated confidence of the labels of now.

    The temperature is fitted on the run's own weights, which were not trained on decisions; left out are the examples
    that a retrained model has learnt from: their candidate sets are no longer those of `root`, the first run.

    Parameters
    ----------
    own
        Labels of the run.
    labels
        The same, as the decisions leave them.

    Raises
    ------
    UserError
        Too few of them.
    """
    sets = own.candidates
    rows = np.array([row for row in state.rows_with("label", "none") if np.array_equal(sets[row], root[row])], np.int64)
    place = {name: j for j, name in enumerate(sets.class_names)}
    decided = [place.get(state.outcome(int(row)).label or "", OUTSIDE) for row in rows]
    return calibrate(
        own.weights, sets, rows, np.array(decided, dtype=np.int64), followed=labels.weights if labels.follows else None
    )


def with_temperature(weights: Weights, candidates: CandidateSets, temperature: float) -> Weights:
    """Label weights w^(1/T), normalised on each S_i; (nnz,) float32.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1]], n_classes=2)
    >>> with_temperature(np.array([0.1, 0.9], dtype=np.float32), sets, 2.0).round(3).tolist()
    [0.25, 0.75]
    """
    return restricted_softmax(_logs(weights) / temperature, candidates)


def fit_temperature(weights: Weights, candidates: CandidateSets, rows: Ints, labels: Ints) -> float:
    """The T under which the decided labels are likeliest: max over T of Σ log w_i,decided(T) − (log T)² / 2.

    The last term (one decision's worth of doubt, roughly) keeps T from running to 0 where all decisions agree with the
    model. Decisions outside S_i have no weight at any T and do not enter.

    Parameters
    ----------
    rows, labels
        (m,) int64, decided examples and their labels.
    """
    inside = candidates.take(rows).contains(labels)
    few = candidates.take(rows[inside])
    logs = _logs(weights[candidates.positions(rows[inside])])
    chosen = np.flatnonzero(few.indices == labels[inside][few.rows])  # one position an example, in their order
    starts = few.indptr[:-1]
    if not len(few):
        return 1.0
    top = np.maximum.reduceat(logs, starts)

    def loss(log_t: float) -> float:
        scaled = (logs - top[few.rows]) / np.exp(log_t)  # at most 0: no overflow
        total = np.log(np.add.reduceat(np.exp(scaled), starts))
        return float((total - scaled[chosen]).sum() + log_t**2 / 2)

    # The likelihood is concave in 1/T, so it has one peak in log T; the doubt added is small beside it.
    return float(np.exp(minimize_scalar(loss, bounds=(-WIDEST, WIDEST), method="bounded").x))


def _logs(weights: Weights) -> Floats:
    """log w; a weight that underflowed to 0 counts as the smallest float32."""
    return np.log(np.maximum(weights, np.finfo(np.float32).tiny).astype(np.float64))

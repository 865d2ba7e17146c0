"""How many labels people will have to look at until the certificate holds, expected from the controls answered so far.

P(label wrong) is logistic in [1, logit(1 − confidence), r, r²], r the rank of the confidence in [−1, 1], with a normal
prior on the four weights. Its posterior given the answered controls is approximated by a normal one at its mode
(Laplace). Of each of 100 draws from it the open controls get answers; each set of answers ends the accepted part
somewhere (`pll.review.promise.cut_of`). The median of these ends is what is expected. It guarantees nothing, and no
row is shown because of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import rankdata

from pll.review.promise import UNANSWERED, WRONG, Answers, Floats, Ints

DRAWS = 100
SLOPE, SLOPE_SPREAD = 0.9, 0.4
"""Prior of the weight of logit(1 − confidence): nearly calibrated."""
CURVE_SPREAD = 1.0
"""Prior spread of the weights of r and r²; their mean is 0."""
LEVEL_SPREAD = 0.35
"""Prior spread of the constant."""
SUREST = 1e-3
"""Confidences are cut off so far from 0 and 1."""
COVERAGE = 0.8
"""Share of the draws between `low` and `high`."""


@dataclass(frozen=True)
class ExpectedChecks:
    """Labels that people still have to look at.

    Attributes
    ----------
    low, likely, high : int
        80 % of the draws lie between `low` and `high`; `likely` is their median.
    """

    low: int
    likely: int
    high: int


def expected_checks(
    order: Ints,
    confidence: npt.ArrayLike,
    controls: Ints,
    answers: Answers,
    tolerated: int,
    *,
    error_rate: float | None = None,
    seed: int = 0,
) -> ExpectedChecks:
    """Return how many further labels people look at until the certificate holds.

    Parameters
    ----------
    order : (n,) rows, the surest first
    confidence : (n,) in [0, 1]
    controls : (K,) rows
    answers : (n,) of all rows: `RIGHT`, `WRONG` or `UNANSWERED`
    tolerated : int
        Wrong controls that the accepted labels may hold.
    error_rate : float, optional
        Share of wrong labels to be expected before any answer, in (0, 1), such as the disagreement of the labels with
        those of their nearest neighbours; by default what the confidences say.
    seed : int
        Of the draws.

    Examples
    --------
    >>> rows, nothing = np.arange(100), np.full(100, UNANSWERED, dtype=np.int8)
    >>> expected_checks(rows, np.linspace(1, 0.5, 100), rows[::5], nothing, 3).likely > 20
    True
    """
    n = len(order)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    controls = controls[np.argsort(place[controls])]
    at, control_answers = place[controls], answers[controls]
    columns = _columns(np.asarray(confidence, dtype=np.float64))
    answered = control_answers != UNANSWERED
    weights = _posterior(
        columns, controls[answered], control_answers[answered] == WRONG, error_rate, seed
    )  # (DRAWS, 4)
    rng = np.random.default_rng([seed, 1])
    wrong = rng.random((DRAWS, len(controls))) < expit(weights @ columns[controls].T)
    wrong[:, answered] = control_answers[answered] == WRONG
    ends = np.append(at, n)[(np.cumsum(wrong, axis=1) <= tolerated).sum(axis=1)]  # at the (c+1)-th wrong control, or n
    open_ = answers[order] == UNANSWERED
    is_control = np.zeros(n, dtype=np.bool_)
    is_control[at] = True
    ahead = np.concatenate([[0], np.cumsum(open_ & is_control)])
    behind = open_.sum() - np.concatenate([[0], np.cumsum(open_)])
    low, likely, high = np.quantile(
        (ahead + behind)[ends], [(1 - COVERAGE) / 2, 0.5, (1 + COVERAGE) / 2], method="nearest"
    )
    return ExpectedChecks(int(low), int(likely), int(high))


def _columns(confidence: Floats) -> Floats:
    """(n, 4): a constant, logit(1 − confidence), its rank r in [−1, 1], r²."""
    doubt = logit(np.clip(1 - confidence, SUREST, 1 - SUREST))
    rank = 2 * (rankdata(doubt) - 0.5) / len(doubt) - 1
    return np.column_stack([np.ones(len(doubt)), doubt, rank, rank**2])


def _posterior(columns: Floats, rows: Ints, wrong: npt.NDArray[np.bool_], rate: float | None, seed: int) -> Floats:
    """(DRAWS, 4) weights from the Laplace approximation of the posterior."""
    centre = np.array([0.0, SLOPE, 0.0, 0.0])
    if rate is not None:
        share = min(max(rate, SUREST), 1 - SUREST)
        centre[0] = brentq(lambda level: expit(level + SLOPE * columns[:, 1]).mean() - share, -20, 20)
    precision = np.diag(1 / np.array([LEVEL_SPREAD, SLOPE_SPREAD, CURVE_SPREAD, CURVE_SPREAD]) ** 2)
    design, weights = columns[rows], centre.copy()
    for _ in range(50):  # Newton's method; the log posterior is concave
        p = expit(design @ weights)
        slope = design.T @ (p - wrong) + precision @ (weights - centre)
        curvature = (design * (p * (1 - p))[:, None]).T @ design + precision
        step = np.linalg.solve(curvature, slope)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    p = expit(design @ weights)
    covariance = np.linalg.inv((design * (p * (1 - p))[:, None]).T @ design + precision)
    return np.random.default_rng([seed, 0]).multivariate_normal(weights, covariance, size=DRAWS)

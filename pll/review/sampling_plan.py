"""Sampling plan of the controls: rows to draw, reachable guarantees, thresholds, and further controls needed.

Nothing here looks at an answer except `more_controls_needed`, which only forecasts.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pll.errors import UserError
from pll.review.evidence import LEVEL, Floats, Ints, Prior, allowed_wrong, alpha_of, check_guarantee, log_evidence

STEPS = 20  # thresholds tried, from the strictest that the planned controls can certify down to "accept everything"
RESERVE = 0.2  # of the risk α is kept for "accept everything"; the rest starts at the strictest threshold
SLACK = 1.2  # the strictest threshold is to expect this many times the clean controls that it needs (power only)


def draw_controls(n: int, share: float = 0.1, seed: int = 0) -> Ints:
    """Rows to be checked, uniform without replacement over all n, in the order in which they are to be answered.

    Args:
        n: number of rows with an automatic label.
        share: control share in (0, 1]; a larger share with the same seed begins with the same rows.
        seed: of the draw; it must not be chosen by looking at what it draws.

    Returns:
        (k,) int64 rows, k = share · n rounded, at least 1.

    >>> draw_controls(10, 0.3, seed=0).shape, len(set(draw_controls(10, 1.0).tolist()))
    ((3,), 10)
    """
    return np.random.default_rng(seed).permutation(n)[: how_many(n, share)].astype(np.int64)


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


def achievable(n: int, control_share: float, level: float = LEVEL, wrong: int = 0) -> float:
    """The tightest x that the controls can certify for all n labels if `wrong` of them turn out wrong.

    With none wrong it is little more than W / n for the largest W with C(n−W, k) / C(n, k) > 1 − level, which no method
    beats: the difference pays for looking after every answer and for surviving a wrong control. Two wrong controls of
    144 raise it to 6 %.

    Raises:
        UserError: a control share outside (0, 1], or more wrong controls than controls.

    >>> round(achievable(1437, 0.1), 4), round(achievable(1437, 0.1, wrong=2), 4)
    (0.0216, 0.0592)
    """
    k = how_many(n, control_share)
    needed = -math.log(alpha_of(level))
    if not 0 <= wrong <= k:
        raise UserError(f"{wrong} of {k} controls cannot be wrong.")
    low, high = wrong, n
    while low < high:  # more wrong ones allowed is easier to certify
        middle = (low + high) // 2
        prior = Prior.for_error(max(middle, 1) / n)
        if log_evidence(n, middle + 1, k, wrong, prior) >= needed:
            high = middle
        else:
            low = middle + 1
    return low / n


def more_controls_needed(
    population: int,
    controls: int,
    wrong: int,
    *,
    max_error: float,
    level: float = LEVEL,
    error_rate: float = 0.0,
    prior: Prior | None = None,
) -> int | None:
    """How many further controls among N accepted labels would certify `max_error`.

    Args:
        population: N, accepted labels (`ThresholdTest.accepted`).
        controls, wrong: answered among them so far.
        error_rate: share of the further controls expected to be wrong; 0 gives the fewest that could do.
        prior: by default that of `max_error`. For a tighter x after answers were seen: over a set of labels that was
            fixed beforehand, the prior of the first guarantee (its bounds hold for every x at once);
            over thresholds, no prior, and only answers given since x was chosen count as `controls` and `wrong`.

    Returns:
        The number (0 where there is enough already; N / n of all controls drawn fall among the accepted), or None
        where even checking them all would not do.

    >>> more_controls_needed(60_000, 0, 0, max_error=0.01), more_controls_needed(60_000, 300, 2, max_error=0.01)
    (331, 609)
    """
    check_guarantee(max_error, level)
    if not 0 <= wrong <= controls <= population:
        raise UserError(f"{wrong} wrong of {controls} controls among {population} labels is not possible.")
    if not 0 <= error_rate < 1:
        raise UserError(f"The expected error rate must be at least 0 and below 1, not {error_rate}.")
    bet, needed = prior or Prior.for_error(max_error), -math.log(alpha_of(level))
    allowed = allowed_wrong(population, max_error)
    first, size = 0, 1024
    while first <= population - controls:
        further = np.arange(first, min(first + size, population - controls + 1))
        expected = wrong + (error_rate * further + 0.5).astype(np.int64)
        evidence = log_evidence(population, allowed + 1, controls + further, expected, bet)
        hits = np.flatnonzero(evidence >= needed)
        if len(hits):
            return int(further[hits[0]])
        first, size = first + size, size * 2
    return None


def first_risks(thresholds: int) -> Floats:
    """(T,) the shares of α set aside for each threshold before any answer; they sum to 1.

    >>> first_risks(4).tolist()
    [0.8, 0.0, 0.0, 0.2]
    """
    shares = np.zeros(thresholds)
    shares[-1] = RESERVE
    shares[0] += 1 - RESERVE
    return shares


def threshold_grid(
    confidence: npt.ArrayLike, planned: int, max_error: float, level: float = LEVEL, steps: int = STEPS
) -> Floats:
    """The thresholds to try, strictest first; made before any answer, from confidences and the plan alone.

    The strictest accepts so many labels that the controls to be expected among them are `SLACK` times what would do if
    all were right: a stricter one could fail for lack of controls, and would have no risk to pass on. The last accepts
    everything; the others divide the labels between.

    Args:
        confidence: (n,).
        planned: controls to be drawn from all n.

    Returns:
        (T,) strictly decreasing, 1 ≤ T ≤ steps.
    """
    sure = np.sort(np.asarray(confidence, dtype=np.float64))[::-1]
    n = len(sure)
    sizes = np.unique(np.linspace(n / steps, n, steps * 5).astype(np.int64).clip(1))
    start, careful = n, 1 - alpha_of(level) * (1 - RESERVE)
    for size in sizes[::-1]:  # fewer accepted labels need about as many controls, and get fewer
        needed = more_controls_needed(int(size), 0, 0, max_error=max_error, level=careful)
        if needed is None or SLACK * needed > planned * size / n:
            break
        start = int(size)
    ends = np.linspace(start, n, steps).astype(np.int64)
    return np.unique(sure[ends - 1])[::-1]

"""Certificates: "accept all labels above t: at most x % are wrong, with 95 % confidence".

A share of the rows, drawn at random and in random order, is checked by people: the controls. A fixed sequence of
thresholds is tried, strictest first. Of the risk α a part is set aside for each of a few of them; a threshold is
certified once the evidence (`pll.review.evidence`) that at most x of its labels are wrong has ever reached 1 over its
risk, and then passes its risk on to the next (the fallback procedure of Wiens & Dmitrienko 2005; with one part it is
fixed-sequence testing). One may look after every answer, and the same answers choose the threshold: the chance of ever
certifying one that does not deserve it stays below α (`docs/review.md` has the proof as a sentence).

What must hold: labels, confidences, x, level and thresholds are fixed before the answers are seen; the controls are
uniform without replacement over all rows (`draw_controls`); they are answered in the order drawn; "unsure" counts as
wrong. Then, whatever the threshold, the controls that it accepts are uniform over the rows that it accepts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import whole_numbers
from pll.colors import percent
from pll.errors import UserError
from pll.review.evidence import (
    LEVEL,
    Floats,
    Ints,
    Prior,
    allowed_wrong,
    alpha_of,
    as_answers,
    check_guarantee,
    log_evidence,
)
from pll.review.sampling_plan import first_risks, more_controls_needed, threshold_grid


@dataclass(frozen=True)
class ThresholdTest:
    """One threshold of the fixed sequence, as the answers so far judge it.

    Attributes:
        threshold: labels with at least this confidence are accepted.
        accepted: N, how many that are.
        allowed: how many of them may be wrong, ⌊x · N⌋.
        controls, wrong: controls among them, and those found wrong.
        risk: the part of α that it may use now: its own and what the thresholds before it handed on.
        proven: whether the evidence reached 1 / risk at some time.
    """

    threshold: float
    accepted: int
    allowed: int
    controls: int
    wrong: int
    risk: float
    proven: bool


@dataclass(frozen=True)
class Certificate:
    """What may be accepted without a look, and how sure that is.

    Attributes:
        threshold: t; accept labels with confidence ≥ t. None while nothing is certified.
        accepted: how many labels that accepts.
        bound: at most so many of them are wrong, with probability `level` (before the wrong controls are put right).
        controls: controls among the accepted labels; `wrong` of them had a wrong label.
        answered: controls answered in all.
        max_error, level: x and 1 − α, as guaranteed.
        steps: every threshold of the sequence, strictest first.
        explanation: the same as a sentence.
    """

    threshold: float | None
    accepted: int
    bound: int
    controls: int
    wrong: int
    answered: int
    max_error: float
    level: float
    steps: tuple[ThresholdTest, ...]
    explanation: str


def certify(
    confidence: npt.ArrayLike,
    control_rows: npt.ArrayLike,
    correct: npt.ArrayLike,
    *,
    max_error: float,
    level: float = LEVEL,
    thresholds: Sequence[float] | None = None,
) -> Certificate:
    """Finds the lowest threshold above which at most `max_error` of the labels are wrong.

    With probability at least `level`, no certificate that this gives, however often it is computed while the answers
    come in, is wrong. What was certified once stays certified.

    Args:
        confidence: (n,) of the automatic labels, in [0, 1]; fixed, like the labels, before the controls are drawn.
        control_rows: (m,) the rows drawn (`draw_controls`), in order, those not yet answered included.
        correct: (k,) bool, k ≤ m: whether the automatic label of the first k of them is right; unsure is False.
        max_error: x in (0, 1), fixed before the first answer; `achievable` says what can be reached.
        level: 1 − α in (0, 1).
        thresholds: strictly decreasing, fixed before the first answer; by default `threshold_grid` for m planned
            controls. Who draws more controls later passes the grid of the first plan.

    Raises:
        UserError: what does not fit together, by name.

    >>> from pll.review.sampling_plan import draw_controls
    >>> confidence = np.linspace(0.5, 1, 1437)
    >>> certify(confidence, draw_controls(1437, 0.1), np.ones(144, dtype=bool), max_error=0.03).explanation
    'Accept all 1,437 labels (confidence 0.500 and above): at most 43 of them (3 %) are wrong, with 95 % confidence.
     144 random controls among them were checked, 0 were wrong.'
    """
    sure, rows, right = _checked(confidence, control_rows, correct)
    check_guarantee(max_error, level)
    grid = threshold_grid(sure, len(rows), max_error, level) if thresholds is None else _grid(thresholds)
    steps = tuple(_steps(sure, sure[rows[: len(right)]], right, grid, max_error, level))
    found = next((step for step in reversed(steps) if step.proven), None)  # the one that accepts most
    return Certificate(
        threshold=found.threshold if found else None,
        accepted=found.accepted if found else 0,
        bound=found.allowed if found else 0,
        controls=found.controls if found else 0,
        wrong=found.wrong if found else 0,
        answered=len(right),
        max_error=max_error,
        level=level,
        steps=steps,
        explanation=_explain(found, steps, len(sure), len(right), max_error, level),
    )


def _steps(
    sure: Floats, control_sure: Floats, right: npt.NDArray[np.bool_], grid: Floats, max_error: float, level: float
) -> list[ThresholdTest]:
    prior, ordered = Prior.for_error(max_error), np.sort(sure)
    handed_on, steps = 0.0, []
    for threshold, own in zip(grid, alpha_of(level) * first_risks(len(grid)), strict=True):
        risk = handed_on + float(own)
        accepted = len(sure) - int(np.searchsorted(ordered, threshold, side="left"))
        inside = right[control_sure >= threshold]  # (k_t,) a uniform draw from the accepted rows, in random order
        k, s = np.arange(1, len(inside) + 1), np.cumsum(np.logical_not(inside))
        allowed = allowed_wrong(accepted, max_error)
        proven = False
        if risk > 0 and len(inside):
            proven = bool((log_evidence(accepted, allowed + 1, k, s, prior) >= -math.log(risk)).any())
        wrong = int(s[-1]) if len(s) else 0
        steps.append(ThresholdTest(float(threshold), accepted, allowed, len(inside), wrong, risk, proven))
        handed_on = risk if proven else 0.0
    return steps


# ---- words and checks ------------------------------------------------------------------------------------------------


def _explain(
    found: ThresholdTest | None, steps: Sequence[ThresholdTest], n: int, answered: int, max_error: float, level: float
) -> str:
    guarantee = f"with {percent(level, None)} confidence"
    if found is None:
        said = f"Nothing can be accepted unseen yet: at most {percent(max_error, None)} wrong is not shown {guarantee}."
        within = {step: _further_draws(step, n, max_error) for step in steps}
        reachable = {step: further for step, further in within.items() if further is not None}
        if not reachable:
            return f"{said} Too many labels are wrong already at every threshold tried."
        step = min(reachable, key=lambda step: reachable[step])
        return (
            f"{said} {_counted(answered, 'control was', 'controls were')} answered; about {reachable[step]:,} more, "
            f"all right, would do for the {step.accepted:,} labels of confidence {step.threshold:.3f} and above."
        )
    which = "all " if found.accepted == n else "the "
    return (
        f"Accept {which}{found.accepted:,} labels (confidence {found.threshold:.3f} and above): at most "
        f"{found.allowed:,} of them ({percent(max_error, None)}) are wrong, {guarantee}. "
        f"{_counted(found.controls, 'random control among them was', 'random controls among them were')} checked, "
        f"{_counted(found.wrong, 'was', 'were')} wrong."
    )


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _further_draws(step: ThresholdTest, n: int, max_error: float) -> int | None:
    """Controls still to be drawn from all n rows, should they all be right; None where no number would do."""
    if not step.accepted or not step.risk:
        return None
    least = more_controls_needed(step.accepted, step.controls, step.wrong, max_error=max_error, level=1 - step.risk)
    return None if least is None else math.ceil(least * n / step.accepted)


def _grid(thresholds: Sequence[float]) -> Floats:
    grid = np.asarray(thresholds, dtype=np.float64)
    if grid.ndim != 1 or not len(grid) or not (np.diff(grid) < 0).all() or not np.isfinite(grid).all():
        raise UserError("The thresholds must be one or more numbers, each smaller than the one before.")
    return grid


def _checked(
    confidence: npt.ArrayLike, control_rows: npt.ArrayLike, correct: npt.ArrayLike
) -> tuple[Floats, Ints, npt.NDArray[np.bool_]]:
    sure: npt.NDArray[Any] = np.asarray(confidence, dtype=np.float64)
    rows, right = whole_numbers(control_rows, "control rows").astype(np.int64), as_answers(correct)
    if sure.ndim != 1 or not len(sure):
        raise UserError("The confidences must be one number for each of one or more examples.")
    if not ((sure >= 0) & (sure <= 1)).all():  # NaN too
        bad = int(np.flatnonzero(~((sure >= 0) & (sure <= 1)))[0])
        raise UserError(f"The confidence of row {bad} is {sure[bad]}; it must lie between 0 and 1.")
    if len(rows) and (rows.min() < 0 or rows.max() >= len(sure)):
        raise UserError(f"A control row is outside 0 … {len(sure) - 1}; controls are rows of the same labels.")
    if len(np.unique(rows)) < len(rows):
        raise UserError("A row stands twice among the controls; they must be drawn without replacement.")
    if len(right) > len(rows):
        raise UserError(f"There are {len(right)} control answers, but only {len(rows)} controls.")
    return sure, rows, right

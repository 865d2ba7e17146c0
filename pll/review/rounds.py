"""Rounds: the frozen labels of one model, their random controls and the guarantee of the certificate.

See docs/review.md for what must hold; this file is where it is made to hold. The draw, the guarantee and the thresholds
are made when the round is opened, before anybody has answered, and are never changed. A control counts in the order
drawn: answers behind the first open one wait. Unsure, "none of these" and unsettled conflicts count as wrong.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from pll.analysis.intervals import hypergeometric
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.review.calibration import Calibration, Method, calibrate
from pll.review.certificate import Certificate, certify
from pll.review.decided import OUTSIDE
from pll.review.evidence import LEVEL
from pll.review.label_snapshot import LabelSnapshot
from pll.review.sampling_plan import achievable, draw_controls, threshold_grid
from pll.review.state import ReviewState
from pll.store.tables import Opened, ReviewRecord, RoundRecord

WRONG_FORESEEN = 2
"""The guarantee is chosen so that it can be kept with this many wrong controls."""
MOST_ERROR = 0.1
"""Largest error of a default guarantee."""
DEFAULT_SHARES = (0.1, 0.15, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class Guarantee:
    """What the certificate is to say, fixed before the first control is answered.

    Attributes:
        share: of all examples, in (0, 1], are drawn as controls.
        max_error: x; None for what the controls can reach with two of them wrong, in steps of half a percent, and
            at most 10 %.
        level: 1 − α.
    """

    share: float = 0.1
    max_error: float | None = None
    level: float = LEVEL


def new_round(
    number: int,
    snapshot: LabelSnapshot,
    guarantee: Guarantee,
    at: datetime,
    seed: int | None = None,
    opened: Opened | None = None,
) -> RoundRecord:
    """Freeze the labels of a snapshot and draw the controls that will judge them.

    Args:
        opened: how they came under review, and by whom.

    Raises:
        UserError: a share, error or level outside (0, 1).
    """
    seed = secrets.randbits(31) if seed is None else seed
    rows = draw_controls(len(snapshot), guarantee.share, seed)
    max_error = guarantee.max_error or min(MOST_ERROR, reachable(len(snapshot), guarantee.share, guarantee.level))
    thresholds = threshold_grid(snapshot.sharp.confidence, len(rows), max_error, guarantee.level)
    return RoundRecord(
        number=number,
        run=snapshot.run,
        fingerprint=snapshot.fingerprint,
        seed=seed,
        share=guarantee.share,
        max_error=max_error,
        level=guarantee.level,
        thresholds=tuple(thresholds.tolist()),
        opened_at=at,
        controls=tuple(rows.tolist()),
        opened=opened or Opened(),
    )


def reachable(n: int, share: float, level: float = LEVEL) -> float:
    """The x that can be certified with two wrong controls, rounded up to half a percent.

    >>> reachable(1437, 0.1), reachable(60_000, 0.1)
    (0.06, 0.005)
    """
    wrong = min(WRONG_FORESEEN, max(0, int(share * n) - 1))
    x = achievable(n, share, level, wrong=wrong)
    return min(0.5, max(0.005, float(np.ceil(round(x * 200, 6))) / 200))


def default_guarantee(n: int, level: float = LEVEL) -> Guarantee:
    """Return the default guarantee of a new review: the fewest controls that reach 10 %, at most half.

    >>> default_guarantee(10_000), default_guarantee(300).share, default_guarantee(120).max_error
    (Guarantee(share=0.1, max_error=0.01, level=0.95), 0.3, 0.1)
    """
    enough = (share for share in DEFAULT_SHARES if reachable(n, share, level) <= MOST_ERROR)
    share = next(enough, DEFAULT_SHARES[-1])
    return Guarantee(share, min(MOST_ERROR, reachable(n, share, level)), level)


def more_controls(record: RoundRecord, n: int, share: float) -> tuple[int, ...]:
    """The further controls of a larger share, in the order in which they follow those drawn.

    Raises:
        UserError: not a larger share.
    """
    rows = draw_controls(n, share, record.seed)
    known = np.asarray(record.controls, dtype=np.int64)
    if len(rows) <= len(known):
        raise UserError(f"{len(known):,} controls are drawn already; choose a share above {record.share:g}.")
    if not np.array_equal(rows[: len(known)], known):  # another version of NumPy may permute otherwise
        others = np.setdiff1d(np.arange(n), known)
        further = np.random.default_rng(record.seed + 1).permutation(others)
        rows = np.concatenate([known, further])[: len(rows)]
    return tuple(rows[len(known) :].tolist())


def asked_of(record: ReviewRecord, n: int) -> npt.NDArray[np.int64]:
    """(n,) how many reviewers are to answer each example; every process draws alike."""
    chosen = np.random.default_rng(record.seed).random(n) < record.overlap_share
    return np.where(chosen, record.overlap, 1).astype(np.int64)


def control_answers(
    controls: Sequence[int], snapshot: LabelSnapshot, state: ReviewState, asked: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """(k,) bool: whether the frozen label is right, of the controls before the first that is not fully answered.

    Args:
        asked: (n,) how many reviewers are to answer each example.
    """
    right: list[bool] = []
    for row in controls:
        if not state.is_closed(row, asked):
            break
        label = state.outcome(row).label
        right.append(label is not None and label == snapshot.labels[row])
    return np.array(right, dtype=np.bool_)


def calibration_of(
    record: RoundRecord,
    root: CandidateSets,
    snapshot: LabelSnapshot,
    state: ReviewState,
    asked: npt.NDArray[np.int64],
    method: Method = "temperature",
) -> Calibration:
    """Calibrated confidence of a round's labels, fitted on the controls answered so far.

    Controls that the model has learnt from (they were decided before it was taught) are left out: their candidate
    sets are no longer those of `root`, the first run. So are those that accepted labels give no choice: there a
    decision has set a weight to 0, which the logit never does.

    Raises:
        UserError: too few of them.
    """
    sets = snapshot.candidates
    answered = record.controls[: len(control_answers(record.controls, snapshot, state, asked))]
    rows = np.array([row for row in answered if np.array_equal(sets[row], root[row])], dtype=np.int64)
    if snapshot.relabelled:
        rows = rows[np.minimum.reduceat(snapshot.weights, sets.indptr[:-1])[rows] > 0]
    place = {name: j for j, name in enumerate(sets.class_names)}
    labels = [place.get(state.outcome(int(row)).label or "", OUTSIDE) for row in rows]
    return calibrate(snapshot.weights, sets, rows, np.array(labels, dtype=np.int64), method)


@dataclass(frozen=True)
class MissRate:
    """How many candidate sets miss the right label, by the controls answered so far.

    Attributes:
        answered: controls, in the order drawn; of `missing` the set misses the label given, `unknown` were unsure or
            are in conflict.
        low, high: exact 95 % interval of the share of all sets; it holds whatever the unknown ones are.
    """

    answered: int
    missing: int
    unknown: int
    low: float
    high: float


def miss_rate_of(
    record: RoundRecord, sets: CandidateSets, state: ReviewState, asked: npt.NDArray[np.int64]
) -> MissRate | None:
    """The share of candidate sets that miss the right label; None where no control is answered: nothing else tells it.

    Args:
        sets: of the data, without labels that a method added.
        asked: (n,) how many reviewers are to answer each example.
    """
    answered = missing = unknown = 0
    for row in record.controls:
        if not state.is_closed(row, asked):
            break
        found = state.outcome(row)
        answered += 1
        unknown += found.status not in ("label", "none")
        missing += found.status == "none" or (found.status == "label" and found.label not in sets.names(row))
    if not answered:
        return None
    low, high = hypergeometric(missing, answered, len(sets), unknown=unknown)
    return MissRate(answered, missing, unknown, low, high)


def certificate_of(
    record: RoundRecord, snapshot: LabelSnapshot, state: ReviewState, asked: npt.NDArray[np.int64]
) -> Certificate:
    """What the controls answered so far certify about the frozen labels.

    Raises:
        UserError: the labels are not those that were frozen.
    """
    if snapshot.fingerprint != record.fingerprint:
        raise UserError("The labels of this run have changed since its controls were drawn; open a new round.")
    return certify(
        snapshot.sharp.confidence,
        np.asarray(record.controls, dtype=np.int64),
        control_answers(record.controls, snapshot, state, asked),
        max_error=record.max_error,
        level=record.level,
        thresholds=record.thresholds,
    )

"""Rounds: which labels are under review since when; and what decisions say of their confidence and candidate sets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from pll.analysis.intervals import hypergeometric
from pll.candidates import CandidateSets
from pll.review.calibration import Calibration, calibrate
from pll.review.decided import OUTSIDE
from pll.review.label_snapshot import LabelSnapshot
from pll.review.state import ReviewState
from pll.review.tables import Opened, ReviewRecord, RoundRecord


def new_round(number: int, snapshot: LabelSnapshot, at: datetime, opened: Opened | None = None) -> RoundRecord:
    """Return the record that the labels of a snapshot are under review from now on.

    Args:
        opened: how they came under review, and by whom.
    """
    return RoundRecord(number, snapshot.run, snapshot.fingerprint, at, opened or Opened())


def asked_of(record: ReviewRecord, n: int) -> npt.NDArray[np.int64]:
    """(n,) how many reviewers are to answer each example; every process draws alike."""
    chosen = np.random.default_rng(record.seed).random(n) < record.overlap_share
    return np.where(chosen, record.overlap, 1).astype(np.int64)


def calibration_of(root: CandidateSets, own: LabelSnapshot, labels: LabelSnapshot, state: ReviewState) -> Calibration:
    """Calibrated confidence of the labels of now.

    The temperature is fitted on the run's own weights, which the decisions did not teach; left out are the examples
    that a retrained model has learnt from: their candidate sets are no longer those of `root`, the first run.

    Args:
        own: labels of the run.
        labels: the same, as the decisions leave them.

    Raises:
        UserError: too few of them.
    """
    sets = own.candidates
    rows = np.array([row for row in state.rows_with("label", "none") if np.array_equal(sets[row], root[row])], np.int64)
    place = {name: j for j, name in enumerate(sets.class_names)}
    decided = [place.get(state.outcome(int(row)).label or "", OUTSIDE) for row in rows]
    return calibrate(
        own.weights, sets, rows, np.array(decided, dtype=np.int64), followed=labels.weights if labels.follows else None
    )


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
    controls: npt.NDArray[np.int64], sets: CandidateSets, state: ReviewState, asked: npt.NDArray[np.int64]
) -> MissRate | None:
    """The share of candidate sets that miss the right label; None where no control is answered: nothing else tells it.

    Args:
        controls: (K,) rows, in the order drawn.
        sets: of the data, without labels that a method added.
        asked: (n,) how many reviewers are to answer each example.
    """
    answered = missing = unknown = 0
    for row in controls.tolist():
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

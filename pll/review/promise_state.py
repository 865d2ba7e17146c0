"""State of the certification of all labels: answers, next rows, certificate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.analysis.intervals import hypergeometric
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.review import dataset_certificate as dc
from pll.review.expected_checks import ExpectedChecks, expected_checks
from pll.review.follow import CERTIFY
from pll.review.label_snapshot import LabelSnapshot
from pll.review.promise import (
    RIGHT,
    UNANSWERED,
    WRONG,
    Answers,
    DatasetPlan,
    Ints,
)
from pll.review.reranking import Pool, PoolFeatures, RowInputs, inputs_of, pool_features
from pll.review.state import ReviewState
from pll.review.tables import PromiseRecord


@dataclass(frozen=True, eq=False)
class PromiseStatus:
    """State of the promise.

    Attributes
    ----------
    controls, answered, wrong : int
        Drawn, answered by all who were asked, and those with a wrong label.
    unseen : int
        Labels accepted unchecked, as far as is known now.
    open : (m,) rows
        What is to be answered once the controls are, in order.
    unsure : int
        Rows that people answered without a label.
    halfway : int
        Controls that wait for a further reviewer.
    done : bool
        Nothing is left to look at.
    looked_at : int
        Rows that were answered.
    """

    controls: int
    answered: int
    wrong: int
    unseen: int
    open: Ints
    unsure: int
    halfway: int
    done: bool
    looked_at: int


@dataclass(frozen=True, eq=False)
class Certified:
    """A certificate of all labels, and these labels.

    Attributes
    ----------
    document
        The certificate, as plain JSON values.
    final
        Final.csv as a table.
    """

    document: dict[str, Any]
    final: pd.DataFrame


def table_of(snapshot: LabelSnapshot, state: ReviewState) -> dc.LabelTable:
    """Return the labels of this moment as a table: people's where they decided, with confidence 1, else the model's."""
    labels, confidence = snapshot.labels.copy(), snapshot.sharp.confidence.astype(np.float64)
    rows, decided = state.labels()
    labels[rows], confidence[rows] = decided, 1.0
    return dc.LabelTable(np.asarray(snapshot.ids, dtype=np.str_), labels.astype(np.str_), confidence)


def frozen_table(ids: npt.NDArray[np.str_], labels: Sequence[str], confidence: Sequence[float]) -> dc.LabelTable:
    """Return labels as they are stored of a promise, as a table."""
    return dc.LabelTable(np.asarray(ids, dtype=np.str_), np.array(labels, dtype=np.str_), np.array(confidence))


def promise_of(record: PromiseRecord) -> dc.Promise:
    """A stored promise as the certificate needs it."""
    return dc.Promise(
        error=record.error,
        level=record.level,
        plan=DatasetPlan(record.n, record.error, record.level, record.controls, record.tolerated),
        seed=record.seed,
        fingerprint=record.labels,
        reranked=True,
        draw_number=record.draw_number,
        made_at=record.made_at.isoformat(timespec="seconds"),
    )


def record_of_promise(promise: dc.Promise, run: str, number: int, by: str | None, *, verified: bool) -> PromiseRecord:
    """A promise as it is stored."""
    plan = promise.plan
    return PromiseRecord(
        number=number,
        run=run,
        labels=promise.fingerprint,
        n=plan.n,
        error=promise.error,
        level=promise.level,
        controls=plan.controls,
        tolerated=plan.tolerated,
        seed=promise.seed,
        draw_hash=promise.draw_hash,
        draw_number=promise.draw_number,
        made_at=datetime.fromisoformat(promise.made_at),
        made_by=by,
        verified=verified,
    )


class PromiseInForce:
    """A promise about all labels under review, kept up to date event by event. Not safe between threads.

    Parameters
    ----------
    record : PromiseRecord
    table : LabelTable
        The labels that it is about, as they were frozen.
    data : PartialLabelDataset, optional
        Their examples: the order of what is to be looked at learns from features, texts and votes too.

    Attributes
    ----------
    promise : Promise
        As the certificate needs it.
    controls : (K,) rows, in the order in which they are handed out

    Raises
    ------
    UserError
        The labels are not those of the promise.
    """

    def __init__(self, record: PromiseRecord, table: dc.LabelTable, data: PartialLabelDataset | None = None) -> None:
        self.record = record
        self.table = table
        self.promise = promise_of(record)
        self.controls = dc.controls_of(self.promise, self.table)
        self._order = dc.order_of(self.promise, self.table)
        self._inputs = RowInputs() if data is None else inputs_of(data)
        self._features: PoolFeatures | None = None
        self._pool: Pool | None = None
        self._answers: Answers = np.full(len(self.table), UNANSWERED, dtype=np.int8)
        self._unsure = np.zeros(len(self.table), dtype=np.bool_)
        self._half = np.zeros(len(self.table), dtype=np.bool_)
        self._seen = 0
        self._required: Ints | None = None
        self._status: PromiseStatus | None = None

    @property
    def n(self) -> int:
        """All labels."""
        return len(self.table)

    @property
    def plan(self) -> DatasetPlan:
        """Wording of the target."""
        return self.promise.plan

    def prepare(self) -> PoolFeatures:
        """Return the features for re-ranking; computed at the first call, seconds for large data."""
        if self._features is None:
            some = self._inputs
            self._features = pool_features(
                self._order, self.table.confidence, self.table.labels, some.features, some.texts, some.votes
            )
        return self._features

    # ---- the answers ---------------------------------------------------------------------------------------------

    def update(self, state: ReviewState, required: Ints) -> None:
        """Include the decisions since the last call; `required` (n,) is how many reviewers each example needs."""
        if self._required is None or not np.array_equal(required, self._required):
            rows: Iterable[int] = [row for row, _ in state.outcomes()]
            self._required = required.copy()
        elif self._seen == len(state.all_events):
            return
        else:
            rows = {event.row for event in state.all_events[self._seen :]}
        self._seen, self._status = len(state.all_events), None
        for row in rows:
            before = self._answers[row]
            self._take(row, state, required)
            if before != UNANSWERED and before != self._answers[row]:
                self._pool = None  # an answer that the order may depend on was undone: start again

    def _take(self, row: int, state: ReviewState, required: Ints) -> None:
        outcome = state.outcome(row)
        self._half[row] = False
        if not state.is_closed(row, required) or outcome.status == "open":
            self._answers[row], self._unsure[row] = UNANSWERED, False
            self._half[row] = bool(state.answers[row])
            return
        right = outcome.label is not None and outcome.label == self.table.labels[row]
        self._answers[row], self._unsure[row] = (RIGHT if right else WRONG), outcome.label is None

    def status(self, state: ReviewState, required: Ints) -> PromiseStatus:
        """Return the present state; `required` (n,) is how many reviewers each example needs."""
        self.update(state, required)
        if self._status is None:
            self._status = self._made()
        return self._status

    def _made(self) -> PromiseStatus:
        if self._pool is None:
            self._pool = Pool(self.prepare(), self.controls, self.plan.tolerated)
        pool, of_controls = self._pool, self._answers[self.controls]
        pool.advance(self._answers)
        looked = self._answers != UNANSWERED
        inside = np.ones(self.n, dtype=np.bool_)
        inside[pool.left] = False
        waiting = (of_controls == UNANSWERED) & inside[self.controls]
        done = pool.done and not waiting.any()
        return PromiseStatus(
            controls=len(self.controls),
            answered=int((of_controls != UNANSWERED).sum()),
            wrong=int((of_controls == WRONG).sum()),
            unseen=dc.count_unseen(inside, looked),
            open=np.empty(0, dtype=np.int64) if done else pool.waiting[~looked[pool.waiting]],
            unsure=int(self._unsure.sum()),
            halfway=int(self._half[self.controls].sum()),
            done=done,
            looked_at=int(looked.sum()),
        )

    # ---- next rows -----------------------------------------------------------------------------------------------

    def queue(self, state: ReviewState, required: Ints) -> tuple[str, Ints, bool]:
        """Return (name, rows, whether controls) of what is handed out now: the controls, then what is to be looked at.

        Rows behind the first one that is open may be handed out too, to several reviewers at a time; which they are
        follows from the answers so far.
        """
        result = self.status(state, required)
        if result.answered < result.controls:
            return "control", self.controls, True
        return CERTIFY, result.open, False

    def expected(
        self, state: ReviewState, required: Ints, neighbour_labels: npt.NDArray[np.object_] | None = None
    ) -> ExpectedChecks:
        """Return how many further labels people will look at, in the order as it is now.

        Parameters
        ----------
        neighbour_labels : (n,) names, optional
            The likeliest labels to the neighbours (`ReviewSignals.neighbour_labels`).
        """
        status = self.status(state, required)
        if status.done:
            return ExpectedChecks(0, 0, 0)
        assert self._pool is not None  # made with the status
        inside = self._pool.waiting[::-1]
        left = np.array(self._pool.left, dtype=np.int64)
        order = np.concatenate([inside, left])  # the most certain first; rows that left are answered
        return expected_checks(
            order,
            self.table.confidence,
            self.controls,
            self._answers,
            self.plan.tolerated,
            disagrees=None if neighbour_labels is None else neighbour_labels != self.table.labels,
            seed=self.record.seed % 2**32,
        )

    # ---- the certificate -----------------------------------------------------------------------------------------

    def decisions(self, state: ReviewState, required: Ints) -> list[dc.CheckedLabel]:
        """Return the answers as the certificate counts them: of rows that all their reviewers have answered."""
        result = []
        for row, outcome in sorted(state.outcomes()):
            if not state.is_closed(row, required) or outcome.status == "open":
                continue
            event = outcome.event or next(
                (one.event for one in outcome.answers.values() if one.event is not None), None
            )
            by, at = ("", "") if event is None else (event.reviewer, event.at.isoformat())
            result.append(dc.CheckedLabel(str(self.table.ids[row]), outcome.label, by, at))
        return result

    def certified(
        self, state: ReviewState, required: Ints, *, draws: Collection[str] = (), name: str = "", audit: str = ""
    ) -> Certified:
        """Return the certificate, and the labels as they are after it.

        Parameters
        ----------
        draws : hashes of the draws of these labels that are known

        Raises
        ------
        UserError
            A control that matters is not answered, or the review has not come so far.
        """
        decisions = self.decisions(state, required)
        judgement = dc.judge(self.promise, self.table, decisions, features=self.prepare())
        promise = dc.with_draws(self.promise, {*draws, self.promise.draw_hash})
        document = dc.certificate_document(promise, self.table, decisions, judgement, dc.Extras(name=name, audit=audit))
        return Certified(document, dc.final_frame(self.table, decisions, judgement))


@dataclass(frozen=True)
class MissRate:
    """How many candidate sets miss the right label, by the controls answered so far.

    Attributes
    ----------
    answered
        Controls, in the order drawn; of `missing` the set misses the label given, `unknown` were unsure or are in
        conflict.
    low, high
        Exact 95 % interval of the share of all sets; it holds whatever the unknown ones are.
    """

    answered: int
    missing: int
    unknown: int
    low: float
    high: float


def miss_rate_of(
    controls: npt.NDArray[np.int64], sets: CandidateSets, state: ReviewState, required: npt.NDArray[np.int64]
) -> MissRate | None:
    """The share of candidate sets that miss the right label; None where no control is answered.

    Parameters
    ----------
    controls
        (K,) rows, in the order drawn.
    sets
        Of the data, without labels that a method added.
    required
        (n,) how many reviewers are to answer each example.
    """
    answered = missing = unknown = 0
    for row in controls.tolist():
        if not state.is_closed(row, required):
            break
        result = state.outcome(row)
        answered += 1
        unknown += result.status not in ("label", "none")
        missing += result.status == "none" or (result.status == "label" and result.label not in sets.names(row))
    if not answered:
        return None
    low, high = hypergeometric(missing, answered, len(sets), unknown=unknown)
    return MissRate(answered, missing, unknown, low, high)

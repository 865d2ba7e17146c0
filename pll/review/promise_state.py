"""State of the promise about all labels in a review: controls, next rows, forecast, curve, certificate."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from pll.dataset import PartialLabelDataset
from pll.review import dataset_certificate as dc
from pll.review.label_snapshot import LabelSnapshot
from pll.review.promise import (
    RIGHT,
    UNANSWERED,
    WRONG,
    Answers,
    CurvePoint,
    Cut,
    DatasetPlan,
    DecisionsForecast,
    Draw,
    Ints,
    curve,
    cut_of,
    forecast_decisions,
    joint_tolerated,
)
from pll.review.reranking import Pool, PoolFeatures, RowInputs, inputs_of, pool_features
from pll.review.state import ReviewState
from pll.store.tables import PromiseRecord

DRAWS: dict[str, Draw] = {"fixed": "fixed", "independent": "independent"}
INPUTS = "inputs"
"""`PromiseRecord.ranked_by` of a promise whose order looks at features, texts and votes too."""


@dataclass(frozen=True, eq=False)
class PromiseStatus:
    """State of the promise.

    Attributes:
        controls, answered, wrong: drawn, answered by all who were asked, and those with a wrong label.
        cut: where acceptance ends, should the open controls be right.
        left: rows that people must answer, in order; open: those without an answer.
        unsure: rows that people answered without a label.
        halfway: controls that wait for a further reviewer.
        done: nothing is left to look at.
        looked_at: rows that were answered.
    """

    controls: int
    answered: int
    wrong: int
    cut: Cut
    left: Ints
    open: Ints
    unsure: int
    halfway: int
    done: bool
    looked_at: int


@dataclass(frozen=True, eq=False)
class Certified:
    """A certificate of all labels, and these labels.

    Attributes:
        document: the certificate, as plain JSON values.
        final: final.csv as a table.
    """

    document: dict[str, Any]
    final: pd.DataFrame


def table_of(snapshot: LabelSnapshot) -> dc.LabelTable:
    """The labels of a model as a table."""
    return dc.LabelTable(
        np.asarray(snapshot.ids, dtype=np.str_),
        np.asarray(snapshot.labels, dtype=np.str_),
        np.asarray(snapshot.sharp.confidence, dtype=np.float64),
    )


def promise_of(record: PromiseRecord) -> dc.Promise:
    """A stored promise as the certificate needs it."""
    plan = DatasetPlan(record.n, record.error, record.level, record.controls, record.tolerated, DRAWS[record.draw])
    return dc.Promise(
        error=record.error,
        level=record.level,
        seed=record.seed,
        fingerprint=record.labels,
        plan=plan,
        reranked=record.reranked,
        draw_number=record.draw_number,
        made_at=record.made_at.isoformat(timespec="seconds"),
    )


def record_of_promise(
    promise: dc.Promise,
    snapshot: LabelSnapshot,
    number: int,
    by: str | None,
    *,
    verified: bool,
    ranked_by: str | None = None,
) -> PromiseRecord:
    """A promise as it is stored."""
    return PromiseRecord(
        number=number,
        run=snapshot.run,
        fingerprint=snapshot.fingerprint,
        labels=promise.fingerprint,
        error=promise.error,
        level=promise.level,
        seed=promise.seed,
        n=promise.plan.n,
        controls=promise.plan.controls,
        tolerated=promise.plan.tolerated,
        draw=promise.plan.draw,
        reranked=promise.reranked,
        draw_hash=promise.draw_hash,
        made_at=datetime.fromisoformat(promise.made_at),
        made_by=by,
        verified=verified,
        draw_number=promise.draw_number,
        ranked_by=ranked_by,
    )


class PromiseInForce:
    """A promise about all labels of the model under review, kept up to date event by event. Not safe between threads.

    Args:
        record: the promise.
        snapshot: the labels that it is about.
        data: their examples; needed for a promise that is re-ranked by more than labels and confidences.

    Attributes:
        table: the labels. promise: as the certificate needs it.
        controls: (K,) rows, in the order in which they are handed out.

    Raises:
        UserError: the labels are not those of the promise.
    """

    def __init__(self, record: PromiseRecord, snapshot: LabelSnapshot, data: PartialLabelDataset | None = None) -> None:
        self.record = record
        self.table = table_of(snapshot)
        self.promise = promise_of(record)
        self.controls = dc.controls_of(self.promise, self.table)
        self._order = dc.order_of(self.promise, self.table)
        self._inputs = inputs_of(data) if record.ranked_by == INPUTS and data is not None else RowInputs()
        self._features: PoolFeatures | None = None
        self._pool: Pool | None = None
        self._answers: Answers = np.full(len(self.table), UNANSWERED, dtype=np.int8)
        self._unsure = np.zeros(len(self.table), dtype=np.bool_)
        self._half = np.zeros(len(self.table), dtype=np.bool_)
        self._seen = 0
        self._asked: Ints | None = None
        self._status: PromiseStatus | None = None

    @property
    def n(self) -> int:
        """All labels."""
        return len(self.table)

    @property
    def plan(self) -> DatasetPlan:
        """How many controls, and how many of them may be wrong."""
        return self.promise.plan

    def prepare(self) -> None:
        """Make what re-ranking looks at, where it is not there yet: seconds for large data."""
        if self.promise.reranked and self._features is None:
            table, inputs = self.table, self._inputs
            self._features = pool_features(
                self._order, table.confidence, table.labels, inputs.features, inputs.texts, inputs.votes
            )

    # ---- the answers ---------------------------------------------------------------------------------------------

    def update(self, state: ReviewState, asked: Ints) -> None:
        """Include the decisions since the last call; `asked` (n,) is how many reviewers are to answer each example."""
        if self._asked is None or not np.array_equal(asked, self._asked):
            rows: Iterable[int] = [row for row, _ in state.outcomes()]
            self._asked = asked.copy()
        elif self._seen == len(state.all_events):
            return
        else:
            rows = {event.row for event in state.all_events[self._seen :]}
        self._seen, self._status = len(state.all_events), None
        for row in rows:
            before = self._answers[row]
            self._take(row, state, asked)
            if before != UNANSWERED and before != self._answers[row]:
                self._pool = None  # an answer that the order may rest on was taken back: from the start

    def _take(self, row: int, state: ReviewState, asked: Ints) -> None:
        said = state.outcome(row)
        self._half[row] = False
        if not state.is_closed(row, asked) or said.status == "open":
            self._answers[row], self._unsure[row] = UNANSWERED, False
            self._half[row] = bool(state.answers[row])
            return
        right = said.label is not None and said.label == self.table.labels[row]
        self._answers[row], self._unsure[row] = (RIGHT if right else WRONG), said.label is None

    def status(self, state: ReviewState, asked: Ints) -> PromiseStatus:
        """Return the present state; `asked` (n,) is how many reviewers are to answer each example."""
        self.update(state, asked)
        if self._status is None:
            self._status = self._made()
        return self._status

    def _made(self) -> PromiseStatus:
        self.prepare()
        answers, accepted = self._answers, np.zeros(self.n, dtype=np.bool_)
        given, looked = answers[self.controls], answers != UNANSWERED
        if self.promise.reranked:
            cut, finished = self._pooled()
            assert self._pool is not None
            accepted[:] = True
            accepted[self._pool.left] = False
        else:
            cut = cut_of(self._order, self.controls, given, self.plan.tolerated)
            finished = not len(cut.waiting)
            accepted[self._order[: cut.accepted]] = True
        open_ = cut.left[~looked[cut.left]]
        return PromiseStatus(
            controls=len(self.controls),
            answered=int((given != UNANSWERED).sum()),
            wrong=int((given == WRONG).sum()),
            cut=replace(cut, unseen=dc.count_unseen(accepted, looked)),
            left=cut.left,
            open=open_,
            unsure=int(self._unsure.sum()),
            halfway=int(self._half[self.controls].sum()),
            done=finished and not len(open_),
            looked_at=int(looked.sum()),
        )

    def _pooled(self) -> tuple[Cut, bool]:
        """The cut of a re-ranked review, with the rows to look at for certain; whether the rest is accepted."""
        if self._pool is None:
            assert self._features is not None
            self._pool = Pool(self._features, self.controls, self.plan.tolerated)
        pool, answers = self._pool, self._answers
        pool.advance(answers)
        inside = np.ones(self.n, dtype=np.bool_)
        inside[pool.left] = False
        in_controls = self.controls[inside[self.controls]]
        waiting = in_controls[answers[in_controls] == UNANSWERED]
        wrong_inside = int((answers[in_controls] == WRONG).sum())
        # What is wrong for certain must leave before the rest can be accepted; more than that is not known yet.
        certain = not pool.done and wrong_inside > self.plan.tolerated
        cut = Cut(
            accepted=int(inside.sum()),
            unseen=int(inside.sum()) - len(in_controls),
            wrong_inside=wrong_inside,
            waiting=waiting,
            left=pool.waiting if certain else np.empty(0, dtype=np.int64),
        )
        return cut, pool.done and not len(waiting)

    # ---- what comes next -----------------------------------------------------------------------------------------

    def queues(self, state: ReviewState, asked: Ints, shown: int, seed: int) -> list[tuple[str, Ints, bool]]:
        """Return (name, rows, whether controls) in the order in which they are tried: open controls among the others.

        Controls and rows of the least sure end alternate by chance, so that reviewers cannot distinguish them. No
        row above the cut is assigned.
        """
        found = self.status(state, asked)
        waiting = self._answers[self.controls] == UNANSWERED
        likely = found.left
        if waiting.any():
            low = max(0, self._forecast().low - len(self.controls))
            if self._pool is None:
                likely = self._order[::-1][: max(len(found.left), low)]
            elif not len(found.left):  # not certain yet; and the changing order usually needs fewer
                likely = self._pool.waiting[: low // 2]
        open_others = int((self._answers[likely] == UNANSWERED).sum())
        share = waiting.sum() / max(1, int(waiting.sum()) + open_others)
        first = np.random.default_rng([seed, shown, 11]).random() < share
        both = [("control", self.controls, True), ("promise", likely, False)]
        return both if first else both[::-1]

    # ---- what it buys --------------------------------------------------------------------------------------------

    def forecast(self, state: ReviewState, asked: Ints, coverage: float = 0.9) -> DecisionsForecast:
        """Decisions in all; of a re-ranked review those that the order of confidence would need."""
        self.update(state, asked)
        return self._forecast(coverage)

    def _forecast(self, coverage: float = 0.9) -> DecisionsForecast:
        answers = self._answers[self.controls]
        return forecast_decisions(self._order, self.controls, answers, self.plan.tolerated, coverage)

    def curve(self, state: ReviewState, asked: Ints) -> list[CurvePoint]:
        """Error → decisions in all, with the answers so far; jointly calibrated: one may choose among them.

        Of the order of confidence, also where the promise is re-ranked.
        """
        self.update(state, asked)
        plan, answers = self.plan, self._answers
        joint = joint_tolerated(plan.n, plan.controls, level=plan.level, draw=plan.draw)
        return curve(self._order, self.controls, answers[self.controls], answers != UNANSWERED, joint)

    # ---- the certificate -----------------------------------------------------------------------------------------

    def decisions(self, state: ReviewState, asked: Ints) -> list[dc.CheckedLabel]:
        """Return the answers as the certificate counts them: of rows that all their reviewers have answered."""
        found = []
        for row, said in sorted(state.outcomes()):
            if not state.is_closed(row, asked) or said.status == "open":
                continue
            event = said.event or next((one.event for one in said.answers.values() if one.event is not None), None)
            by, at = ("", "") if event is None else (event.reviewer, event.at.isoformat())
            found.append(dc.CheckedLabel(str(self.table.ids[row]), said.label, by, at))
        return found

    def certificate(
        self,
        state: ReviewState,
        asked: Ints,
        *,
        draws: Collection[str] = (),
        name: str = "",
        audit: str = "",
    ) -> dict[str, object]:
        """The certificate, as plain JSON values.

        Args:
            draws: hashes of the draws of these labels that are known.

        Raises:
            UserError: a control that matters is not answered, or the review has not come so far.
        """
        decisions = self.decisions(state, asked)
        extras = dc.Extras(name=name, audit=audit)
        promise = dc.with_draws(self.promise, {*draws, self.promise.draw_hash})
        return dc.certificate_document(promise, self.table, decisions, self.judgement(decisions), extras)

    def certified(
        self,
        state: ReviewState,
        asked: Ints,
        *,
        draws: Collection[str] = (),
        name: str = "",
        audit: str = "",
    ) -> Certified:
        """`certificate`, and the labels as they are after it.

        Raises:
            UserError: a control that matters is not answered, or the review has not come so far.
        """
        document = self.certificate(state, asked, draws=draws, name=name, audit=audit)
        decisions = self.decisions(state, asked)
        return Certified(document, dc.final_frame(self.table, decisions, self.judgement(decisions)))

    def judgement(self, decisions: list[dc.CheckedLabel]) -> dc.Judgement:
        """The rule applied to these decisions."""
        self.prepare()
        return dc.judge(self.promise, self.table, decisions, features=self._features)

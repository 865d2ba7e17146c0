"""State of the promise about all labels in a review: controls, next rows, forecast, curve, certificate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pll.dataset import PartialLabelDataset
from pll.review import dataset_certificate as dc
from pll.review.evidence import Ints
from pll.review.groups import groups_of
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
class PartStatus:
    """State of one group of the promise.

    Attributes:
        group: its name; "" where there is one promise about all labels.
        plan: of the group.
        answered, wrong: controls answered by all who were asked, and those of them with a wrong label.
        cut: where acceptance ends, should the open controls be right; its rows are those of the whole data.
        finished: nothing but rows of `cut.left` is left to look at.
    """

    group: str
    plan: DatasetPlan
    answered: int
    wrong: int
    cut: Cut
    finished: bool


@dataclass(frozen=True, eq=False)
class PromiseStatus:
    """State of the promise.

    Attributes:
        controls, answered, wrong: drawn, answered by all who were asked, and those with a wrong label.
        cut: where acceptance ends, should the open controls be right; of all groups together.
        left: rows that people must answer, in order; open: those without an answer.
        unsure: rows that people answered without a label.
        halfway: controls that wait for a further reviewer.
        done: nothing is left to look at.
        looked_at: rows that were answered.
        parts: each group.
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
    parts: tuple[PartStatus, ...]


@dataclass(frozen=True, eq=False)
class Certified:
    """A certificate of all labels, and these labels.

    Attributes:
        document: the certificate, as plain JSON values.
        final: final.csv as a table.
    """

    document: dict[str, Any]
    final: pd.DataFrame


def table_of(snapshot: LabelSnapshot, groups: npt.NDArray[np.str_] | None = None) -> dc.LabelTable:
    """The labels of a model as a table."""
    return dc.LabelTable(
        np.asarray(snapshot.ids, dtype=np.str_),
        np.asarray(snapshot.labels, dtype=np.str_),
        np.asarray(snapshot.sharp.confidence, dtype=np.float64),
        groups,
    )


def promise_of(record: PromiseRecord) -> dc.Promise:
    """A stored promise as the certificate needs it."""
    plans = {
        group: DatasetPlan(n, record.error, record.level, controls, tolerated, DRAWS[draw])
        for group, n, controls, tolerated, draw in record.plans
    }
    return dc.Promise(
        error=record.error,
        level=record.level,
        seed=record.seed,
        fingerprint=record.labels,
        plans=plans,
        reranked=record.reranked,
        draw_number=record.draw_number or record.number,
        made_at=record.made_at.isoformat(timespec="seconds"),
    )


def record_of_promise(
    promise: dc.Promise,
    snapshot: LabelSnapshot,
    number: int,
    by: str | None,
    *,
    verified: bool,
    grouped_by: str | None = None,
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
        plans=tuple((group, plan.n, plan.controls, plan.tolerated, plan.draw) for group, plan in promise.plans.items()),
        reranked=promise.reranked,
        draw_hash=promise.draw_hash,
        made_at=datetime.fromisoformat(promise.made_at),
        made_by=by,
        verified=verified,
        grouped_by=grouped_by,
        draw_number=promise.draw_number,
        ranked_by=ranked_by,
    )


class _Part:
    """One group: its rows are counted from 0 here, and `rows` says which of the data they are."""

    def __init__(self, group: str, plan: DatasetPlan, rows: Ints, controls: Ints, order: Ints) -> None:
        self.group, self.plan, self.rows = group, plan, rows
        place = np.zeros(int(rows.max()) + 1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        self.controls, self.order = place[controls], place[order]
        self.features: PoolFeatures | None = None
        self.pool: Pool | None = None

    def status(self, answers: Answers, *, reranked: bool) -> PartStatus:
        """Return the state; `answers` are those of its rows."""
        given, accepted = answers[self.controls], np.zeros(len(self.rows), dtype=np.bool_)
        if reranked:
            cut, finished = self._pooled(answers)
            assert self.pool is not None
            accepted[:] = True
            accepted[self.pool.left] = False
        else:
            cut = cut_of(self.order, self.controls, given, self.plan.tolerated)
            finished = not len(cut.waiting)
            accepted[self.order[: cut.accepted]] = True
        unseen = dc.count_unseen(accepted, answers != UNANSWERED)
        outside = Cut(cut.accepted, unseen, cut.wrong_inside, self.rows[cut.waiting], self.rows[cut.left])
        answered, wrong = int((given != UNANSWERED).sum()), int((given == WRONG).sum())
        return PartStatus(self.group, self.plan, answered, wrong, outside, finished)

    def _pooled(self, answers: Answers) -> tuple[Cut, bool]:
        """The cut of a re-ranked review, with the rows to look at for certain; whether the rest is accepted."""
        if self.pool is None:
            assert self.features is not None
            self.pool = Pool(self.features, self.controls, self.plan.tolerated)
        pool = self.pool
        pool.advance(answers)
        inside = np.ones(len(self.rows), dtype=np.bool_)
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


class PromiseInForce:
    """A promise about all labels of the model under review, kept up to date event by event. Not safe between threads.

    Args:
        record: the promise.
        snapshot: the labels that it is about.
        data: their examples; needed for a promise by a column, or re-ranked by more than labels and confidences.

    Attributes:
        table: the labels. promise: as the certificate needs it.
        controls: (K,) rows, in the order in which they are handed out.

    Raises:
        UserError: the labels are not those of the promise, or the data is needed and does not have the column.
    """

    def __init__(self, record: PromiseRecord, snapshot: LabelSnapshot, data: PartialLabelDataset | None = None) -> None:
        self.record = record
        self.table = table_of(snapshot, groups_of(record.grouped_by, snapshot, data))
        self.promise = promise_of(record)
        drawn = dc.controls_by_group(self.promise, self.table)
        self._parts = [
            _Part(group, self.promise.plans[group], rows, drawn[group], dc.order_of(self.promise, self.table, rows))
            for group, rows in self.table.parts()
        ]
        self.controls = interleaved([part.rows[part.controls] for part in self._parts])
        self._inputs = inputs_of(data) if record.ranked_by == INPUTS and data is not None else RowInputs()
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
    def allowed(self) -> int:
        """Labels that may stay wrong, of all groups together."""
        return sum(part.plan.allowed for part in self._parts)

    @property
    def grouped(self) -> bool:
        """Whether each group has its own promise."""
        return self.record.grouped_by is not None

    def prepare(self) -> None:
        """Make what re-ranking looks at, where it is not there yet: seconds for large data."""
        if not self.promise.reranked:
            return
        for part in self._parts:
            if part.features is None:
                rows, some = part.rows, self._inputs.take(part.rows)
                part.features = pool_features(
                    part.order,
                    self.table.confidence[rows],
                    self.table.labels[rows],
                    some.features,
                    some.texts,
                    some.votes,
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
                for part in self._parts:  # an answer that the order may rest on was taken back: from the start
                    part.pool = None

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
        parts = tuple(part.status(self._answers[part.rows], reranked=self.promise.reranked) for part in self._parts)
        left = interleaved([part.cut.left for part in parts])
        looked = self._answers != UNANSWERED
        open_ = left[~looked[left]]
        return PromiseStatus(
            controls=len(self.controls),
            answered=sum(part.answered for part in parts),
            wrong=sum(part.wrong for part in parts),
            cut=Cut(
                accepted=sum(part.cut.accepted for part in parts),
                unseen=sum(part.cut.unseen for part in parts),
                wrong_inside=sum(part.cut.wrong_inside for part in parts),
                waiting=np.concatenate([part.cut.waiting for part in parts]),
                left=left,
            ),
            left=left,
            open=open_,
            unsure=int(self._unsure.sum()),
            halfway=int(self._half[self.controls].sum()),
            done=all(part.finished for part in parts) and not len(open_),
            looked_at=int(looked.sum()),
            parts=parts,
        )

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
            ends = []
            for part, stands in zip(self._parts, found.parts, strict=True):
                low = max(0, self._forecast(part).low - len(part.controls))
                if part.pool is None:
                    ends.append(part.rows[part.order[::-1][: max(len(stands.cut.left), low)]])
                elif len(stands.cut.left):
                    ends.append(stands.cut.left)
                else:  # not certain yet; and the changing order usually needs fewer
                    ends.append(part.rows[part.pool.waiting[: low // 2]])
            likely = interleaved(ends)
        open_others = int((self._answers[likely] == UNANSWERED).sum())
        share = waiting.sum() / max(1, int(waiting.sum()) + open_others)
        first = np.random.default_rng([seed, shown, 11]).random() < share
        both = [("control", self.controls, True), ("promise", likely, False)]
        return both if first else both[::-1]

    # ---- what it buys --------------------------------------------------------------------------------------------

    def forecast(self, state: ReviewState, asked: Ints, coverage: float = 0.9) -> DecisionsForecast:
        """Decisions in all; of a re-ranked review those that the order of confidence would need.

        Of several groups each has a band that fails with its share of 1 − `coverage`, so that their sum holds.
        """
        self.update(state, asked)
        each = [self._forecast(part, 1 - (1 - coverage) / len(self._parts)) for part in self._parts]
        return DecisionsForecast(
            low=sum(one.low for one in each),
            likely=sum(one.likely for one in each),
            high=sum(one.high for one in each),
            coverage=coverage if any(one.coverage < 1 for one in each) else 1.0,
        )

    def _forecast(self, part: _Part, coverage: float = 0.9) -> DecisionsForecast:
        answers = self._answers[part.rows[part.controls]]
        return forecast_decisions(part.order, part.controls, answers, part.plan.tolerated, coverage)

    def curve(self, state: ReviewState, asked: Ints) -> list[CurvePoint]:
        """Error → decisions in all, with the answers so far; jointly calibrated: one may choose among them.

        Of the order of confidence, also where the promise is re-ranked; none where there are several groups.
        """
        self.update(state, asked)
        if len(self._parts) > 1:
            return []
        (part,) = self._parts
        joint = joint_tolerated(part.plan.n, part.plan.controls, level=part.plan.level, draw=part.plan.draw)
        answers = self._answers[part.rows]
        return curve(part.order, part.controls, answers[part.controls], answers != UNANSWERED, joint)

    def nodding(self, state: ReviewState, asked: Ints) -> dc.Nodding:
        """Compare people's answers to controls with the model's label hidden and in sight."""
        return dc.nodding_of(self.table, self.decisions(state, asked), self.controls)

    # ---- the certificate -----------------------------------------------------------------------------------------

    def decisions(self, state: ReviewState, asked: Ints) -> list[dc.CheckedLabel]:
        """Return the answers as the certificate counts them: of rows that all their reviewers have answered."""
        found = []
        for row, said in sorted(state.outcomes()):
            if not state.is_closed(row, asked) or said.status == "open":
                continue
            event = said.event or next((one.event for one in said.answers.values() if one.event is not None), None)
            each = [one.label for one in said.answers.values() if _says(one.status)]
            conflict = said.status == "conflict"
            found.append(
                dc.CheckedLabel(
                    id=str(self.table.ids[row]),
                    label=each[0] if conflict else said.label,
                    by="" if event is None else event.reviewer,
                    at="" if event is None else event.at.isoformat(),
                    blind=None if event is None or said.settled else event.blind,
                    second=tuple(each if said.settled else each[1:]),
                    settled=said.settled,
                )
            )
        return found

    def certificate(
        self,
        state: ReviewState,
        asked: Ints,
        *,
        draws: Collection[str] = (),
        name: str = "",
        audit: str = "",
        reviewers_err: bool = False,
    ) -> dict[str, object]:
        """The certificate, as plain JSON values.

        Args:
            draws: hashes of the draws of these labels that are known.

        Raises:
            UserError: a control that matters is not answered, or the review has not come so far.
        """
        decisions = self.decisions(state, asked)
        extras = dc.Extras(name=name, reviewers_err=reviewers_err, audit=audit)
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
        reviewers_err: bool = False,
    ) -> Certified:
        """`certificate`, and the labels as they are after it.

        Raises:
            UserError: a control that matters is not answered, or the review has not come so far.
        """
        document = self.certificate(state, asked, draws=draws, name=name, audit=audit, reviewers_err=reviewers_err)
        decisions = self.decisions(state, asked)
        return Certified(document, dc.final_frame(self.table, decisions, self.judgement(decisions)))

    def judgement(self, decisions: list[dc.CheckedLabel]) -> dc.Judgement:
        """The rule applied to these decisions."""
        self.prepare()
        features = {part.group: part.features for part in self._parts if part.features is not None}
        return dc.judge(self.promise, self.table, decisions, features=features or None)


def interleaved(parts: Sequence[Ints]) -> Ints:
    """Rows of several lists, each in its order, so that all lists come to an end together.

    >>> interleaved([np.array([1, 2, 3, 4]), np.array([8, 9])]).tolist()
    [1, 8, 2, 3, 9, 4]
    """
    rows = np.concatenate(parts) if len(parts) else np.empty(0, dtype=np.int64)
    place = [(np.arange(len(part)) + 0.5) / max(1, len(part)) for part in parts]
    return np.asarray(rows[np.argsort(np.concatenate(place), kind="stable")], dtype=np.int64)


def _says(status: str) -> bool:
    return status in ("label", "none")

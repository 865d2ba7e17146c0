"""Where the promise about all labels stands in a review: controls, what comes next, forecast, curve, certificate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from scipy.stats import fisher_exact

from pll.review import dataset_certificate as dc
from pll.review.evidence import Ints
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
from pll.review.reranking import Pool, PoolFeatures, pool_features
from pll.review.state import ReviewState
from pll.store.tables import PromiseRecord

DRAWS: dict[str, Draw] = {"fixed": "fixed", "independent": "independent"}
NODDING = 0.05
"""Significance from which on people are said to follow the model's label when they see it."""


@dataclass(frozen=True)
class Nodding:
    """How often people differ from the model's label on controls, with it hidden and with it in sight.

    Attributes:
        blind, sighted: (answers that differ, answers).
        p: one-sided p-value of Fisher's exact test that they differ less often when they see it; None without both.
    """

    blind: tuple[int, int]
    sighted: tuple[int, int]
    p: float | None

    @property
    def suspected(self) -> bool:
        """Whether people seem to follow the model."""
        return self.p is not None and self.p < NODDING


@dataclass(frozen=True, eq=False)
class PromiseStatus:
    """Where it stands.

    Attributes:
        controls, answered, wrong: drawn, answered by all who were asked, and those with a wrong label.
        cut: where acceptance ends, should the open controls be right.
        left: rows that people look at for certain, in their order; open: those of them that nobody has answered.
        unsure: rows that people answered without a label.
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
    done: bool
    looked_at: int


def table_of(snapshot: LabelSnapshot) -> dc.LabelTable:
    """The labels of a model as a table."""
    return dc.LabelTable(
        np.asarray(snapshot.ids, dtype=np.str_),
        np.asarray(snapshot.labels, dtype=np.str_),
        np.asarray(snapshot.sharp.confidence, dtype=np.float64),
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
        draw_number=record.number,
        made_at=record.made_at.isoformat(timespec="seconds"),
    )


def record_of_promise(
    promise: dc.Promise, snapshot: LabelSnapshot, number: int, by: str | None, *, verified: bool
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
    )


class PromiseInForce:
    """A promise about all labels of the model under review, kept up to date event by event. Not safe between threads.

    Args:
        record: the promise.
        snapshot: the labels that it is about.
        features: what re-ranking may look at, where there is more than labels and confidences.

    Raises:
        UserError: the labels are not those of the promise.
    """

    def __init__(self, record: PromiseRecord, snapshot: LabelSnapshot, features: PoolFeatures | None = None) -> None:
        self.record = record
        self.table = table_of(snapshot)
        self.promise = promise_of(record)
        self.plan = self.promise.plans[""]
        rows = np.arange(len(self.table), dtype=np.int64)
        self.controls = dc.controls_by_group(self.promise, self.table)[""]
        self.order = dc.order_of(self.promise, self.table, rows)
        self._features = features
        self._answers: Answers = np.full(len(self.table), UNANSWERED, dtype=np.int8)
        self._unsure = np.zeros(len(self.table), dtype=np.bool_)
        self._seen = 0
        self._asked: Ints | None = None
        self._pool: Pool | None = None
        self._status: PromiseStatus | None = None

    # ---- the answers ---------------------------------------------------------------------------------------------

    def update(self, state: ReviewState, asked: Ints) -> None:
        """Take in what was decided since the last time."""
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
        if not state.is_closed(row, asked) or said.status == "open":
            self._answers[row], self._unsure[row] = UNANSWERED, False
            return
        right = said.label is not None and said.label == self.table.labels[row]
        self._answers[row], self._unsure[row] = (RIGHT if right else WRONG), said.label is None

    def status(self, state: ReviewState, asked: Ints) -> PromiseStatus:
        """Where the promise stands now."""
        self.update(state, asked)
        if self._status is None:
            self._status = self._made()
        return self._status

    def _made(self) -> PromiseStatus:
        answers = self._answers[self.controls]
        cut = cut_of(self.order, self.controls, answers, self.plan.tolerated)
        if self.promise.reranked:
            cut, left, finished = self._pooled()
        else:
            left, finished = cut.left, not len(cut.waiting)
        looked = self._answers != UNANSWERED
        open_ = left[~looked[left]]
        return PromiseStatus(
            controls=len(self.controls),
            answered=int((answers != UNANSWERED).sum()),
            wrong=int((answers == WRONG).sum()),
            cut=cut,
            left=left,
            open=open_,
            unsure=int(self._unsure.sum()),
            done=finished and not len(open_),
            looked_at=int(looked.sum()),
        )

    def _pooled(self) -> tuple[Cut, Ints, bool]:
        """The cut of a re-ranked review, the rows to look at in their order, and whether the rest is accepted."""
        if self._pool is None:
            features = self._features or pool_features(self.order, self.table.confidence, self.table.labels)
            self._pool = Pool(features, self.controls, self.plan.tolerated)
        pool = self._pool
        pool.advance(self._answers)
        inside = np.ones(len(self.table), dtype=np.bool_)
        inside[pool.left] = False
        in_controls = self.controls[inside[self.controls]]
        answers = self._answers[in_controls]
        waiting = in_controls[answers == UNANSWERED]
        cut = Cut(
            accepted=int(inside.sum()),
            unseen=int(inside.sum()) - len(in_controls),
            wrong_inside=int((answers == WRONG).sum()),
            waiting=waiting,
            left=pool.waiting,
        )
        done = pool.done and not len(waiting)
        # What is wrong for certain must leave before the rest can be accepted; more than that is not known yet.
        certain = not pool.done and cut.wrong_inside > self.plan.tolerated
        return cut, pool.waiting if certain else np.empty(0, dtype=np.int64), done

    # ---- what comes next -----------------------------------------------------------------------------------------

    def queues(self, state: ReviewState, asked: Ints, shown: int, seed: int) -> list[tuple[str, Ints, bool]]:
        """(name, rows, whether controls) in the order in which the desk tries them: open controls among the others.

        Controls and rows of the least sure end alternate by chance, so that nobody can tell which are which. None of
        the rows ahead of the cut is handed out.
        """
        found = self.status(state, asked)
        waiting = self._answers[self.controls] == UNANSWERED
        likely = found.left
        if not self.promise.reranked and waiting.any():
            low = self.forecast(state, asked).low - len(self.controls)
            likely = self.order[::-1][: max(len(found.left), low)]
        open_others = int((self._answers[likely] == UNANSWERED).sum())
        share = waiting.sum() / max(1, int(waiting.sum()) + open_others)
        first = np.random.default_rng([seed, shown, 11]).random() < share
        both = [("control", self.controls, True), ("promise", likely, False)]
        return both if first else both[::-1]

    # ---- what it buys --------------------------------------------------------------------------------------------

    def forecast(self, state: ReviewState, asked: Ints, coverage: float = 0.9) -> DecisionsForecast:
        """Decisions in all; of a re-ranked review those that the order of confidence would need."""
        self.update(state, asked)
        return forecast_decisions(
            self.order, self.controls, self._answers[self.controls], self.plan.tolerated, coverage
        )

    def curve(self, state: ReviewState, asked: Ints) -> list[CurvePoint]:
        """Error → decisions in all, with the answers so far; jointly calibrated: one may choose among them.

        Of the order of confidence, also where the promise is re-ranked.
        """
        self.update(state, asked)
        joint = joint_tolerated(self.plan.n, self.plan.controls, level=self.plan.level, draw=self.plan.draw)
        looked = self._answers != UNANSWERED
        return curve(self.order, self.controls, self._answers[self.controls], looked, joint)

    def nodding(self, state: ReviewState) -> Nodding:
        """Compare people's answers to controls with the model's label hidden and in sight."""
        drawn = set(self.controls.tolist())
        counts = {True: [0, 0], False: [0, 0]}
        for row in drawn:
            for answer in state.outcome(row).answers.values():
                if answer.status in ("label", "none") and answer.event is not None:
                    kept = counts[answer.event.blind]
                    kept[0] += answer.label != self.table.labels[row]
                    kept[1] += 1
        blind, sighted = (counts[True][0], counts[True][1]), (counts[False][0], counts[False][1])
        p = None
        if blind[1] and sighted[1]:
            table = [[sighted[0], sighted[1] - sighted[0]], [blind[0], blind[1] - blind[0]]]
            p = float(fisher_exact(table, alternative="less").pvalue)
        return Nodding(blind, sighted, p)

    # ---- the certificate -----------------------------------------------------------------------------------------

    def decisions(self, state: ReviewState, asked: Ints) -> list[dc.CheckedLabel]:
        """What people said, as the certificate counts it: rows that all who were asked have answered."""
        found = []
        for row, said in sorted(state.outcomes()):
            if not state.is_closed(row, asked) or said.status == "open":
                continue
            event = said.event or next((one.event for one in said.answers.values() if one.event is not None), None)
            others = [] if said.settled else [one.label for one in said.answers.values() if _says(one.status)]
            label = said.label if said.status != "conflict" else others[0]
            found.append(
                dc.CheckedLabel(
                    id=str(self.table.ids[row]),
                    label=label,
                    by="" if event is None else event.reviewer,
                    at="" if event is None else event.at.isoformat(),
                    blind=None if event is None else event.blind,
                    second=tuple(others[1:]),
                )
            )
        return found

    def certificate(
        self, state: ReviewState, asked: Ints, *, name: str = "", audit: str = "", reviewers_err: bool = False
    ) -> dict[str, object]:
        """The certificate, as plain JSON values.

        Raises:
            UserError: a control that matters is not answered, or the review has not come so far.
        """
        decisions = self.decisions(state, asked)
        judgement = self.judgement(decisions)
        nodding, notes = self.nodding(state), []
        if nodding.suspected:
            notes.append(
                f"Reviewers seem to follow the model's label: they differed from it on {nodding.sighted[0]} of "
                f"{nodding.sighted[1]} controls with the label in sight, and on {nodding.blind[0]} of "
                f"{nodding.blind[1]} with it hidden (p = {nodding.p:.3f})."
            )
        elif nodding.sighted[1] and not nodding.blind[1]:
            notes.append("All controls were answered with the model's label in sight; it may have swayed reviewers.")
        extras = dc.Extras(name=name, reviewers_err=reviewers_err, notes=tuple(notes), audit=audit)
        return dc.certificate_document(self.promise, self.table, decisions, judgement, extras)

    def judgement(self, decisions: list[dc.CheckedLabel]) -> dc.Judgement:
        """The rule applied to these decisions."""
        return dc.judge(self.promise, self.table, decisions, features=self._features)


def _says(status: str) -> bool:
    return status in ("label", "none")


def newest_promise(records: Iterable[PromiseRecord], snapshot: LabelSnapshot) -> PromiseRecord | None:
    """The last promise about these very labels; None where none was made."""
    own = [record for record in records if record.key == snapshot.key]
    return own[-1] if own else None

"""`QueueManager`: signals of the run, labels that follow, order of the queue and retraining of one review.

Labels and order are recomputed in the background after every hundredth of the examples decided. Answers given while
people certify are not used, since they judge these labels (docs/review.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from pll.dataset import PartialLabelDataset
from pll.review.follow import LabelChanges, changes, followed, teaching_decisions
from pll.review.label_snapshot import LabelSnapshot
from pll.review.queue import review_order
from pll.review.session import ReviewSession
from pll.review.signals import ReviewSignals, prepare
from pll.review.similar import Similar
from pll.review.teaching import Teacher
from pll.runs.background import Job, Report
from pll.runs.registry import RunRegistry
from pll.runs.run import Run

EVERY = 0.01
"""Share of the examples decided after which the order is recomputed."""
AT_LEAST = 5
"""Decisions after which it is recomputed, at the soonest."""


class QueueManager:
    """One for each review and process. Safe to share between threads.

    Parameters
    ----------
    review
        The review.
    runs
        Registry of its runs, which also starts retrained ones.

    Attributes
    ----------
    teacher
        Retrains the model on decisions.
    """

    def __init__(self, review: ReviewSession, runs: RunRegistry) -> None:
        self.review = review
        self.teacher = Teacher(review, runs)
        self._runs = runs
        self._lock = threading.RLock()
        self._order_lock = threading.Lock()
        self._job: Job | None = None
        self._view: _ModelView | None = None
        self._ordered_at: tuple[str, int] = ("", 0)

    # ---- data and signals ----------------------------------------------------------------------------------------

    @property
    def run(self) -> Run:
        """The run whose labels are under review: the first one, or the latest retrained one that was adopted."""
        return self._runs.get(self.review.own.run)

    @property
    def data(self) -> PartialLabelDataset:
        """Training part of the current model; a retrained one may have further classes."""
        return self._now().data

    @property
    def signals(self) -> ReviewSignals:
        """Of the current model."""
        return self._now().signals

    @property
    def similar(self) -> Similar:
        """Finds similar examples."""
        return self._now().similar

    def _now(self) -> _ModelView:
        labels = self.review.current
        with self._lock:
            view = self._view
            if view is None or view.run != labels.run:
                data = self._runs.get(labels.run).splits().train
                signals = ReviewSignals.of_run(self._runs.get(labels.run).folder, data)
                view = self._view = _ModelView(labels, data, _with_labels(signals, labels))
            elif view.labels is not labels:
                view = self._view = _ModelView(labels, view.data, _with_labels(view.signals, labels))
            return view

    # ---- the order -----------------------------------------------------------------------------------------------

    def compute_order(self) -> None:
        """Recompute following labels and the order from all decisions so far."""
        with self._order_lock:
            view, review = self._now(), self.review
            self._ordered_at = (view.run, len(review.state.all_events))
            decided = teaching_decisions(review.state, review.own.candidates)
            if review.promise is None or not review.current.follows:  # they stay frozen, also after a restart
                config = self._runs.get(review.own.run).config
                review.follow(
                    followed(review.own, config, view.data, view.signals, decided, review.state.restored_rows)
                )
            rows = review_order(view.signals, decided)
            if review.own.run == view.run:
                review.order = ("learning", rows)

    def begin(self) -> None:
        """Compute a first order at once; neighbours in the background, then the order again."""
        if self._ordered_at[0] != self.review.own.run:
            self.compute_order()
            self._in_background(self._prepare)

    def update_order(self) -> None:
        """Recompute the order in the background where that is due; call it after a decision."""
        interval = max(AT_LEAST, int(EVERY * len(self.review.root)))
        if self._ordered_at[0] != self.review.own.run:
            self._in_background(self._begin_anew)
        elif len(self.review.state.all_events) - self._ordered_at[1] >= interval:
            self._in_background(self.compute_order)

    def promised(self) -> None:
        """Compute the features for re-ranking in the background; call it when a certificate begins."""
        self._in_background(self._prepare)

    def wait(self, seconds: float = 60.0) -> None:
        """Wait for the work in the background."""
        if self._job is not None:
            self._job.wait(seconds)

    def learnt(self) -> bool:
        """Replace the current model by a finished retrained one; return whether that was done.

        Raises
        ------
        UserError
            Its result cannot be read.
        """
        if not self.teacher.poll():
            return False
        self.update_order()
        return True

    def changes(self) -> LabelChanges:
        """Labels of undecided examples that the decisions have changed."""
        return changes(self.review.own, self.review.current, self.review.state)

    # ---- look-alikes ---------------------------------------------------------------------------------------------

    def look_alikes(self, row: int, free: npt.NDArray[np.bool_], most: int) -> npt.NDArray[np.int64]:
        """(≤ most,) examples with the identified label of `row`, the nearest to it first, `row` itself leading.

        Parameters
        ----------
        free
            (n,) bool, which may be given out.
        """
        identified = self.review.current.sharp.identified
        same = np.flatnonzero(free & (identified == identified[row]))
        return self.similar.nearest_of(row, same[same != row], most - 1, lead=row)

    # ---- inside --------------------------------------------------------------------------------------------------

    def _begin_anew(self) -> None:
        """Compute the order of new labels, then neighbours, in the one background thread."""
        self.compute_order()
        self._prepare()

    def _prepare(self) -> None:
        """Compute neighbours and then the order, unless they exist."""
        if (promise := self.review.promise) is not None:
            promise.prepare()
        view = self._now()
        has_neighbours = view.signals.neighbours is not None or not view.data.X.size
        if has_neighbours and view.signals.mean_weights is not None:
            return
        own, root = (self._runs.get(run).folder for run in (view.run, self.review.root.run))
        made = prepare(own, view.data, like=root)  # a retrained run has the examples of the first one
        with self._lock:
            labels = self.review.current
            if labels.run == view.run:
                self._view = _ModelView(labels, view.data, _with_labels(made, labels))
        self.compute_order()

    def _in_background(self, work: Callable[[], None]) -> None:
        """Start the work unless some is running; if it fails, the current order stays."""

        def labour(report: Report) -> None:
            with threadpool_limits(1):  # reviewers' key presses take precedence
                work()

        with self._lock:
            if self._job is None or self._job.status().state != "working":
                self._job = Job(labour)


def _with_labels(signals: ReviewSignals, labels: LabelSnapshot) -> ReviewSignals:
    """Signals of the run, with following labels."""
    return signals.with_labels(labels.weights if labels.follows else None)


class _ModelView:
    """Label weights and neighbours of one model."""

    def __init__(self, labels: LabelSnapshot, data: PartialLabelDataset, signals: ReviewSignals) -> None:
        self.run, self.labels, self.data, self.signals = labels.run, labels, data, signals

    @cached_property
    def similar(self) -> Similar:
        return Similar(self.data, self.signals.sharp)

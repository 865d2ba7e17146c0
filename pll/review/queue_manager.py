"""`QueueManager`: signals of the run, order of the queue, proposals and retraining of one review.

The order learns: it is recomputed after every hundredth of the examples decided, in the background. Control answers
are left out of it, since they must not teach what they judge (docs/review.md).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.review.choice_history import earlier_choice_data
from pll.review.decided import Decided
from pll.review.label_snapshot import LabelSnapshot
from pll.review.ranking import rank
from pll.review.relabel import ProposedLabels, propose_labels, relabel, teaching_decisions
from pll.review.session import ReviewSession
from pll.review.signals import ReviewSignals, prepare
from pll.review.similar import Similar
from pll.review.teaching import Teacher
from pll.runs.registry import RunRegistry

_LOG = logging.getLogger(__name__)
EVERY = 0.01
"""Share of the examples decided after which the order is recomputed."""
AT_LEAST = 5
"""Decisions after which it is recomputed, at the soonest."""


class QueueManager:
    """One for each review and process. Safe to share between threads.

    Args:
        review: the review.
        runs: where its runs are found, and where retrained ones are made.

    Attributes:
        teacher: teaches the runs what was decided.
    """

    def __init__(self, review: ReviewSession, runs: RunRegistry) -> None:
        self.review = review
        self.teacher = Teacher(review, runs)
        self._runs = runs
        self._lock = threading.RLock()
        self._ranking = threading.Lock()
        self._thread: threading.Thread | None = None
        self._view: _ModelView | None = None
        self._before: dict[str, ReviewSignals] = {}
        self._ranked: tuple[_Key, int] = (("", ""), 0)
        self._offer: tuple[tuple[_Key, int, bool], ProposedLabels] | None = None

    # ---- what is there -------------------------------------------------------------------------------------------

    @property
    def data(self) -> PartialLabelDataset:
        """The training part of the model in view; a taught one may have further classes."""
        return self._now().data

    @property
    def signals(self) -> ReviewSignals:
        """Of the model in view."""
        return self._now().signals

    @property
    def similar(self) -> Similar:
        """Finds what is like an example."""
        return self._now().similar

    def _now(self) -> _ModelView:
        snapshot = self.review.current
        with self._lock:
            if self._view is None or self._view.key != snapshot.key:  # other labels have taken their place
                known = self._view
                if known is not None and known.key[0] == snapshot.run:
                    data, signals = known.data, known.signals
                else:
                    data = self._runs.get(snapshot.run).parts().train
                    signals = ReviewSignals.of_run(self._runs.get(snapshot.run).folder, data)
                self._view = _ModelView(snapshot.key, data, _with_labels(signals, snapshot))
            return self._view

    # ---- the order -----------------------------------------------------------------------------------------------

    def rank_now(self) -> None:
        """Recompute the order, from all that is known by now."""
        with self._ranking:
            view = self._now()
            self._ranked = (view.key, len(self.review.state.all_events))
            rows = rank(view.signals, self.teaching_decisions())
            if self.review.current.key == view.key:
                self.review.set_order("learning", rows)

    def begin(self) -> None:
        """The first order at once; what takes long (neighbours) in the background, and then the order again."""
        if self._ranked[0] != self.review.current.key:
            self.rank_now()
            self._in_background(self._prepare)

    def keep_up(self) -> None:
        """To be called after a decision: recomputes the order in the background where that is due."""
        step = max(AT_LEAST, int(EVERY * len(self.review.root)))
        if self._ranked[0] != self.review.current.key:
            self._in_background(self._begin_anew)
        elif len(self.review.state.all_events) - self._ranked[1] >= step:
            self._in_background(self.rank_now)

    def promised(self) -> None:
        """To be called after a promise about all labels: what its order looks at is made in the background."""
        self._in_background(self._prepare)

    def wait(self, seconds: float = 60.0) -> None:
        """Until what is being made in the background is there."""
        if self._thread is not None:
            self._thread.join(seconds)

    def learnt(self) -> bool:
        """Put a retrained model that has finished in the place of the present one; whether that was done now.

        Raises:
            UserError: its result cannot be read.
        """
        if not self.teacher.poll():
            return False
        self.keep_up()
        return True

    def teaching_decisions(self) -> Decided:
        """What people decided, without the controls of the certificate; and what it taught under earlier runs."""
        said = teaching_decisions(self.review)
        try:
            return replace(said, earlier=earlier_choice_data(self.review, said, self._signals_of))
        except (UserError, OSError) as error:  # an earlier run or its data is gone: keep the present one
            _LOG.warning("Lessons of earlier runs are left out: %s", error)
            return said

    # ---- proposals -----------------------------------------------------------------------------------------------

    def proposed(self) -> ProposedLabels:
        """What the decisions so far propose; recomputed where there are further ones. Not for every key press."""
        view, known = self._now(), self._offer
        about = (view.key, len(self.review.state.all_events), view.signals.neighbours is not None)
        if known is None or known[0] != about:
            self._offer = known = (about, propose_labels(self.review, view.signals, self.teaching_decisions()))
        return known[1]

    def relabel(self, proposed: ProposedLabels, *, by: str | None = None, verified: bool = False) -> bool:
        """Make these proposals the labels under review; False where other labels came under review meanwhile."""
        folder = self._runs.get(proposed.labels.run).folder
        done = relabel(self.review, folder, proposed, by=by, verified=verified)
        self.keep_up()
        return done

    # ---- look-alikes ---------------------------------------------------------------------------------------------

    def look_alikes(self, row: int, free: npt.NDArray[np.bool_], most: int) -> npt.NDArray[np.int64]:
        """(≤ most,) examples with the identified label of `row`, the nearest to it first, `row` itself leading.

        Args:
            free: (n,) bool, which may be given out.
        """
        identified = self.review.current.sharp.identified
        same = np.flatnonzero(free & (identified == identified[row]))
        return self.similar.nearest_of(row, same[same != row], most - 1, lead=row)

    # ---- inside --------------------------------------------------------------------------------------------------

    def _begin_anew(self) -> None:
        """Other labels came under review: their order, then what takes long, in the one thread that there is."""
        self.rank_now()
        self._prepare()

    def _prepare(self) -> None:
        """What takes long, and then the order again; nothing where it is there."""
        if (promise := self.review.promise) is not None:
            with threadpool_limits(1):
                promise.prepare()
        view = self._now()
        has_neighbours = view.signals.neighbours is not None or not view.data.X.size
        if has_neighbours and view.signals.mean_weights is not None:
            return
        own, root = (self._runs.get(run).folder for run in (view.key[0], self.review.root.run))
        with threadpool_limits(1):  # the keys of the reviewers come first
            made = prepare(own, view.data, like=root)  # whatever a run was taught, its examples are the first one's
        with self._lock:
            snapshot = self.review.current  # labels may have been accepted meanwhile
            if snapshot.run == view.key[0]:
                self._view = _ModelView(snapshot.key, view.data, _with_labels(made, snapshot))
        self.rank_now()

    def _signals_of(self, run: str) -> ReviewSignals:
        """Of the run in view, or of one before it, which do not change any more."""
        view = self._now()
        if run == view.key[0]:
            return view.signals
        if run not in self._before or self._before[run].neighbours is None:
            found = self._runs.get(run)
            self._before[run] = ReviewSignals.of_run(found.folder, found.parts().train)
        return self._before[run]

    def _in_background(self, work: Callable[[], None]) -> None:
        def labour() -> None:
            try:
                work()
            except (UserError, OSError) as error:  # keep the present order
                _LOG.warning("The order of the queue was not made anew: %s", error)

        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                return
            self._thread = threading.Thread(target=labour, name="candid-review-order", daemon=True)
            self._thread.start()


_Key = tuple[str, str]
"""A run, and the fingerprint of its labels."""


def _with_labels(signals: ReviewSignals, snapshot: LabelSnapshot) -> ReviewSignals:
    """The run's signals, with the labels that people accepted, if they did."""
    return replace(signals, relabelled=snapshot.weights if snapshot.relabelled else None)


class _ModelView:
    """What one model says, and what is like what."""

    def __init__(self, key: _Key, data: PartialLabelDataset, signals: ReviewSignals) -> None:
        self.key, self.data, self.signals = key, data, signals

    @cached_property
    def similar(self) -> Similar:
        return Similar(self.data, self.signals.sharp)

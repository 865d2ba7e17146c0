"""`ReviewSession`: the state of the review of one run, shared by all threads of a process.

    review = open_review(run, store, registry.get)  # one object a review: it has its state in memory
    desk = Desk(review, "Ann")
    given = desk.next()                             # an Assignment, or None
    result = desk.decide(given, "pick", "cat")      # on the disk when it returns; result.next is the next example
    desk.undo()
    review.conflicts(); …

Several processes may review the same run: each reads what the others wrote before it writes. Built on the session: the
desk (pll.review.desk), the promise (pll.review.certification), teaching (pll.review.teaching).
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.label_frame import Decision
from pll.review.label_snapshot import LabelSnapshot, new_round, review_id, snapshot_of
from pll.review.promise_state import PromiseInForce, frozen_table
from pll.review.record import decisions_of
from pll.review.state import Outcome, ReviewState, required_of
from pll.review.store import Store, Transaction, now
from pll.review.tables import GOALS, Event, Opened, PromiseRecord, ReviewRecord, RoundRecord
from pll.runs.run import Run

Ints = npt.NDArray[np.int64]
GetRun = Callable[[str], Run]
"""Gives a run by its id: `RunRegistry.get`."""
Load = Callable[[str], LabelSnapshot]
"""Gives the labels of a run by its id."""
ReadData = Callable[[str], PartialLabelDataset]
"""Gives the examples of a run, by its id."""
LONGEST = 3
"""Multiples of `hold` after which an undecided example is released although its page is open."""


@dataclass(frozen=True)
class Settings:
    """How a review is begun; all of it can be changed later (`ReviewSession.configure`).

    Attributes
    ----------
    overlap
        Reviewers per example, on `overlap_share` of the examples; one on the others.
    overlap_share
        In [0, 1].
    hold
        Seconds without a sign of the reviewer until an assigned example is released.
    begun_by, verified
        Who begins it, and whether that name was verified.
    """

    overlap: int = 1
    overlap_share: float = 1.0
    hold: float = 600.0
    begun_by: str | None = None
    verified: bool = False


def check_settings(settings: Settings) -> None:
    """Raises UserError where a setting is out of range."""
    if not 1 <= settings.overlap <= 100:
        raise UserError(f"Ask 1 to 100 reviewers per example, not {settings.overlap}.")
    if not 0 <= settings.overlap_share <= 1:
        raise UserError(f"overlap_share is {settings.overlap_share}; it must lie between 0 and 1.")
    if not settings.hold > 0:
        raise UserError(f"Examples are held for {settings.hold} seconds; that must be above 0.")


class ReviewSession:
    """See the top of this file. Safe to share between threads.

    Parameters
    ----------
    review_id
        Under which decisions are kept.
    snapshot
        The labels of the first run.
    store
        Where decisions are kept.
    settings
        Used where the review does not exist yet (but for `hold`).
    load
        Gives the snapshot of a retrained run; needed where there is one.
    read_data
        Gives the examples of a run; needed for promises that are re-ranked by features.
    clock
        For tests.

    Attributes
    ----------
    root
        The first run's labels; own: those of the latest run; current: the same as the decisions leave them; previous:
        those of the run that was retrained, if any.
    record
        Overlap and goal; round: the labels under review; state: what people have decided.
    required
        (n,) int64, how many reviewers are to answer each example.

    Raises
    ------
    UserError
        The review is of other examples, settings out of range, or the database cannot be used.
    """

    def __init__(
        self,
        review_id: str,
        snapshot: LabelSnapshot,
        store: Store,
        *,
        settings: Settings | None = None,
        load: Load | None = None,
        read_data: ReadData | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.id = review_id
        self.root = self.own = self.current = snapshot
        self.store = store
        self.clock = clock
        settings = settings or Settings()
        self._hold = settings.hold
        self._read_data = read_data
        self._load = load
        self._lock = threading.RLock()
        self.state = ReviewState(snapshot.candidates)
        check_settings(settings)
        with self._lock, self.store.write(review_id) as t:
            self.record = self._opened(t, settings)
            events = t.events()
            snapshot.check_rows(events)
            self.state.update(events)
            rounds = t.rounds()
            if not rounds or (rounds[-1].run == snapshot.run and rounds[-1].key != snapshot.key):
                opened = Opened("run went on") if rounds else Opened("first", settings.begun_by, settings.verified)
                rounds.append(new_round(len(rounds) + 1, snapshot, clock(), opened))
                t.open_round(rounds[-1])
            self._marks = t.marks()
            self.promises: tuple[PromiseRecord, ...] = tuple(t.promises())
        self._promise: PromiseInForce | None = None
        self._is_behind = False
        self.rounds: tuple[RoundRecord, ...] = tuple(rounds)
        self.required = self._required()
        self.previous: LabelSnapshot | None = None
        self._order: tuple[str, Ints] = ("confidence", _by_confidence(snapshot))
        if self.round.key != snapshot.key:
            self._show(self.rounds)

    @property
    def round(self) -> RoundRecord:
        """The latest round: the labels under review."""
        return self.rounds[-1]

    @property
    def promise(self) -> PromiseInForce | None:
        """The promise about all labels that people work for; None where none was made, or they are looking."""
        return self.promise_made if self.record.goal == "certify" else None

    @property
    def promise_made(self) -> PromiseInForce | None:
        """The last promise about all labels, whether people work for it now or not.

        Raises
        ------
        UserError
            The data that it needs is gone.
        """
        with self._lock:
            if not self.promises:
                return None
            record = self.promises[-1]
            if self._promise is None or self._promise.record != record:
                with self.store.read(self.id) as reader:
                    table = frozen_table(self.root.ids, *reader.frozen(record.number))
                self._promise = PromiseInForce(record, table, self.data())
            return self._promise

    def data(self) -> PartialLabelDataset | None:
        """The examples of the model under review; None where this session was opened without them.

        Raises
        ------
        UserError
            The data is gone.
        """
        return None if self._read_data is None else self._read_data(self.current.run)

    # ---- the queue --------------------------------------------------------------------------------------------------

    @property
    def order(self) -> tuple[str, Ints]:
        """The name of the queue's order, and all rows in it."""
        return self._order

    def set_order(self, name: str, rows: npt.ArrayLike) -> None:
        """From now on assign in this order (of `pll.review.queue.review_order`): all rows, or those worth a look."""
        order = np.asarray(rows, dtype=np.int64)
        if len(order) and not (order.min() >= 0 and order.max() < len(self.root)):
            raise UserError(f"The order names rows outside 0 … {len(self.root) - 1}.")
        self._order = (name, order)

    def configure(
        self,
        *,
        overlap: int | None = None,
        overlap_share: float | None = None,
        goal: str | None = None,
    ) -> None:
        """Change the number of reviewers per example, or the goal.

        Parameters
        ----------
        goal
            One of `GOALS`.

        Raises
        ------
        UserError
            a value out of range.
        """
        changes = {"overlap": overlap, "overlap_share": overlap_share}
        values: dict[str, float | str] = {name: value for name, value in changes.items() if value is not None}
        current = {name: getattr(self.record, name) for name in changes}
        check_settings(Settings(**(current | values)))
        if goal not in (None, *GOALS):
            raise UserError(f"There is no step called {goal!r}; choose one of {', '.join(GOALS)}.")
        if goal is not None:
            values["goal"] = goal
        with self.writing() as t:
            if values:
                t.configure(**values)
        self.refresh()

    # ---- decisions -------------------------------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Take in what other processes wrote; whether there was a new round: other labels.

        Raises
        ------
        UserError
            The labels of the new round cannot be read; the rounds known so far stay in use.
        """
        with self._lock:  # to the end: an event must not be stored with the run of one round and the number of another
            with self.store.read(self.id) as reader:
                self.state.update(reader.events(self.state.last))
                self.record = reader.review() or self.record
                self.required = self._required()
                further = reader.rounds(self.round.number)
                self.promises = tuple(reader.promises())
                marks = reader.marks()
            if further:
                self._show((*self.rounds, *further))
            self._marks, self._is_behind = marks, False
        return bool(further)

    def follow(self, labels: LabelSnapshot) -> None:
        """Set the current labels: those of the latest run, with following labels."""
        with self._lock:
            if labels.run == self.own.run:
                self.current = labels

    def decisions(self) -> dict[int, Decision]:
        """For the export: what people decided, by row of the training examples."""
        return decisions_of(self.state)

    def conflicts(self) -> list[tuple[int, Outcome]]:
        """Return the examples with an unsettled conflict of reviewers, in the order of rows."""
        return sorted((row, result) for row, result in self.state.outcomes() if result.status == "conflict")

    def label_of(self, row: int) -> str | None:
        """Current label of an example: people's, else the model's; None for "none of these"."""
        return self._label(row, self.state.outcome(row))

    def label_with(self, event: Event) -> str | None:
        """The label that it would have after this event."""
        return self._label(event.row, self.state.outcome_with(event))

    # ---- for desks -----------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction in which the state is up to date, and excludes every other writer of this review."""
        if self._is_behind:
            self.refresh()
        with self._lock, self.store.write(self.id) as t:
            self.state.update(t.events(self.state.last))
            self._is_behind = t.marks() != self._marks  # slow updates finish before the next transaction
            yield t

    def apply(self, *events: Event) -> None:
        """Update the state with events that were committed."""
        with self._lock:
            self.state.update(events)

    @property
    def longest_hold(self) -> timedelta:
        """Maximum time of an assignment, however often it is extended."""
        return LONGEST * timedelta(seconds=self._hold)

    def expiry(self) -> datetime:
        """Expiry of an assignment made now."""
        return self.clock() + timedelta(seconds=self._hold)

    def check_row(self, row: int) -> None:
        """Raises UserError where there is no such example."""
        if not 0 <= row < len(self.root):
            raise UserError(f"There is no example {row}; rows run from 0 to {len(self.root) - 1}.")

    # ---- inside --------------------------------------------------------------------------------------------------

    def _opened(self, t: Transaction, settings: Settings) -> ReviewRecord:
        record = t.review()
        if record is None:
            record = ReviewRecord(
                id=self.id,
                examples=len(self.root),
                seed=secrets.randbits(31),
                overlap=settings.overlap,
                overlap_share=settings.overlap_share,
                opened_at=self.clock(),
            )
            t.open_review(record)
        if record.examples != len(self.root):
            raise UserError(
                f"The decisions kept for this run are of {record.examples:,} examples, but it has {len(self.root):,}."
            )
        return record

    def _required(self) -> Ints:
        return required_of(self.record, len(self.root))

    def _show(self, rounds: tuple[RoundRecord, ...]) -> None:
        """Show the labels of the last of these rounds. Unchanged if it raises."""
        labels = self._of(rounds[-1].run)
        earlier = [record.run for record in rounds if record.run != labels.run]
        before = self._of(earlier[-1]) if earlier else None
        if labels.key != self.own.key:
            self._order = ("confidence", _by_confidence(labels))
        self.rounds, self.own, self.current, self.previous = rounds, labels, labels, before

    def _of(self, run: str) -> LabelSnapshot:
        if run == self.root.run:
            return self.root
        if self._load is None:
            raise UserError(f"The review has gone on to the run {run}, which cannot be read from here.")
        result = self._load(run)
        if len(result) != len(self.root):
            raise UserError(f"The run {run} has other examples than this review.")
        return result

    def _label(self, row: int, outcome: Outcome) -> str | None:
        if outcome.status in ("label", "none"):
            return outcome.label
        return self.label_and_confidence(row)[0]

    def label_and_confidence(self, row: int) -> tuple[str, float]:
        """Return the label of an example that no person decided, and its confidence; frozen while people certify."""
        promise = self.promise
        if promise is not None:
            return str(promise.table.labels[row]), float(promise.table.confidence[row])
        return str(self.current.labels[row]), float(self.current.sharp.confidence[row])


def open_review(run: Run, store: Store, get_run: GetRun, *, settings: Settings | None = None) -> ReviewSession:
    """The review that a run belongs to: its own, or that of the run which it was retrained from.

    Open one for each review and process (`review_id(run.folder)` is the key).

    Parameters
    ----------
    run
        With a result.
    store
        `Store(Database())`; one for each process.
    get_run
        `RunRegistry.get`; finds the first run of the line and the latest one.
    settings
        For a review that does not exist yet.

    Raises
    ------
    UserError
        a run without result, one whose data or first run is gone, or the database cannot be used.
    """

    def load(run_id: str) -> LabelSnapshot:
        return snapshot_of(get_run(run_id))

    decided = run.config.decided_sets

    def examples(run_id: str) -> PartialLabelDataset:
        return get_run(run_id).splits().train

    root = run if decided is None else get_run(decided.root)
    return ReviewSession(
        review_id(root.folder),
        snapshot_of(root),
        store,
        settings=settings,
        load=load,
        read_data=examples,
    )


def _by_confidence(snapshot: LabelSnapshot) -> Ints:
    return np.lexsort((snapshot.sharp.confidence, snapshot.candidates.sizes == 1)).astype(np.int64)

"""The review of one run, as a page uses it: one `ReviewSession` for each run and process, one `Desk` for each reviewer.

    reviewing = open_review(run, store)                    # keep it: it holds the state of the review in memory
    desk = reviewing.desk("Ann")
    given = desk.next()                                    # an Assignment, or None
    step = desk.decide(given, "pick", "cat", seconds=1.4)  # on the disk when it returns; step.next is the next example
    desk.undo()
    reviewing.certificate(); reviewing.progress(); reviewing.conflicts(); …

Several processes may review the same run: each takes in what the others wrote before it writes itself. What this file
is not about: the certificate (pll.review.certification), teaching (pll.review.teaching), orders
(pll.review.orders).
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from pll.errors import UserError
from pll.review.active_labels import LabelsInForce, Load, ReadKept, unjudged
from pll.review.certification import Judging
from pll.review.decided import OUTSIDE, Decided
from pll.review.desk import Desk
from pll.review.events import Verdict
from pll.review.label_snapshot import LabelSnapshot
from pll.review.record import decisions_of
from pll.review.rounds import asked_of, new_round
from pll.review.settings import Settings, check_settings
from pll.review.state import ReviewState
from pll.runs.labels_table import Decision
from pll.store.records import Event, Opened, ReviewRecord, RoundRecord
from pll.store.store import Store, Transaction, now

Ints = npt.NDArray[np.int64]
LONGEST = 3
"""Holds after which an undecided example is free again, though its page is open."""


class ReviewSession(Judging):
    """See the top of this file. Safe to share between threads.

    Args:
        review_id: under which decisions are kept.
        subject: what the first run says about the examples.
        store: where decisions are kept.
        settings: used where the review does not exist yet (but for `hold`).
        load: gives the subject of a run that was taught; needed where there is one.
        kept: gives labels that were taken over in place of a run's own; needed where there are some.
        clock: for tests.

    Attributes:
        root: the first run's labels; current: those of the latest model; previous: of the one that was taught, if any.
        record: overlap and mix; round: the labels under certificate; state: what people have said.
        asked: (n,) int64, how many reviewers each example is to be answered by.

    Raises:
        UserError: the review is of other examples, settings out of range, or the database cannot be used.
    """

    def __init__(
        self,
        review_id: str,
        subject: LabelSnapshot,
        store: Store,
        *,
        settings: Settings | None = None,
        load: Load | None = None,
        kept: ReadKept | None = None,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.id = review_id
        self.root = self.current = subject
        self.store = store
        self.clock = clock
        settings = settings or Settings()
        self._hold = settings.hold
        self._labels = LabelsInForce(subject, load, kept)
        self._lock = threading.RLock()
        self.state = ReviewState(subject.candidates)
        check_settings(settings)
        with self._lock, self.store.write(review_id) as t:
            self.record = self._opened(t, settings)
            self.state.take_in(t.events())
            rounds = t.rounds()
            if not rounds or (rounds[-1].run == subject.run and unjudged(subject, rounds)):
                opened = Opened("run went on") if rounds else Opened("first", settings.begun_by, settings.verified)
                rounds.append(new_round(len(rounds) + 1, subject, settings.promise, clock(), opened=opened))
                t.open_round(rounds[-1])
            self._marks = t.marks()
        self._is_behind = False
        self.rounds: tuple[RoundRecord, ...] = tuple(rounds)
        self.asked = self._asked()
        self.previous: LabelSnapshot | None = None
        self._order: tuple[str, Ints] = ("confidence", _by_confidence(subject))
        if self.round.key != subject.key:
            self._show(self.rounds)

    @property
    def under_review(self) -> tuple[RoundRecord, LabelSnapshot]:
        """The latest round and the labels that it judges, which belong together."""
        with self._lock:
            return self.round, self.current

    # ---- reviewers -----------------------------------------------------------------------------------------------

    def desk(self, reviewer: str, *, verified: bool = False) -> Desk:
        """A desk for this reviewer.

        Raises:
            UserError: a name that is empty or too long.
        """
        name = reviewer.strip()
        if not name or len(name) > 200 or not name.isprintable():
            raise UserError("A reviewer needs a name of 1 to 200 printable characters.")
        return Desk(self, name, verified=verified)

    @property
    def order(self) -> tuple[str, Ints]:
        """The name of the queue's order, and all rows in it."""
        return self._order

    def set_order(self, name: str, rows: npt.ArrayLike) -> None:
        """From now on hand out in this order (of `pll.review.orders.rank`): all rows, or those worth a look."""
        order = np.asarray(rows, dtype=np.int64)
        if len(order) and not (order.min() >= 0 and order.max() < len(self.root)):
            raise UserError(f"The order names rows outside 0 … {len(self.root) - 1}.")
        self._order = (name, order)

    def configure(
        self, *, overlap: int | None = None, overlap_share: float | None = None, mix: float | None = None
    ) -> None:
        """Change how many reviewers are asked per example, or the share of controls mixed in; for all processes."""
        given = {"overlap": overlap, "overlap_share": overlap_share, "mix": mix}
        values = {name: value for name, value in given.items() if value is not None}
        known = {name: getattr(self.record, name) for name in given}
        check_settings(Settings(**(known | values)))
        with self.writing() as t:
            if values:
                t.configure(**values)
        self.refresh()

    # ---- what people have said -----------------------------------------------------------------------------------

    def refresh(self) -> bool:
        """Take in what other processes wrote; whether there was a new round (other labels, another promise).

        Raises:
            UserError: the labels of the new round cannot be read; the rounds known so far stay in use.
        """
        with self._lock:  # to the end: an event must not be stored with the run of one round and the number of another
            with self.store.read(self.id) as reader:
                self.state.take_in(reader.events(self.state.last))
                self.record = reader.review() or self.record
                self.asked = self._asked()
                self.take_in_controls(reader)
                further = reader.rounds(self.round.number)
                marks = reader.marks()
            if further:
                self._show((*self.rounds, *further))
            self._marks, self._is_behind = marks, False
        return bool(further)

    def decided(self) -> Decided:
        """What people have decided, in the class indices of the current model, for orders and the logit.

        "None of these", and classes that the model does not know, are `OUTSIDE`; unsure and conflicts are left out.
        """
        sets = self.current.candidates
        place = {name: j for j, name in enumerate(sets.class_names)}
        said, struck = {}, []
        verdicts = sorted(self.state.verdicts(), key=lambda item: item[1].event.id if item[1].event else 0)
        for row, verdict in verdicts:
            if verdict.status in ("label", "none"):
                said[row] = place.get(verdict.label or "", OUTSIDE)
            struck += [(row, place[name]) for name in verdict.eliminated if name in place]
        return Decided.of(sets, said, struck)

    def decisions(self) -> dict[int, Decision]:
        """For the export: what people decided, by row of the training examples."""
        return decisions_of(self.state)

    def conflicts(self) -> list[tuple[int, Verdict]]:
        """Examples on which reviewers disagree and nobody has settled it, in the order of rows."""
        return sorted((row, found) for row, found in self.state.verdicts() if found.status == "conflict")

    def label_of(self, row: int) -> str | None:
        """The label of an example now: people's, else the model's; None for "none of these"."""
        return self._label(row, self.state.verdict(row))

    def label_with(self, event: Event) -> str | None:
        """The label that it would have after this event."""
        return self._label(event.row, self.state.verdict_with(event))

    # ---- for desks -----------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction in which the state is up to date, and excludes every other writer of this review."""
        if self._is_behind:
            self.refresh()
        with self._lock, self.store.write(self.id) as t:
            self.state.take_in(t.events(self.state.last))
            self._is_behind = t.marks() != self._marks  # what is slow to take in is taken in before the next one
            yield t

    def took(self, *events: Event) -> None:
        """These events are on the disk now."""
        with self._lock:
            self.state.take_in(events)

    @property
    def longest_hold(self) -> timedelta:
        """However often somebody says that they are still there, an example is not theirs for longer."""
        return LONGEST * timedelta(seconds=self._hold)

    def expiry(self) -> datetime:
        """Until when what is handed out now is held."""
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
                mix=settings.mix,
                opened_at=self.clock(),
            )
            t.open_review(record)
        if record.examples != len(self.root):
            raise UserError(
                f"The decisions kept for this run are of {record.examples:,} examples, but it has {len(self.root):,}."
            )
        return record

    def _asked(self) -> Ints:
        return asked_of(self.record, len(self.root))

    def _show(self, rounds: tuple[RoundRecord, ...]) -> None:
        """From now on show the labels that the last of these rounds judges. Nothing changes where it raises."""
        labels = self._labels.under(rounds)
        before = self._labels.before(rounds, labels)
        if labels.key != self.current.key:
            self._order = ("confidence", _by_confidence(labels))
        self.rounds, self.current, self.previous = rounds, labels, before

    def _label(self, row: int, verdict: Verdict) -> str | None:
        if verdict.status in ("label", "none"):
            return verdict.label
        return str(self.current.labels[row])


def _by_confidence(subject: LabelSnapshot) -> Ints:
    return np.argsort(subject.sharp.confidence, kind="stable").astype(np.int64)

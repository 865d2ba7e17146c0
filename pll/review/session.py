"""`ReviewSession`: the state of the review of one run, shared by all threads of a process.

    review = open_review(run, database, registry.get)  # one object a review: it has its state in memory
    desk = Desk(review, "Ann")
    assignment = desk.next()                        # an Assignment, or None
    result = desk.decide(assignment, "pick", "cat") # on the disk when it returns; result.next is the next example
    desk.undo()
    review.conflicts(); …

Several processes may review the same run: each reads what the others wrote before it writes. Built on the session: the
desk (pll.review.desk), the queue (pll.review.queue), retraining (pll.review.retraining).
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

import numpy as np

from pll.errors import UserError
from pll.review.certificate import CERTIFICATE_LEVEL, LabelTable
from pll.review.certification import Certification, PlanRecord, draw_plan, draws_of, labels_key, remember_draw, table_of
from pll.review.database import Database
from pll.review.events import GOALS, Event, LabelVersion, ReviewRecord
from pll.review.label_snapshot import LabelSnapshot, review_id, snapshot_of
from pll.review.state import Outcome, ReviewState
from pll.review.store import Transaction, now, reading, writing
from pll.runs.run import Run
from pll.weights import Ints, sharpness


class ReviewSession:
    """See the top of this file. Safe to share between threads.

    Parameters
    ----------
    review_id
        Under which decisions are stored.
    snapshot
        The labels of the first run.
    database
        Where decisions are stored.
    opened_by, verified
        Who begins the review, where it does not exist yet, and whether that name was verified.
    load
        Gives the labels of a retrained run by its id.
    clock
        For tests.

    Attributes
    ----------
    root
        The first run's labels; own: those of the latest run; current: the same as the decisions leave them; previous:
        those of the run that was retrained, if any, as the decisions leave them.
    record
        Overlap and goal; version: the labels under review; state: what people have decided.
    order
        Name of the queue's order, and all rows in it.

    Raises
    ------
    UserError
        The review is of other examples, or the database cannot be used.
    """

    record: ReviewRecord

    def __init__(
        self,
        review_id: str,
        snapshot: LabelSnapshot,
        database: Database,
        *,
        opened_by: str | None = None,
        verified: bool = False,
        load: Callable[[str], LabelSnapshot],
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.id = review_id
        self.root = self.own = self.current = snapshot
        self.previous: LabelSnapshot | None = None
        self.database = database
        self.clock = clock
        self._load = load
        self._lock = threading.RLock()
        self.state = ReviewState(snapshot.candidates)
        self.versions: tuple[LabelVersion, ...] = ()
        self.plans: tuple[PlanRecord, ...] = ()
        self._certification: tuple[PlanRecord, Certification] | None = None
        self.order: tuple[str, Ints] = ("confidence", _by_confidence(snapshot))
        with writing(database, review_id) as t:
            self._open(t, opened_by, verified)
        self.refresh()

    def _open(self, t: Transaction, opened_by: str | None, verified: bool) -> None:
        """Store the review, and the labels of its first run, where that is new."""
        record, n = t.review(), len(self.root)
        if record is None:
            t.open_review(ReviewRecord(self.id, n, secrets.randbits(31), 1, 1.0, self.clock()))
        elif record.examples != n:
            raise UserError(f"The decisions stored for this run are of {record.examples:,} examples, but it has {n:,}.")
        versions = t.versions()
        if not versions:
            t.add_version(LabelVersion(1, *self.root.key, self.clock(), "first", opened_by, verified))
        elif versions[-1].run == self.root.run and versions[-1].key != self.root.key:
            t.add_version(LabelVersion(len(versions) + 1, *self.root.key, self.clock(), "run went on"))

    @property
    def version(self) -> LabelVersion:
        """The labels under review."""
        return self.versions[-1]

    @property
    def certification(self) -> Certification | None:
        """The certification that people work for; None where none was begun of these labels, or they are looking."""
        return self.latest_certification if self.record.goal == "certify" else None

    @property
    def latest_certification(self) -> Certification | None:
        """The last certification of the run under review, whether people work for it now or not.

        Raises
        ------
        UserError
            What is stored of it was altered.
        """
        with self._lock:
            record = PlanRecord.last_of(self.plans, self.own.run)
            if record is None:
                return None
            if self._certification is None or self._certification[0] != record:
                with reading(self.database, self.id) as reader:
                    table = LabelTable(self.root.ids, *reader.frozen(record.number))
                self._certification = record, Certification(record.plan, table)
            return self._certification[1]

    @property
    def is_certified(self) -> bool:
        """Whether the certificate that people work for is earned."""
        certification = self.certification
        return certification is not None and certification.status(self.state).done

    def to_answer(self) -> Ints:
        """Return the examples that need further answers: of all, or of those that a certificate asks for."""
        asked = np.arange(len(self.state.required))
        if self.certification is not None:
            asked = self.certification.queue(self.state)[1]
        return asked[self.state.answers[asked] < self.state.required[asked]]

    def certify(self, error: float, level: float = CERTIFICATE_LEVEL, *, after: int = 0) -> None:
        """Freeze the labels of this moment and draw controls for a certificate of all of them.

        From now on its controls and the labels it does not accept are assigned. Existing decisions count.

        Parameters
        ----------
        error, level
            ε, the share of all labels that may be wrong, and 1 − α.
        after
            How many plans the caller knows.

        Raises
        ------
        UserError
            Another plan, or other labels, came meanwhile; this certificate is under way; or an impossible one.
        """
        table = table_of(self.current, self.state)
        with self.writing() as t:
            plans = [record.plan for record in t.plans()]
            if len(plans) != after or t.versions()[-1].run != self.own.run:
                raise UserError("The review has changed in the meantime. Check the labels, then start again.")
            plan = draw_plan(table, error, level, drawn=draws_of(table, plans))
            same = [other for other in plans if other.fingerprint == plan.fingerprint]
            if same and (same[-1].error, same[-1].level) == (error, level):
                raise UserError(
                    "This certificate has been begun, and its controls are drawn; go on with it. Another draw for the "
                    "same certificate would be a second try."
                )
            t.add_plan(PlanRecord(after + 1, self.own.run, plan), table)
            t.configure(goal="certify")
        remember_draw({labels_key(table.ids, table.labels)}, plan.draw_hash)
        self.refresh()

    # ---- the labels, and how they are reviewed ----------------------------------------------------------------------

    def configure(
        self, *, overlap: int | None = None, overlap_share: float | None = None, goal: str | None = None
    ) -> None:
        """Change how a review is done.

        Parameters
        ----------
        overlap
            Reviewers per example, on `overlap_share` of the examples; one on the others.
        overlap_share
            In [0, 1].
        goal
            One of `GOALS`.

        Raises
        ------
        UserError
            A value out of range.
        """
        if overlap is not None and not 1 <= overlap <= 100:
            raise UserError(f"Ask 1 to 100 reviewers per example, not {overlap}.")
        if overlap_share is not None and not 0 <= overlap_share <= 1:
            raise UserError(f"overlap_share is {overlap_share}; it must lie between 0 and 1.")
        if goal not in (None, *GOALS):
            raise UserError(f"There is no goal called {goal!r}; choose one of {', '.join(GOALS)}.")
        values = {"overlap": overlap, "overlap_share": overlap_share, "goal": goal}
        with self.writing() as t:
            t.configure(**{name: value for name, value in values.items() if value is not None})
        self.refresh()

    def follow(self, labels: LabelSnapshot, previous: LabelSnapshot | None = None) -> None:
        """Set the current labels: those of the latest run, with following labels.

        Parameters
        ----------
        labels
            Of the latest run, as the decisions leave them.
        previous
            Of the run before, by the same decisions.
        """
        with self._lock:
            if labels.run == self.own.run:
                self.current, self.previous = labels, previous

    def adopt(self, labels: LabelSnapshot, *, by: str | None = None, verified: bool = False) -> bool:
        """Put the labels of a retrained run in the place of the old ones; False where another process did.

        Parameters
        ----------
        labels
            Those of the retrained run.
        by, verified
            Who had it retrained, and whether that name was verified.
        """
        with self.writing() as t:
            versions = t.versions()
            is_new = all(record.key != labels.key for record in versions)
            if is_new:
                t.add_version(LabelVersion(versions[-1].number + 1, *labels.key, self.clock(), "taught", by, verified))
        self.refresh()
        return is_new

    def conflicts(self) -> list[tuple[int, Outcome]]:
        """Return the examples with an unsettled conflict of reviewers, in the order of rows."""
        return sorted((row, result) for row, result in self.state.outcomes() if result.status == "conflict")

    def label_of(self, row: int, outcome: Outcome | None = None) -> str | None:
        """Current label of an example: people's, else the model's; None for "none of these".

        Parameters
        ----------
        row
            The example.
        outcome
            What people decide about it; by default what they have decided so far.
        """
        outcome = outcome or self.state.outcome(row)
        if outcome.status in ("label", "none"):
            return outcome.label
        return self.model_label(row, outcome)

    def model_label(self, row: int, outcome: Outcome) -> str:
        """The label of an example that no person decided: of the candidates that none ruled out, the likeliest.

        Parameters
        ----------
        row
            The example.
        outcome
            What people decided about it.
        """
        label = self.label_and_confidence(row)[0]
        if outcome.status != "open" or label not in outcome.eliminated:  # in doubt it stays that of the run
            return label
        return next((name for name in self.current.weights_of(row) if name not in outcome.eliminated), label)

    def weights_of(self, row: int, outcome: Outcome) -> dict[str, float]:
        """Label → weight, in the order of the model; what it gave to candidates that were ruled out is the others'.

        Parameters
        ----------
        row
            The example.
        outcome
            What people decided about it.
        """
        weights = self.current.weights_of(row)
        left = sum(weight for name, weight in weights.items() if name not in outcome.eliminated)
        if not left:
            return weights
        more = sum(weights.values()) / left
        return {name: 0.0 if name in outcome.eliminated else more * weight for name, weight in weights.items()}

    def label_and_confidence(self, row: int) -> tuple[str, float]:
        """Return the label of an example that no person decided, and its confidence, NaN where it is not known.

        Both are frozen while people certify.
        """
        certification = self.certification
        if certification is not None:
            return str(certification.table.labels[row]), float(certification.table.confidence[row])
        return str(self.current.labels[row]), float(self.current.certainty.confidence[row])

    # ---- the database -----------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what other processes wrote.

        Raises
        ------
        UserError
            The labels of a retrained run cannot be read; those so far stay in use.
        """
        # Locked to the end: an event must not be stored with the run of one version and the number of the next.
        with self._lock:
            with reading(self.database, self.id) as reader:
                events = reader.events(self.state.last)
                record = reader.review()
                versions = reader.versions()
                self.plans = tuple(reader.plans())
                marks = reader.marks()
            self.root.check_rows(events)
            self.state.update(events)
            if record is not None:
                self.record = record
                self.state.ask(record)
            if len(versions) > len(self.versions):
                self._show(tuple(versions))
            self._marks = marks

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction in which the state is up to date, and excludes every other writer of this review."""
        with self._lock:
            while True:
                with writing(self.database, self.id) as t:
                    if t.marks() == self._marks:
                        self.state.update(t.events(self.state.last))
                        yield t
                        return
                self.refresh()  # may take long, so others can write meanwhile

    def apply(self, *events: Event) -> None:
        """Update the state with events that were committed."""
        with self._lock:
            self.state.update(events)

    def check_row(self, row: int) -> None:
        """Raise UserError where there is no such example."""
        if not 0 <= row < len(self.root):
            raise UserError(f"There is no example {row}; rows run from 0 to {len(self.root) - 1}.")

    def _show(self, versions: tuple[LabelVersion, ...]) -> None:
        """Show the labels of the last of these versions. Unchanged if it raises."""
        labels = self._of(versions[-1].run)
        earlier = [record.run for record in versions if record.run != labels.run]
        before = self._of(earlier[-1]) if earlier else None
        if labels.key != self.own.key:
            self.order = ("confidence", _by_confidence(labels))
        self.versions, self.own, self.current, self.previous = versions, labels, labels, before

    def _of(self, run: str) -> LabelSnapshot:
        if run == self.root.run:
            return self.root
        result = self._load(run)
        if len(result) != len(self.root):
            raise UserError(f"The run {run} has other examples than this review.")
        return result


def open_review(
    run: Run,
    database: Database,
    get_run: Callable[[str], Run],
    *,
    opened_by: str | None = None,
    verified: bool = False,
) -> ReviewSession:
    """The review that a run belongs to: its own, or that of the run which it was retrained from.

    Open one for each review and process (`review_id(run.folder)` is the key).

    Parameters
    ----------
    run
        With a result.
    database
        One for each process.
    get_run
        `RunRegistry.get`; finds the first run of the line and the latest one.
    opened_by, verified
        Who begins a review that does not exist yet, and whether that name was verified.

    Raises
    ------
    UserError
        a run without result, one whose data or first run is gone, or the database cannot be used.
    """
    decided = run.config.decided_sets
    root = run if decided is None else get_run(decided.root)

    def load(run_id: str) -> LabelSnapshot:
        one = get_run(run_id)
        return snapshot_of(one.folder, one.splits().train)

    labels = snapshot_of(root.folder, root.splits().train)
    return ReviewSession(review_id(root.folder), labels, database, opened_by=opened_by, verified=verified, load=load)


def _by_confidence(snapshot: LabelSnapshot) -> Ints:
    top = sharpness(snapshot.shown, snapshot.candidates).top
    return np.lexsort((top, snapshot.candidates.sizes == 1)).astype(np.int64)

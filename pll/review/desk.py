"""One reviewer's desk: the examples assigned to them, their decisions, and undo.

A decision, its place in the queue and the next example are one transaction: when `Desk.decide` returns, the decision
is on the disk and the next example is assigned to this reviewer alone. Nothing is ever deleted: an undo is an event.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np

from pll.errors import UserError
from pll.review.events import Claim, Event
from pll.review.follow import CONTROL_QUEUE
from pll.review.session import ReviewSession
from pll.review.state import Kind, check_kind
from pll.review.store import Transaction
from pll.weights import Flags, Ints

BATCH_QUEUE = "batch"
"""Name of the queue under which the examples of a batch are claimed."""
CLAIM_TIME = timedelta(minutes=10)
"""Time without a sign of the reviewer after which an assigned example is released."""
LONGEST_CLAIM = 3 * CLAIM_TIME
"""Time after which an undecided example is released although its page is open, as it may be over the weekend."""
MOST_WEIGHTS = 50
"""Candidates whose weights are stored with a decision."""
LONGEST_LABEL = 200
"""Characters of a new class."""


@dataclass(frozen=True)
class CandidateOption:
    """One candidate of an example: its name, the model's weight, whether a reviewer eliminated it."""

    label: str
    weight: float
    eliminated: bool = False


@dataclass(frozen=True)
class Assignment:
    """An example assigned to a reviewer.

    Attributes
    ----------
    row, example
        Its place among the training examples, and its id.
    token
        Goes with the decision, so that it is stored once however often it is sent. "" where the example can only be
        looked at, and not be decided by this reviewer.
    choices
        The candidates, the largest weight of the model first; those of the first run also where a retrained one has
        ruled them out. What was ruled out has no weight, and its place.
    identified
        The model's label, of the candidates that were not ruled out.
    queue, position
        The queue it came from ("control", "focus", "batch", "" where it was opened directly), and its place there.
    is_control
        Must not be shown to reviewers.
    mine
        This reviewer's own label, where they have decided before.
    """

    row: int
    example: str
    token: str
    choices: tuple[CandidateOption, ...]
    identified: str
    queue: str
    position: int | None
    is_control: bool
    mine: str | None = None


@dataclass(frozen=True)
class DecisionResult:
    """Result of sending a decision or an undo.

    Attributes
    ----------
    stored
        Whether it was stored now; False where it had been stored before, or was refused.
    event
        The event; None where it was refused.
    next
        The next example; None where none is left.
    notice
        Message for the reviewer; "" for none.
    """

    stored: bool
    event: Event | None
    next: Assignment | None
    notice: str = ""


def new_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(16)


class Desk:
    """A reviewer at work. Safe to share between threads.

    Parameters
    ----------
    review
        The review.
    reviewer
        The name under which decisions are stored.
    verified
        Whether the name was verified by a login (OpenID Connect).

    Attributes
    ----------
    skipped
        Skipped rows; shown again at the end.

    Raises
    ------
    UserError
        a name that is empty or too long.
    """

    def __init__(self, review: ReviewSession, reviewer: str, *, verified: bool = False) -> None:
        name = reviewer.strip()
        if not name or len(name) > 200 or not name.isprintable():
            raise UserError("A reviewer needs a name of 1 to 200 printable characters.")
        self.review = review
        self.reviewer = name
        self.verified = verified
        self.skipped: set[int] = set()
        self._only: Flags | None = None
        self._focus: tuple[str, Ints] | None = None

    # ---- the next example ----------------------------------------------------------------------------------------

    def restrict(self, mask: Flags | None) -> None:
        """Assign these examples only ((n,) bool); None for all. Controls come all the same.

        What is assigned already stays; call `release` to apply the filter at once.
        """
        self._only = mask

    def look_at(self, rows: Sequence[int] | Ints, name: str = "focus") -> None:
        """Assign these first, in this order, before going on with the queue; an empty list takes that back.

        Parameters
        ----------
        rows
            Numbers of the examples.
        name
            What the queue is called meanwhile.
        """
        wanted = np.asarray(rows, dtype=np.int64)
        self._focus = (name, wanted) if len(wanted) else None

    def next(self) -> Assignment | None:
        """Return the assigned example, else the next one of the queue; None at its end."""
        with self.review.writing() as t:
            claim = self._assigned_or_next(t)
        return None if claim is None else self._assignment(claim)

    def show(self, row: int) -> Assignment:
        """Open any example, to decide it (again) where that is possible.

        Its token is "" where another reviewer has it or has answered it: then it can only be looked at.
        """
        self.review.check_row(row)
        with self.review.writing() as t:
            claim = self._reopen(t, row)
        return self._assignment(claim)

    def release(self) -> None:
        """Release all assigned examples; candidates eliminated so far stay eliminated."""
        with self.review.writing() as t:
            t.release(self.reviewer)

    def renew(self) -> None:
        """Extend the assignment, for `LONGEST_CLAIM` at most. Call it regularly while the page is open."""
        with self.review.writing() as t:
            t.renew(self.reviewer, self._expiry(), self.review.clock() - LONGEST_CLAIM)

    # ---- decisions -----------------------------------------------------------------------------------------------

    def decide(
        self,
        assignment: Assignment,
        kind: Kind,
        label: str | None = None,
        *,
        seconds: float | None = None,
        blind: bool = False,
        note: str = "",
    ) -> DecisionResult:
        """Store a decision and assign the next example, in one transaction.

        Parameters
        ----------
        assignment
            Returned by `next`, `show` or `undo`.
        kind
            `pick`, `other` (a class outside the candidates, or a new one), `none`, `unsure`, `skip`, or `eliminate`,
            after which the example stays until one candidate is left.
        label
            With `pick`, `other` and `eliminate`: the name of a class.
        seconds
            Time spent.
        blind
            Whether the model's weights were hidden.
        note
            A remark of the reviewer.

        Returns
        -------
        DecisionResult
            See `DecisionResult`. A decision that is sent again is not stored again.

        Raises
        ------
        UserError
            a kind or label that does not exist, or the database cannot be written to: nothing is stored.
        """
        check_kind(kind, label)
        if kind in ("settle", "undo", "accept", "restore"):
            raise UserError(f"A {kind!r} is not a decision about one assigned example; use Desk.{kind}.")
        if kind in ("pick", "eliminate") and label not in [choice.label for choice in assignment.choices]:
            self._check_candidate(assignment.row, label)  # it may have been shown before a restart
        with self.review.writing() as t:
            earlier = t.event_of(assignment.token) if assignment.token else None
            if earlier is not None:
                is_again = (earlier.kind, earlier.label) == (kind, label)
                notice = "" if is_again else "You have answered this example in another window; that stays."
                return self._result(earlier, self._assigned_or_next(t), notice=notice)
            if refusal := self._refusal(t, assignment):
                return self._result(None, self._assigned_or_next(t), notice=refusal)
            event = self._append(t, assignment, kind, label, seconds=seconds, blind=blind, note=note)
            claim = self._close(t, event) or self._assigned_or_next(t, without=assignment.row)
        self.review.apply(event)
        return self._result(event, claim, stored=True)

    def undo(self, event_id: int | None = None, *, token: str | None = None) -> DecisionResult:
        """Undo this reviewer's last decision (or that of `event_id`), and go back to its example.

        A decision of a batch takes the whole batch with it.

        Parameters
        ----------
        event_id
            Which decision; None for the last one.
        token
            Of the (first) undo, so that it is stored once however often it is sent.

        Returns
        -------
        DecisionResult
            `event` is the (last) undo; `next` the example, assigned again; not stored where there is nothing to undo.
        """
        with self.review.writing() as t:
            if token is not None and (earlier := t.event_of(token)) is not None:
                return self._result(earlier, self._assigned_or_next(t))
            targets = self._to_undo(event_id)
            if not targets:
                return self._result(None, self._assigned_or_next(t), notice="There is nothing left to undo.")
            t.release(self.reviewer)
            undos = [self._undo(t, target, token if place == 0 else None) for place, target in enumerate(targets)]
            claim = self._after_undo(t, targets, undos[0])
        self.review.apply(*undos)
        self.skipped.discard(targets[0].row)
        return self._result(undos[-1], claim, stored=True)

    def history(self, limit: int = 50) -> list[Event]:
        """Return this reviewer's decisions that were not undone, the newest first."""
        return list(islice(self.review.state.live_events_by(self.reviewer), limit))

    # ---- several examples, conflicts, labels that followed -----------------------------------------------------------

    def batch(self, rows: Sequence[int] | Ints) -> list[Assignment]:
        """Assign several examples, for a grid; those that others have or have answered are left out.

        A batch that was assigned before is released.
        """
        with self.review.writing() as t:
            own = [claim for claim in t.claims() if claim.reviewer == self.reviewer]
            t.release(self.reviewer, [claim.row for claim in own if claim.queue == BATCH_QUEUE])
            claims = [self._claim(t, int(row), BATCH_QUEUE) for row in rows]
        return [self._assignment(claim) for claim in claims if claim is not None]

    def accept(
        self,
        assignments: Sequence[Assignment],
        label: str,
        *,
        marked: Sequence[Assignment] = (),
        seconds: float | None = None,
        blind: bool = False,
    ) -> list[Event]:
        """Give all these examples (of `batch`) one label, and rule it out for those marked as different.

        All of them are stored together; the time is shared out. What had been stored already is not stored again.
        Nothing is stored of marked ones that do not have the label, or have no other.

        Parameters
        ----------
        assignments
            The examples.
        label
            Theirs.
        marked
            Other examples of the batch, whose label is another.
        seconds
            How long it took; None where it is not known.
        blind
            Whether the model's view was hidden.
        """
        check_kind("accept", label)
        batch = new_token()
        each = None if seconds is None else seconds / max(len(assignments) + len(marked), 1)
        events: list[Event] = []
        with self.review.writing() as t:
            ruled_out = [one for one in marked if self._can_rule_out(one, label)]
            for one, kind in (*((one, "accept") for one in assignments), *((one, "eliminate") for one in ruled_out)):
                if t.event_of(one.token) is not None or self._refusal(t, one):
                    continue
                event = self._append(t, one, kind, label, seconds=each, blind=blind, batch=batch)
                events.append(event)
                if self._close(t, event) is not None:  # several labels are left: back to the queue
                    t.release(self.reviewer, [one.row])
        self.review.apply(*events)
        return events

    def settle(self, row: int, label: str | None) -> Event:
        """Where reviewers disagree: this label (None: none of the candidates) counts.

        Parameters
        ----------
        row
            Number of the example.
        label
            The one that counts.
        """
        return self._append_unclaimed([row], "settle", label, "conflicts")[0]

    def restore(self, rows: Sequence[int] | Ints) -> list[Event]:
        """Restore the run's labels of these examples, whatever is decided later."""
        return self._append_unclaimed(rows, "restore", batch=new_token())

    # ---- events --------------------------------------------------------------------------------------------------

    def _append_unclaimed(
        self, rows: Iterable[int], kind: Kind, label: str | None = None, queue: str = "", *, batch: str | None = None
    ) -> list[Event]:
        """Store one decision on examples whoever has them."""
        with self.review.writing() as t:
            events = []
            for row in map(int, rows):
                self.review.check_row(row)
                unclaimed = self._assignment(self._unclaimed(row, new_token(), queue))
                events.append(self._append(t, unclaimed, kind, label, batch=batch))
        self.review.apply(*events)
        return events

    def _append(
        self,
        t: Transaction,
        assignment: Assignment,
        kind: str,
        label: str | None,
        *,
        seconds: float | None = None,
        blind: bool = False,
        note: str = "",
        batch: str | None = None,
    ) -> Event:
        """Store a decision; apply it once the transaction is committed."""
        review = self.review
        people = review.state.outcome(assignment.row)
        if label is not None and len(label) > LONGEST_LABEL and label not in review.root.candidates.class_names:
            raise UserError(
                f"The new label has {len(label):,} characters; a class name has at most {LONGEST_LABEL}. Shorten it."
            )
        event = Event(
            review=review.id,
            token=assignment.token,
            run=review.current.run,
            version=review.version.number,
            row=assignment.row,
            example=assignment.example,
            reviewer=self.reviewer,
            verified=self.verified,
            kind=kind,
            label=label,
            # What the reviewer met, as the weights: following labels may have changed the model's since.
            before=people.label if people.status in ("label", "none") else assignment.identified,
            seconds=seconds,
            weights=tuple((choice.label, round(choice.weight, 6)) for choice in assignment.choices[:MOST_WEIGHTS]),
            queue=assignment.queue,
            position=assignment.position,
            control=assignment.is_control,
            blind=blind,
            batch=batch,
            note=note,
            at=review.clock(),
        )
        return self._store(t, event)

    def _store(self, t: Transaction, event: Event) -> Event:
        """Append it, with the label that the example has after it."""
        after = self.review.label_of(event.row, self.review.state.outcome_with(event))
        return t.append(replace(event, after=after))

    def _check_candidate(self, row: int, label: str | None) -> None:
        review = self.review
        names = dict.fromkeys((*review.root.candidates.names(row), *review.current.candidates.names(row)))
        if label not in names:
            raise UserError(f"{label!r} is not a candidate of this example; they are {', '.join(names)}.")

    def _can_rule_out(self, assignment: Assignment, label: str) -> bool:
        """Whether the label is one of several candidates that nobody has ruled out."""
        gone = self.review.state.outcome(assignment.row).eliminated
        remaining = [choice.label for choice in assignment.choices if choice.label not in gone]
        return label in remaining and len(remaining) > 1

    def _refusal(self, t: Transaction, assignment: Assignment) -> str:
        """Return why a decision cannot be stored; "" where it can. Claims the example again where that lapsed."""
        slots = t.slots(assignment.row)
        mine = self._own(slots)
        if mine is not None:
            if mine.token == assignment.token:
                return ""
            return "This example was shown in another window too, and is answered or open there."
        if assignment.token and self._claim(t, assignment.row, assignment.queue, assignment.position):
            return ""
        if not slots:
            return "This example is settled; your answer was not stored."
        has = f"{slots[-1].reviewer} {'has answered' if slots[-1].answered else 'is looking at'}"
        return f"You were away for a while, and {has} this example now; your answer was not stored."

    def _close(self, t: Transaction, event: Event) -> Claim | None:
        """After a decision: the example is answered, skipped, or (returned) still assigned."""
        mine = self.review.state.outcome_with(event).answers[self.reviewer]
        if mine.status != "open":
            t.change(event.row, self.reviewer, answered=True, expires_at=None)
            return None
        if event.kind == "eliminate":
            t.change(event.row, self.reviewer, answered=False)
            return self._reopen(t, event.row)
        t.forget_answer(event.row, self.reviewer)
        self.skipped.add(event.row)
        return None

    def _to_undo(self, event_id: int | None) -> list[Event]:
        """Return the last decision that was not undone, or that of `event_id`, with its whole batch; [] for none."""
        state = self.review.state
        mine = state.live_events_by(self.reviewer)
        target = next((event for event in mine if event_id in (None, event.id)), None)
        if target is None or target.batch is None:
            return [] if target is None else [target]
        return [event for event in state.all_events if event.batch == target.batch and state.is_live(event)]

    def _undo(self, t: Transaction, target: Event, token: str | None) -> Event:
        review = self.review
        event = replace(
            target,
            token=token or new_token(),
            run=review.current.run,
            version=review.version.number,
            kind="undo",
            before=review.label_of(target.row),
            seconds=None,
            undoes=target.id,
            at=review.clock(),
        )
        event = self._store(t, event)
        if target.kind not in ("settle", "restore") and not self._still_answered(event):
            t.forget_answer(target.row, target.reviewer)  # eliminating the last but one answers too
        return event

    def _after_undo(self, t: Transaction, targets: Sequence[Event], undo: Event) -> Claim | None:
        """Assign the example again if one decision was undone; else the next example."""
        target = targets[0]
        if len(targets) > 1 or target.kind in ("settle", "restore"):
            return self._next(t)
        if self._still_answered(undo):  # an earlier answer of theirs counts again
            return self._reopen(t, target.row)
        return self._claim(t, target.row, target.queue, target.position) or self._next(t)

    def _still_answered(self, undo: Event) -> bool:
        mine = self.review.state.outcome_with(undo).answers.get(undo.reviewer)
        return mine is not None and mine.status != "open"

    # ---- claims: within a transaction that excludes other writers of the review ----------------------------------

    def _expiry(self) -> datetime:
        """Expiry of a claim made now."""
        return self.review.clock() + CLAIM_TIME

    def _assigned_or_next(self, t: Transaction, without: int | None = None) -> Claim | None:
        """Return what is assigned (batches apart), else the next example; None where none is left.

        Parameters
        ----------
        without
            An example that has just been decided.
        """
        now = self.review.clock()
        for claim in t.claims():
            if claim.reviewer == self.reviewer and claim.queue != BATCH_QUEUE and claim.is_active(now):
                return claim
        return self._next(t, without)

    def _next(self, t: Transaction, without: int | None = None) -> Claim | None:
        """Claim the next example; None where none is left."""
        free = self._free(t)
        if without is not None:
            free[without] = False
        put_off = np.isin(np.arange(len(free)), list(self.skipped))
        for open_ in (free & ~put_off, free & put_off):
            for name, rows in self._queues():
                for position in np.flatnonzero(open_[rows]):
                    claim = self._claim(t, int(rows[position]), name, int(position))
                    if claim is not None:
                        return claim
        return None

    def _free(self, t: Transaction) -> Flags:
        """(n,) bool: examples that can be assigned to this reviewer now. A fresh array."""
        state, now = self.review.state, self.review.clock()
        claims = np.zeros(len(state.required), dtype=np.int64)
        for claim in t.claims():
            if claim.is_active(now):
                claims[claim.row] += state.required[claim.row] if claim.reviewer == self.reviewer else 1
        free = (state.answers + claims < state.required) & ~state.answered_by(self.reviewer)
        free[[row for row, outcome in state.outcomes() if outcome.is_adjudicated]] = False
        return free

    def _queues(self) -> Iterator[tuple[str, Ints]]:
        """(name, rows), in the order in which they are to be tried."""
        review = self.review
        if review.certification is not None:
            yield review.certification.queue(review.state)
            return
        if self._focus is not None:
            yield self._focus
        name, order = review.order
        yield name, order if self._only is None else order[self._only[order]]

    def _claim(self, t: Transaction, row: int, queue: str = "", position: int | None = None) -> Claim | None:
        """Claim one example; None where all its slots are taken or answered, or it is settled."""
        review, now = self.review, self.review.clock()
        slots = t.slots(row)
        lapsed = [slot for slot in slots if not slot.answered and not slot.is_active(now)]
        remaining = [slot for slot in slots if slot not in lapsed]
        if review.state.outcome(row).is_adjudicated or self._own(remaining):
            return None
        free = set(range(int(review.state.required[row]))) - {slot.slot for slot in remaining}
        if not free:
            return None
        for slot in lapsed:  # it would be in the way
            t.release(slot.reviewer, [row])
        place = (queue, position, queue == CONTROL_QUEUE)
        claim = Claim(row, min(free), self.reviewer, new_token(), False, self._expiry(), now, *place)
        t.take(claim)
        return claim

    def _reopen(self, t: Transaction, row: int) -> Claim:
        """Claim any example; the token is "" where this reviewer cannot decide it."""
        mine = self._own(t.slots(row))
        if mine is None:
            return self._claim(t, row) or self._unclaimed(row)
        values: dict[str, Any] = {"token": new_token()}
        if not mine.answered:
            values |= {"since": self.review.clock(), "expires_at": self._expiry()}
        t.change(row, self.reviewer, **values)
        return replace(mine, **values)

    def _own(self, slots: Iterable[Claim]) -> Claim | None:
        return next((slot for slot in slots if slot.reviewer == self.reviewer), None)

    def _unclaimed(self, row: int, token: str = "", queue: str = "") -> Claim:
        """Return an example without claiming it."""
        now = self.review.clock()
        return Claim(row, 0, self.reviewer, token, False, now, now, queue)

    # ---- what the page shows -------------------------------------------------------------------------------------

    def _assignment(self, claim: Claim) -> Assignment:
        review, row = self.review, claim.row
        outcome = review.state.outcome(row)
        weights = review.weights_of(row, outcome)
        names = dict.fromkeys((*weights, *review.root.candidates.names(row)))
        mine = outcome.answers.get(self.reviewer)
        return Assignment(
            row=row,
            example=str(review.root.ids[row]),
            token=claim.token,
            choices=tuple(CandidateOption(name, weights.get(name, 0.0), name in outcome.eliminated) for name in names),
            identified=review.model_label(row, outcome),
            queue=claim.queue,
            position=claim.position,
            is_control=claim.control,
            mine=None if mine is None else mine.label,
        )

    def _result(
        self, event: Event | None, claim: Claim | None, *, stored: bool = False, notice: str = ""
    ) -> DecisionResult:
        return DecisionResult(stored, event, None if claim is None else self._assignment(claim), notice)

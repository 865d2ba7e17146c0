"""One reviewer's desk: what they are given, what they say about it, and how they take it back.

A decision, its place in the queue and the next example are one transaction: when `decide` returns, the answer is on
the disk and the next example is theirs alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pll.errors import UserError
from pll.review.assignment import BATCH, Assignment, Choice, Step, new_token
from pll.review.events import Kind, check_kind
from pll.review.hand import Hand
from pll.store.records import Claim, Event
from pll.store.store import Transaction, check_event

if TYPE_CHECKING:
    from pll.review.reviewing import Reviewing

__all__ = ["Assignment", "Choice", "Desk", "Step"]

MOST_SHOWN = 50
"""Candidates whose weights are kept with a decision."""


class Desk:
    """A reviewer at work. Make it with `Reviewing.desk`. Any number of threads may share it.

    Args:
        reviewing: the review.
        reviewer: the name under which decisions are kept.
        verified: whether somebody vouched for that name (OIDC).
    """

    def __init__(self, reviewing: Reviewing, reviewer: str, *, verified: bool = False) -> None:
        self.reviewing = reviewing
        self.reviewer = reviewer
        self.verified = verified
        self._hand = Hand(reviewing, reviewer)

    # ---- what comes next -----------------------------------------------------------------------------------------

    def only(self, mask: npt.NDArray[np.bool_] | None) -> None:
        """Hand out these examples only ((n,) bool, e.g. `QueueFilter.mask`); None for all. Controls come all the same.

        What is already in hand stays there; `release` it to begin at once.
        """
        self._hand.only = mask

    def look_at(self, rows: Sequence[int] | npt.NDArray[np.int64], name: str = "focus") -> None:
        """Hand out these first, in this order, before going on with the queue; an empty list takes that back."""
        wanted = np.asarray(rows, dtype=np.int64)
        self._hand.focus = (name, wanted) if len(wanted) else None

    def next(self) -> Assignment | None:
        """What this reviewer holds already, else the next example of the queue; None where nothing is left."""
        with self.reviewing.writing() as t:
            return self._hand.held_or_next(t)

    def show(self, row: int) -> Assignment:
        """Any example, sought out or seen before, to decide it (again) where that is possible.

        Its token is "" where another reviewer has it or has answered it: then it can only be looked at.
        """
        self.reviewing.check_row(row)
        with self.reviewing.writing() as t:
            mine = next((slot for slot in t.slots(row) if slot.reviewer == self.reviewer), None)
            if mine is None:
                claim = self._hand.take(t, row)
                return self._hand.shown(claim) if claim else self._hand.to_look_at(row)
            renewed = replace(mine, token=new_token())
            if mine.answered:
                t.rename(row, self.reviewer, renewed.token)
            else:
                t.reopen(row, self.reviewer, renewed.token, self.reviewing.clock(), self.reviewing.expiry())
            return self._hand.shown(renewed)

    def release(self) -> None:
        """Give back everything held; what is half-decided stays as it is."""
        with self.reviewing.writing() as t:
            t.release(self.reviewer)

    def renew(self) -> None:
        """Still here: what is held stays held. To be called now and then while somebody looks at the page.

        A page may stay open over the weekend; so not for longer than `Reviewing.longest_hold` without a decision.
        """
        with self.reviewing.writing() as t:
            t.renew(self.reviewer, self.reviewing.expiry(), self.reviewing.clock() - self.reviewing.longest_hold)

    def bring_back(self) -> None:
        """What this reviewer skipped comes up again in its turn, and not only when all else is done."""
        self._hand.skipped.clear()

    @property
    def skipped(self) -> int:
        """How many examples this reviewer has put off."""
        return len(self._hand.skipped)

    # ---- what they say -------------------------------------------------------------------------------------------

    def decide(
        self,
        given: Assignment,
        kind: Kind,
        label: str | None = None,
        *,
        seconds: float | None = None,
        blind: bool = False,
        note: str = "",
        stay: bool = False,
    ) -> Step:
        """Store a decision, and hand out the next example, in one stroke.

        Args:
            given: what `next`, `show` or `undo` handed out.
            kind: `pick`, `other` (a class outside the candidates, or a new one), `none`, `unsure`, `eliminate`, `skip`.
            label: with `pick`, `other` and `eliminate`: the name of a class.
            seconds: time spent.
            blind: whether the model's view was hidden.
            stay: with `eliminate`, keep the example and go on with it: `next` is then the same one.

        Returns:
            See `Step`. A decision that is sent again is not stored again.

        Raises:
            UserError: a kind or label that does not exist, or the database cannot be written to: nothing is stored.
        """
        check_kind(kind, label)
        self._check_label(given.row, kind, label)
        with self.reviewing.writing() as t:
            known = t.event_of(given.token) if given.token else None
            if known is not None:
                return Step(False, known, self._hand.held_or_next(t), "")
            refusal = self._why_not(t, given)
            if refusal:
                return Step(False, None, self._hand.held_or_next(t), refusal)
            event = self._event(given, kind, label, seconds=seconds, blind=blind, note=note)
            event = replace(event, id=t.append(event))
            coming = self._settle_claim(t, event, given, stay=stay and kind == "eliminate")
            coming = coming or self._hand.held(t) or self._hand.pick(t, without=given.row)
        self.reviewing.took(event)
        if coming is not None and coming.row == given.row:
            coming = self._hand.again(coming)
        return Step(True, event, coming)

    def undo(self, event_id: int | None = None, *, token: str | None = None) -> Step:
        """Take back this reviewer's last decision (or that of `event_id`), and go back to its example.

        A decision of a batch takes the whole batch with it.

        Returns:
            `event` is the (last) undo; `next` the example, in hand again; not stored where there is nothing to undo.
        """
        with self.reviewing.writing() as t:
            if token is not None and (known := t.event_of(token)) is not None:
                return Step(False, known, self._hand.held_or_next(t))
            targets = self._to_undo(event_id)
            if not targets:
                return Step(False, None, self._hand.held_or_next(t), "There is nothing left to undo.")
            t.release(self.reviewer)
            made = [self._undo_one(t, target, token if k == 0 else None) for k, target in enumerate(targets)]
            single = len(targets) == 1 and targets[0].kind != "settle"
            coming = self._back_to(t, targets[0], made[0]) if single else self._hand.pick(t)
        self.reviewing.took(*made)
        self._hand.skipped.discard(targets[0].row)
        return Step(True, made[-1], self._hand.again(coming) if coming else None)

    def history(self, limit: int = 50) -> list[Event]:
        """This reviewer's decisions that stand, the newest first."""
        found: list[Event] = []
        for event in reversed(self.reviewing.state.all_events):
            if event.reviewer == self.reviewer and self.reviewing.state.is_live(event):
                found.append(event)
                if len(found) == limit:
                    break
        return found

    # ---- many at once --------------------------------------------------------------------------------------------

    def batch(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> list[Assignment]:
        """Take several examples in hand, for a grid; those that others have or have answered are left out.

        A batch that was in hand before is given back.
        """
        with self.reviewing.writing() as t:
            old = [claim.row for claim in t.claims() if claim.reviewer == self.reviewer and claim.queue == BATCH]
            t.release(self.reviewer, old)
            claims = (self._hand.take(t, int(row), BATCH) for row in rows)
            return [self._hand.shown(claim) for claim in claims if claim is not None]

    def accept(
        self,
        given: Sequence[Assignment],
        label: str,
        *,
        seconds: float | None = None,
        blind: bool = False,
    ) -> list[Event]:
        """Give all these examples (of `batch`) one label: the ones marked as different are simply not among them.

        All of them are stored together; the time is shared out. What had been stored already is not stored again.
        """
        check_kind("accept", label)
        stroke = new_token()
        each = None if seconds is None else seconds / max(len(given), 1)
        made: list[Event] = []
        with self.reviewing.writing() as t:
            for one in given:
                if t.event_of(one.token) is not None or self._why_not(t, one):
                    continue
                event = replace(self._event(one, "accept", label, seconds=each, blind=blind), batch=stroke)
                made.append(replace(event, id=t.append(event)))
                t.answer(one.row, self.reviewer)
        self.reviewing.took(*made)
        return made

    def settle(self, row: int, label: str | None, *, seconds: float | None = None, note: str = "") -> Event:
        """Where reviewers disagree: this label (None: none of the candidates) counts."""
        self.reviewing.check_row(row)
        check_kind("settle", label)
        with self.reviewing.writing() as t:
            given = replace(self._hand.to_look_at(row, new_token()), queue="conflicts")
            event = self._event(given, "settle", label, seconds=seconds, note=note)
            event = replace(event, id=t.append(event))
        self.reviewing.took(event)
        return event

    # ---- storing -------------------------------------------------------------------------------------------------

    def _check_label(self, row: int, kind: str, label: str | None) -> None:
        review = self.reviewing
        names = dict.fromkeys((*review.root.candidates.names(row), *review.current.candidates.names(row)))
        if kind in ("pick", "eliminate") and label not in names:
            raise UserError(f"{label!r} is not a candidate of this example; they are {', '.join(names)}.")
        if kind in ("settle", "undo", "accept"):
            raise UserError(f"A {kind!r} is not a decision about one example in hand; use Desk.{kind}.")

    def _why_not(self, t: Transaction, given: Assignment) -> str:
        """Why the decision cannot be taken, in words; "" where it can. Takes the example in hand where it lapsed."""
        slots = t.slots(given.row)
        mine = next((slot for slot in slots if slot.reviewer == self.reviewer), None)
        if mine is not None:
            if mine.token == given.token:
                return ""
            return "This example was shown in another window too, and is answered or open there."
        if given.token and self._hand.take(t, given.row, given.queue, given.position, control=given.is_control):
            return ""
        others = [slot for slot in slots if slot.reviewer != self.reviewer]
        if not others:
            return "This example is settled; your answer was not stored."
        has = f"{others[-1].reviewer} {'has answered' if others[-1].answered else 'is looking at'}"
        return f"You were away for a while, and {has} this example now; your answer was not stored."

    def _event(
        self,
        given: Assignment,
        kind: str,
        label: str | None,
        *,
        seconds: float | None = None,
        blind: bool = False,
        note: str = "",
    ) -> Event:
        review = self.reviewing
        event = Event(
            review=review.id,
            token=given.token,
            run=review.current.run,
            round=review.round.number,
            row=given.row,
            example=given.example,
            reviewer=self.reviewer,
            verified=self.verified,
            kind=kind,
            label=label,
            before=review.label_of(given.row),
            seconds=seconds,
            shown=tuple((choice.label, round(choice.weight, 6)) for choice in given.choices[:MOST_SHOWN]),
            queue=given.queue,
            position=given.position,
            control=given.is_control,
            blind=blind,
            note=note,
            at=review.clock(),
        )
        event = replace(event, after=review.label_with(event))
        check_event(event)
        return event

    def _settle_claim(self, t: Transaction, event: Event, given: Assignment, *, stay: bool) -> Assignment | None:
        """After a decision: the example is answered, put aside, or (returned) still in hand."""
        mine = self.reviewing.state.verdict_with(event).answers[self.reviewer]
        if mine.status != "open":
            t.answer(event.row, self.reviewer)
            return None
        if stay:
            token = new_token()
            t.reopen(event.row, self.reviewer, token, self.reviewing.clock(), self.reviewing.expiry())
            return replace(given, token=token)
        t.forget_answer(event.row, self.reviewer)
        self._hand.skipped.add(event.row)
        return None

    def _to_undo(self, event_id: int | None) -> list[Event]:
        state = self.reviewing.state
        own = (event for event in reversed(state.all_events) if event.reviewer == self.reviewer)
        target = next((event for event in own if state.is_live(event) and event_id in (None, event.id)), None)
        if target is None or target.batch is None:
            return [] if target is None else [target]
        return [event for event in state.all_events if event.batch == target.batch and state.is_live(event)]

    def _undo_one(self, t: Transaction, target: Event, token: str | None) -> Event:
        event = replace(
            target,
            id=0,
            token=token or new_token(),
            run=self.reviewing.current.run,
            round=self.reviewing.round.number,
            kind="undo",
            before=self.reviewing.label_of(target.row),
            seconds=None,
            undoes=target.id,
            at=self.reviewing.clock(),
        )
        event = replace(event, after=self.reviewing.label_with(event))
        event = replace(event, id=t.append(event))
        if target.kind != "settle" and not self._still_answered(event):  # eliminating the last but one answers too
            t.forget_answer(target.row, self.reviewer)
        return event

    def _still_answered(self, undo: Event) -> bool:
        mine = self.reviewing.state.verdict_with(undo).answers.get(self.reviewer)
        return mine is not None and mine.status != "open"

    def _back_to(self, t: Transaction, target: Event, undo: Event) -> Assignment | None:
        if self._still_answered(undo):  # an earlier answer of theirs stands again
            token = new_token()
            t.rename(target.row, self.reviewer, token)
            now = self.reviewing.clock()
            return self._hand.shown(Claim(target.row, 0, self.reviewer, token, True, None, now))
        claim = self._hand.take(t, target.row, target.queue, target.position, control=target.control)
        return self._hand.shown(claim) if claim else self._hand.pick(t)

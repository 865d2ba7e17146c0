"""One reviewer's desk: what they are given, what they say about it, and how they take it back.

A decision, its place in the queue and the next example are one transaction: when `decide` returns, the answer is on
the disk and the next example is theirs alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pll.errors import UserError
from pll.review.assignment import Assignment, Step, new_token
from pll.review.claims import Hand
from pll.review.events import Kind, check_kind
from pll.review.undoing import take_back, to_undo
from pll.store.records import Event
from pll.store.store import check_event

if TYPE_CHECKING:
    from pll.review.session import ReviewSession

MOST_SHOWN = 50
"""Candidates whose weights are kept with a decision."""


class Desk:
    """A reviewer at work. Make it with `ReviewSession.desk`. Any number of threads may share it.

    Args:
        reviewing: the review.
        reviewer: the name under which decisions are kept.
        verified: whether somebody vouched for that name (OIDC).
    """

    def __init__(self, reviewing: ReviewSession, reviewer: str, *, verified: bool = False) -> None:
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
            return self._hand.seek(t, row)

    def release(self) -> None:
        """Give back everything held; what is half-decided stays as it is."""
        with self.reviewing.writing() as t:
            t.release(self.reviewer)

    def renew(self) -> None:
        """Still here: what is held stays held. To be called now and then while somebody looks at the page.

        A page may stay open over the weekend; so not for longer than `ReviewSession.longest_hold` without a decision.
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
            refusal = self._hand.refusal(t, given)
            if refusal:
                return Step(False, None, self._hand.held_or_next(t), refusal)
            event = self._event(given, kind, label, seconds=seconds, blind=blind, note=note)
            event = replace(event, id=t.append(event))
            coming = self._hand.put_down(t, event, given, stay=stay and kind == "eliminate")
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
            targets = to_undo(self.reviewing.state, self.reviewer, event_id)
            if not targets:
                return Step(False, None, self._hand.held_or_next(t), "There is nothing left to undo.")
            made, coming = take_back(self.reviewing, self._hand, t, targets, token)
        self.reviewing.took(*made)
        self._hand.skipped.discard(targets[0].row)
        return Step(True, made[-1], self._hand.again(coming) if coming else None)

    def history(self, limit: int = 50) -> list[Event]:
        """This reviewer's decisions that stand, the newest first."""
        return list(islice(self.reviewing.state.standing(self.reviewer), limit))

    # ---- many at once --------------------------------------------------------------------------------------------

    def batch(self, rows: Sequence[int] | npt.NDArray[np.int64]) -> list[Assignment]:
        """Take several examples in hand, for a grid; those that others have or have answered are left out.

        A batch that was in hand before is given back.
        """
        with self.reviewing.writing() as t:
            return self._hand.batch(t, rows)

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
                if t.event_of(one.token) is not None or self._hand.refusal(t, one):
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

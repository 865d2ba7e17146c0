"""What a reviewer holds, and what they are given next: the queue, the controls, and whoever else is at work.

Everything here happens within a transaction that excludes other writers of the review.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pll.review.assignment import BATCH, Assignment, assignment_of, new_token
from pll.review.queue import control_places
from pll.store.records import Claim, Event
from pll.store.store import Transaction

if TYPE_CHECKING:
    from pll.review.session import ReviewSession

Rows = npt.NDArray[np.int64]


class Hand:
    """One reviewer's.

    Args:
        reviewing: the review.
        reviewer: whose hand it is.

    Attributes:
        skipped: rows that were put off; they come again once all else is done.
        only: (n,) bool, examples to be handed out; None for all. Controls come all the same.
        focus: a name, and rows that come before the queue.
    """

    def __init__(self, reviewing: ReviewSession, reviewer: str) -> None:
        self._review = reviewing
        self._reviewer = reviewer
        self.skipped: set[int] = set()
        self.only: npt.NDArray[np.bool_] | None = None
        self.focus: tuple[str, Rows] | None = None

    def held_or_next(self, t: Transaction) -> Assignment | None:
        """What is held (batches apart), else the next example; None where nothing is left."""
        return self.held(t) or self.pick(t)

    def held(self, t: Transaction) -> Assignment | None:
        """What this reviewer holds, batches apart."""
        now = self._review.clock()
        for claim in t.claims():
            if claim.reviewer == self._reviewer and claim.queue != BATCH and claim.is_held(now):
                return self.shown(claim)
        return None

    def pick(self, t: Transaction, without: int | None = None) -> Assignment | None:
        """Take the next example; None where nothing is left.

        Args:
            without: an example that has just been decided.
        """
        free = self._free(t)
        if without is not None:
            free[without] = False
        put_off = np.zeros(len(free), dtype=np.bool_)
        put_off[np.array(sorted(self.skipped), dtype=np.int64)] = True
        for open_ in (free & ~put_off, free & put_off):
            for name, rows, control in self._sources():
                for position in np.flatnonzero(open_[rows]):
                    claim = self.take(t, int(rows[position]), name, int(position), control=control)
                    if claim is not None:
                        return self.shown(claim)
        return None

    def take(
        self, t: Transaction, row: int, queue: str = "", position: int | None = None, *, control: bool = False
    ) -> Claim | None:
        """Take one example in hand; None where all its slots are held or answered, or it is settled."""
        review, now = self._review, self._review.clock()
        slots = t.slots(row)
        lapsed = [slot for slot in slots if not slot.answered and not slot.is_held(now)]
        kept = [slot for slot in slots if slot not in lapsed]
        if review.state.verdict(row).settled or any(slot.reviewer == self._reviewer for slot in kept):
            return None
        free = set(range(int(review.asked[row]))) - {slot.slot for slot in kept}
        if not free:
            return None
        if lapsed:  # what somebody left behind would be in the way
            t.drop(row, [slot.slot for slot in lapsed])
        claim = Claim(
            row, min(free), self._reviewer, new_token(), False, review.expiry(), now, queue, position, control
        )
        t.take(claim)
        return claim

    def seek(self, t: Transaction, row: int) -> Assignment:
        """Any example, to decide it (again) where that is possible; else only to be looked at (its token is "")."""
        mine = self._slot(t.slots(row))
        if mine is None:
            claim = self.take(t, row)
            return self.shown(claim) if claim else self.to_look_at(row)
        renewed = replace(mine, token=new_token())
        if mine.answered:
            t.rename(row, self._reviewer, renewed.token)
        else:
            t.reopen(row, self._reviewer, renewed.token, self._review.clock(), self._review.expiry())
        return self.shown(renewed)

    def batch(self, t: Transaction, rows: Iterable[int]) -> list[Assignment]:
        """Take those of these examples that are free, in the place of the batch that was in hand before."""
        before = [claim.row for claim in t.claims() if claim.reviewer == self._reviewer and claim.queue == BATCH]
        t.release(self._reviewer, before)
        claims = (self.take(t, int(row), BATCH) for row in rows)
        return [self.shown(claim) for claim in claims if claim is not None]

    def refusal(self, t: Transaction, given: Assignment) -> str:
        """Why a decision cannot be taken, in words; "" where it can. Takes the example in hand where it lapsed."""
        slots = t.slots(given.row)
        mine = self._slot(slots)
        if mine is not None:
            if mine.token == given.token:
                return ""
            return "This example was shown in another window too, and is answered or open there."
        if given.token and self.take(t, given.row, given.queue, given.position, control=given.is_control):
            return ""
        if not slots:
            return "This example is settled; your answer was not stored."
        has = f"{slots[-1].reviewer} {'has answered' if slots[-1].answered else 'is looking at'}"
        return f"You were away for a while, and {has} this example now; your answer was not stored."

    def put_down(self, t: Transaction, event: Event, given: Assignment, *, stay: bool) -> Assignment | None:
        """After a decision: the example is answered, put aside, or (returned) still in hand."""
        mine = self._review.state.verdict_with(event).answers[self._reviewer]
        if mine.status != "open":
            t.answer(event.row, self._reviewer)
            return None
        if stay:
            token = new_token()
            t.reopen(event.row, self._reviewer, token, self._review.clock(), self._review.expiry())
            return replace(given, token=token)
        t.forget_answer(event.row, self._reviewer)
        self.skipped.add(event.row)
        return None

    def shown(self, claim: Claim) -> Assignment:
        """What the page shows of it."""
        review = self._review
        return assignment_of(claim, review.root, review.current, review.state.verdict(claim.row))

    def to_look_at(self, row: int, token: str = "") -> Assignment:
        """An example without taking it in hand."""
        now = self._review.clock()
        return self.shown(Claim(row, 0, self._reviewer, token, False, now, now))

    def again(self, given: Assignment) -> Assignment:
        """The same hand-out, with what has been said meanwhile."""
        now, place = self._review.clock(), (given.queue, given.position, given.is_control)
        return self.shown(Claim(given.row, 0, self._reviewer, given.token, False, now, now, *place))

    def _slot(self, slots: Iterable[Claim]) -> Claim | None:
        return next((slot for slot in slots if slot.reviewer == self._reviewer), None)

    def _free(self, t: Transaction) -> npt.NDArray[np.bool_]:
        """(n,) bool: examples that this reviewer can be given now. A fresh array."""
        asked, state, now = self._review.asked, self._review.state, self._review.clock()
        held = np.zeros(len(asked), dtype=np.int64)
        for claim in t.claims():
            if claim.is_held(now):
                held[claim.row] += asked[claim.row] if claim.reviewer == self._reviewer else 1
        free = (state.answers + held < asked) & ~state.answered_by(self._reviewer)
        free[list(state.settled)] = False
        return free

    def _sources(self) -> Iterator[tuple[str, Rows, bool]]:
        """(name, rows, whether controls), in the order in which they are to be tried."""
        review = self._review
        mix, shown = review.record.mix, review.state.said_by.get(self._reviewer, 0)
        if mix >= 1 or (mix > 0 and len(control_places(mix, shown, 1, review.record.seed))):
            yield "control", np.asarray(review.round.controls, dtype=np.int64), True
        if self.focus is not None:
            yield (*self.focus, False)
        name, order = review.order
        yield name, order if self.only is None else order[self.only[order]], False

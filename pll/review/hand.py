"""What a reviewer holds, and what they are given next: the queue, the controls, and whoever else is at work.

Everything here happens within a transaction that excludes other writers of the review.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pll.review.assignment import BATCH, Assignment, new_token
from pll.review.queue import control_places
from pll.store.records import Claim
from pll.store.store import Transaction

if TYPE_CHECKING:
    from pll.review.reviewing import Reviewing

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

    def __init__(self, reviewing: Reviewing, reviewer: str) -> None:
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
            mine = claim.reviewer == self._reviewer and claim.queue != BATCH
            if mine and claim.expires_at is not None and claim.expires_at > now:
                return self.shown(claim)
        return None

    def pick(self, t: Transaction, without: int | None = None) -> Assignment | None:
        """Take the next example; None where nothing is left.

        Args:
            without: an example that has just been decided.
        """
        free = self._review.free_for(t, self._reviewer)
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
        lapsed = [slot for slot in slots if not slot.answered and (slot.expires_at is None or slot.expires_at <= now)]
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

    def shown(self, claim: Claim) -> Assignment:
        """What the page shows of it."""
        return self._review.assignment(claim, self._reviewer)

    def to_look_at(self, row: int, token: str = "") -> Assignment:
        """An example without taking it in hand."""
        now = self._review.clock()
        return self.shown(Claim(row, 0, self._reviewer, token, False, now, now))

    def again(self, given: Assignment) -> Assignment:
        """The same hand-out, with what has been said meanwhile."""
        now, place = self._review.clock(), (given.queue, given.position, given.is_control)
        return self.shown(Claim(given.row, 0, self._reviewer, given.token, False, now, now, *place))

    def _sources(self) -> Iterator[tuple[str, Rows, bool]]:
        """(name, rows, whether controls), in the order in which they are to be tried."""
        review = self._review
        mix, shown = review.record.mix, review.shown_to(self._reviewer)
        if mix >= 1 or (mix > 0 and len(control_places(mix, shown, 1, review.record.seed))):
            yield "control", np.asarray(review.round.controls, dtype=np.int64), True
        if self.focus is not None:
            yield (*self.focus, False)
        name, order = review.order
        yield name, order if self.only is None else order[self.only[order]], False

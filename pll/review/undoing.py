"""Taking back what was said: another event, which says so; nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pll.review.assignment import Assignment, new_token
from pll.review.state import ReviewState
from pll.store.records import Event
from pll.store.store import Transaction

if TYPE_CHECKING:
    from pll.review.claims import Hand
    from pll.review.session import ReviewSession


def to_undo(state: ReviewState, reviewer: str, event_id: int | None = None) -> list[Event]:
    """This reviewer's last decision that stands, or that of `event_id`, with the whole batch it is of; [] for none."""
    target = next((event for event in state.standing(reviewer) if event_id in (None, event.id)), None)
    if target is None or target.batch is None:
        return [] if target is None else [target]
    return [event for event in state.all_events if event.batch == target.batch and state.is_live(event)]


def take_back(
    review: ReviewSession, hand: Hand, t: Transaction, targets: Sequence[Event], token: str | None = None
) -> tuple[list[Event], Assignment | None]:
    """Store that these decisions of one reviewer count no more.

    Args:
        hand: of the reviewer; what they hold is given back.
        token: of the (first) undo, so that it is stored once however often it is sent.

    Returns:
        The undos, and what is in hand now: the example, where it was one decision about it.
    """
    t.release(targets[0].reviewer)
    made = [_undo(review, t, target, token if place == 0 else None) for place, target in enumerate(targets)]
    target = targets[0]
    if len(targets) > 1 or target.kind == "settle":
        return made, hand.pick(t)
    if _still_answered(review, made[0]):  # an earlier answer of theirs stands again
        return made, hand.seek(t, target.row)
    claim = hand.take(t, target.row, target.queue, target.position, control=target.control)
    return made, hand.shown(claim) if claim else hand.pick(t)


def _undo(review: ReviewSession, t: Transaction, target: Event, token: str | None) -> Event:
    event = replace(
        target,
        id=0,
        token=token or new_token(),
        run=review.current.run,
        round=review.round.number,
        kind="undo",
        before=review.label_of(target.row),
        seconds=None,
        undoes=target.id,
        at=review.clock(),
    )
    event = replace(event, after=review.label_with(event))
    event = replace(event, id=t.append(event))
    if target.kind != "settle" and not _still_answered(review, event):  # eliminating the last but one answers too
        t.forget_answer(target.row, target.reviewer)
    return event


def _still_answered(review: ReviewSession, undo: Event) -> bool:
    mine = review.state.verdict_with(undo).answers.get(undo.reviewer)
    return mine is not None and mine.status != "open"

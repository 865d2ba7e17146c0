"""Open controls that block the certificate: controls count in the order drawn, so an open one blocks those behind it.

Who is assigned it, or whether it asks for another reviewer, does not change what the certificate says: every control
counts in its turn, by any reviewer. So it may be released at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pll.review import certification
from pll.review.session import ReviewSession
from pll.store.store import Reader
from pll.store.tables import Claim


@dataclass(frozen=True)
class ControlHolder:
    """Attributes:
    name: who has the control assigned.
    gone: when it comes to others if its holder is gone.
    latest: when it does so in any case.
    """

    name: str
    gone: timedelta
    latest: timedelta


@dataclass(frozen=True)
class BlockingControl:
    """The first open control, where others behind it are answered.

    Attributes:
        behind: answered controls that do not count yet.
        holders: who is assigned it.
        answered_by: who has answered it, where it asks for several reviewers.
        asked: how many these are.
    """

    behind: int
    holders: tuple[ControlHolder, ...]
    answered_by: tuple[str, ...]
    asked: int


def waiting(review: ReviewSession) -> BlockingControl | None:
    """What holds up controls that were answered; None where nothing does."""
    row, behind = _first_open(review)
    if row is None or not behind:
        return None
    with review.store.read(review.id) as reader:
        held = _held(review, reader, row)
    now = review.clock()
    answers = review.state.outcome(row).answers
    return BlockingControl(
        behind,
        tuple(ControlHolder(claim.reviewer, *_until(review, claim, now)) for claim in held),
        tuple(name for name, answer in answers.items() if answer.status != "open"),
        int(review.asked[row]),
    )


def free_control(review: ReviewSession, reviewer: str) -> bool:
    """Take the control that the certificate waits for from other reviewers than this one.

    It comes up in its turn, not marked as a control. The reviewer who had it may answer it until another one has.

    Returns:
        Whether anybody had it.
    """
    with review.writing() as t:
        row, _ = _first_open(review)
        held = [] if row is None else [claim for claim in _held(review, t, row) if claim.reviewer != reviewer]
        if row is not None and held:
            t.drop(row, [claim.slot for claim in held])
    return bool(held)


def _first_open(review: ReviewSession) -> tuple[int | None, int]:
    """The first open control, and how many behind it were assigned as controls of the round, and are answered.

    Those that the queue showed before their turn are not blocked.
    """
    controls, counted = review.round.controls, certification.controls_answered(review)
    if counted >= len(controls):
        return None, 0
    state, number = review.state, review.round.number
    behind = sum(
        state.is_closed(row, review.asked)
        and any(event.control and event.round == number for event in state.live_events(row))
        for row in controls[counted + 1 :]
    )
    return controls[counted], behind


def _held(review: ReviewSession, reader: Reader, row: int) -> list[Claim]:
    now = review.clock()
    return [claim for claim in reader.slots(row) if claim.is_held(now)]


def _until(review: ReviewSession, claim: Claim, now: datetime) -> tuple[timedelta, timedelta]:
    assert claim.expires_at is not None  # it is held
    return claim.expires_at - now, max(claim.expires_at, claim.since + review.longest_hold) - now

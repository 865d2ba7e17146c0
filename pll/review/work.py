"""Work done in a review: by whom and how fast."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from pll.review.events import Event
from pll.review.session import ReviewSession
from pll.review.state import ReviewState

PAUSE = 120.0
"""Seconds without a decision after which a reviewer was away, and the time does not count."""
RECENT_DECISIONS = 40
"""Number of latest decisions for the current rate."""
LATE_DECISIONS = 20
"""Number of latest ones of which it is said how many found a wrong label."""


@dataclass(frozen=True)
class ReviewWork:
    """What one reviewer, or all together, have done.

    Attributes
    ----------
    name
        Of the reviewer; "" for all.
    decisions
        Labels, examples left unsure or without a label, candidates ruled out; what was undone is out.
    unsure, none, undone
        Of these.
    seconds
        At work, pauses left out.
    verified
        Whether the name was verified.
    """

    name: str
    decisions: int
    unsure: int
    none: int
    undone: int
    seconds: float
    verified: bool = False

    @property
    def per_minute(self) -> float | None:
        """Decisions a minute; None with too few decisions."""
        return 60 * self.decisions / self.seconds if self.seconds >= 1 and self.decisions > 1 else None


def work_of(events: Iterable[Event], undone: set[int], name: str = "") -> ReviewWork:
    """Result of some events, in their order; those of one reviewer only, where `name` is not "".

    Parameters
    ----------
    events
        In their order.
    undone
        Numbers of the events that were undone.
    name
        Of the reviewer.
    """
    own = [event for event in events if name in ("", event.reviewer)]
    standing = [event for event in own if event.id not in undone and event.kind not in ("undo", "skip", "restore")]
    seconds = 0.0
    last: dict[str, datetime] = {}
    is_by_clock = False
    for event in own:
        before = last.get(event.reviewer)
        gap = math.inf if before is None else (event.at - before).total_seconds()
        if event.batch is None or before != event.at:
            is_by_clock = gap <= PAUSE
            seconds += gap if is_by_clock else 0.0
        if not is_by_clock:  # examples accepted together share their seconds
            seconds += min(event.seconds or 0.0, PAUSE)
        last[event.reviewer] = event.at
    return ReviewWork(
        name=name,
        decisions=len(standing),
        unsure=sum(event.kind == "unsure" for event in standing),
        none=sum(event.kind == "none" for event in standing),
        undone=sum(event.undoes is not None for event in own),
        seconds=seconds,
        verified=any(event.verified for event in own),
    )


def work_by_reviewer(review: ReviewSession) -> list[ReviewWork]:
    """Everybody's work, the most decisions first; then, where there are several, all together."""
    state = review.state
    names = dict.fromkeys(event.reviewer for event in state.all_events)
    each = [work_of(state.all_events, state.undone, name) for name in names]
    each.sort(key=lambda work: -work.decisions)
    return each if len(each) < 2 else [*each, work_of(state.all_events, state.undone)]


def recent_rate(state: ReviewState, name: str = "") -> float | None:
    """Decisions of late for each minute that a reviewer is at work; None where it is too early to say.

    Pauses are left out, and so are look-alikes accepted together; of several reviewers the minutes are added up.

    Parameters
    ----------
    state
        Of the review.
    name
        Of a reviewer; "" for all.
    """
    alone = (event for event in reversed(state.all_events) if event.batch is None and name in ("", event.reviewer))
    late = work_of([*islice(alone, RECENT_DECISIONS)][::-1], state.undone)
    return late.per_minute if late.decisions >= 4 else None


def were_wrong(state: ReviewState, most: int = LATE_DECISIONS) -> list[bool]:
    """Return whether the labels were wrong that people looked at last, the latest first.

    Parameters
    ----------
    state
        Of the review.
    most
        How many of them, at most.
    """
    seen: dict[int, bool] = {}  # each once, also where one candidate after the other was ruled out
    for event in reversed(state.all_events):
        if state.is_live(event) and event.row not in seen and (is_wrong := state.was_wrong(event.row)) is not None:
            seen[event.row] = is_wrong
        if len(seen) == most:
            break
    return list(seen.values())

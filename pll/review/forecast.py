"""Progress of a review: work done, rate, and controls still needed for the certificate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pll.review import certification
from pll.review.certificate import Certificate, ThresholdTest
from pll.review.sampling_plan import more_controls_needed
from pll.review.session import ReviewSession
from pll.review.state import ReviewState
from pll.store.tables import Event

PAUSE = 120.0
"""Seconds without a decision after which a reviewer was away, and the time does not count."""
RECENT = 40
"""Decisions that the present rate is taken from."""


@dataclass(frozen=True)
class Forecast:
    """What the controls say so far, and how many more it may take.

    Attributes:
        certificate: the present one; `explanation` has it as a sentence.
        step: the threshold that is nearest to being certified (further down than the present one); None where all is.
        needed: further controls (of all labels) after which it would be, if they go on as they went; None where no
            number would do.
        answered, drawn: controls.
    """

    certificate: Certificate
    step: ThresholdTest | None
    needed: int | None
    answered: int
    drawn: int


@dataclass(frozen=True)
class ReviewWork:
    """What one reviewer, or all together, have done.

    Attributes:
        name: of the reviewer; "" for all.
        decisions: labels given, examples left unsure or without a label, candidates ruled out; what was undone is out.
        labels, unsure, none, undone: of these.
        seconds: at work, pauses left out.
        verified: whether the name was verified.
    """

    name: str
    decisions: int
    labels: int
    unsure: int
    none: int
    undone: int
    seconds: float
    verified: bool = False

    @property
    def per_minute(self) -> float | None:
        """Decisions a minute; None where it is too early to say."""
        return 60 * self.decisions / self.seconds if self.seconds >= 1 and self.decisions > 1 else None


def forecast(review: ReviewSession) -> Forecast:
    """Return the present certificate, and the fewest further controls that may extend it.

    The forecast supposes that as many of the further controls are wrong as of those answered; it guarantees nothing.
    """
    found = certification.certificate(review)
    n, drawn = len(review.root), len(review.round.controls)
    certified = 0 if found.threshold is None else found.accepted
    best: tuple[float, ThresholdTest, int] | None = None
    for step in found.steps:
        if step.proven or step.accepted <= certified or step.risk <= 0:
            continue
        rate = min(0.99, step.wrong / step.controls) if step.controls else 0.0
        among = more_controls_needed(
            step.accepted, step.controls, step.wrong, max_error=found.max_error, level=1 - step.risk, error_rate=rate
        )
        if among is None:
            continue
        of_all = among * n / step.accepted
        if best is None or of_all < best[0]:
            best = (of_all, step, round(of_all + 0.5))
    if best is None:
        return Forecast(found, None, None, found.answered, drawn)
    return Forecast(found, best[1], best[2], found.answered, drawn)


def work_of(events: Iterable[Event], undone: set[int], name: str = "") -> ReviewWork:
    """Result of some events, in their order; those of one reviewer only, where a name is given."""
    own = [event for event in events if name in ("", event.reviewer)]
    standing = [event for event in own if event.undoes is None and event.id not in undone and event.kind != "skip"]
    seconds = 0.0
    last: dict[str, datetime] = {}
    is_by_clock = False
    for event in own:
        before = last.get(event.reviewer)
        gap = None if before is None else (event.at - before).total_seconds()
        if event.batch is None or before != event.at:
            is_by_clock = gap is not None and gap <= PAUSE
            seconds += gap if gap is not None and gap <= PAUSE else min(event.seconds or 0.0, PAUSE)
        elif not is_by_clock:  # what was accepted together shares the seconds that it took
            seconds += min(event.seconds or 0.0, PAUSE)
        last[event.reviewer] = event.at
    return ReviewWork(
        name=name,
        decisions=len(standing),
        labels=sum(event.kind in ("pick", "other", "accept", "settle") for event in standing),
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

    Pauses are left out, and of several reviewers the minutes are added up.

    Args:
        name: of a reviewer; "" for all.
    """
    own = [event for event in state.all_events[-RECENT * 4 :] if name in ("", event.reviewer)]
    start = max(0, len(own) - RECENT)
    while start > 0 and own[start].batch is not None and own[start].batch == own[start - 1].batch:
        start -= 1  # what was accepted together took its time together
    late = work_of(own[start:], state.undone)
    return late.per_minute if late.decisions >= 4 else None


def minutes_left(needed: int | None, mix: float, rate: float | None) -> float | None:
    """Minutes of work until so many controls are answered, at this rate and share of controls; None where unknown."""
    if needed is None or not rate or mix <= 0:
        return None
    return needed / mix / rate

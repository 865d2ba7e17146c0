"""Work done in a review: by whom, how fast, and results of the last session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pll.review.session import ReviewSession
from pll.review.state import ReviewState
from pll.review.tables import Event

PAUSE = 120.0
"""Seconds without a decision after which a reviewer was away, and the time does not count."""
RECENT = 40
"""Number of latest decisions for the current rate."""


@dataclass(frozen=True)
class ReviewWork:
    """What one reviewer, or all together, have done.

    Attributes
    ----------
    name
        Of the reviewer; "" for all.
    decisions
        Labels given, examples left unsure or without a label, candidates ruled out; what was undone is out.
    labels, unsure, none, undone
        Of these.
    seconds
        At work, pauses left out.
    verified
        Whether the name was verified.
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
        """Decisions a minute; None with too few decisions."""
        return 60 * self.decisions / self.seconds if self.seconds >= 1 and self.decisions > 1 else None


def work_of(events: Iterable[Event], undone: set[int], name: str = "") -> ReviewWork:
    """Result of some events, in their order; those of one reviewer only, where a name is given."""
    own = [event for event in events if name in ("", event.reviewer)]
    standing = [
        event
        for event in own
        if event.undoes is None and event.id not in undone and event.kind not in ("skip", "restore")
    ]
    seconds = 0.0
    last: dict[str, datetime] = {}
    is_by_clock = False
    for event in own:
        before = last.get(event.reviewer)
        gap = None if before is None else (event.at - before).total_seconds()
        if event.batch is None or before != event.at:
            is_by_clock = gap is not None and gap <= PAUSE
            seconds += gap if gap is not None and gap <= PAUSE else min(event.seconds or 0.0, PAUSE)
        elif not is_by_clock:  # examples accepted together share their seconds
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

    Parameters
    ----------
    name
        Of a reviewer; "" for all.
    """
    own = [event for event in state.all_events[-RECENT * 4 :] if name in ("", event.reviewer)]
    start = max(0, len(own) - RECENT)
    while start > 0 and own[start].batch is not None and own[start].batch == own[start - 1].batch:
        start -= 1  # the same
    late = work_of(own[start:], state.undone)
    return late.per_minute if late.decisions >= 4 else None


# ---- the last session ------------------------------------------------------------------------------------------------

BREAK = timedelta(minutes=30)
"""A pause of this length starts another work session."""


@dataclass(frozen=True)
class Summary:
    """One reviewer's work session.

    Attributes
    ----------
    reviewer
        Whose.
    begun, ended
        Times of the first and the last decision.
    decisions
        Not undone; confirmed, corrected, unsure, none are among them.
    confirmed
        The label was what the example had before; corrected: it was another.
    undone
        Taken back.
    seconds
        At work, pauses left out.
    mistaken
        (label before, label given) of the corrections, the most frequent first, with their number.
    """

    reviewer: str
    begun: datetime
    ended: datetime
    decisions: int
    confirmed: int
    corrected: int
    unsure: int
    none: int
    undone: int
    seconds: float
    mistaken: tuple[tuple[str, str, int], ...]

    @property
    def words(self) -> str:
        """The same in a sentence or two."""
        minutes = max(1, round(self.seconds / 60))
        sentences = [
            f"{count:,} {what}"
            for count, what in (
                (self.confirmed, "confirmed"),
                (self.corrected, "corrected"),
                (self.none, "none of these"),
                (self.unsure, "unsure"),
            )
            if count
        ]
        sentence = f"{self.decisions:,} decision{'' if self.decisions == 1 else 's'} in {minutes:,} min"
        text = f"{sentence}: {', '.join(sentences)}." if sentences else f"{sentence}."
        if self.mistaken:
            before, corrected, count = self.mistaken[0]
            text += f" Most frequent correction: {before} to {corrected} ({count:,}×)."
        return text


def last_work_session(review: ReviewSession, reviewer: str) -> Summary | None:
    """The work session that a reviewer is in, or was in last; None where they have decided nothing."""
    own = [event for event in review.state.all_events if event.reviewer == reviewer]
    if not own:
        return None
    start = len(own) - 1
    while start > 0 and own[start].at - own[start - 1].at <= BREAK:
        start -= 1
    return summary_of(own[start:], review.state.undone)


def summary_of(events: Sequence[Event], undone: set[int]) -> Summary:
    """Result of some events of one reviewer, at least one, in their order.

    Parameters
    ----------
    undone
        Ids of the events that do not count any more, and of their undos.
    """
    work = work_of(events, undone)
    standing = [event for event in events if event.undoes is None and event.id not in undone]
    labelled = [event for event in standing if event.label is not None and event.kind != "eliminate"]
    corrections = Counter(
        (event.before, event.label) for event in labelled if event.before is not None and event.before != event.label
    )
    corrected = sum(event.before != event.label for event in labelled)
    return Summary(
        reviewer=events[0].reviewer,
        begun=events[0].at,
        ended=events[-1].at,
        decisions=work.decisions,
        confirmed=len(labelled) - corrected,
        corrected=corrected,
        unsure=work.unsure,
        none=work.none,
        undone=work.undone,
        seconds=work.seconds,
        mistaken=tuple((str(before), str(after), count) for (before, after), count in corrections.most_common()),
    )

"""Summary of a reviewer's last work session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pll.review.forecast import work_of
from pll.review.session import ReviewSession
from pll.review.tables import Event

BREAK = timedelta(minutes=30)
"""So long without a decision, and what comes next is another work session."""


@dataclass(frozen=True)
class Summary:
    """One reviewer's work session.

    Attributes:
        reviewer: whose.
        begun, ended: times of the first and the last decision.
        decisions: not undone; confirmed, corrected, unsure, none are among them.
        confirmed: the label was what the example had before; corrected: it was another.
        undone: taken back.
        seconds: at work, pauses left out.
        mistaken: (label before, label given) of the corrections, the most frequent first, with their number.
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
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (self.confirmed, "confirmed"),
                (self.corrected, "corrected"),
                (self.none, "none of these"),
                (self.unsure, "unsure"),
            )
            if count
        ]
        said = f"{self.decisions:,} decision{'' if self.decisions == 1 else 's'} in {minutes:,} min"
        text = f"{said}: {', '.join(parts)}." if parts else f"{said}."
        if self.mistaken:
            before, given, count = self.mistaken[0]
            text += f" Most frequent correction: {before} to {given} ({count:,}×)."
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

    Args:
        undone: ids of the events that do not count any more, and of their undos.
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
        mistaken=tuple((str(before), str(given), count) for (before, given), count in corrections.most_common()),
    )

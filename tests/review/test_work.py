"""What reviewers have done, in figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pll.review.events import Event
from pll.review.work import work_of


def test_what_was_undone_does_not_count_and_pauses_are_no_work() -> None:
    def event(number: int, kind: str, label: str | None = None, minutes: float = 0.0, **more: object) -> Event:
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=30 * number, minutes=minutes)
        values = {"label": label, "before": "cat", "seconds": 20.0, "id": number} | more
        return Event("r", f"t{number}", "run", 1, number, str(number), "Ann", kind, at, **values)  # type: ignore[arg-type]

    events = [event(1, "pick", "cat"), event(2, "pick", "dog"), event(3, "pick", "dog"), event(4, "none")]
    events += [event(5, "unsure", minutes=9), event(6, "pick", "fox", 9), event(7, "undo", None, 9, undoes=6)]
    done = work_of(events, {6, 7})
    assert (done.decisions, done.none, done.unsure, done.undone) == (5, 1, 1, 1)
    assert done.seconds == 20 + 3 * 30 + 20 + 2 * 30

"""Where a review stands, in memory: kept up to date event by event, so that no key press reads the whole story."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.review.events import NOTHING, Verdict, verdict_of
from pll.store.records import Event

Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class ReviewState:
    """The verdict on every example, and who has answered what.

    Args:
        candidates: of the n examples, those of the first run of the review.

    Attributes:
        last: id of the last event taken in.
        answers: (n,) int64, how many reviewers have answered each example.
        undone: events that were taken back, by id.
        all_events: as they were committed. said_by: how many of them, undos apart, by reviewer.
        settled: examples on which somebody had the last word.
    """

    def __init__(self, candidates: CandidateSets) -> None:
        self.candidates = candidates
        self.last = 0
        self.answers: Ints = np.zeros(len(candidates), dtype=np.int64)
        self.undone: set[int] = set()
        self.all_events: list[Event] = []
        self.said_by: dict[str, int] = {}
        self.settled: set[int] = set()
        self._live: dict[int, list[Event]] = {}
        self._verdicts: dict[int, Verdict] = {}
        self._answered_by: dict[str, Flags] = {}
        self._row_of: dict[int, int] = {}

    def take_in(self, events: Iterable[Event]) -> None:
        """Further events, in the order of their ids; one that is known already changes nothing."""
        for event in events:
            if event.id <= self.last:
                continue
            self.last = event.id
            self.all_events.append(event)
            self._row_of[event.id] = event.row
            live = self._live.setdefault(event.row, [])
            if event.undoes is None:
                live.append(event)
                self.said_by[event.reviewer] = self.said_by.get(event.reviewer, 0) + 1
            else:
                self.undone |= {event.undoes, event.id}
                self._live[event.row] = [other for other in live if other.id != event.undoes]
            self._judge(event.row)

    def verdict(self, row: int) -> Verdict:
        """What people say about an example."""
        return self._verdicts.get(row, NOTHING)

    def is_closed(self, row: int, asked: Ints) -> bool:
        """Whether nobody is asked about it any more: it is settled, or answered by as many as were to be asked.

        Args:
            asked: (n,) how many reviewers each example is to be answered by.
        """
        return self.verdict(row).settled or bool(self.answers[row] >= asked[row])

    def verdict_with(self, event: Event) -> Verdict:
        """What they would say if this event were added."""
        live = self._live.get(event.row, [])
        after = [*live, event] if event.undoes is None else [other for other in live if other.id != event.undoes]
        return verdict_of(after, self.candidates.names(event.row))

    def verdicts(self) -> Iterator[tuple[int, Verdict]]:
        """Every example that somebody has said something about."""
        return iter(list(self._verdicts.items()))

    def answered_by(self, reviewer: str) -> Flags:
        """(n,) bool, the examples that this reviewer has answered. Do not change it."""
        if reviewer not in self._answered_by:
            self._answered_by[reviewer] = np.zeros(len(self.answers), dtype=np.bool_)
        return self._answered_by[reviewer]

    def live_events(self, row: int) -> Sequence[Event]:
        """The events on an example that were not undone."""
        return tuple(self._live.get(row, ()))

    def is_live(self, event: Event) -> bool:
        """Whether it still counts: it is not an undo, and was not undone."""
        return event.undoes is None and event.id not in self.undone

    def standing(self, reviewer: str) -> Iterator[Event]:
        """This reviewer's events that still count, the newest first."""
        return (event for event in reversed(self.all_events) if event.reviewer == reviewer and self.is_live(event))

    def rows_with(self, *statuses: str) -> Ints:
        """(k,) the examples whose verdict has one of these statuses, in the order of rows."""
        return np.array(sorted(row for row, found in self.verdicts() if found.status in statuses), dtype=np.int64)

    def labels(self) -> tuple[Ints, list[str]]:
        """(k,) the examples that people gave a label, in the order of rows, and these labels."""
        found = sorted((row, verdict.label) for row, verdict in self.verdicts() if verdict.label is not None)
        return np.array([row for row, _ in found], dtype=np.int64), [str(label) for _, label in found]

    def _judge(self, row: int) -> None:
        before, found = self.verdict(row), verdict_of(self._live[row], self.candidates.names(row))
        self._verdicts[row] = found
        names = before.answers.keys() | found.answers.keys()
        for name in names:
            closed = name in found.answers and found.answers[name].status != "open"
            self.answered_by(name)[row] = closed
        self.answers[row] = sum(answer.status != "open" for answer in found.answers.values())
        (self.settled.add if found.settled else self.settled.discard)(row)

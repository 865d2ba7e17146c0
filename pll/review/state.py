"""Decisions and their outcome for every example, in memory, updated event by event.

The kinds of events:

pick       one of the candidates is right
other      a class outside the candidates is right, perhaps one that no example had so far
none       none of the candidates is right; the right label is open
unsure     the reviewer is not sure
eliminate  one candidate is wrong, perhaps that proposed for a batch; the example stays open until one is left
skip       not now
accept     the label proposed for a batch of examples is right for this one
settle     where reviewers disagree: this label counts
restore    the label is that of the run again, whatever other decisions imply
undo       reverts one earlier event (and those of the same batch)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from pll.annotations import ALL_WRONG, Annotations
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.formats.label_frame import Decision
from pll.review.events import Event, ReviewRecord
from pll.weights import Flags, Ints

Kind = Literal["pick", "other", "none", "unsure", "eliminate", "skip", "accept", "settle", "restore", "undo"]

LABELLING = ("pick", "other", "accept", "settle")
"""Kinds whose label is right."""
NAMING = (*LABELLING, "eliminate")
"""Kinds that have a label."""
EVENT_KINDS: tuple[Kind, ...] = get_args(Kind)

Status = Literal["open", "label", "none", "unsure", "conflict"]


@dataclass(frozen=True)
class ReviewerAnswer:
    """The present answer of one reviewer to one example.

    Attributes
    ----------
    status
        `label`, `none` or `unsure`; `open` where they have only skipped or eliminated.
    label
        Of `label`.
    eliminated
        Candidates they ruled out.
    event
        The event that decided it, or the last one; None where all are undone.
    """

    status: Status
    label: str | None = None
    eliminated: frozenset[str] = frozenset()
    event: Event | None = None


@dataclass(frozen=True)
class Outcome(ReviewerAnswer):
    """Combined answer of all reviewers to one example; its event is the last of those who agree.

    Attributes
    ----------
    status
        `conflict` where they differ and the conflict is not settled; then it has no label.
    answers
        By reviewer.
    is_adjudicated
        Whether a person settled a conflict between reviewers.
    """

    answers: dict[str, ReviewerAnswer] = field(default_factory=dict)
    is_adjudicated: bool = False

    @property
    def deciders(self) -> list[str]:
        """Who gave the answer that counts: all who agree, or who settled a conflict."""
        if self.is_adjudicated:
            return [] if self.event is None else [self.event.reviewer]
        return [name for name, one in self.answers.items() if (one.status, one.label) == (self.status, self.label)]


NO_OUTCOME = Outcome("open")


def answer_of(events: Iterable[Event], candidates: Sequence[str]) -> ReviewerAnswer:
    """One reviewer's events on one example, in order and without what was undone, as an answer.

    A later answer replaces an earlier one. Where all candidates but one are eliminated, that one is the label.

    Parameters
    ----------
    events
        In their order.
    candidates
        Names of the labels in the set.
    """
    status: Status = "open"
    label, last, eliminated = None, None, frozenset[str]()
    for event in events:
        last = event
        if event.kind == "eliminate":
            assert event.label is not None  # checked before it is stored
            eliminated |= {event.label}
            left = [name for name in candidates if name not in eliminated]
            status, label = ("label", left[0]) if len(left) == 1 else ("open", None)
        elif event.kind in ("none", "unsure"):
            status, label = ("none" if event.kind == "none" else "unsure"), None
        elif event.kind in LABELLING:
            status, label = "label", event.label
            eliminated -= {event.label or ""}
    return ReviewerAnswer(status, label, eliminated, last)


def outcome_of(events: Iterable[Event], candidates: Sequence[str]) -> Outcome:
    """All events on one example, in order and without what was undone, as an outcome.

    Two labels, or a label and "none of these", are a conflict; "unsure" is not.

    Parameters
    ----------
    events
        In their order.
    candidates
        Names of the labels in the set.
    """
    by_reviewer: dict[str, list[Event]] = {}
    deciding: Event | None = None
    for event in events:
        if event.kind == "settle":
            deciding = event
        else:
            by_reviewer.setdefault(event.reviewer, []).append(event)
    answers = {name: answer_of(latest, candidates) for name, latest in by_reviewer.items()}
    ruled_out = frozenset[str]().union(*(answer.eliminated for answer in answers.values()))
    if deciding is not None:
        status: Status = "none" if deciding.label is None else "label"
        return Outcome(status, deciding.label, ruled_out, deciding, answers, is_adjudicated=True)
    clear = [answer for answer in answers.values() if answer.status in ("label", "none")]
    if len({answer.label for answer in clear}) > 1:
        return Outcome("conflict", None, ruled_out, None, answers)
    result = clear or [answer for answer in answers.values() if answer.status == "unsure"]
    if not result:
        return Outcome("open", None, ruled_out, None, answers)
    last = max(result, key=lambda answer: answer.event.id or 2**62 if answer.event else 0)
    return Outcome(last.status, last.label, ruled_out, last.event, answers)


def check_kind(kind: str, label: str | None) -> None:
    """Raise UserError for a kind that does not exist, a label too many, or one that is missing.

    Parameters
    ----------
    kind
        Of the decision.
    label
        Its label; None without one.
    """
    if kind not in EVENT_KINDS:
        raise UserError(f"There is no decision called {kind!r}; use one of {', '.join(EVENT_KINDS)}.")
    if kind in NAMING and not (label or "").strip():
        raise UserError(f"The decision {kind!r} needs a label.")
    if kind not in NAMING and label is not None:
        raise UserError(f"The decision {kind!r} takes no label; it has {label!r}.")


class ReviewState:
    """The outcome of every example, and who has answered what.

    Parameters
    ----------
    candidates
        Of the n examples, those of the first run of the review.

    Attributes
    ----------
    last
        Id of the last event taken in.
    answers
        (n,) int64, how many reviewers have answered each example.
    required
        (n,) int64, how many are to answer it; one, before `ask`.
    undone
        Events that were taken back, by id.
    all_events
        As they were committed.
    """

    def __init__(self, candidates: CandidateSets) -> None:
        self.candidates = candidates
        self.last = 0
        self.answers: Ints = np.zeros(len(candidates), dtype=np.int64)
        self.required: Ints = np.ones(len(candidates), dtype=np.int64)
        self.undone: set[int] = set()
        self.all_events: list[Event] = []
        self._live: dict[int, list[Event]] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._answered_by: dict[str, Flags] = {}

    def ask(self, record: ReviewRecord) -> None:
        """Ask as many reviewers of each example as the review says; the same in every process."""
        chosen = np.random.default_rng(record.seed).random(len(self.required)) < record.overlap_share
        self.required = np.where(chosen, record.overlap, 1).astype(np.int64)

    def update(self, events: Iterable[Event]) -> None:
        """Apply further events, in the order of their ids; events applied before are skipped."""
        for event in events:
            if event.id <= self.last:
                continue
            self.last = event.id
            self.all_events.append(event)
            live = self._live.setdefault(event.row, [])
            if event.undoes is None:
                live.append(event)
            else:
                self.undone |= {event.undoes, event.id}
                self._live[event.row] = [other for other in live if other.id != event.undoes]
            self._judge(event.row)

    def outcome(self, row: int) -> Outcome:
        """Return what people decided about an example."""
        return self._outcomes.get(row, NO_OUTCOME)

    def is_closed(self, row: int) -> bool:
        """Whether it needs no further answer: it is settled, or as many reviewers as planned have answered."""
        return self.outcome(row).is_adjudicated or bool(self.answers[row] >= self.required[row])

    def outcome_with(self, event: Event) -> Outcome:
        """Combined answer if this event were added."""
        live = self._live.get(event.row, [])
        after = [*live, event] if event.undoes is None else [other for other in live if other.id != event.undoes]
        return self._outcome_of(event.row, after)

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """All examples with an answer."""
        return iter(list(self._outcomes.items()))

    def answered_by(self, reviewer: str) -> Flags:
        """(n,) bool, the examples that this reviewer has answered. Do not change it."""
        if reviewer not in self._answered_by:
            self._answered_by[reviewer] = np.zeros(len(self.answers), dtype=np.bool_)
        return self._answered_by[reviewer]

    def live_events(self, row: int) -> Sequence[Event]:
        """The events on an example that were not undone."""
        return tuple(self._live.get(row, ()))

    def proposed(self, row: int) -> str | None:
        """The label of an example with an answer, before the first of them."""
        return self._live[row][0].before

    def was_wrong(self, row: int) -> bool | None:
        """Whether people named another label than the proposed one, or ruled that out; None where they left it open.

        Of an example with an event that counts.
        """
        outcome, proposed = self.outcome(row), self.proposed(row)
        if outcome.status in ("label", "none"):
            return outcome.label != proposed
        return True if outcome.status == "open" and proposed in outcome.eliminated else None

    @property
    def rows_as_run(self) -> set[int]:
        """The examples whose label stays that of the run: it was restored, reviewers differ, or nobody could tell."""
        restored = {event.row for event in self.all_events if event.kind == "restore" and self.is_live(event)}
        return restored | {row for row, outcome in self.outcomes() if outcome.status in ("conflict", "unsure")}

    def is_live(self, event: Event) -> bool:
        """Whether it still counts: it is not an undo, and was not undone."""
        return event.undoes is None and event.id not in self.undone

    def live_events_by(self, reviewer: str) -> Iterator[Event]:
        """This reviewer's events that still count, the newest first."""
        return (event for event in reversed(self.all_events) if event.reviewer == reviewer and self.is_live(event))

    def labels(self) -> tuple[Ints, list[str]]:
        """(k,) the examples that people gave a label, in the order of rows, and these labels."""
        result = sorted((row, outcome.label) for row, outcome in self.outcomes() if outcome.label is not None)
        return np.array([row for row, _ in result], dtype=np.int64), [str(label) for _, label in result]

    def decisions(self) -> dict[int, Decision]:
        """Labels, and "none of these", by row, and who said so; unsure and unsettled conflicts are no decisions."""
        return {
            row: Decision(outcome.label, ", ".join(filter(None, outcome.deciders)), outcome.event.at)
            for row, outcome in sorted(self.outcomes())
            if outcome.status in ("label", "none") and outcome.event is not None
        }

    def _outcome_of(self, row: int, events: Sequence[Event]) -> Outcome:
        ruled_out = any(event.kind == "eliminate" for event in events)  # attribute lookups are slow in this loop
        return outcome_of(events, self.candidates.names(row) if ruled_out else ())

    def _judge(self, row: int) -> None:
        before, result = self.outcome(row), self._outcome_of(row, self._live[row])
        self._outcomes[row] = result
        names = before.answers.keys() | result.answers.keys()
        for name in names:
            closed = name in result.answers and result.answers[name].status != "open"
            self.answered_by(name)[row] = closed
        self.answers[row] = sum(answer.status != "open" for answer in result.answers.values())


def with_decisions(labels: Ints, votes: Annotations, state: ReviewState | None) -> Ints:
    """(n,) labels as people left them; `ALL_WRONG` where that is a new class, or none of these.

    None of these are the candidates. Where somebody named another label, by a rule that left it out, that may be right.

    Parameters
    ----------
    labels
        (n,) numbers of classes before that, −1 for none.
    votes
        Everybody's answers about the same examples.
    state
        The decisions; None for none.
    """
    place, result = {name: k for k, name in enumerate(votes.class_names)}, labels.copy()
    if state is None:
        return result
    for row, made in state.decisions().items():
        named = () if made.label else votes.votes[[row]].indices  # beside a label it does not matter
        left_out = {votes.class_names[k] for k in named} - set(state.candidates.names(row))
        result[row] = -1 if left_out else place.get(made.label or "", ALL_WRONG)
    return result

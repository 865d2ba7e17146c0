"""What a reviewer can say, and what several things said about one example come to.

pick       one of the candidates is right
other      a class outside the candidates is right, perhaps one that no example had so far
none       none of the candidates is right, and the reviewer does not say what is
unsure     the reviewer cannot tell
eliminate  one candidate is wrong; the example stays open until one is left
skip       not now
accept     the label proposed for a batch of examples is right for this one
settle     where reviewers disagree: this label counts
undo       takes back one earlier event (and those of the same batch)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pll.errors import UserError
from pll.store.records import Event

Kind = Literal["pick", "other", "none", "unsure", "eliminate", "skip", "accept", "settle", "undo"]

LABELLING = ("pick", "other", "accept", "settle")
"""Kinds that come with the right label."""
NAMING = (*LABELLING, "eliminate")
"""Kinds that come with a label at all."""
ANSWERING = ("pick", "other", "accept", "none", "unsure")
"""Kinds that close the example for the reviewer."""
KINDS = (*ANSWERING, "eliminate", "skip", "settle", "undo")

Status = Literal["open", "label", "none", "unsure", "conflict"]


@dataclass(frozen=True)
class Answer:
    """What one reviewer has said about one example, all in all.

    Attributes:
        status: `label`, `none` or `unsure`; `open` where they have only skipped or eliminated.
        label: of `label`.
        eliminated: candidates they ruled out.
        event: the event that decided it, or the last one; None where nothing stands any more.
    """

    status: Status
    label: str | None = None
    eliminated: frozenset[str] = frozenset()
    event: Event | None = None


@dataclass(frozen=True)
class Verdict:
    """What all reviewers together say about one example.

    Attributes:
        status: `conflict` where they differ and nobody has settled it; then it has no label.
        label: the label that people gave it.
        eliminated: candidates that somebody ruled out.
        reviewer, at: who gave the answer that counts (the last of those who agree), and when.
        event: that answer's event.
        answers: by reviewer.
        settled: whether a settlement decided.
    """

    status: Status
    label: str | None
    eliminated: frozenset[str]
    reviewer: str
    at: datetime | None
    event: Event | None
    answers: dict[str, Answer]
    settled: bool = False


NOTHING = Verdict("open", None, frozenset(), "", None, None, {})


def answer_of(events: Iterable[Event], candidates: Sequence[str]) -> Answer:
    """One reviewer's events on one example, in order and without what was undone, as an answer.

    A later answer replaces an earlier one. Where all candidates but one are eliminated, that one is the label.
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
    return Answer(status, label, eliminated, last)


def verdict_of(events: Iterable[Event], candidates: Sequence[str]) -> Verdict:
    """All events on one example, in order and without what was undone, as a verdict.

    Whoever is unsure does not contradict; two labels, or a label and "none of these", do.
    """
    by_reviewer: dict[str, list[Event]] = {}
    settled: Event | None = None
    for event in events:
        if event.kind == "settle":
            settled = event
        else:
            by_reviewer.setdefault(event.reviewer, []).append(event)
    answers = {name: answer_of(said, candidates) for name, said in by_reviewer.items()}
    ruled_out = frozenset[str]().union(*(answer.eliminated for answer in answers.values()))
    if settled is not None:
        status: Status = "none" if settled.label is None else "label"
        return Verdict(status, settled.label, ruled_out, settled.reviewer, settled.at, settled, answers, settled=True)
    clear = [answer for answer in answers.values() if answer.status in ("label", "none")]
    if len({answer.label for answer in clear}) > 1:
        return Verdict("conflict", None, ruled_out, "", None, None, answers)
    found = clear or [answer for answer in answers.values() if answer.status == "unsure"]
    if not found:
        return Verdict("open", None, ruled_out, "", None, None, answers)
    last = max(found, key=lambda answer: answer.event.id or 2**62 if answer.event else 0)
    assert last.event is not None  # an answer rests on an event
    return Verdict(last.status, last.label, ruled_out, last.event.reviewer, last.event.at, last.event, answers)


def check_kind(kind: str, label: str | None) -> None:
    """Raises UserError for a kind that does not exist, a label too many, or one that is missing."""
    if kind not in KINDS:
        raise UserError(f"There is no decision called {kind!r}; use one of {', '.join(KINDS)}.")
    if kind in NAMING and kind != "settle" and not (label or "").strip():
        raise UserError(f"The decision {kind!r} needs a label.")
    if kind not in NAMING and label is not None:
        raise UserError(f"The decision {kind!r} takes no label; {label!r} was given.")

"""What passes between a desk and who sits at it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from pll.review.events import Verdict
from pll.review.label_snapshot import LabelSnapshot
from pll.store.records import Claim, Event

BATCH = "batch"
"""Under this queue name the examples of a batch are held."""


@dataclass(frozen=True)
class Choice:
    """One candidate of an example: its name, the model's weight, whether somebody ruled it out."""

    label: str
    weight: float
    eliminated: bool = False


@dataclass(frozen=True)
class Assignment:
    """An example in a reviewer's hands.

    Attributes:
        row, example: which, by place and by id.
        token: goes with the decision, so that it is stored once however often it is sent. "" where the example is only
            looked at, and cannot be decided by this reviewer.
        choices: the candidates, the heaviest first.
        identified, confidence: the model's label and its weight.
        queue, position: the order it came up in ("control", "focus", "batch", "" where sought out) and its place.
        is_control: reviewers are not to see it.
        verdict: what people have said about it so far.
        mine: this reviewer's own label, where they have decided before.
    """

    row: int
    example: str
    token: str
    choices: tuple[Choice, ...]
    identified: str
    confidence: float
    queue: str
    position: int | None
    is_control: bool
    verdict: Verdict
    mine: str | None = None


@dataclass(frozen=True)
class Step:
    """What came of a decision.

    Attributes:
        stored: whether it was written down now; False where it had been already, or was refused.
        event: the event; None where refused.
        next: what to look at next; None where nothing is left.
        notice: what the reviewer should know, in words; "" mostly.
    """

    stored: bool
    event: Event | None
    next: Assignment | None
    notice: str = ""


def assignment_of(claim: Claim, root: LabelSnapshot, current: LabelSnapshot, verdict: Verdict) -> Assignment:
    """What a page shows of an example in somebody's hands.

    Args:
        root: the first run's labels; its candidates are offered also where a taught run has ruled them out.
        current: the labels under review.
        verdict: what people have said about the example so far.
    """
    row = claim.row
    weights = current.weights_of(row)
    names = dict.fromkeys((*weights, *root.candidates.names(row)))
    mine = verdict.answers.get(claim.reviewer)
    return Assignment(
        row=row,
        example=str(root.ids[row]),
        token=claim.token,
        choices=tuple(Choice(name, weights.get(name, 0.0), name in verdict.eliminated) for name in names),
        identified=str(current.labels[row]),
        confidence=float(current.sharp.confidence[row]),
        queue=claim.queue,
        position=claim.position,
        is_control=claim.control,
        verdict=verdict,
        mine=None if mine is None else mine.label,
    )


def new_token() -> str:
    """One that nobody has used and nobody can guess."""
    return secrets.token_urlsafe(16)

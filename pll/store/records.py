"""The rows of the tables as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Event:
    """Something a reviewer did. What each kind means: `pll.review.events`.

    Attributes:
        id: grows in the order in which events were committed; 0 before it is stored.
        token: unique within the review; an event of the same token is not stored twice.
        run, round: the model whose label weights were shown.
        row, example: which example, by its place among the training examples and by its id.
        reviewer, verified: who, and whether somebody vouched for the name.
        kind: of `pll.review.events.KINDS`.
        label: what was picked, eliminated, accepted or settled on; a class name.
        before, after: the label of the example before and after, the model's where no person had decided.
        seconds: time spent.
        shown: (label, weight) of the candidates, heaviest first, the first 50.
        queue, position: the order it came up in, and its place there; "" where it was sought out.
        control: whether it was handed out as a random control.
        blind: whether the model's view was hidden.
        batch: common to events of one stroke.
        undoes: the event that this one undoes.
        at: when, UTC.
    """

    review: str
    token: str
    run: str
    round: int
    row: int
    example: str
    reviewer: str
    kind: str
    at: datetime
    verified: bool = False
    label: str | None = None
    before: str | None = None
    after: str | None = None
    seconds: float | None = None
    shown: tuple[tuple[str, float], ...] = ()
    queue: str = ""
    position: int | None = None
    control: bool = False
    blind: bool = False
    batch: str | None = None
    undoes: int | None = None
    note: str = ""
    id: int = 0


@dataclass(frozen=True)
class Claim:
    """An example in a reviewer's hands (or answered by them).

    Attributes:
        slot: 0 … reviewers asked − 1.
        token: that of the decision which this hand-out will bring.
        expires_at: from then on others may have it; None once answered.
    """

    row: int
    slot: int
    reviewer: str
    token: str
    answered: bool
    expires_at: datetime | None
    since: datetime
    queue: str = ""
    position: int | None = None
    control: bool = False

    def is_held(self, now: datetime) -> bool:
        """Whether it is in somebody's hands: not answered, and they were heard of not long ago."""
        return self.expires_at is not None and self.expires_at > now


@dataclass(frozen=True)
class Opened:
    """How labels came under review, and by whom.

    Attributes:
        how: one of `HOW`; None where that was not recorded (rounds of before tables version 0002).
        by: the person who did it; None where no person did, or nobody wrote it down.
        verified: whether somebody vouched for that name.
    """

    how: str | None = None
    by: str | None = None
    verified: bool = False


HOW = ("first", "taught", "taken over", "new promise", "run went on")
"""The review was begun; decisions taught a model; proposals were taken over; something else was promised of the same
labels; the run itself was continued, and its labels changed."""


@dataclass(frozen=True)
class ReviewRecord:
    """Attributes:
    examples: n.
    seed: of the choice which examples are asked twice, and of the mixing in of controls.
    overlap: reviewers asked per example, on a share `overlap_share` of the examples; one on the others.
    mix: share of the examples handed out that are random controls.
    """

    id: str
    examples: int
    seed: int
    overlap: int
    overlap_share: float
    mix: float
    opened_at: datetime


@dataclass(frozen=True)
class RoundRecord:
    """The labels of one model, as a certificate judges them.

    Attributes:
        number: 1, 2, …
        fingerprint: of labels and confidences, frozen when the round was opened.
        seed, share: of the draw of the controls; `controls` are its rows, in the order to be answered.
        max_error, level, thresholds: the promise, see `pll.review.certificate.certify`.
        opened: how these labels came under review, and by whom.
    """

    number: int
    run: str
    fingerprint: str
    seed: int
    share: float
    max_error: float
    level: float
    thresholds: tuple[float, ...]
    opened_at: datetime
    controls: tuple[int, ...] = field(default=(), repr=False)
    opened: Opened = Opened()

    @property
    def key(self) -> tuple[str, str]:
        """Which labels are judged: the run, and their fingerprint."""
        return self.run, self.fingerprint

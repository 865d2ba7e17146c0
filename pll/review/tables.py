"""Tables of a review, and their rows as dataclasses; `pll.review.database` makes them.

review    one row a review: a run and its retrained ones
event     append-only: every decision, and every undo; nothing in it is ever changed or deleted
claim     who has which example now, and who has answered it; follows from the events, stored for its primary key:
          an example has a slot for each of its reviewers
version   the labels of one model that came under review
plan      plans of certificates: the labels of a moment, and the draw of their controls; frozen when they are made

connection  the secret by which Label Studio reaches a run (`pll.export.connections`)

Of shared lessons:

lesson    a lesson that a teacher has shared: its id is in the students' link, the hash of its key in the teacher's
guess     what a student guessed

The events are a hash chain (`entry_hash`, `broken_links`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


class UtcDateTime(TypeDecorator[datetime]):
    """A time with its zone, in UTC; SQLite has no zones and gets none."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """To the database."""
        if value is None:
            return None
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From the database."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


WholeNumber = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts by itself for INTEGER keys only

review = Table(
    "review",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("examples", WholeNumber, nullable=False),
    Column("seed", WholeNumber, nullable=False),
    Column("overlap", Integer, nullable=False),
    Column("overlap_share", Float, nullable=False),
    Column("opened_at", UtcDateTime, nullable=False),
    Column("goal", String(20)),  # NULL: not chosen
)

event = Table(
    "event",
    metadata,
    Column("id", WholeNumber, primary_key=True, autoincrement=True),
    Column("review", String(200), ForeignKey("review.id"), nullable=False),
    Column("token", String(100), nullable=False),
    Column("run", String(200), nullable=False),
    Column("version", Integer, nullable=False),
    Column("row", WholeNumber, nullable=False),
    Column("example", Text, nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("verified", Boolean, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("label", Text),
    Column("before", Text),
    Column("after", Text),
    Column("seconds", Float),
    Column("weights", JSON, nullable=False),
    Column("queue", String(100), nullable=False),
    Column("position", WholeNumber),
    Column("control", Boolean, nullable=False),
    Column("blind", Boolean, nullable=False),
    Column("batch", String(100)),
    Column("undoes", WholeNumber, ForeignKey("event.id")),
    Column("note", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("hash", String(64)),  # NULL: cleared by whoever repaired the database by hand (docs/server.md)
    UniqueConstraint("review", "token"),
    UniqueConstraint("undoes"),  # what was undone cannot be undone again
    Index(None, "review", "id"),
)

claim = Table(
    "claim",
    metadata,
    Column("review", String(200), ForeignKey("review.id"), primary_key=True),
    Column("row", WholeNumber, primary_key=True),
    Column("slot", Integer, primary_key=True),
    Column("reviewer", Text, nullable=False),
    Column("token", String(100), nullable=False),
    Column("answered", Boolean, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("since", UtcDateTime, nullable=False),
    Column("queue", String(100), nullable=False),
    Column("position", WholeNumber),
    Column("control", Boolean, nullable=False),
    UniqueConstraint("review", "row", "reviewer"),
    Index(None, "review", "answered"),
)

version = Table(
    "version",
    metadata,
    Column("review", String(200), ForeignKey("review.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("run", String(200), nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("opened_at", UtcDateTime, nullable=False),
    Column("how", String(20), nullable=False),
    Column("opened_by", Text),
    Column("verified", Boolean, nullable=False),
)

plan = Table(
    "plan",
    metadata,
    Column("review", String(200), ForeignKey("review.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("run", String(200), nullable=False),
    Column("document", JSON, nullable=False),  # as plan.json has it
    Column("identified_label", JSON, nullable=False),
    Column("confidence", JSON, nullable=False),
)

connection = Table(
    "connection",
    metadata,
    Column("run", String(200), primary_key=True),
    Column("secret_hash", String(64), nullable=False),
    Column("made_by", Text),
    Column("made_at", UtcDateTime, nullable=False),
    Column("writes_back", Boolean, nullable=False),
)

lesson = Table(
    "lesson",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("key_hash", String(64), nullable=False),
    Column("owner", Text, nullable=False),
    Column("shared_at", UtcDateTime, nullable=False),
    UniqueConstraint("key_hash"),
)

guess = Table(
    "guess",
    metadata,
    Column("id", WholeNumber, primary_key=True, autoincrement=True),
    Column("lesson", String(40), ForeignKey("lesson.id"), nullable=False),
    Column("student", String(40), nullable=False),
    Column("name", Text, nullable=False),
    Column("idea", String(40), nullable=False),
    Column("question", Text, nullable=False),
    Column("choice", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Index(None, "lesson", "id"),
)


# ---- the hash chain: each entry of a list carries the hash of itself and of the entry before. A changed, removed or
# inserted entry is detected, and located, unless all later hashes are computed again.

START = "0" * 64
"""Hash before the first entry."""


def entry_hash(before: str, content: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of the hash before and of the content as JSON with sorted keys.

    Examples
    --------
    >>> entry_hash(START, {"id": "a"})[:8]
    'e609d782'
    """
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()


def chained(entries: Iterable[Mapping[str, Any]], start: str = START) -> list[dict[str, Any]]:
    """The entries with a field `hash` each."""
    result: list[dict[str, Any]] = []
    before = start
    for entry in entries:
        before = entry_hash(before, entry)
        result.append({**entry, "hash": before})
    return result


def broken_links(entries: Iterable[Mapping[str, Any]], start: str = START, *, some_without: bool = False) -> list[int]:
    """Positions of entries whose hash does not fit them and the entry before: altered, or something before is gone.

    Parameters
    ----------
    some_without
        Entries may lack a hash, where somebody repaired the database by hand; the next one that has it binds them.
    """
    before, broken = start, []
    for position, entry in enumerate(entries):
        made = entry_hash(before, {name: value for name, value in entry.items() if name != "hash"})
        stated = entry.get("hash")
        if stated is None and some_without:
            before = made
            continue
        if stated != made:
            broken.append(position)
        before = str(stated)
    return broken


# ---- the rows as values ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """Something a reviewer did. What each kind means: `pll.review.state`.

    Attributes
    ----------
    id
        Grows in the order in which events were committed; 0 before it is stored.
    token
        Unique within the review; an event of the same token is not stored twice.
    run, version
        The model whose label weights were shown.
    row, example
        Which example, by its place among the training examples and by its id.
    reviewer, verified
        Who, and whether the name was verified.
    kind
        Of `pll.review.state.KINDS`.
    label
        What was picked, eliminated, accepted or settled on; a class name.
    before, after
        The label of the example before and after, the model's where no person had decided.
    seconds
        Time spent.
    weights
        (label, weight) of the candidates, heaviest first, the first 50.
    queue, position
        The order it came up in, and its place there; "" where it was sought out.
    control
        Whether it was assigned as a random control.
    blind
        Whether the model's view was hidden.
    batch
        Common to events of one stroke.
    undoes
        The event that this one undoes.
    at
        When, UTC.
    hash
        Of this event and all before (`broken_links`); None where it is not stored.
    """

    review: str
    token: str
    run: str
    version: int
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
    weights: tuple[tuple[str, float], ...] = ()
    queue: str = ""
    position: int | None = None
    control: bool = False
    blind: bool = False
    batch: str | None = None
    undoes: int | None = None
    note: str = ""
    id: int = 0
    hash: str | None = field(default=None, compare=False)

    def content(self) -> dict[str, Any]:
        """Fields in the audit trail that the hash covers, as JSON values."""
        return {
            "at": self.at.astimezone(UTC).isoformat(),
            "reviewer": self.reviewer,
            "verified": self.verified,
            "kind": self.kind,
            "id": self.example,
            "label": self.label,
            "before": self.before,
            "after": self.after,
            "seconds": self.seconds,
            "undoes": self.undoes,
            "batch": self.batch,
            "control": self.control,
            "blind": self.blind,
            "queue": self.queue,
            "position": self.position,
            "weights": [list(pair) for pair in self.weights],
            "note": self.note,
            "run": self.run,
            "version": self.version,
        }


@dataclass(frozen=True)
class Claim:
    """An example assigned to a reviewer (or answered by them).

    Attributes
    ----------
    slot
        0 … reviewers per example − 1.
    token
        That of the decision which this assignment will bring.
    expires_at
        From then on others may have it; None once answered.
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

    def is_active(self, now: datetime) -> bool:
        """Whether it is assigned: not answered, and its reviewer was active lately."""
        return self.expires_at is not None and self.expires_at > now


GOALS = ("look", "certify")
"""Goals of a review: look at labels, or certify all labels."""


@dataclass(frozen=True)
class ReviewRecord:
    """A review, as the table `review` keeps it.

    Attributes
    ----------
    examples
        n.
    seed
        Of the choice which examples get several reviewers.
    overlap
        Reviewers per example, on a share `overlap_share` of the examples; one on the others.
    goal
        One of `GOALS`; None where not chosen.
    """

    id: str
    examples: int
    seed: int
    overlap: int
    overlap_share: float
    opened_at: datetime
    goal: str | None = None


@dataclass(frozen=True)
class LabelVersion:
    """Labels of one model that came under review.

    Attributes
    ----------
    number
        1, 2, …
    fingerprint
        Of labels and confidences, as they were when the review came to them.
    how
        Why these labels came under review: the review began ("first"), a model was retrained ("taught"), or the run
        continued ("run went on").
    opened_by, verified
        By whom, None if by no person; and whether that name was verified.
    """

    number: int
    run: str
    fingerprint: str
    opened_at: datetime
    how: str = "first"
    opened_by: str | None = None
    verified: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Which labels: the run, and their fingerprint."""
        return self.run, self.fingerprint

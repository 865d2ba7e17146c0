"""Tables of a review; `pll.review.database` makes them, their rows as values are in `pll.review.events`.

review    one row a review: a run and its retrained ones
event     append-only: every decision, and every undo; nothing in it is ever changed or deleted
claim     who has which example now, and who has answered it; follows from the events, stored for its primary key:
          an example has a slot for each of its reviewers
version   the labels of one model that came under review
plan      plans of certificates: the labels of a moment, and the draw of their controls; frozen when they are made

connection  the secret by which Label Studio reaches a run (`pll.export.connections`)
"""

from __future__ import annotations

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
        """To the database.

        Parameters
        ----------
        value
            A time with its zone, or None.
        dialect
            Of the database.
        """
        if value is None:
            return None
        value = value.astimezone(UTC)
        return value.replace(tzinfo=None) if dialect.name == "sqlite" else value

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From the database.

        Parameters
        ----------
        value
            What the database has.
        dialect
            Of the database.
        """
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
)

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

from dataclasses import fields
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
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

from pll.review.events import Claim, Event, LabelVersion, ReviewRecord

metadata = MetaData()


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
OF_KIND: dict[str, Any] = {"str": Text, "int": WholeNumber, "float": Float, "bool": Boolean, "datetime": UtcDateTime}
"""Type of a column by that of the field; all others are stored as JSON."""


def _of_review() -> Column[str]:
    """The column that says which review a row belongs to, first of its key."""
    return Column("review", Text, ForeignKey("review.id"), primary_key=True)


def _table(
    name: str, record: type[Any], *more: SchemaItem, key: tuple[str, ...], of_review: bool = False, **refers: str
) -> Table:
    """Return the table of these records: a column for each field, NULL where that may be None.

    Parameters
    ----------
    record
        Dataclass whose instances are rows.
    more
        Constraints and indices.
    key
        The primary key.
    of_review
        Whether rows belong to a review, which the records do not say; their key begins with it.
    refers
        Field → column of another table that it refers to.
    """
    columns: list[Column[Any]] = [_of_review()] if of_review else []
    for one in fields(record):
        kind, is_optional = str(one.type).removesuffix(" | None"), str(one.type).endswith(" | None")
        references = [ForeignKey(refers[one.name])] if one.name in refers else []
        nullable = is_optional and one.name not in key
        columns.append(
            Column(one.name, OF_KIND.get(kind, JSON), *references, primary_key=one.name in key, nullable=nullable)
        )
    return Table(name, metadata, *columns, *more)


review = _table("review", ReviewRecord, key=("id",))

event = _table(
    "event",
    Event,
    UniqueConstraint("review", "token"),
    UniqueConstraint("undoes"),  # what was undone cannot be undone again
    Index(None, "review", "id"),
    key=("id",),
    review="review.id",
    undoes="event.id",
)

claim = _table(
    "claim",
    Claim,
    UniqueConstraint("review", "row", "reviewer"),
    Index(None, "review", "answered"),
    key=("row", "slot"),
    of_review=True,
)

version = _table("version", LabelVersion, key=("number",), of_review=True)

plan = Table(
    "plan",
    metadata,
    _of_review(),
    Column("number", WholeNumber, primary_key=True),
    Column("run", Text, nullable=False),
    Column("document", JSON, nullable=False),  # as plan.json has it
    Column("identified_label", JSON, nullable=False),
    Column("confidence", JSON, nullable=False),
)

connection = Table(
    "connection",
    metadata,
    Column("run", Text, primary_key=True),
    Column("secret_hash", Text, nullable=False),
    Column("made_by", Text),
    Column("made_at", UtcDateTime, nullable=False),
)

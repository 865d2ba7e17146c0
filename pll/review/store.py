"""Queries on the tables of one review, in transactions that exclude every other writer of it.

Events become visible in the order of their ids: a writer holds the row of its review (SQLite: the file) until it has
committed. A reader that remembers the last id misses no event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection

from pll.errors import UserError
from pll.review import schema
from pll.review.certificate import DrawnPlan, LabelTable
from pll.review.certification import PlanRecord
from pll.review.database import Database
from pll.review.events import (
    CHAIN_START,
    Claim,
    Event,
    LabelVersion,
    ReviewRecord,
    broken_links,
    chained,
    entry_hash,
)

Record = TypeVar("Record", ReviewRecord, LabelVersion, Claim)

CLAIM = schema.claim.c


class Reader:
    """Looks at one review; within one transaction, so that everything it sees fits together."""

    def __init__(self, connection: Connection, review: str) -> None:
        self._db = connection
        self.review_id = review

    def review(self) -> ReviewRecord | None:
        """The review's own row; None where it has not been opened."""
        query = sa.select(schema.review).where(schema.review.c.id == self.review_id)
        result = self._db.execute(query).mappings().first()
        return None if result is None else _record(ReviewRecord, result)

    def _rows(self, table: sa.Table, *where: Any) -> Sequence[sa.RowMapping]:
        """Return the rows of this review that meet some conditions, in the order of their keys."""
        query = sa.select(table).where(table.c.review == self.review_id, *where).order_by(*table.primary_key)
        return self._db.execute(query).mappings().all()

    def events(self, after: int = 0) -> list[Event]:
        """Events with an id above `after`, in the order in which they were committed.

        Raises
        ------
        UserError
            All were asked for, and one is not what was stored.
        """
        result = [_event(row) for row in self._rows(schema.event, schema.event.c.id > after)]
        if not after:
            _check_chain(result)
        return result

    def event_of(self, token: str) -> Event | None:
        """The event stored under this token, if any."""
        return next(map(_event, self._rows(schema.event, schema.event.c.token == token)), None)

    def claims(self) -> list[Claim]:
        """Examples assigned and not answered, expired ones included, the oldest first."""
        unanswered = [_record(Claim, row) for row in self._rows(schema.claim, schema.claim.c.answered.is_(False))]
        return sorted(unanswered, key=attrgetter("since"))

    def slots(self, row: int) -> list[Claim]:
        """Who has, or has answered, this example."""
        return [_record(Claim, result) for result in self._rows(schema.claim, schema.claim.c.row == row)]

    def versions(self) -> list[LabelVersion]:
        """The labels that came under review, in order."""
        return [_record(LabelVersion, row) for row in self._rows(schema.version)]

    def plans(self) -> list[PlanRecord]:
        """Plans of certificates, in the order in which they were made.

        Raises
        ------
        UserError
            One of them was altered.
        """
        table = schema.plan.c
        query = sa.select(table.number, table.run, table.document).where(table.review == self.review_id)
        rows = self._db.execute(query.order_by(table.number))
        return [PlanRecord(number, run, DrawnPlan.from_json(document)) for number, run, document in rows]

    def frozen(self, number: int) -> tuple[list[str], list[float]]:
        """Labels and confidences that a plan is of, in the order of rows."""
        table = schema.plan.c
        of_plan = table.review == self.review_id, table.number == number
        query = sa.select(table.identified_label, table.confidence).where(*of_plan)
        labels, confidence = self._db.execute(query).one()
        return list(labels), list(confidence)

    def last_hash(self) -> str:
        """Hash of the last event; where that has none (docs/server.md), those of all events are computed."""
        table = schema.event.c
        query = sa.select(table.hash).where(table.review == self.review_id).order_by(table.id.desc()).limit(1)
        last = self._db.scalars(query).all()
        if None in last:
            last = [entry["hash"] for entry in chained(event.content() for event in self.events())]
        return str(last[-1]) if last else CHAIN_START

    def marks(self) -> tuple[object, ...]:
        """Return a value that changes with the settings, versions and plans of the review."""
        newest = [
            sa.select(sa.func.max(table.c.number)).where(table.c.review == self.review_id).scalar_subquery()
            for table in (schema.version, schema.plan)
        ]
        query = sa.select(schema.review, *newest).where(schema.review.c.id == self.review_id)
        return tuple(self._db.execute(query).one())

    def n_decisions(self) -> tuple[int, int]:
        """How many decisions count, and of how many reviewers: none that was undone, or that was no answer."""
        table = schema.event.c
        undone = sa.select(table.undoes).where(table.undoes.is_not(None))
        made = table.review == self.review_id, table.kind.not_in(("undo", "skip", "restore")), table.id.not_in(undone)
        query = sa.select(sa.func.count(), sa.func.count(sa.distinct(table.reviewer))).where(*made)
        decisions, reviewers = self._db.execute(query).one()
        return int(decisions), int(reviewers)


class Transaction(Reader):
    """Writes to one review; everything it did is committed together, or none of it."""

    def open_review(self, record: ReviewRecord) -> None:
        """Store a new review's row."""
        self._db.execute(sa.insert(schema.review).values(**asdict(record)))

    def configure(self, **values: Any) -> None:
        """Change `overlap`, `overlap_share` or `goal`."""
        self._db.execute(sa.update(schema.review).where(schema.review.c.id == self.review_id).values(**values))

    def append(self, event: Event) -> Event:
        """Store an event; return it with its id.

        Raises
        ------
        UserError
            A field holds a character that a database cannot store.
        """
        _check_fields(event)
        stored = replace(event, hash=entry_hash(self.last_hash(), event.content()))
        values = {field.name: getattr(stored, field.name) for field in fields(Event) if field.name != "id"}
        values["weights"] = [list(pair) for pair in event.weights]
        query = sa.insert(schema.event).values(**values).returning(schema.event.c.id)
        return replace(stored, id=int(self._db.execute(query).scalar_one()))

    def add_version(self, record: LabelVersion) -> None:
        """Store a new version."""
        self._db.execute(sa.insert(schema.version).values(review=self.review_id, **asdict(record)))

    def add_plan(self, record: PlanRecord, table: LabelTable) -> None:
        """Store the plan of a certificate, with the labels that it is of.

        Parameters
        ----------
        record
            The plan.
        table
            The labels.
        """
        values = {
            "document": record.plan.to_json() | {"made_at": record.plan.made_at},
            "identified_label": table.labels.tolist(),
            "confidence": table.confidence.tolist(),
        }
        self._db.execute(
            sa.insert(schema.plan).values(review=self.review_id, number=record.number, run=record.run, **values)
        )

    # ---- assignments ---------------------------------------------------------------------------------------------

    def take(self, claim: Claim) -> None:
        """Assign an example to a reviewer; the slot must be free (the database refuses a second holder)."""
        self._db.execute(sa.insert(schema.claim).values(review=self.review_id, **asdict(claim)))

    def change(self, row: int, reviewer: str, **values: Any) -> None:
        """Change fields of the claim of a reviewer who has the example or has answered it.

        Parameters
        ----------
        row
            Number of the example.
        reviewer
            Who.
        values
            Of the fields.
        """
        self._on_claims(sa.update(schema.claim).values(**values), CLAIM.row == row, CLAIM.reviewer == reviewer)

    def release(self, reviewer: str, rows: Iterable[int] | None = None) -> None:
        """Release the reviewer's unanswered assignments: some rows, or all.

        Parameters
        ----------
        reviewer
            Who.
        rows
            Numbers of the examples; None for all.
        """
        some = () if rows is None else (CLAIM.row.in_(list(rows)),)
        self._on_claims(sa.delete(schema.claim), CLAIM.reviewer == reviewer, CLAIM.answered.is_(False), *some)

    def renew(self, reviewer: str, expires_at: datetime, since: datetime) -> None:
        """Extend the reviewer's assignments made after `since` until the expiry.

        Parameters
        ----------
        reviewer
            Who.
        expires_at
            When they lapse.
        since
            Older ones are left.
        """
        later = sa.update(schema.claim).values(expires_at=expires_at)
        self._on_claims(later, CLAIM.reviewer == reviewer, CLAIM.answered.is_(False), CLAIM.since > since)

    def forget_answer(self, row: int, reviewer: str) -> None:
        """After an undo that does not go back to the example: its slot is free again.

        Parameters
        ----------
        row
            Number of the example.
        reviewer
            Who.
        """
        self._on_claims(sa.delete(schema.claim), CLAIM.row == row, CLAIM.reviewer == reviewer)

    def _on_claims(self, statement: sa.Update | sa.Delete, *where: sa.ColumnElement[bool]) -> None:
        """Change or delete the claims of this review that meet some conditions."""
        self._db.execute(statement.where(CLAIM.review == self.review_id, *where))


@contextmanager
def writing(database: Database, review: str) -> Iterator[Transaction]:
    """A transaction on one review. Committed, and on the disk, when the block ends; undone if it raises.

    Parameters
    ----------
    database
        Where it is.
    review
        Its id.

    Raises
    ------
    UserError
        The database cannot be reached or written to.
    """
    with database.write() as connection:
        if not database.is_sqlite:  # SQLite has one writer anyway
            lock = sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:review, 0))")
            connection.execute(lock, {"review": review})
        yield Transaction(connection, review)


@contextmanager
def reading(database: Database, review: str) -> Iterator[Reader]:
    """A look at one review.

    Parameters
    ----------
    database
        Where it is.
    review
        Its id.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from pathlib import Path
    >>> with reading(Database(Path(mkdtemp()) / "reviews.sqlite3"), "some run") as reader:
    ...     reader.events()
    []
    """
    with database.read() as connection:
        yield Reader(connection, review)


def now() -> datetime:
    """This moment, UTC."""
    return datetime.now(UTC)


def _record(kind: type[Record], row: Mapping[Any, Any]) -> Record:
    """Return a row as a dataclass whose fields are columns."""
    return kind(**{field.name: row[field.name] for field in fields(kind)})


def _event(row: Mapping[Any, Any]) -> Event:
    return Event(**{**row, "weights": tuple((str(label), float(weight)) for label, weight in row["weights"])})


def _check_chain(events: Sequence[Event]) -> None:
    """Raise UserError where one of all events of a review does not fit its hash, or undoes what is not there."""
    broken = broken_links([event.content() | {"hash": event.hash} for event in events])
    ids = {event.id for event in events}
    broken += [place for place, event in enumerate(events) if event.undoes is not None and event.undoes not in ids]
    if broken:
        event = events[min(broken)]
        raise UserError(
            f"The database of decisions is damaged: decision {min(broken) + 1} of {len(events)} (example "
            f"{event.example!r}, {event.reviewer!r}) is not what was stored, or one before it is missing. Restore a "
            "backup; docs/server.md says how to go on without one."
        )


def _check_fields(event: Event) -> None:
    """Raise UserError where a field holds what PostgreSQL refuses, and SQLite would not."""
    for name in ("reviewer", "label", "example", "note"):
        value = getattr(event, name) or ""
        if "\x00" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
            raise UserError(f"The {name} holds a character (NUL, or half of one) that a database cannot store.")

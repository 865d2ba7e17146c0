"""A database of the version before is brought to this one, and nothing in it is lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.runtime.migration import MigrationContext

from pll.export.audit import altered_events, audit_rows
from pll.store import Database, Store, migrate, tables
from pll.store.database import _checked_url, _engine
from pll.store.tables import Event, Opened, ReviewRecord

AT = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)
ROUNDS = (
    # number, run, fingerprint, how it is known to have come about
    (1, "a", "p", "first"),
    (2, "a", "p", "new promise"),
    (3, "b", "q", "taught"),
    (4, "b", "r", None),  # taken over, or continued: these tables do not tell
)


@pytest.fixture
def of_version_1(database_url: str) -> Iterator[str]:
    """The URL of a database that Candid made before rounds said by whom they were opened; with a review in it."""
    engine = _engine(_checked_url(database_url))
    migrate.migrate(engine, to="0001")
    with engine.begin() as connection:
        assert MigrationContext.configure(connection).get_current_revision() == "0001"
        record = ReviewRecord("review", 9, 1, 1, 1.0, 0.1, AT)
        of_then = {name: value for name, value in record.__dict__.items() if name != "goal"}
        connection.execute(sa.insert(tables.review).values(**of_then))
        for number, run, fingerprint, _ in ROUNDS:
            connection.execute(
                sa.text(
                    "INSERT INTO round (review, number, run, fingerprint, seed, share, max_error, level, thresholds, "
                    "opened_at) VALUES ('review', :number, :run, :fingerprint, 3, .1, .05, .95, '[0.5]', "
                    "'2026-11-20 12:30:00')"
                ),
                {"number": number, "run": run, "fingerprint": fingerprint},
            )
        connection.execute(sa.insert(tables.control).values(review="review", round=1, position=0, row=4))
    engine.dispose()
    yield database_url


def test_rounds_of_before_say_how_they_were_opened_where_that_is_known(of_version_1: str) -> None:
    store = Store(Database(of_version_1))
    with store.read("review") as reader:
        rounds, review = reader.rounds(), reader.review()
    assert [record.opened for record in rounds] == [Opened(how) for *_, how in ROUNDS]
    assert (rounds[0].controls, rounds[0].thresholds, rounds[0].max_error) == ((4,), (0.5,), 0.05)
    assert review is not None and review.opened_at == AT
    with store.write("review") as t:
        t.open_round(
            rounds[0].__class__(**(rounds[0].__dict__ | {"number": 5, "opened": Opened("taken over", "Ann", True)}))
        )
    with store.read("review") as reader:
        assert reader.rounds(4)[0].opened == Opened("taken over", "Ann", verified=True)
    store.database.close()


def test_a_database_of_version_1_is_brought_to_the_tables_of_the_code(of_version_1: str) -> None:
    from alembic.autogenerate import compare_metadata

    database = Database(of_version_1)
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, tables.metadata) == []
    database.close()


def test_no_private_function_of_alembic_is_called() -> None:
    names = {
        node.attr for node in ast.walk(ast.parse(Path(migrate.__file__).read_text())) if isinstance(node, ast.Attribute)
    }
    assert not {name for name in names if name.startswith("_")}


def test_events_of_before_are_bound_by_the_first_one_with_a_hash(database_url: str) -> None:
    store = Store(Database(database_url))
    event = Event("review", "t0", "run", 1, 3, "example 3", "Ann", "pick", AT, label="ant")
    with store.write("review") as t:
        t.open_review(ReviewRecord("review", 9, 1, 1, 1.0, 0.1, AT))
        old = {name: value for name, value in event.__dict__.items() if name not in ("id", "hash")} | {"shown": []}
        t._db.execute(sa.insert(tables.event).values(**old))  # as version 0002 stored it
        t.append(replace(event, token="t1", row=4, example="example 4"))
    with store.read("review") as reader:
        rows = audit_rows(reader.events())
        assert reader.promises() == []
    assert [row["hash"] is None for row in rows] == [True, False]
    assert altered_events(rows) == []
    rows[0]["label"] = "bee"
    assert altered_events(rows) == [rows[1]]
    store.database.close()

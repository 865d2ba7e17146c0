from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from pll.errors import UserError
from pll.review import schema
from pll.review.database import Database
from pll.review.events import Event, ReviewRecord
from pll.review.store import now, reading, writing


def test_many_may_start_at_the_same_time(database_url: str) -> None:
    made: list[Database] = []
    failed: list[BaseException] = []
    together = threading.Barrier(6)

    def start() -> None:
        try:
            together.wait(10)
            made.append(Database(database_url))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and len(made) == 6
    for database in made:
        database.close()


def test_a_new_file_that_another_program_writes_to_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "reviews.sqlite3"
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    end = threading.Timer(0.2, other.execute, ["ROLLBACK"])
    end.start()
    Database(file).close()
    assert not end.is_alive()
    other.close()


def test_tables_of_another_version_are_refused_and_stay_as_they_are(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Database(database_url)
    with writing(first, "r") as t:
        t.open_review(ReviewRecord("r", 3, 0, 1, 1.0, now()))
    further = sa.MetaData()
    for table in schema.metadata.sorted_tables:
        table.to_metadata(further)
    sa.Table("review", further, sa.Column("colour", sa.String(10)), extend_existing=True)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "metadata", further)
        with pytest.raises(UserError, match="another version of Candid"):
            Database(database_url)
    first.close()
    again = Database(database_url)
    with reading(again, "r") as reader:
        assert reader.review() is not None
    again.close()


def test_events_cannot_be_changed_or_deleted(database_url: str) -> None:
    database = Database(database_url)
    with writing(database, "r") as t:
        t.open_review(ReviewRecord("r", 3, 0, 1, 1.0, now()))
        t.append(Event("r", "t", "run", 1, 0, "a", "ann", "pick", now(), label="cat"))
    for statement in ("DELETE FROM event", "UPDATE event SET label = 'dog'"):
        with pytest.raises(sa.exc.DBAPIError, match="never changed or deleted"), database.write() as connection:
            connection.execute(sa.text(statement))
    with reading(database, "r") as reader:
        assert [event.label for event in reader.events()] == ["cat"]
    database.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "not a database URL"),
        ("mysql://host/name", "cannot be stored in 'mysql'"),
        ("sqlite://", "cannot be stored in 'sqlite'"),
        ("sqlite:///:memory:", "cannot be stored in 'sqlite'"),
        ("postgresql://ann:secret@127.0.0.1:1/none", "check that the server runs"),
    ],
)
def test_a_url_that_will_not_do_is_explained(url: str, says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        Database(url)
    assert "secret" not in str(caught.value)


def test_a_file_that_is_no_database_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite3"
    file.write_bytes(b"something else entirely, and long enough to be looked at" * 50)
    with pytest.raises(UserError, match="cannot be used"):
        Database(file)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_removed_is_noticed(tmp_path: Path, replaced: bool) -> None:
    file = tmp_path / "a.sqlite3"
    database = Database(file)
    with writing(database, "r") as t:
        t.open_review(ReviewRecord("r", 3, 0, 1, 1.0, now()))
        t.append(Event("r", "t", "run", 1, 0, "a", "ann", "pick", now(), label="cat"))
    if replaced:  # by an older copy, say
        Database(tmp_path / "b.sqlite3").close()
    for path in tmp_path.glob("a.sqlite3*"):
        path.unlink()
    if replaced:
        (tmp_path / "b.sqlite3").rename(file)
    with pytest.raises(UserError, match="removed or replaced while Candid was using it"):
        writing(database, "r").__enter__()
    with pytest.raises(UserError, match="nothing is stored now"):
        reading(database, "r").__enter__()
    assert file.exists() == replaced  # no empty one is put in its place
    database.close()


def test_a_server_that_was_away_is_explained_and_found_again(postgres: str) -> None:
    database = Database(postgres)
    other = sa.create_engine(postgres.replace("postgresql:", "postgresql+psycopg:"))
    record = ReviewRecord("r", 3, 0, 1, 1.0, now())
    explained = pytest.raises(UserError, match="check that the server runs")
    with other.connect() as killer, explained, writing(database, "r") as t:
        pid = t._db.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        killer.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        t.open_review(record)
    other.dispose()
    with writing(database, "r") as t:
        assert t.review() is None
        t.open_review(record)
        assert t.review() == record
    with database.write() as connection:  # others use this database too
        connection.execute(sa.text("DELETE FROM review"))
    database.close()

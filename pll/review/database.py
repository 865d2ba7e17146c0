"""Connection to the database: SQLite in Candid's home, or PostgreSQL where `PLL_DATABASE_URL` says so.

Every write is one transaction that is on the disk once it has been committed: SQLite in WAL mode with
`synchronous=FULL`, PostgreSQL with `synchronous_commit` on. Writers of SQLite wait for each other (`BEGIN IMMEDIATE`
and a busy timeout); readers never wait.

The first connection of a process makes the tables where there are none, in one transaction that excludes others
(SQLite's `BEGIN IMMEDIATE`, an advisory lock in PostgreSQL): however many processes start at the same time, it is done
once. Tables of another version are refused in one sentence.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    String,
    Table,
    create_engine,
    event,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.schema import CreateTable

from pll.errors import BusyError, UserError
from pll.extras import require_extra
from pll.io import writing_to
from pll.paths import database_url
from pll.review import schema

BUSY_SECONDS = 10.0
"""How long SQLite waits for a program that locks the file, for example to make the tables."""
WRITE_SECONDS = 2.5
"""How long a writer waits, while somebody looks at the page."""
STILL_BUSY_SECONDS, RECENT_SECONDS = 0.1, 1.0
"""How long a writer waits where another has just waited in vain, and for how long that is so: of those who queue up,
the last is refused hardly later than the first."""

SCHEMA = Table("candid_schema", MetaData(), Column("version", String(40), nullable=False))
"""One row: which version of the tables these are."""
APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER event_no_{what.lower()} BEFORE {what} ON event "
        "BEGIN SELECT RAISE(ABORT, 'decisions are never changed or deleted'); END"
        for what in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        "CREATE FUNCTION candid_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'decisions are never changed or deleted'; END $$",
        "CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON event "
        "FOR EACH ROW EXECUTE FUNCTION candid_append_only()",
    ],
}
"""What refuses to change or delete an event."""
LOCK = 0x43414E444944  # "CANDID"; any number that no other program uses

READS_ONLY = "candid_reading"
WRITE_SECONDS_OPTION = "candid_patience"

BUGS = (IntegrityError, ProgrammingError, DataError)
"""Database errors caused by the program, not by its user."""


class Database:
    """One database, its tables at the state this version needs. Safe to share between threads.

    Parameters
    ----------
    url
        `sqlite:///path`, `postgresql://user:password@host/name`, or a path of a SQLite file; by default
        `database_url()`.

    Raises
    ------
    UserError
        It cannot be reached, is of another version of Candid, or the URL is of neither kind.
    """

    def __init__(self, url: str | Path | None = None) -> None:
        self.url = _checked_url(url if url is not None else database_url())
        self.engine = _engine(self.url)
        try:
            with self._explained():
                _prepare(self.engine)
        except BaseException:
            self.close()
            raise
        self._file = _identity(self.url) if self.is_sqlite else None
        self._busy_until = 0.0  # by time.monotonic

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def words(self) -> str:
        """Where it is, without the password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string(hide_password=True)

    def write(self) -> AbstractContextManager[Connection]:
        """A transaction that is committed, and on the disk, when the block ends; rolled back if it raises."""
        patience = STILL_BUSY_SECONDS if time.monotonic() < self._busy_until else WRITE_SECONDS
        return self._transaction(**{WRITE_SECONDS_OPTION: patience})

    def read(self) -> AbstractContextManager[Connection]:
        """A transaction that only looks: of SQLite one consistent state, and no writer waits for it."""
        return self._transaction(**{READS_ONLY: True})

    @contextmanager
    def _transaction(self, **options: Any) -> Iterator[Connection]:
        self._check_in_place()
        with self._explained(), self.engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    def close(self) -> None:
        """Close all connections that are not in use."""
        self.engine.dispose()

    def _check_in_place(self) -> None:
        """Where the file was removed, SQLite would continue to write to a file without a name."""
        if not self.is_sqlite or _identity(self.url) == self._file:
            return
        raise UserError(
            f"The database {self.words} was removed or replaced while Candid was using it, so nothing is stored now. "
            "Put the file back where it was, with the -wal file beside it. To go on with another one, start Candid "
            "anew."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            if isinstance(error, BUGS):
                raise
            cause = str(error.orig).strip().splitlines()[0]
            if self.is_sqlite and "locked" in cause:
                self._busy_until = time.monotonic() + RECENT_SECONDS
                raise BusyError(
                    f"Another program keeps the database {self.words} to itself at this moment, and nothing can be "
                    "stored. If that lasts, end it: a copy, a check or an editor of the database, perhaps."
                ) from error
            raise UserError(f"The database {self.words} cannot be used ({cause}); {self._remedy(cause)}.") from error

    def _remedy(self, cause: str) -> str:
        if not self.is_sqlite:
            return "check that the server runs, and the name and password in PLL_DATABASE_URL; then try again"
        if "readonly" in cause:
            return "check the permissions of the file and its folder, and try again"
        return "check the free space, the permissions and that the file is a SQLite database"


def _checked_url(address: str | Path) -> URL:
    if isinstance(address, Path):
        return URL.create("sqlite", database=str(address))
    try:
        url = make_url(address)
    except ArgumentError as error:
        raise UserError(
            "PLL_DATABASE_URL is not a database URL; give postgresql://user:password@host/name or sqlite:///file."
        ) from error
    backend = url.get_backend_name()
    if backend in ("postgresql", "postgres"):
        require_extra("psycopg")
        return url.set(drivername="postgresql+psycopg")
    if backend != "sqlite" or url.database in (None, "", ":memory:"):
        raise UserError(f"Decisions cannot be stored in {backend!r}; use postgresql://… or sqlite:///file.")
    return url


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 10})
    folder = Path(str(url.database)).parent
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _prepare(engine: Engine) -> None:
    """Make the tables where there are none.

    Raises
    ------
    UserError
        They are those of another version.
    """
    own = _version()
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        there = set(inspect(connection).get_table_names())
        if SCHEMA.name in there and connection.execute(select(SCHEMA.c.version)).scalar() == own:
            return
        if not there.isdisjoint({SCHEMA.name, *schema.metadata.tables}):
            raise UserError(
                "The database was made by another version of Candid. Nothing in it was changed: use that version, or "
                "another database."
            )
        schema.metadata.create_all(connection, checkfirst=False)
        for statement in APPEND_ONLY[connection.dialect.name]:
            connection.exec_driver_sql(statement)
        SCHEMA.create(connection)
        connection.execute(insert(SCHEMA).values(version=own))


def _version() -> str:
    """Return a hash of the tables: whatever changes in one of them makes another version."""
    statements = [str(CreateTable(table)) for table in schema.metadata.sorted_tables]
    return hashlib.sha256("\n".join([*statements, str(APPEND_ONLY)]).encode()).hexdigest()[:16]


def _identity(url: URL) -> tuple[int, int] | None:
    """Return the identity of the file; None where there is none."""
    try:
        result = Path(str(url.database)).stat()
    except OSError:
        return None
    return result.st_dev, result.st_ino


def _on_connect(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver starts no transaction; `_on_begin` does
    cursor = connection.cursor()
    _use_wal(cursor)
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _use_wal(cursor: sqlite3.Cursor) -> None:
    """Switch the file to WAL, which it then stays in.

    Of several programs that switch a new file at the same time SQLite refuses all but one at once, without its busy
    timeout (each waits for the readers that the others are); so the waiting is done here.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _on_begin(connection: Connection) -> None:
    # A deferred transaction that reads first and writes later can fail half-way instead of waiting its turn.
    options = connection.get_execution_options()
    connection.exec_driver_sql(f"PRAGMA busy_timeout={int(options.get(WRITE_SECONDS_OPTION, BUSY_SECONDS) * 1000)}")
    connection.exec_driver_sql("BEGIN" if options.get(READS_ONLY) else "BEGIN IMMEDIATE")

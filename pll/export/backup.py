"""Backup and restore of all that Candid keeps: decisions, runs and uploads, that fit together, while a server runs.

    DIR/reviews.sqlite3   the decisions, of SQLite or of PostgreSQL
    DIR/runs  DIR/uploads copies of these folders of Candid's home
    DIR/backup.json       when it was made, and the checksum of every file; written last

The decisions are copied first, in one transaction: every run and file that they refer to existed before. A run that
is being trained is copied with its checkpoint, again until its files fit together.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa

import pll
from pll.errors import UserError
from pll.io import PART, check_free_space, folder_bytes, hash_of, write_json
from pll.paths import DECISIONS_DATABASE
from pll.review import schema
from pll.review.database import Database
from pll.runs.files import LOCK_FILE
from pll.runs.manifest import DamagedError, damages, read_manifest

BACKUP_FILE = "backup.json"
FOLDERS = ("runs", "uploads")
COPY_TRIES = 20
"""Attempts to copy a run that is being trained, before the backup is refused."""

Tell = Callable[[int, int, str], None]
"""Called with (folders done, folders in all, name of the next one)."""


@dataclass(frozen=True)
class Contents:
    """Contents of a backup.

    Attributes
    ----------
    runs, uploads
        Numbers of folders.
    decisions
        Number of events in the database.
    files, bytes
        Of all.
    damaged
        Runs that were damaged already; they are copied as they are.
    """

    runs: int
    uploads: int
    decisions: int
    files: int
    bytes: int
    damaged: tuple[str, ...] = ()


def backup(home: Path, database: Database, to: Path, *, tell: Tell = lambda done, total, name: None) -> Contents:
    """Copy everything into a new folder.

    Parameters
    ----------
    home
        Candid's home.
    database
        Of the decisions.
    to
        a folder that does not exist yet, or is empty.
    tell
        Called with the progress.

    Raises
    ------
    UserError
        The folder is not empty, is inside Candid's home, or has too little space; or the database cannot be read.
    """
    to = to.absolute()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UserError(f"{to} holds something already; give a new folder for the backup.")
    if to.is_relative_to(home.absolute()):
        raise UserError(f"{to} lies in Candid's own folder {home}; give a folder elsewhere, best on another disk.")
    check_free_space(to, folder_bytes(home), "the backup")
    to.mkdir(parents=True, exist_ok=True)
    copy = Database(to / DECISIONS_DATABASE)
    try:
        decisions = _copy_rows(database, copy)
    finally:
        copy.close()
    places = [place for name in FOLDERS for place in _children(home / name)]
    damaged = []
    for done, place in enumerate(places):
        tell(done, len(places), place.name)
        if not _copied(place, to / place.relative_to(home)):
            damaged.append(place.name)
    files = {name: (to / name).stat().st_size for name in _files(to)}
    about = {
        "version": 1,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "candid": pll.__version__,
        "decisions": decisions,
        "files": {name: hash_of(to / name, size) for name, size in files.items()},
    }
    write_json(to / BACKUP_FILE, about)
    return _contents(to, decisions, files, tuple(damaged))


def restore(source: Path, home: Path, database_url: str | Path) -> Contents:
    """Copy a backup into an empty home and an empty database.

    Parameters
    ----------
    source
        Folder of a backup.
    home
        Candid's home, without runs and uploads.
    database_url
        Of the database for the decisions, without reviews.

    Raises
    ------
    UserError
        No backup, a damaged one, or there is something at the place where it goes.
    """
    about = _read_about(source)
    listed: dict[str, str] = about["files"]
    for name, digest in listed.items():
        file = source / name
        if not file.is_file() or hash_of(file, file.stat().st_size) != digest:
            raise UserError(f"{file} is missing or damaged; this backup cannot be restored. Take another one.")
    for name in FOLDERS:
        if _children(home / name):
            raise UserError(f"{home / name} is not empty; restore into a new home (PLL_HOME), then change over.")
    check_free_space(home, folder_bytes(source), "what is restored")
    saved, database = Database(source / DECISIONS_DATABASE), Database(database_url)
    try:
        with database.read() as connection:
            if connection.execute(sa.select(sa.func.count()).select_from(schema.review)).scalar_one():
                raise UserError(f"The database {database.words} holds reviews already; give an empty one.")
        for name in FOLDERS:
            if (source / name).is_dir():
                shutil.copytree(source / name, home / name, dirs_exist_ok=True)
        decisions = _copy_rows(saved, database)
    finally:
        saved.close()
        database.close()
    return _contents(home, decisions, {name: (source / name).stat().st_size for name in listed}, ())


def _read_about(source: Path) -> dict[str, dict[str, str]]:
    try:
        about: dict[str, dict[str, str]] = json.loads((source / BACKUP_FILE).read_text(encoding="utf-8"))
        if not isinstance(about["files"], dict):
            raise TypeError("files")
    except FileNotFoundError as error:
        raise UserError(f"There is no whole backup in {source}: it has no {BACKUP_FILE}.") from error
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError(f"{source / BACKUP_FILE} is damaged ({error}); take another backup.") from error
    return about


def _copy_rows(source: Database, target: Database) -> int:
    """Copy all rows of all tables, in one transaction each; return the number of decisions."""
    with source.read() as reading, target.write() as writing:
        if not source.is_sqlite:
            reading.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        for table in schema.metadata.sorted_tables:
            for rows in reading.execute(sa.select(table).order_by(*table.primary_key)).mappings().partitions(1000):
                writing.execute(sa.insert(table), [dict(row) for row in rows])
            if not target.is_sqlite:
                _advance_sequences(writing, table)
        return int(writing.execute(sa.select(sa.func.count()).select_from(schema.event)).scalar_one())


def _advance_sequences(connection: sa.Connection, table: sa.Table) -> None:
    """Let the ids of PostgreSQL go on after those that were given."""
    for column in table.primary_key:
        sequence = connection.execute(
            sa.text("SELECT pg_get_serial_sequence(:t, :c)"), {"t": table.name, "c": column.name}
        ).scalar()
        most = None if sequence is None else connection.execute(sa.select(sa.func.max(column))).scalar()
        if most is not None:
            connection.execute(sa.text("SELECT setval(CAST(:s AS regclass), :m)"), {"s": sequence, "m": most})


def _copied(place: Path, to: Path) -> bool:
    """Copy a folder so that the files of the copy fit together; return whether it was sound before."""
    for attempt in range(COPY_TRIES):
        shutil.rmtree(to, ignore_errors=True)
        try:
            before = read_manifest(place)
            shutil.copytree(place, to, ignore=shutil.ignore_patterns(f"{PART}*", LOCK_FILE))
            if before == read_manifest(place) and not damages(to):
                return True
        except DamagedError:
            pass
        except (shutil.Error, FileNotFoundError):  # a file was thinned out or renamed meanwhile
            if not place.exists():  # deleted
                shutil.rmtree(to, ignore_errors=True)
                return True
        if attempt and not _changes(place):
            break
        time.sleep(0.2)
    if not to.exists():
        raise UserError(f"{place} cannot be copied; check its permissions.")
    return False


def _changes(place: Path) -> bool:
    """Return whether a process is at work in a folder."""
    newest = max((file.stat().st_mtime for file in place.rglob("*") if file.is_file()), default=0.0)
    return time.time() - newest < 60


def _contents(place: Path, decisions: int, files: dict[str, int], damaged: tuple[str, ...]) -> Contents:
    runs, uploads = (len(_children(place / name)) for name in FOLDERS)
    return Contents(runs, uploads, decisions, len(files), sum(files.values()), damaged)


def _children(folder: Path) -> list[Path]:
    return sorted(place for place in folder.iterdir() if place.is_dir()) if folder.is_dir() else []


def _files(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not file.name.endswith(("-wal", "-shm")):
            yield file.relative_to(folder).as_posix()

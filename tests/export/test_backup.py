"""Backup and restore: into an empty home, and every label and decision is compared."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from pathlib import Path

import pytest

from pll.errors import UserError
from pll.export.backup import BACKUP_FILE, backup, restore
from pll.review.database import Database
from pll.review.desk import Desk
from pll.review.label_snapshot import review_id
from pll.review.session import open_review
from pll.review.store import reading
from pll.runs import cleanup
from pll.runs.folder import RunFolder
from pll.runs.manifest import damages
from pll.runs.registry import RunRegistry
from tests.run_helpers import config, registry_in, result_of, wait_for, write_data


def reviewed(registry: RunRegistry, database: Database, data: Path) -> str:
    """A run with a few decisions, one of them undone; returns its id."""
    run = registry.start(config(data, params={"epochs": 3}))
    run.join(60)
    desk = Desk(open_review(run, database, registry.get), "Ada")
    for _ in range(6):
        given = desk.next()
        assert given is not None
        desk.decide(given, "pick", given.choices[0].label)
    desk.undo()
    return run.id


def empty_like(url: str, folder: Path) -> str:
    """The URL of an empty database of the same kind."""
    if url.startswith("sqlite"):
        return f"sqlite:///{folder / 'restored.sqlite3'}"
    import psycopg

    name = f"restored_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        old = connection.info.dbname
    return url.replace(f"/{old}", f"/{name}")


def test_every_label_and_decision_is_restored(tmp_path: Path, database_url: str) -> None:
    home, to = tmp_path / "home", tmp_path / "backup"
    data = write_data(tmp_path / "small.npz")
    upload = home / "uploads" / "abc" / "small.npz"
    upload.parent.mkdir(parents=True)
    shutil.copyfile(data, upload)
    database = Database(database_url)
    with registry_in(home / "runs") as registry:
        run_id = reviewed(registry, database, data)
        at_work = registry.start(config(data, params={"epochs": 100_000}))  # the server goes on meanwhile
        wait_for(lambda: len(at_work.folder.metrics()) > 2, "some epochs")
        made = backup(home, database, to)
        at_work.stop()
    assert (made.runs, made.uploads, made.decisions, made.damaged) == (2, 1, 7, ())
    review = review_id(RunFolder(home / "runs" / run_id))
    with reading(database, review) as reader:
        events, record, versions = reader.events(), reader.review(), reader.versions()
    database.close()

    new = tmp_path / "new"
    fresh = empty_like(database_url, tmp_path)
    there = restore(to, new, fresh)
    assert there.decisions == 7
    before, after = RunFolder(home / "runs" / run_id), RunFolder(new / "runs" / run_id)
    assert result_of(after) == result_of(before)
    assert damages(after.path) == damages(new / "runs" / at_work.id) == []
    assert (new / "uploads" / "abc" / "small.npz").read_bytes() == upload.read_bytes()
    restored = Database(fresh)
    with reading(restored, review) as reader:
        assert (reader.events(), reader.review(), reader.versions()) == (events, record, versions)
    with registry_in(new / "runs") as registry:  # and the review goes on
        desk = Desk(open_review(registry.get(run_id), restored, registry.get), "Ada")
        given = desk.next()
        assert given is not None
        step = desk.decide(given, "pick", given.choices[0].label)
        assert step.stored and step.event is not None and step.event.id > max(event.id for event in events)
    restored.close()
    with pytest.raises(UserError, match="is not empty"):
        restore(to, new, f"sqlite:///{tmp_path / 'other.sqlite3'}")


def test_what_is_no_whole_backup_is_refused(tmp_path: Path) -> None:
    home, to = tmp_path / "home", tmp_path / "backup"
    with registry_in(home / "runs") as registry:
        run = registry.start(config(write_data(tmp_path / "small.npz"), params={"epochs": 1}))
        run.join(60)
    database = Database(home / "reviews.sqlite3")
    open_review(run, database, registry.get)
    with pytest.raises(UserError, match="lies in Candid's own folder"):
        backup(home, database, home / "backup")
    backup(home, database, to)
    with pytest.raises(UserError, match="holds something already"):
        backup(home, database, to)
    database.close()
    listed = json.loads((to / BACKUP_FILE).read_text())["files"]
    with pytest.raises(UserError, match="holds reviews already"):
        restore(to, tmp_path / "new", home / "reviews.sqlite3")
    assert not (tmp_path / "new").exists()  # so that it can be done again, with another database
    labels = to / next(name for name in listed if name.endswith("labels.csv"))
    labels.write_text("damaged")
    with pytest.raises(UserError, match=r"labels\.csv is missing or damaged"):
        restore(to, tmp_path / "new", tmp_path / "new.sqlite3")
    (to / BACKUP_FILE).unlink()
    with pytest.raises(UserError, match="no whole backup"):
        restore(to, tmp_path / "new", tmp_path / "new.sqlite3")
    assert not (tmp_path / "new").exists()


def test_gc_removes_what_nobody_needs_and_nothing_else(tmp_path: Path) -> None:
    home = tmp_path / "home"
    data = write_data(tmp_path / "small.npz")
    old = time.time() - 100 * 86_400
    uploads = {}
    for name in ("used", "unused", "new"):
        uploads[name] = home / "uploads" / name / "small.npz"
        uploads[name].parent.mkdir(parents=True)
        shutil.copyfile(data, uploads[name])
        if name != "new":
            os.utime(uploads[name], (old, old))
    with registry_in(home / "runs") as registry:
        kept = registry.start(config(data, params={"epochs": 1}))
        gone = registry.start(config(data, params={"epochs": 1}))
        for run in (kept, gone):
            run.join(60)
        about = kept.folder.about()["run"]
        about["source"]["path"] = str(uploads["used"])  # as of a file that is too large to be copied
        kept.folder.note(run=about)
        registry.delete(gone.id)
    part = home / "runs" / kept.id / ".part-1-2-labels.csv"
    part.touch()
    os.utime(part, (old, old))
    result = cleanup.waste(home)
    assert {one.path for one in result} == {home / "bin" / gone.id, uploads["unused"], part}
    shutil.copytree(kept.path, home / "runs" / "damaged")
    (home / "runs" / "damaged" / "config.json").write_text("{")
    assert not {one.path for one in cleanup.waste(home)} & set(uploads.values())  # one may be its data
    shutil.rmtree(home / "runs" / "damaged")
    assert cleanup.remove(result) == sum(one.bytes for one in result) > 0
    assert cleanup.waste(home) == []
    assert uploads["used"].exists() and uploads["new"].exists()
    assert not uploads["unused"].parent.exists()

"""The commands that look after Candid's home: backup, restore and gc."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from pll.cli.options import note, print_result
from pll.paths import candid_home
from pll.runs import cleanup
from pll.store import Database, database_url
from pll.store import backup as backups


def backup(folder: str) -> None:
    """Copy everything into a new folder."""
    with tqdm(unit="folder") as bar:

        def show(done: int, total: int, name: str) -> None:
            bar.total, bar.n = total, done
            bar.set_description(name)

        database = Database(database_url())
        try:
            made = backups.backup(candid_home(), database, Path(folder), tell=show)
        finally:
            database.close()
    note([f"The run {name} was damaged before; it is copied as it is." for name in made.damaged])
    print(f"{folder}: {made.runs} runs, {made.uploads} uploads, {made.decisions} decisions, {made.bytes / 1e6:,.1f} MB")
    print_result(**(asdict(made) | {"damaged": list(made.damaged)}))


def restore(folder: str) -> None:
    """Copy a backup into an empty home and database."""
    made = backups.restore(Path(folder), candid_home(), database_url())
    print(f"{candid_home()}: {made.runs} runs, {made.uploads} uploads, {made.decisions} decisions")
    print_result(**(asdict(made) | {"damaged": list(made.damaged)}))


def gc(days: float, *, dry_run: bool) -> None:
    """Remove what nobody needs, or say what that would be."""
    found = cleanup.waste(candid_home(), days=days)
    for one in found:
        print(f"{one.path}: {one.why} ({one.bytes / 1e6:,.1f} MB)")
    freed = 0 if dry_run else cleanup.remove(found)
    print_result(found=len(found), bytes=sum(one.bytes for one in found), freed=freed)

"""The commands that look after Candid's home: backup, restore, gc and servers."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from pll.cli.options import note, print_result
from pll.paths import candid_home
from pll.runs import cleanup
from pll.runs.servers import ask_to_take_over, is_dead
from pll.runs.servers import servers as known_servers
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
    """Remove files that are no longer used, or list them."""
    found = cleanup.waste(candid_home(), days=days)
    for one in found:
        print(f"{one.path}: {one.why} ({one.bytes / 1e6:,.1f} MB)")
    freed = 0 if dry_run else cleanup.remove(found)
    print_result(found=len(found), bytes=sum(one.bytes for one in found), freed=freed)


def servers(*, take_over: bool) -> None:
    """List the servers of Candid's home; let running ones continue the runs of those that crashed."""
    found = []
    for server in known_servers(candid_home()):
        dead = is_dead(candid_home(), server)
        asked = (dead and take_over and ask_to_take_over(candid_home(), server)) or server.asked
        state = "dead" if dead else "alive"
        found.append({"host": server.host, "pid": server.pid, "state": state, "asked": asked})
        work = ", ".join(work.id + " (paused)" * work.paused for work in server.work) or "nothing"
        heard = f"last heard of {max(0.0, time.time() - server.beat):,.0f} s ago"
        print(f"process {server.pid} on {server.host}: {state}, {heard}; at work: {work}")
    if any(one["asked"] for one in found) and not any(one["state"] == "alive" for one in found):
        note(["No server is alive; the next one to start takes over."])
    print_result(servers=found)

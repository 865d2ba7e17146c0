"""Is a decision that was acknowledged ever lost, stored twice, or asked of two people? Kill -9 says.

Server processes, each with its reviewers, work through one review in one database. Again and again one of them is
killed (SIGKILL) in the middle of its work and started anew; its reviewers send again what was not acknowledged. At the
end the database is compared with what the reviewers were told.

    python -m benchmarks.durability                                    500 decisions, 5 kills, SQLite
    python -m benchmarks.durability --url postgresql://user@host/name  an empty database
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pll.candidates import CandidateSets
from pll.review.database import Database
from pll.review.desk import Assignment, Desk
from pll.review.label_snapshot import LabelSnapshot
from pll.review.session import ReviewSession, Settings
from pll.review.state import UNANSWERED
from pll.review.store import Store
from pll.weights import normalise

REVIEW = "durability"
PATIENCE = 300.0
"""Seconds after which a trial that has not ended has failed."""


@dataclass(frozen=True)
class Findings:
    """Attributes:
    decisions: in the database, undone ones apart.
    acknowledged: decisions that a reviewer was told were stored.
    lost: acknowledged, but not in the database.
    doubled: examples decided more than once.
    shared: examples that were in the hands of two reviewers.
    kills: how often a server was killed.
    resent: decisions sent again after a kill; already_there: those that had been stored without acknowledgement.
    """

    decisions: int
    acknowledged: int
    lost: int
    doubled: int
    shared: int
    kills: int
    resent: int
    already_there: int

    @property
    def is_clean(self) -> bool:
        """Nothing lost, nothing twice, nothing given to both."""
        return self.lost == self.doubled == self.shared == 0


def snapshot(n: int) -> LabelSnapshot:
    """n examples with three of five candidates each."""
    rng = np.random.default_rng(0)
    lists = [sorted(rng.choice(5, size=3, replace=False).tolist()) for _ in range(n)]
    sets = CandidateSets.from_lists(lists, 5, tuple("abcde"))
    weights = normalise(rng.random(sets.nnz).astype(np.float32) + 0.05, sets)
    return LabelSnapshot("run", np.arange(n).astype(np.str_), sets, weights)


def try_out(
    url: str, folder: Path, *, decisions: int = 500, kills: int = 5, servers: Sequence[Sequence[str]], seed: int = 0
) -> Findings:
    """One trial.

    Args:
        url: of an empty database.
        folder: for what the reviewers write down.
        decisions: examples in the review; each is decided once.
        kills: at random moments, spread over the review.
        servers: the reviewers of each server process.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pll.review.session"])
    rng = random.Random(seed)
    ReviewSession(REVIEW, snapshot(decisions), Store(Database(url)), settings=Settings()).store.database.close()

    def start(names: Sequence[str]) -> Any:
        process = context.Process(target=serve, args=(url, folder, list(names), decisions), daemon=True)
        process.start()
        return process

    running = [start(names) for names in servers]
    marks = sorted(rng.sample(range(decisions // 20, decisions * 9 // 10), kills))
    deadline = time.monotonic() + PATIENCE
    for turn, mark in enumerate(marks):
        while _acknowledged(folder) < mark:
            _check_time(deadline)
            time.sleep(0.002)
        time.sleep(rng.random() * 0.01)  # anywhere within a decision
        victim = turn % len(running)
        running[victim].kill()
        running[victim].join()
        running[victim] = start(servers[victim])
    for process in running:
        process.join(max(0.0, deadline - time.monotonic()))
        if process.exitcode != 0:
            process.kill()
            raise RuntimeError(f"A server ended with {process.exitcode} instead of finishing the review.")
    return _compare(url, folder, kills)


def serve(url: str, folder: Path, names: list[str], n: int) -> None:
    """A server process: a thread for each of its reviewers, until nothing is left."""
    review = ReviewSession(REVIEW, snapshot(n), Store(Database(url)))
    threads = [threading.Thread(target=review_all, args=(Desk(review, name), folder)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def review_all(desk: Desk, folder: Path) -> None:
    """A scripted reviewer: sends again what was not acknowledged, then goes on to the end."""
    with (folder / f"{desk.reviewer}.jsonl").open("a+", encoding="utf-8") as notes:

        def note(what: str, given: Assignment, **more: object) -> None:
            notes.write(json.dumps({"what": what, "row": given.row, "token": given.token, **more}) + "\n")
            notes.flush()

        pending = _pending(folder / f"{desk.reviewer}.jsonl")
        if pending is not None:
            given = Assignment(
                pending["row"], str(pending["row"]), pending["token"], (), "", 0, "", None, False, UNANSWERED
            )
            step = desk.decide(given, "pick", pending["label"])
            assert step.event is not None, step.notice
            note("acknowledged", given, event=step.event.id, label=pending["label"], again=True, stored=step.stored)
        coming = desk.next()
        while coming is not None:
            note("given", coming)
            label = coming.choices[coming.row % 3].label
            note("sent", coming, label=label)
            step = desk.decide(coming, "pick", label)
            assert step.stored and step.event is not None, step.notice
            note("acknowledged", coming, event=step.event.id, label=label)
            coming = step.next


def _notes(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:  # cut off by the kill
            continue
    return found


def _pending(file: Path) -> dict[str, Any] | None:
    """What was sent last, where it was not acknowledged."""
    notes = [note for note in _notes(file) if note["what"] != "given"]
    return notes[-1] if notes and notes[-1]["what"] == "sent" else None


def _acknowledged(folder: Path) -> int:
    return sum(file.read_bytes().count(b'"acknowledged"') for file in folder.glob("*.jsonl"))


def _check_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise RuntimeError("The review did not come to its end in time.")


def _compare(url: str, folder: Path, kills: int) -> Findings:
    store = Store(Database(url))
    with store.read(REVIEW) as reader:
        events = reader.events()
    store.database.close()
    notes = {file.stem: _notes(file) for file in folder.glob("*.jsonl")}
    acknowledged = [(name, note) for name, said in notes.items() for note in said if note["what"] == "acknowledged"]
    stored = {(event.reviewer, event.token): event for event in events}
    lost = 0
    for name, note in acknowledged:
        event = stored.get((name, note["token"]))
        lost += event is None or (event.row, event.label, event.id) != (note["row"], note["label"], note["event"])
    hands = {(name, note["row"]) for name, said in notes.items() for note in said if note["what"] == "given"}
    hands |= {(event.reviewer, event.row) for event in events}
    again = [note for _, note in acknowledged if note.get("again")]
    return Findings(
        decisions=len(events),
        acknowledged=len(acknowledged),
        lost=lost,
        doubled=sum(count > 1 for count in Counter(event.row for event in events).values()),
        shared=sum(count > 1 for count in Counter(row for _, row in hands).values()),
        kills=kills,
        resent=len(again),
        already_there=sum(not note["stored"] for note in again),
    )


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(description="Kill -9 in the middle of a review, and look what is left.")
    parser.add_argument("--url", help="of an empty database; by default a SQLite file that is made for it")
    parser.add_argument("--decisions", type=int, default=500)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    servers = (("Ann", "Bob"),)
    with tempfile.TemporaryDirectory() as place:
        url = options.url or f"sqlite:///{place}/reviews.sqlite3"
        begun = time.monotonic()
        found = try_out(
            url, Path(place), decisions=options.decisions, kills=options.kills, servers=servers, seed=options.seed
        )
    print(json.dumps(asdict(found) | {"clean": found.is_clean, "seconds": round(time.monotonic() - begun, 1)}))
    raise SystemExit(0 if found.is_clean else 1)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from benchmarks.durability import main as run_it  # under its own name, for the processes that are started

    run_it()

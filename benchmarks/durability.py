"""Two reviewers in two browsers, and a server that is killed again and again: is a decision ever lost, or made twice?

The real app, in Chromium. Each reviewer presses the key of a candidate, waits until the next example shows (that is the
acknowledgement), and presses the next. The server is killed (SIGKILL) while a decision is under way and started anew;
nobody reloads a page: the browsers find the server again, and send what was not acknowledged. At the end the database
is compared with what the reviewers saw.

    python -m benchmarks.durability                 500 decisions, 5 kills: a few minutes
    python -m benchmarks.durability --decisions 60 --kills 2
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.app import Server, chromium, prepared_run
from pll.review.database import Database
from pll.review.label_snapshot import review_id
from pll.review.store import Store
from pll.runs.registry import RunRegistry

REVIEWERS = ("Ann", "Bob")
PATIENCE = 90.0
"""Seconds that a reviewer waits for the next example before the trial has failed."""
AGAIN = 4.0
"""Seconds after which somebody presses again, where the desk does not say that it is saving."""
OPENING = 120_000
"""Milliseconds for a page to open, at the most."""
MEASURE = "candid-key-to-next"
"""What the desk calls the time from a key to the next example."""
LOOK = 0.14
"""Seconds for which a person looks at an example, at the least: the desk takes no earlier key."""


@dataclass
class Findings:
    """
    decisions: in the database.
    acknowledged: the reviewer saw the next example.
    lost: acknowledged, but not in the database.
    doubled: examples answered more than once.
    shared: examples shown to both, or answered by both.
    kills: how often the server was killed.
    pressed_again: keys that a page took no notice of, since it was just being built anew.
    milliseconds: from each key to the next example, kills apart.

    Attributes
    ----------
    """

    decisions: int = 0
    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    shared: int = 0
    kills: int = 0
    pressed_again: int = 0
    milliseconds: list[float] = field(default_factory=list, repr=False)

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        return not (self.lost or self.doubled or self.shared)


class Seat:
    """One reviewer at a browser."""

    def __init__(self, browser: Any, name: str, link: str) -> None:
        self.name = name
        self.page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        self.page.set_default_timeout(OPENING)
        self.page.goto(link)
        self.page.get_by_role("textbox", name="Your name").fill(name)
        self.page.keyboard.press("Enter")
        self.page.locator(".desk .pick").first.wait_for()
        self.asked: tuple[str, str] | None = None  # token and row that a key was pressed for
        self.seen_at = 0.0
        self.pressed_at, self.again = 0.0, 0
        self._not_timed: set[int] = set()
        self.rows: set[int] = set()  # everything that was in view

    def shown(self) -> tuple[str, str]:
        """Token and row of the example in view."""
        found = self.page.locator(".desk").first.evaluate("desk => [desk.dataset.token, desk.dataset.row]")
        self.rows.add(int(found[1]))
        return found[0], found[1]

    def press(self, key: str) -> None:
        """Answer what is in view."""
        self.page.wait_for_timeout(max(0.0, LOOK - (time.monotonic() - self.seen_at)) * 1000)
        self.asked = self.shown()
        self.page.keyboard.press(key)
        self.pressed_at = time.monotonic()

    def is_waiting(self) -> bool:
        """Whether the desk has taken the key and waits for the server."""
        return bool(self.page.locator(".desk").first.evaluate("() => Boolean(globalThis.candidPending)"))

    def acknowledged(self) -> int | None:
        """The row that was answered, once the next example is in view; else None."""
        if self.asked is None:
            return None
        if self.shown()[0] == self.asked[0]:
            if time.monotonic() - self.pressed_at > AGAIN and not self.is_waiting():
                self.again += 1  # the desk did not take the key: the page had just been built anew
                self.pressed_at = time.monotonic()
                self.page.keyboard.press("1")
            return None
        answered, self.asked, self.seen_at = int(self.asked[1]), None, time.monotonic()
        return answered

    def server_killed(self) -> None:
        """What is under way now says nothing about how fast the desk is."""
        if self.asked is not None:
            self._not_timed.add(len(self.durations()))

    def timings(self) -> list[float]:
        """The durations without those that met a kill."""
        return [duration for k, duration in enumerate(self.durations()) if k not in self._not_timed]

    def durations(self) -> list[float]:
        """Milliseconds from each key to the next example, as the browser measured them."""
        found: list[float] = self.page.evaluate(
            f"performance.getEntriesByName('{MEASURE}').map((entry) => entry.duration)"
        )
        return found


def try_out(browser: Any, home: Path, *, decisions: int = 500, kills: int = 5, seed: int = 0) -> Findings:
    """Let two reviewers decide so many examples, killing the server so often, and compare.

    Parameters
    ----------
    browser
        a Chromium of playwright.
    home
        An empty folder.
    """
    run_id = prepared_run(home, max(120, 2 * decisions))
    chance, found = random.Random(seed), Findings()
    server = Server(home)
    server.start()
    try:
        link = begin(browser, server, run_id)
        seats = [Seat(browser, name, link) for name in REVIEWERS]
        seen: list[tuple[str, int]] = []
        due = sorted(chance.sample(range(decisions // 10, decisions - decisions // 10), kills))
        waiting_since = time.monotonic()
        while len(seen) < decisions:
            for seat in seats:
                if seat.asked is None and len(seen) + sum(one.asked is not None for one in seats) < decisions:
                    seat.press(chance.choice("12"))
            if due and len(seen) >= due[0]:
                due.pop(0)
                time.sleep(chance.random() * 0.06)  # before, while, or after the decision is stored
                for seat in seats:
                    seat.server_killed()
                server.kill()
                found.kills += 1
                server.start()
            for seat in seats:
                row = seat.acknowledged()
                if row is not None:
                    seen.append((seat.name, row))
                    waiting_since = time.monotonic()
            if time.monotonic() - waiting_since > PATIENCE:
                state = [(seat.asked, seat.shown(), seat.is_waiting()) for seat in seats]
                raise RuntimeError(f"Nobody has got on for {PATIENCE:.0f} s, after {len(seen)} decisions: {state}")
            seats[0].page.wait_for_timeout(5)
        for seat in seats:
            found.milliseconds += seat.timings()
            found.pressed_again += seat.again
    finally:
        server.kill()
    _compare(found, home, run_id, seen)
    found.shared += len(seats[0].rows & seats[1].rows - {-1})
    return found


def begin(browser: Any, server: Server, run_id: str) -> str:
    """Open the review with its default settings; the link to it."""
    link = f"{server.url}/review?run={run_id}"
    page = browser.new_context().new_page()
    page.set_default_timeout(OPENING)
    page.goto(link)
    page.get_by_role("textbox", name="Your name").fill(REVIEWERS[0])
    page.keyboard.press("Enter")
    page.locator(".desk .pick").first.wait_for()
    page.context.close()
    return link


def _compare(found: Findings, home: Path, run_id: str, seen: list[tuple[str, int]]) -> None:
    run = RunRegistry(home / "runs").get(run_id)
    store = Store(Database(home / "reviews.sqlite3"))
    with store.read(review_id(run.folder)) as reader:
        stored = [(event.reviewer, event.row) for event in reader.events()]
    store.database.close()
    times = Counter(row for _, row in stored)
    by_whom = Counter(row for _, row in set(stored))
    found.decisions, found.acknowledged = len(stored), len(seen)
    found.lost = len(set(seen) - set(stored))
    found.doubled = sum(count > 1 for count in times.values())
    found.shared = sum(count > 1 for count in by_whom.values())


def main() -> None:
    """Prints what was found as JSON; fails where a promise was broken."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--decisions", type=int, default=500)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = chromium(driver)
        found = try_out(browser, Path(folder), decisions=given.decisions, kills=given.kills, seed=given.seed)
        browser.close()
    report = asdict(found)
    times = np.array(report.pop("milliseconds"))
    report["key_to_next_ms"] = {f"p{p}": round(float(np.percentile(times, p)), 1) for p in (50, 95)}
    print(json.dumps(report))
    if not found.is_clean:
        sys.exit(1)


if __name__ == "__main__":
    main()

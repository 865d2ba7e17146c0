"""Two reviewers in two browsers; the server is killed (SIGKILL) while they press their keys. One in one browser, while
another program keeps the database to itself.

Each reviewer presses the key of a candidate and waits until the next example shows (that is the acknowledgement).
Nobody reloads a page: the browsers find the server again, and send what was not acknowledged. The long version:
`PLL_TEST_DECISIONS=500 python -m pytest -m slow tests/browser/test_review_kills.py`, a kill every hundred decisions.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.app import Server, prepared_run
from pll.ui.review.reviewer import COOKIE
from tests.review_helpers import on_disk

pytestmark = [pytest.mark.browser, pytest.mark.slow]

REVIEWERS = ("Ann", "Bob")
DECISIONS = int(os.environ.get("PLL_TEST_DECISIONS", "10"))
PATIENCE = 90.0
"""Seconds that a reviewer waits for the next example before the test has failed."""
AGAIN = 4.0
"""Seconds after which somebody presses again, where the desk does not say that it is saving."""
LOOK = 0.14
"""Seconds for which a person looks at an example, at the least: the desk takes no earlier key."""


class Seat:
    """One reviewer at a browser."""

    def __init__(self, chromium: Any, name: str, link: str) -> None:
        self.name = name
        self.page = page = chromium.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.set_default_timeout(120_000)
        page.goto(link)
        page.get_by_role("textbox", name="Your name").fill(name)
        page.keyboard.press("Enter")
        page.locator(".desk .pick").first.wait_for()
        self.asked: tuple[str, int] | None = None  # token and row that a key was pressed for
        self.seen_at = self.pressed_at = 0.0
        self.rows: set[int] = set()  # everything that was in view

    def shown(self) -> tuple[str, int]:
        """Token and row of the example in view."""
        token, row = self.page.locator(".desk").first.evaluate("desk => [desk.dataset.token, desk.dataset.row]")
        self.rows.add(int(row))
        return token, int(row)

    def press(self, k: int) -> None:
        """Answer what is in view."""
        self.page.wait_for_timeout(max(0.0, LOOK - (time.monotonic() - self.seen_at)) * 1000)
        self.asked = self.shown()
        self._press_at(self.asked[0], k)

    def _press_at(self, token: str, k: int) -> None:
        """Press the key of a candidate if that example is in view; in the browser, where no other comes between."""
        self.page.locator(".desk").first.evaluate(
            """(desk, [token, k]) => {
                if (desk.dataset.token !== token) return;
                const key = desk.querySelectorAll(".pick kbd")[k].textContent;
                document.dispatchEvent(new KeyboardEvent("keydown", { key }));
            }""",
            [token, k],
        )
        self.pressed_at = time.monotonic()

    def acknowledged(self) -> int | None:
        """The row that was answered, once the next example is in view; else None."""
        if self.asked is None:
            return None
        if self.shown()[0] == self.asked[0]:
            is_waiting = self.page.locator(".desk").first.evaluate("() => Boolean(globalThis.candidPending)")
            if time.monotonic() - self.pressed_at > AGAIN and not is_waiting:
                self._press_at(self.asked[0], 0)  # the desk did not take the key: the page had just been built anew
            return None
        answered, self.asked, self.seen_at = self.asked[1], None, time.monotonic()
        return answered


@pytest.fixture(autouse=True)
def sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the home of the trial, whatever the developer's environment says."""
    monkeypatch.delenv("PLL_DATABASE_URL", raising=False)


@pytest.mark.timeout(240 + 10 * DECISIONS)
def test_what_was_acknowledged_is_there_after_the_server_was_killed(chromium: Any, tmp_path: Path) -> None:
    run_id, chance = prepared_run(tmp_path, max(120, 2 * DECISIONS)), random.Random(0)
    server = Server(tmp_path)
    server.start()
    try:
        seats = [Seat(chromium, name, f"{server.url}/review?run={run_id}") for name in REVIEWERS]
        acknowledged: list[tuple[str, int]] = []
        kills = list(range(DECISIONS // 2 if DECISIONS < 100 else 50, DECISIONS, 100))
        got_on = time.monotonic()
        while len(acknowledged) < DECISIONS:
            for seat in seats:
                asked = sum(one.asked is not None for one in seats)
                if seat.asked is None and len(acknowledged) + asked < DECISIONS:
                    seat.press(chance.choice([0, 1]))
            if kills and len(acknowledged) >= kills[0]:
                kills.pop(0)
                time.sleep(chance.random() * 0.06)  # before, while, or after the decision is stored
                server.kill()
                server.start()
            for seat in seats:
                if (row := seat.acknowledged()) is not None:
                    acknowledged.append((seat.name, row))
                    got_on = time.monotonic()
            assert time.monotonic() - got_on < PATIENCE, [(seat.asked, seat.shown()) for seat in seats]
            seats[0].page.wait_for_timeout(5)
    finally:
        server.kill()
    assert not kills
    stored = [(event.reviewer, event.row) for event in on_disk(tmp_path, run_id)[0]]
    assert sorted(stored) == sorted(acknowledged)  # none lost
    assert max(Counter(row for _, row in stored).values()) == 1  # none twice, none given to both
    assert seats[0].rows & seats[1].rows <= {-1}


@pytest.mark.timeout(240)
def test_a_decision_is_kept_on_the_page_while_the_database_is_locked(new_page: Any, tmp_path: Path) -> None:
    run_id = prepared_run(tmp_path, 40)
    with Server(tmp_path) as server:
        page = new_page()
        page.context.add_cookies([{"name": COOKIE, "value": "Ada", "url": server.url}])
        page.goto(f"{server.url}/review?run={run_id}")
        page.locator(".desk .pick").first.wait_for()
        page.wait_for_timeout(500)
        token = page.locator(".desk").get_attribute("data-token")
        with closing(sqlite3.connect(tmp_path / "reviews.sqlite3", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            page.keyboard.press(page.locator(".desk .pick kbd").first.inner_text())
            page.get_by_text("keeps the database").first.wait_for()
            assert page.locator(".desk").get_attribute("data-token") == token
        page.locator(f".desk[data-token]:not([data-token='{token}'])").first.wait_for()
        assert not page.locator(".desk .problem").count()
        page.close()
    events, _ = on_disk(tmp_path, run_id)
    assert [event.kind for event in events] == ["pick"]

"""Two reviewers in two browsers; the server is killed (SIGKILL) while they press their keys. One in one browser, while
another program keeps the database to itself.

The long version, 500 decisions and five kills, is `python -m benchmarks.durability`.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from benchmarks.app import Server, prepared_run
from benchmarks.durability import try_out
from pll.ui.review.reviewer import COOKIE
from tests.review_helpers import on_disk

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(autouse=True)
def sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the home of the trial, whatever the developer's environment says."""
    monkeypatch.delenv("PLL_DATABASE_URL", raising=False)


@pytest.mark.timeout(240)
def test_what_was_acknowledged_is_there_after_the_server_was_killed(chromium: Any, tmp_path: Path) -> None:
    found = try_out(chromium, tmp_path, decisions=10, kills=1)
    assert (found.lost, found.doubled, found.shared) == (0, 0, 0)
    assert (found.decisions, found.acknowledged, found.kills) == (10, 10, 1)


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
            page.keyboard.press("1")
            page.get_by_text("keeps the database").first.wait_for()
            assert page.locator(".desk").get_attribute("data-token") == token
        page.locator(f".desk[data-token]:not([data-token='{token}'])").first.wait_for()
        assert not page.locator(".desk .problem").count()
        page.close()
    events, _ = on_disk(tmp_path, run_id)
    assert [event.kind for event in events] == ["pick"]

"""While the server is away, the page says so in words for people; once it is back, the words go."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchmarks.app import Server

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_page_says_that_candid_is_restarting(chromium: object, tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        page = chromium.new_page()  # type: ignore[attr-defined]
        page.set_default_timeout(60_000)
        page.goto(server.url)
        page.get_by_text("Recent runs").wait_for()
        page.wait_for_function("globalThis.candidAway")  # what says so comes with the page, a moment later
        server.kill()
        page.get_by_text("Candid is restarting; nothing you decided is lost.").wait_for()
        assert not page.get_by_text("Is Streamlit still running").is_visible()
        server.start()
        expect(page.locator(".candid-away")).to_have_count(0, timeout=60_000)
    finally:
        server.kill()

"""A page whose scripts do not load, as where the server restarts just after it sent the page."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_it_says_so_and_reloads_once(app: str, chromium: Any) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(120_000)
    failing = True
    loads: list[Any] = []
    page.on("domcontentloaded", lambda loaded: loads.append(loaded))
    page.route("**/static/js/**", lambda route: route.abort() if failing else route.continue_())
    page.goto(f"{app}/learn", wait_until="commit")
    page.wait_for_timeout(5_000)  # in which it reloads by itself, once; and it fails again
    page.get_by_text("Reload this page").wait_for()
    assert len(loads) == 2
    failing = False
    page.reload()
    page.locator("[data-testid=stApp]").wait_for()
    context.close()

"""Lanes in a real browser: live for all soon after Start, moved as one, looked back at, found again, taken away."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LANES = ["PRODEN", "PRODEN-itera", "PRODEN-naive", "PRODEN-sudden", "PN-oracle"]


LINK = "compare?link=1&lanes=proden,proden-itera,proden-naive,proden-sudden,pn-oracle&flip=binomial&paused=true"


@pytest.fixture
def begun(app: str, new_page: Any) -> Callable[..., Any]:
    """`begun(data=…, q=…, epochs=…)`: five lanes, paused before their first epoch."""

    def open_link(**settings: object) -> Any:
        page = new_page(viewport={"width": 1280, "height": 1400})
        page.goto(f"{app}/{LINK}&" + "&".join(f"{name}={value}" for name, value in settings.items()))
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_text(f"Paused after 0 of {settings['epochs']} epochs.").wait_for()
        return page

    return open_link


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name).first.click()


def choose_speed(page: Any, name: str) -> None:
    page.get_by_role("combobox").first.click()
    page.get_by_role("option", name=name, exact=True).click()


def in_every_star(page: Any, when: str) -> None:
    """Wait until all lanes show this moment."""
    page.locator(".plot .when").filter(has_text=re.compile(f"^{when}$")).nth(len(LANES) - 1).wait_for()


def test_five_lanes_from_start_to_verdict(begun: Callable[..., Any], tmp_path: Path) -> None:
    page = begun(data="digits", q=0.7, holdout=0.2, epochs=40)
    page.locator(".plot canvas").nth(4).wait_for()
    choose_speed(page, "1 a second")
    press(page, "Resume")
    choose_speed(page, "Full speed")
    before = page.locator(".plot canvas").nth(0).evaluate("canvas => canvas.toDataURL()")
    page.get_by_text("Finished.").wait_for()
    page.get_by_text("What this shows", exact=True).wait_for()
    page.locator(".js-plotly-plot").nth(2).wait_for()
    assert page.locator(".plot canvas").nth(0).evaluate("canvas => canvas.toDataURL()") != before
    in_every_star(page, "After 40 passes")
    page.get_by_text(re.compile(r"^PRODEN identified 9\d\.\d %")).wait_for()

    page.locator(".st-key-compare-take").get_by_role("button").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="This table as CSV").click()
    table = pd.read_csv(download.value.path()).set_index("lane")["identified_correctly"]
    assert sorted(table.index) == sorted(LANES)
    order = [table[name] for name in ("PN-oracle", "PRODEN", "PRODEN-naive", "PRODEN-sudden")]
    assert order == sorted(order, reverse=True) and len(set(order)) == 4


def test_lanes_are_moved_as_one_looked_back_at_and_found_again(begun: Callable[..., Any], new_page: Any) -> None:
    page = begun(data="iris", q=0.3, epochs=100)
    press(page, "Run 5")
    page.get_by_text("Paused after 5 of 100 epochs.").wait_for()
    press(page, "Run 1")
    page.get_by_text("Paused after 6 of 100 epochs.").wait_for()
    in_every_star(page, "After 6 passes")

    page.locator(".timeline .track").focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.get_by_text("in view: after 3 passes").wait_for()
    in_every_star(page, "After 3 passes")
    assert page.get_by_text("Paused after 6 of 100 epochs.").is_visible()  # the lanes do not care

    page.reload()
    page.get_by_text("Paused after 6 of 100 epochs.").wait_for()
    other = new_page()
    other.goto(page.url)
    other.get_by_text("Paused after 6 of 100 epochs.").wait_for()
    press(other, "Stop")
    other.get_by_text("Stopped after 6 of 100 epochs.").wait_for()
    page.get_by_text("Stopped after 6 of 100 epochs.").wait_for()
    page.get_by_role("link", name="Open").nth(2).click()
    page.wait_for_url("**/train?run=*")
    page.get_by_text("Stopped after 6 of 100 epochs.").wait_for()

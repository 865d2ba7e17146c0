"""The ways people take through the real app, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
Serve = Callable[[Path], str]
NewPage = Callable[..., Any]
LINK = "train?link=1&data=iris&flip=binomial&q=0.3&method=proden&threads=1"


def _star(page: Any) -> str:
    """The pixels of the star plot."""
    return page.locator("canvas").first.evaluate("canvas => canvas.toDataURL()")


def _start_demo(page: Any, app: str) -> None:
    page.goto(app)
    page.get_by_role("button", name="Watch it work").click()
    page.locator("canvas").first.wait_for()


def test_from_the_demo_to_the_labels_in_hand(app: str, new_page: NewPage, tmp_path: Path) -> None:
    page = new_page()
    _start_demo(page, app)
    page.get_by_role("button", name="Restart").click()  # there whether the demo trains or has ended
    page.get_by_text("Paused after 0 of 100 epochs.").wait_for()
    before = _star(page)
    page.get_by_role("combobox", name="Speed").click()  # else it is that of the demo, at which one can follow it
    page.get_by_role("option", name="Full speed").click()
    page.get_by_role("button", name="Resume").click()
    page.get_by_text("worth a look").wait_for()
    page.locator(".plot .when").filter(has_text="After 100 passes").first.wait_for()
    assert _star(page) != before, "the star plot stood still while training"

    page.get_by_role("button", name="Other formats").click()
    with page.expect_download() as download:  # *Download all* is pressed in test_one_number.py
        page.get_by_role("button", name="Download labels.csv").click()
    labels = pd.read_csv(download.value.path(), dtype=str, keep_default_na=False)
    assert labels["source"].value_counts().to_dict() == {"model": 1438, "predicted": 359}
    labels = labels[labels["source"] == "model"]
    right = labels["identified_label"] == labels["true_label"]
    assert right.mean() > 0.9
    inside = [row.identified_label in row.candidates.split("|") for row in labels.itertuples()]
    assert all(inside)


@pytest.mark.slow
def test_a_run_is_paused_goes_on_and_is_found_again_by_its_link(app: str, new_page: NewPage) -> None:
    page = new_page()
    page.goto(f"{app}/{LINK}&epochs=100&paused=true")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("Paused after 0 of 100 epochs.").wait_for()
    page.get_by_role("button", name="Run 5").click()
    said = "Paused after 5 of 100 epochs."
    page.get_by_text(said).wait_for()

    link = page.url
    assert "run=" in link
    page.reload()
    page.get_by_text(said).wait_for()
    other = new_page()
    other.goto(link)
    other.get_by_text(said).wait_for()

    other.get_by_role("button", name="Stop").click()
    other.get_by_text("Stopped after").wait_for()
    page.get_by_text("Stopped after").wait_for()


@pytest.mark.slow
def test_two_tabs_do_not_see_each_others_settings(app: str, new_page: NewPage) -> None:
    first, second = new_page(), new_page()
    first.goto(f"{app}/{LINK}&epochs=5")
    first.get_by_role("button", name="Start", exact=True).click()
    first.get_by_text("worth a look").or_(first.get_by_text("Do not trust these labels")).wait_for()
    second.goto(f"{app}/train")
    second.get_by_text("Nothing to train on yet").wait_for()
    assert "run=" in first.url
    assert "run=" not in second.url


@pytest.mark.slow
def test_a_page_is_right_as_the_first_request_of_a_server(serve: Serve, new_page: NewPage) -> None:
    """Of a fresh server. (That of test_login.py is asked for the review page first.)"""
    page = new_page()
    page.goto(f"{serve(ROOT / 'app.py')}/export")
    page.get_by_text("Nothing to export yet").wait_for()
    page.get_by_test_id("stTopNavLink").filter(has_text="Data").wait_for()

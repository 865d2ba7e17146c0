"""The live view in a real browser: step, play and pause, go back while it trains, choose an example."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


LINK = "train?link=1&data=digits&flip=binomial&q=0.7&holdout=0.2&method=proden&epochs=100&threads=1&start=paused"


@pytest.fixture
def paused(app: str, new_page: Any) -> Any:
    """A page with a run of the digits, paused before its first epoch."""
    page = new_page(viewport={"width": 1280, "height": 1400})
    page.goto(f"{app}/{LINK}")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("Paused after 0 of 100.").wait_for()
    return page


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name).first.click()


def slow_down(page: Any) -> None:
    """The slowest pace: what is to be seen while it trains is then there for a minute and a half."""
    page.get_by_role("combobox").first.click()
    page.get_by_role("option", name="1 a second", exact=True).click()


def wait_for_epoch(page: Any, epoch: int) -> None:
    """Wait until the run has so many epochs."""
    while trained(page) < epoch:
        page.wait_for_timeout(100)


def track(page: Any) -> Any:
    return page.locator(".timeline .track")


def shown(page: Any) -> str:
    """The epoch that the star plot shows."""
    return str(page.locator(".plot .when").first.inner_text())


def trained(page: Any) -> int:
    """How many epochs the run has."""
    said = page.get_by_text(re.compile("^(Training:|Paused after) ")).inner_text()
    return int(re.search(r"\d+", said)[0])


def places(page: Any) -> list[Any]:
    """Where some buttons are."""
    names = ("Restart", "Stop")
    return [page.get_by_role("button", name=name).bounding_box() for name in names]


def test_steps_play_and_pause(paused: Any) -> None:
    page = paused
    slow_down(page)
    before = places(page)
    canvas = page.locator(".plot canvas").first
    canvas.evaluate("canvas => { canvas.mark = 'the same'; }")
    press(page, "Next step")
    page.get_by_text("After 0 passes and 1 of 6 steps").first.wait_for()
    press(page, "Run 1")
    page.get_by_text("Paused after 1 of 100.").wait_for()
    press(page, "Run 5")
    page.get_by_text("Paused after 6 of 100.").wait_for()
    page.get_by_text("After 6 passes", exact=True).first.wait_for()
    page.keyboard.press("p")
    page.get_by_text("Training:").wait_for()
    assert places(page) == before  # no button moves away under the pointer
    page.keyboard.press("p")
    page.get_by_text("Paused after").wait_for()
    still = trained(page)
    press(page, "Run 1")
    page.get_by_text(f"Paused after {still + 1} of 100.").wait_for()  # it stood still meanwhile
    press(page, "Stop")
    page.get_by_text("Stopped after").wait_for()
    assert places(page) == before
    assert canvas.evaluate("canvas => canvas.isConnected && canvas.mark") == "the same"  # never made anew


def test_going_back_while_it_trains(paused: Any) -> None:
    page = paused
    slow_down(page)
    press(page, "Run 5")
    page.get_by_text("Paused after 5 of 100.").wait_for()
    press(page, "Resume")
    page.get_by_text("Training:").wait_for()
    box = track(page).bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 8 + 0.03 * (box["width"] - 16), box["y"] + 20, steps=5)
    page.mouse.up()
    page.get_by_text("in view: after 3 passes").wait_for()
    before = trained(page)
    wait_for_epoch(page, before + 1)  # the run does not care
    assert shown(page) == "After 3 passes"
    assert track(page).get_attribute("aria-valuetext") == "3 of 100"

    page.keyboard.press("ArrowLeft")
    page.get_by_text("in view: after 2 passes").wait_for()
    page.keyboard.press("Home")
    page.get_by_text("in view: before training").wait_for()
    press(page, "Live")
    page.locator(".timeline .live[aria-pressed=true]").wait_for()
    page.get_by_text("in view:").wait_for(state="detached")

    wait_for_epoch(page, 12)
    press(page, "Stop")
    page.get_by_text("Stopped after").wait_for()
    last = re.search(r"\d+", page.get_by_text("Stopped after").inner_text())[0]
    page.get_by_text(f"After {last} passes", exact=True).first.wait_for()
    track(page).focus()
    page.keyboard.press("PageDown")
    page.get_by_text(f"in view: after {int(last) - 10} passes").wait_for()
    page.get_by_title("Play it back").click()
    page.get_by_text(f"After {last} passes", exact=True).first.wait_for()
    page.get_by_title("Play it back").wait_for()  # it stopped by itself


def test_an_example_is_chosen_in_the_picture_in_a_card_and_by_its_id(paused: Any) -> None:
    page = paused
    press(page, "Run 5")
    page.get_by_text("Paused after 5 of 100.").wait_for()
    page.get_by_role("radio", name="Examples", exact=True).click()
    card = page.locator(".gallery .card").nth(2)
    name = card.locator(".id span").first.inner_text()
    card.click()
    page.get_by_text(re.compile(f"^{name} — .* sure")).wait_for()

    page.get_by_role("radio", name="Pictures", exact=True).click()
    star = page.locator(".plot canvas").first
    star.focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("Enter")
    chosen = page.locator(".plot .now").first.inner_text().split(",")[0]
    page.get_by_text(re.compile(f"^{chosen} — .* sure")).wait_for()
    assert chosen != name

    page.get_by_role("radio", name="Examples", exact=True).click()
    page.get_by_placeholder("Find an id").fill(name)
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(f"^{name} — .* sure")).wait_for()


def test_pictures_are_saved_with_what_they_show(paused: Any, tmp_path: Path) -> None:
    page = paused
    press(page, "Run 1")
    page.get_by_text("After 1 pass", exact=True).first.wait_for()
    page.get_by_title("Save this picture").first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG", exact=True).first.click()
    assert download.value.suggested_filename == "candid-after-1-pass.png"
    assert Path(download.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    press(page, "Options")
    with page.expect_download() as download:
        page.get_by_role("button", name="These labels as CSV").click()
    lines = Path(download.value.path()).read_text("utf-8").splitlines()
    assert lines[0].startswith("id,identified_label,confidence") and len(lines) == 1439


def test_an_outline_on_the_map_leads_to_the_review_of_what_is_in_it(paused: Any) -> None:
    page = paused
    press(page, "Run 5")
    page.get_by_text("Paused after 5 of 100.").wait_for()
    for view in ("Map", "Examples", "Map"):  # it comes back with its points, which were sent once
        page.get_by_role("radio", name=view, exact=True).click()
        page.get_by_text("A fixed sample" if view == "Examples" else "Neighbours are alike").wait_for()
    drawn = page.locator(".plot[data-points]")
    drawn.wait_for()
    assert int(drawn.get_attribute("data-points")) == 1438
    canvas = drawn.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    corners = [(0.3, 0.2), (0.6, 0.2), (0.6, 0.7), (0.3, 0.7), (0.3, 0.22)]
    at = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*at[0])
    page.mouse.down()
    for x, y in at[1:]:
        page.mouse.move(x, y, steps=4)
    page.mouse.up()
    review = page.get_by_role("button", name=re.compile("^Review these "))
    review.wait_for()
    many = int(str(review.inner_text()).split()[-1])
    assert 0 < many < 1438 and review.is_disabled()  # it has not ended
    press(page, "Stop")
    page.get_by_text("Stopped after").wait_for()
    page.locator("button:not([disabled])", has_text=f"Review these {many}").click()
    page.get_by_role("textbox", name="Your name").fill("Ada")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text(f"Only the {many} examples chosen on the map").wait_for()

"""The live view in a real browser: step, play and pause, go back while it trains, choose an example."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


LINK = "train?link=1&data=digits&flip=binomial&q=0.7&holdout=0.2&method=proden&epochs=100&threads=1&paused=true"


@pytest.fixture
def paused(app: str, new_page: Any) -> Any:
    """A page with a run of the digits, paused before its first epoch."""
    page = new_page(viewport={"width": 1280, "height": 1400})
    page.goto(f"{app}/{LINK}")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_text("Paused after 0 of 100 epochs.").wait_for()
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
    page.get_by_text("Paused after 1 of 100 epochs.").wait_for()
    press(page, "Run 5")
    page.get_by_text("Paused after 6 of 100 epochs.").wait_for()
    page.get_by_text("After 6 passes", exact=True).first.wait_for()
    page.keyboard.press("p")
    page.get_by_text("Training:").wait_for()
    assert places(page) == before  # no button moves away under the pointer
    page.keyboard.press("p")
    page.get_by_text("Paused after").wait_for()
    still = trained(page)
    press(page, "Run 1")
    page.get_by_text(f"Paused after {still + 1} of 100 epochs.").wait_for()  # it stood still meanwhile
    press(page, "Stop")
    page.get_by_text("Stopped after").wait_for()
    assert places(page) == before
    assert canvas.evaluate("canvas => canvas.isConnected && canvas.mark") == "the same"  # never made anew


def test_going_back_while_it_trains(paused: Any) -> None:
    page = paused
    slow_down(page)
    press(page, "Run 5")
    page.get_by_text("Paused after 5 of 100 epochs.").wait_for()
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
    assert track(page).get_attribute("aria-valuetext") == "epoch 3 of 100"

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
    page.get_by_text("Paused after 5 of 100 epochs.").wait_for()
    page.get_by_role("radio", name="Examples", exact=True).click()
    card = page.locator(".gallery .card").nth(2)
    name = card.locator(".id span").first.inner_text()
    card.click()
    page.get_by_text(re.compile(f"^{name} — .* label weight")).wait_for()

    page.get_by_role("radio", name="Pictures", exact=True).click()
    star = page.locator(".plot canvas").first
    star.focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("Enter")
    chosen = page.locator(".plot .now").first.inner_text().split(",")[0]
    page.get_by_text(re.compile(f"^{chosen} — .* label weight")).wait_for()
    assert chosen != name

    page.get_by_role("radio", name="Examples", exact=True).click()
    page.get_by_placeholder("Find an id").fill(name)
    page.keyboard.press("Enter")
    page.get_by_text(re.compile(f"^{name} — .* label weight")).wait_for()

"""The Learn page in a real browser: points are dragged, added and carried by keys, and questions are answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def lesson(app: str, new_page: Any) -> Callable[..., Any]:
    """`lesson(**settings)`: the screen of the Learn page with the toy, drawn and in view."""

    def open_lesson(**settings: Any) -> Any:
        page = new_page(**({"viewport": {"width": 1280, "height": 1000}} | settings))
        page.goto(f"{app}/learn?idea=algorithm")
        canvas(page).scroll_into_view_if_needed()
        page.get_by_text("before training", exact=True).first.wait_for()
        return page

    return open_lesson


def canvas(page: Any) -> Any:
    return page.locator(".toy canvas").first


def told(page: Any) -> str:
    """What the picture says to those who do not see it."""
    return str(canvas(page).get_attribute("aria-label"))


def when_told(page: Any, words: str) -> None:
    page.locator(f'.toy canvas[aria-label*="{words}"]').first.wait_for()


def spot(page: Any, x: float, y: float) -> tuple[float, float]:
    """Where a place of the plane is on the page."""
    box = canvas(page).bounding_box()
    side = box["height"] - 26
    return box["x"] + box["width"] / 2 + x * side / 2, box["y"] + 26 + (1 - y) * side / 2


def chosen(page: Any) -> str:
    return str(page.get_by_text("choose another one in the picture").inner_text())


def test_train_step_and_go_back_then_a_question_shows_both_methods(lesson: Callable[..., Any]) -> None:
    page = lesson()
    page.locator(".toy .step").first.click()
    page.get_by_text("epoch 1 of 60", exact=True).wait_for()
    page.get_by_text("the step after epoch 1").wait_for()  # the numbers follow
    page.locator(".toy .play").first.click()
    page.get_by_text("epoch 60 of 60", exact=True).wait_for()
    when_told(page, "after epoch 60")
    assert "60 of 60 identified right" in told(page)
    page.get_by_role("slider", name="Epoch").first.focus()
    page.keyboard.press("Home")
    page.get_by_text("the step after epoch 0").wait_for()

    assert page.locator(".toy canvas").count() == 1
    page.get_by_role("button", name="Next").click()
    page.get_by_text("Two thirds or fewer").click()
    page.get_by_text("After 60 epochs: PRODEN").wait_for()
    when_told(page, "Min alone (sudden)")


def test_arrow_keys_go_from_idea_to_idea_and_old_links_open_theirs(lesson: Callable[..., Any], app: str) -> None:
    page = lesson()
    canvas(page).focus()
    page.keyboard.press("ArrowRight")  # goes from point to point
    page.mouse.click(5, 300)
    page.keyboard.press("ArrowRight")
    page.get_by_role("heading", name="The same points, with and without weights").wait_for()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("heading", name="Algorithm 1").wait_for()
    page.goto(f"{app}/learn#stuck")
    page.get_by_role("heading", name="Why the minimum alone gets stuck").wait_for()


def test_a_point_is_dragged_and_others_are_added_and_removed(lesson: Callable[..., Any]) -> None:
    page = lesson()
    mark = canvas(page)
    mark.evaluate("canvas => { canvas.mark = 'the same'; }")
    page.mouse.click(*spot(page, -0.9, 0.9))  # empty ground: nothing is added or chosen
    page.get_by_role("button", name="+ C").click()
    page.mouse.click(*spot(page, -0.9, 0.9))
    page.get_by_text("Point 60 · truly C").wait_for()
    when_told(page, "61 points")
    page.keyboard.press("Escape")
    page.mouse.move(*spot(page, -0.9, 0.9))
    page.mouse.down()
    page.mouse.move(*spot(page, 0.0, 0.0), steps=6)
    page.mouse.move(*spot(page, 0.9, -0.9), steps=6)
    page.mouse.up()
    page.mouse.move(*spot(page, -0.9, -0.9))
    tip = page.locator(".toy .tip").first
    while "point 60" not in str(tip.text_content()):  # the test's own time limit ends this
        page.mouse.move(*spot(page, -0.9, -0.9))
        page.mouse.click(*spot(page, 0.9, -0.9))  # there it is now
    page.get_by_role("button", name="Remove the chosen one").click()
    when_told(page, "60 points")
    assert mark.evaluate("canvas => canvas.isConnected && canvas.mark") == "the same"


def test_everything_goes_by_keyboard(lesson: Callable[..., Any]) -> None:
    page = lesson()
    canvas(page).focus()
    for _ in range(3):
        page.keyboard.press("PageDown")
    page.keyboard.press("Enter")
    page.get_by_text("Point 2 · truly C").wait_for()
    page.keyboard.press(" ")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    page.locator(".toy .now").first.get_by_text("point 2 put down").wait_for()
    page.get_by_role("button", name="+ A").focus()
    page.keyboard.press("Enter")
    when_told(page, "61 points")
    page.get_by_text("Point 60 · truly A").wait_for()


def test_it_fits_a_telephone(lesson: Callable[..., Any]) -> None:
    page = lesson(viewport={"width": 390, "height": 844}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert canvas(page).bounding_box()["width"] > 300

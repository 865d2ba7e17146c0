"""The Learn page in a real browser: its ideas run there, and the page hears of settings.

What the ideas themselves do is in test_lesson.py: they are the same scripts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def learn(app: str, new_page: Any) -> Callable[..., Any]:
    """`learn("together", **settings)`: an idea of the Learn page, drawn."""

    def open_idea(query: str, **settings: Any) -> Any:
        page = new_page(**({"viewport": {"width": 1280, "height": 900}} | settings))
        page.goto(f"{app}/learn?idea={query}")
        page.locator(".lesson .words p").first.wait_for()
        return page

    return open_idea


def test_settings_are_in_the_address_and_stay_in_the_tab(learn: Callable[..., Any]) -> None:
    page = learn("stuck&settings=stuck-start%3D20")
    page.get_by_text("The ball is let go at 20°").wait_for()
    page.get_by_role("slider", name="A wrong label joins").fill("0.5")
    page.wait_for_url("**settings=stuck-start%3D20%26stuck-q%3D0.5*")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("heading", name="Weights instead of a choice").wait_for()
    page.get_by_role("button", name="Back").click()
    page.get_by_text("The ball is let go at 20°").wait_for()
    page.reload()
    page.get_by_text("The ball is let go at 20°").wait_for()
    assert page.get_by_role("slider", name="A wrong label joins").input_value() == "0.5"


def test_the_toy_trains_and_its_points_stay_while_other_ideas_are_seen(learn: Callable[..., Any]) -> None:
    page = learn("own")
    page.locator(".toy .play").click()
    page.get_by_text("epoch 60 of 60", exact=True).wait_for()
    page.get_by_role("button", name="+ A").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Point 60 · truly A").wait_for()
    page.mouse.click(5, 300)
    page.keyboard.press("ArrowLeft")
    page.get_by_role("heading", name="An older method inside this one").wait_for()
    page.keyboard.press("ArrowRight")
    page.locator('.toy canvas[aria-label*="61 points"]').wait_for()


def test_it_fits_a_telephone(learn: Callable[..., Any]) -> None:
    page = learn("algorithm", viewport={"width": 390, "height": 844}, color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator(".toy canvas").bounding_box()["width"] > 300


@pytest.mark.parametrize("width", [390, 1440])
def test_cards_stay_where_they_are_whatever_their_digits_may_be(learn: Callable[..., Any], width: int) -> None:
    page = learn("partial", viewport={"width": width, "height": 900})
    cards, slider = page.locator(".lesson .card"), page.get_by_role("slider", name="A wrong label joins")
    heights = set()
    for q in ("0.1", "0.9"):
        slider.fill(q)
        heights |= set(cards.evaluate_all("cards => cards.map((card) => card.offsetHeight)"))
        cut = "chips => chips.filter((chip) => chip.scrollWidth > chip.clientWidth + 4).length"
        assert cards.locator("span").evaluate_all(cut) == 0
    assert len(heights) == 1

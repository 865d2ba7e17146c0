"""At the desk nothing is saved that nobody meant: a class half typed, a second click, a key with two meanings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.app import prepared_run
from tests.browser.conftest import NewPage
from tests.browser.test_review import LOOK, enter, events_of, press, row, said

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NOT_CANDIDATES = ("None of these", "Another label", "Unsure", "Rule one out", "Skip", "Undo")


@pytest.fixture(scope="module")
def run_id(app_home: Path) -> str:
    return prepared_run(app_home, 120, "desk")


def test_a_part_of_a_name_takes_the_class_and_a_new_one_is_asked_about(
    app: str, app_home: Path, run_id: str, new_page: NewPage
) -> None:
    page = new_page()
    enter(page, f"{app}/review?run={run_id}", "Ann")
    page.keyboard.press("a")
    page.keyboard.type("do")
    press(page, "Enter")
    assert "is dog." in said(page)

    page.keyboard.press("a")
    page.keyboard.type("g do")  # all parts, in any order
    press(page, "Enter")
    assert "is dog." in said(page)

    page.keyboard.press("a")
    page.keyboard.type("e")  # in "bee" alone
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    press(page, "Enter")
    assert "is bee." in said(page)

    before = row(page)
    page.keyboard.press("a")
    page.locator(".desk .other input").wait_for()
    page.keyboard.type("wasp")
    page.keyboard.press("Enter")
    page.get_by_text("Add the class “wasp”?").wait_for()
    page.wait_for_timeout(LOOK)
    assert row(page) == before and len(events_of(app_home, run_id, "Ann")) == 3
    press(page, "Enter")
    assert "is wasp." in said(page)

    page.keyboard.press("a")  # now it is a class like any other
    page.keyboard.type("wa")
    press(page, "Enter")
    assert "is wasp." in said(page)
    made = [event.label for event in events_of(app_home, run_id, "Ann")]
    assert made == ["dog", "dog", "bee", "wasp", "wasp"]


def places(page: Any) -> list[dict[str, float]]:
    return [page.get_by_role("button", name=name).first.bounding_box() for name in NOT_CANDIDATES]


def test_what_is_no_candidate_stays_in_place_and_a_second_click_counts_for_nothing(
    app: str, app_home: Path, run_id: str, new_page: NewPage
) -> None:
    page = new_page()
    enter(page, f"{app}/review?run={run_id}", "Bob")
    first, sizes = places(page), set()
    for _ in range(8):
        sizes.add(page.locator(".desk .pick").count())
        assert places(page) == first
        press(page, "s")
    assert len(sizes) > 1

    decided = len(events_of(app_home, run_id, "Bob"))
    at = page.get_by_role("button", name="None of these").first.bounding_box()
    page.wait_for_timeout(600)
    page.mouse.click(at["x"] + 9, at["y"] + 9)
    shown = row(page)
    page.locator(f".desk:not([data-row='{shown}'])").wait_for()
    page.wait_for_timeout(200)  # more than the time in which nothing counts at all
    page.mouse.click(at["x"] + 9, at["y"] + 9)
    page.wait_for_timeout(500)
    assert len(events_of(app_home, run_id, "Bob")) == decided + 1

    # A click counts at once where the pointer has moved to it.
    pick = page.locator(".desk .pick").first
    shown = row(page)
    pick.click()
    page.locator(f".desk:not([data-row='{shown}'])").wait_for()
    page.wait_for_timeout(200)
    page.mouse.click(at["x"] + 9, at["y"] + 9)
    page.wait_for_timeout(500)
    assert len(events_of(app_home, run_id, "Bob")) == decided + 3


def test_a_key_means_one_class_whether_or_not_the_model_is_hidden(app: str, run_id: str, new_page: NewPage) -> None:
    page = new_page()
    enter(page, f"{app}/review?run={run_id}", "Cy")
    of_key: dict[str, str] = {}
    for hide in (False, True):
        if hide:
            page.get_by_role("button", name="View", exact=False).first.click()
            page.get_by_text("Hide the model's view").click()
            page.keyboard.press("Escape")
            page.wait_for_timeout(1000)
        for _ in range(6):
            for pick in page.locator(".desk .pick").all():
                key, name = pick.locator("kbd").inner_text(), pick.locator(".name").inner_text()
                assert of_key.setdefault(key, name) == name
            press(page, "s")
    assert sorted(of_key.items()) == list(zip("1234", ["ant", "bee", "cat", "dog"], strict=True))


def test_arrows_go_through_decisions_after_a_click_on_the_view(app: str, run_id: str, new_page: NewPage) -> None:
    page = new_page()
    enter(page, f"{app}/review?run={run_id}", "Di")
    before = row(page)
    press(page, page.locator(".desk .pick kbd").first.inner_text())
    for view in ("One by one", "Look-alikes", "One by one"):
        page.get_by_test_id("stMarkdownContainer").get_by_text(view, exact=True).click()
        page.wait_for_timeout(1000)
    page.locator(".desk .pick").first.wait_for()
    press(page, "ArrowLeft")
    assert row(page) == before and page.get_by_text("Earlier decision, 1 of").is_visible()


def test_the_way_from_home_to_the_data_is_short_by_keyboard(app: str, new_page: NewPage) -> None:
    page = new_page()
    page.goto(app)
    page.get_by_role("button", name="Watch it work").wait_for()
    page.wait_for_function("document.activeElement.tagName === 'H1'")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Upload my data
    page.wait_for_url("**/data*")
    page.wait_for_function("document.activeElement.tagName === 'H1' && document.activeElement.innerText === 'Data'")


def test_what_answers_stays_in_view_and_the_next_example_begins_at_its_top(
    app: str, run_id: str, new_page: NewPage
) -> None:
    page = new_page(viewport={"width": 1280, "height": 420})  # so low that the example is long
    enter(page, f"{app}/review?run={run_id}", "Eve")

    def top(part: str) -> float:
        return float(page.locator(f".desk {part}").first.bounding_box()["y"])

    page.mouse.move(300, 350)
    page.mouse.wheel(0, 2000)
    page.wait_for_timeout(LOOK)
    assert 0 < top(".bar") < top(".pick") and top(".hero") < top(".bar")
    scrolled = top(".hero")
    page.keyboard.press("e")  # the same example is drawn anew
    page.get_by_text("Which one is wrong?").wait_for()
    assert top(".hero") == scrolled
    page.keyboard.press("Escape")
    press(page, "s")
    assert top(".bar") < top(".hero") < 200

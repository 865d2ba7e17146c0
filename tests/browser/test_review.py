"""The desk in a real browser: by keyboard alone, across undo, by touch (a killed server: test_review_kills.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.app import prepared_run
from pll.review.events import Event
from tests.review_helpers import on_disk

pytestmark = pytest.mark.browser
NewPage = Callable[..., Any]
SLOW = 30_000
"""Milliseconds: machines that run tests are slow and busy."""
LOOK = 150
"""Milliseconds for which nobody has seen a new example: the desk takes no key yet."""


@pytest.fixture(scope="module")
def home(app_home: Path) -> Path:
    return app_home


@pytest.fixture(scope="module")
def run_id(home: Path) -> str:
    return prepared_run(home, 240)


@pytest.fixture(scope="module")
def link(app: str, run_id: str) -> str:
    """To the review of a run."""
    return f"{app}/review?run={run_id}"


def events_of(home: Path, run_id: str, reviewer: str) -> list[Event]:
    return [event for event in on_disk(home, run_id)[0] if event.reviewer == reviewer]


def tab_to(page: Any, name: str) -> None:
    """Press Tab until the element of that name has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        at = "[document.activeElement.tagName, document.activeElement.ariaLabel, document.activeElement.innerText]"
        kind, label, text = page.evaluate(at)
        if kind in ("BUTTON", "INPUT") and (name == label or name in text):
            return
    raise AssertionError(f"{name!r} cannot be reached with Tab")


def enter(page: Any, link: str, name: str) -> None:
    """Give a name and have an example on the desk; all by keyboard."""
    page.goto(link)
    page.get_by_role("textbox", name="Your name").wait_for(timeout=SLOW)
    tab_to(page, "Your name")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.locator(".desk .pick").first.wait_for(timeout=SLOW)
    page.keyboard.press("Shift+Tab")  # out of the field, wherever that leads
    page.wait_for_timeout(LOOK)


def press(page: Any, key: str) -> None:
    """Press a key and wait until it has been answered."""
    before = page.evaluate("performance.getEntriesByName('candid-key-to-next').length")
    page.keyboard.press(key)
    page.wait_for_function(
        "before => performance.getEntriesByName('candid-key-to-next').length > before", arg=before, timeout=SLOW
    )
    page.wait_for_timeout(LOOK)


def row(page: Any) -> str:
    return str(page.locator(".desk").get_attribute("data-row"))


def said(page: Any) -> str:
    return str(page.locator(".desk .spoken").inner_text())


def key_of(page: Any, k: int = 0) -> str:
    """The key of a candidate of the card, by its place there."""
    return str(page.locator(".desk .pick kbd").nth(k).inner_text())


def names(page: Any) -> list[str]:
    return [text.split("\n")[0] for text in page.locator(".desk .pick .name").all_inner_texts()]


@pytest.mark.slow
def test_the_whole_desk_by_keyboard_alone(link: str, home: Path, run_id: str, new_page: NewPage) -> None:
    page = new_page()
    enter(page, link, "Ann")
    rows = [row(page)]
    first = names(page)[0]
    press(page, key_of(page))
    assert said(page).startswith("Saved:") and f"is {first}." in said(page)
    for key in ("?", "n", "s"):
        rows.append(row(page))
        press(page, key)
    rows.append(row(page))

    page.keyboard.press("a")  # another label: digits and letters go into the field, and label nothing
    page.keyboard.type("wasp 12nu")
    assert row(page) == rows[-1]
    page.keyboard.press("Enter")
    page.get_by_text("Add the class “wasp 12nu”?").wait_for()
    press(page, "Enter")
    assert "is wasp 12nu." in said(page)

    while len(names(page)) < 3:
        press(page, "s")
    held, out = row(page), names(page)[1]
    page.keyboard.press("e")
    page.get_by_text("Which one is wrong?").wait_for()
    press(page, key_of(page, 1))
    assert row(page) == held and f"is not {out}." in said(page)
    assert page.locator(".desk .pick").nth(1).is_disabled()
    press(page, key_of(page))

    kinds = [event.kind for event in events_of(home, run_id, "Ann") if event.kind != "skip"]
    assert kinds == ["pick", "unsure", "none", "other", "eliminate", "pick"]

    # Looking back, two and one forward, and back to the open example.
    open_ = row(page)
    press(page, "ArrowLeft")
    assert row(page) == held and page.get_by_text("Earlier decision, 1 of").is_visible()
    press(page, "ArrowLeft")
    assert row(page) == rows[4]
    press(page, "ArrowRight")
    assert row(page) == held
    press(page, "Escape")
    assert row(page) == open_

    # Five more, and undo across all of them.
    decided = []
    for _ in range(5):
        decided.append(row(page))
        press(page, key_of(page))
    for wanted in reversed(decided):
        press(page, "u")
        assert row(page) == wanted
        assert "Undone" in said(page)
    stored = events_of(home, run_id, "Ann")
    assert [event.kind for event in stored[-5:]] == ["undo"] * 5
    assert [str(event.row) for event in stored[-5:]] == decided[::-1]
    undone = {event.undoes for event in stored}
    standing = [event for event in stored if event.undoes is None and event.id not in undone and event.kind != "skip"]
    assert len(standing) == 6


@pytest.mark.slow
def test_a_second_press_does_not_label_the_next_example(link: str, home: Path, run_id: str, new_page: NewPage) -> None:
    page = new_page()
    enter(page, link, "Bob")
    before = page.evaluate("performance.getEntriesByName('candid-key-to-next').length")
    key = key_of(page)
    for _ in range(4):
        page.keyboard.press(key)
    page.locator(".desk .pick").first.dblclick()
    page.wait_for_function(
        "before => performance.getEntriesByName('candid-key-to-next').length > before", arg=before, timeout=SLOW
    )
    page.wait_for_timeout(500)
    assert len(events_of(home, run_id, "Bob")) <= 2  # the keys made one, and the double click one at the most


@pytest.mark.slow
def test_look_alikes_by_keyboard(link: str, home: Path, run_id: str, new_page: NewPage) -> None:
    page = new_page()
    enter(page, link, "Cy")
    page.get_by_test_id("stMarkdownContainer").get_by_text("Look-alikes").click()
    page.locator(".desk .tile").first.wait_for(timeout=SLOW)
    tiles = page.locator(".desk .tile").count()
    page.wait_for_timeout(400)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("x")
    assert page.locator(".desk .marked").count() == 1
    press(page, "Enter")
    made = events_of(home, run_id, "Cy")
    assert len(made) == tiles and sorted(event.kind for event in made)[-2:] == ["accept", "eliminate"]
    assert len({event.label for event in made}) == len({event.batch for event in made}) == 1
    press(page, "u")
    assert sum(event.kind == "undo" for event in events_of(home, run_id, "Cy")) == tiles
    page.locator(".desk .marked").wait_for(timeout=SLOW)


@pytest.mark.slow
def test_it_works_by_touch_on_a_narrow_screen(link: str, new_page: NewPage) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    enter(page, link, "Dee")
    before = row(page)
    page.locator(".desk .pick").first.tap()
    page.locator(f".desk:not([data-row='{before}'])").wait_for(timeout=SLOW)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390, "the page scrolls sideways"

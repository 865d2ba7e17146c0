"""A replay opened from a file, in a browser without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.catalog.sources import Source
from pll.export.replay.page import replay_html
from pll.runs import fit_loop, run_data
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.synthesis import Flip

pytestmark = [pytest.mark.browser, pytest.mark.slow]
EPOCHS = 12


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunFolder]:
    """A replay of digits in a file, and its run."""
    root = tmp_path_factory.mktemp("replay")
    folder = RunFolder(root / "run")
    params = {"threads": 1, "epochs": EPOCHS}
    folder.create(RunConfig(Source("digits"), flip=Flip("binomial", 0.7), holdout=0.2, params=params, name="my digits"))
    fit_loop.FitLoop(folder).train()
    file = root / "replay.html"
    file.write_text(replay_html(folder, run_data.load_splits(folder.config()).train), "utf-8")
    return file, folder


@pytest.fixture
def page(made: tuple[Path, RunFolder], new_page: Any) -> Any:
    """The replay, opened offline; asking for anything else fails the test."""
    page = new_page(offline=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(made[0].as_uri())
    page.locator("body.ready").wait_for()
    yield page
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def epoch(page: Any) -> str:
    return str(page.locator("#figures strong").first.inner_text())


def come_to_rest(page: Any) -> None:
    page.locator("#star .plot:not([data-moving])").wait_for()


def test_it_shows_the_run_and_is_scrubbed_without_a_network(page: Any, made: tuple[Path, RunFolder]) -> None:
    final = made[1].state()["metrics"]
    assert page.locator("h1").inner_text() == "my digits"
    assert "epochs 12" in page.locator(".settings").inner_text()
    assert epoch(page) == str(EPOCHS)
    shown = page.locator("#figures strong").all_inner_texts()
    assert shown[1] == f"{100 * final['transductive_accuracy']:.1f} %"
    assert shown[3] == f"{100 * final['mean_confidence']:.1f} %"
    star = page.locator("#star canvas")
    come_to_rest(page)
    at_the_end = star.evaluate("canvas => canvas.toDataURL()")

    page.locator("#epoch").fill("3")
    assert epoch(page) == "3"
    row = made[1].metrics()[2]
    assert page.locator("#figures strong").nth(1).inner_text() == f"{100 * row['transductive_accuracy']:.1f} %"
    assert page.locator("#figures strong").nth(2).inner_text() == f"{row['changed_labels']:,}"
    assert page.locator("#star .when").inner_text() == page.locator("#heatmap .when").inner_text() == "Epoch 3"
    come_to_rest(page)
    assert star.evaluate("canvas => canvas.toDataURL()") != at_the_end
    assert "Epoch 3: a class a corner" in star.get_attribute("aria-label")
    assert page.locator("#numbers tr").count() == EPOCHS + 2


def test_an_example_is_chosen_and_its_story_told(page: Any) -> None:
    before = page.locator("#name").inner_text()
    star = page.locator("#star canvas")
    star.focus()
    page.keyboard.press("PageDown")
    page.keyboard.press("Enter")
    after = page.locator("#name").inner_text()
    assert after != before
    assert page.locator("#now").inner_text().startswith("Epoch 12: ")
    life = page.locator("#life").inner_text()
    assert "since epoch" in life or "one candidate" in life
    assert after in page.locator("#story svg").get_attribute("aria-label")
    assert page.locator("#story polygon").count() == page.locator("#candidates .key").count()
    page.get_by_role("button", name="Example after").click()
    third = page.locator("#name").inner_text()
    assert third not in (before, after)
    page.locator("#find").fill(after.removeprefix("example "))
    page.keyboard.press("Enter")
    assert page.locator("#name").inner_text() == after
    page.get_by_label("Colour by true label").check()
    page.get_by_label("Hold this order").check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone_in_light_and_dark(made: tuple[Path, RunFolder], new_page: Any, scheme: str) -> None:
    page = new_page(offline=True, viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page.goto(f"{made[0].as_uri()}#epoch=5")
    page.locator("body.ready").wait_for()
    assert epoch(page) == "5"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(15, 19, 23)")

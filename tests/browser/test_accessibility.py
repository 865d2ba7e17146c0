"""axe-core finds no serious violation: every page, empty and with a run in view, in the light and the dark theme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.runs.lanes import lane_configs
from pll.runs.registry import RunRegistry
from pll.ui.routes import PAGES
from tests.page_helpers import IRIS

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SERIOUS = ("serious", "critical")
AT_ONCE = """() => {
  const style = document.createElement("style");
  style.textContent = "* { transition: none !important; }";
  document.head.append(style);
}"""
SETTLED = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@pytest.fixture(scope="module")
def axe() -> str:
    """The program that is run inside a page; it comes with the package and needs no network."""
    package = pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python (requirements-dev.txt)")
    return (Path(package.__file__).parent / "axe.min.js").read_text("utf-8")


def violations(page: Any, axe: str, **options: Any) -> list[str]:
    """What is serious, each with the first element that shows it."""
    page.evaluate(axe)
    quick = {"resultTypes": ["violations"], "iframes": False, "selectors": False}
    found = page.evaluate("options => axe.run(document, options)", quick | options)["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found if one["impact"] in SERIOUS]


def test_no_page_has_a_serious_violation(app: str, app_home: Path, new_page: Any, axe: str) -> None:
    runs = RunRegistry(app_home / "runs")
    run = runs.start(IRIS)
    run.join(60)
    lanes = runs.start(*lane_configs(IRIS, ["proden", "proden-naive"]))
    lanes.join(60)
    empty = ["" if name == "home" else name for name in PAGES]
    filled = [f"train?run={run.id}", f"export?run={run.id}", f"compare?comparison={lanes.id}", f"review?run={run.id}"]
    page = new_page(viewport={"width": 1280, "height": 720})
    found: dict[str, list[str]] = {}
    for path in (*empty, *filled):
        page.goto(f"{app}/{path}")
        if path.startswith("review?"):
            page.get_by_role("textbox").first.fill("Ada")
            page.get_by_role("button", name="Start").click()
            page.locator(".desk .board").wait_for()
        page.get_by_role("heading").first.wait_for()
        page.locator(SETTLED).wait_for()
        page.locator("[data-testid=stHtml] style").first.wait_for(state="attached")  # may come after all the rest
        page.wait_for_function("!document.querySelector('[data-stale=true]')")  # pale until it is drawn again
        page.evaluate(AT_ONCE)  # no colour is looked at half-way to another
        found[f"{path or 'home'}, light"] = violations(page, axe)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function(
            "getComputedStyle(document.querySelector('.stApp')).backgroundColor === 'rgb(15, 19, 23)'"
        )
        found[f"{path or 'home'}, dark"] = violations(page, axe, runOnly=["color-contrast"])
        page.emulate_media(color_scheme="light")
    assert {where: what for where, what in found.items() if what} == {}

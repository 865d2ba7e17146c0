"""Every kind of picture is taken away as PNG and as SVG, and the SVG is sound."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SVG = "{http://www.w3.org/2000/svg}"
LINK = "train?link=1&data=iris&flip=binomial&q=0.3&seed=0&method=proden&epochs=5&threads=1"


@pytest.fixture
def page(app: str, new_page: Any) -> Any:
    opened = new_page(viewport={"width": 1280, "height": 1400})
    opened.goto(f"{app}/{LINK}")
    opened.get_by_role("button", name="Start", exact=True).click()
    opened.get_by_text("worth a look").or_(opened.get_by_text("Do not trust these labels")).wait_for()
    opened.locator(".plot .when").filter(has_text=re.compile("^After 5 passes$")).nth(1).wait_for()
    return opened


def saved(page: Any, press: Callable[[], None]) -> tuple[str, bytes]:
    with page.expect_download() as download:
        press()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def of_canvas(page: Any, place: int, kind: str) -> tuple[str, bytes]:
    plot = page.locator(".plot").nth(place)
    plot.get_by_title("Save this picture").click()
    return saved(page, lambda: plot.get_by_role("button", name=kind, exact=True).click())


def words(svg: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in svg.iter(f"{SVG}text")]


def test_a_star_plot_and_a_heatmap_are_saved_as_both(page: Any) -> None:
    for place in (0, 1):
        name, content = of_canvas(page, place, "PNG")
        assert name == "candid-after-5-passes.png" and content[:8] == b"\x89PNG\r\n\x1a\n"
    name, content = of_canvas(page, 0, "SVG")
    star = ElementTree.fromstring(content)
    assert name == "candid-after-5-passes.svg"
    assert len(list(star.iter(f"{SVG}circle"))) == 150  # every example
    assert {"After 5 passes", "150 examples", "setosa"} <= set(words(star))
    assert star.findtext(f"{SVG}title", "").startswith("Star plot, After 5 passes")
    heatmap = ElementTree.fromstring(of_canvas(page, 1, "SVG")[1])
    assert len(list(heatmap.iter(f"{SVG}image"))) == 3  # a column a class
    assert "no candidate" in words(heatmap)


def test_a_chart_is_saved_as_both_with_its_numbers(page: Any) -> None:
    page.get_by_text("For experts").click()
    page.get_by_role("radio", name="Accuracy").click()
    page.locator(".js-plotly-plot").first.wait_for()
    page.get_by_role("button", name="Numbers and picture").first.click()
    name, content = saved(page, lambda: page.get_by_role("button", name="Picture as PNG").click())
    assert name.endswith(".png") and content[:8] == b"\x89PNG\r\n\x1a\n"
    name, content = saved(page, lambda: page.get_by_role("button", name="Picture as SVG").click())
    assert name.endswith(".svg") and "epoch" in " ".join(words(ElementTree.fromstring(content)))
    table = page.get_by_test_id("stBaseButton-tertiary").filter(has_text="Download as CSV")
    name, content = saved(page, table.click)
    assert name.endswith(".csv") and len(content.splitlines()) == 6

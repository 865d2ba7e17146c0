"""The canvas components in a real browser: they live on, they move, they answer, in light and dark, large and small."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pll.colors import WEIGHTS_DARK, WEIGHTS_LIGHT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Four classes. Example 0 is sure of class 0 (top), example 1 may be anything (middle), example 2 travels from between
# classes 1 and 3 (middle, too) to class 1 (right), example 3 has two candidates only.
SCRIPT = """
import numpy as np
import streamlit as st

from pll.candidates import CandidateSets
from pll.ui.components.canvas import Presentation, mount
from pll.ui.components.heatmap import HEATMAP, heatmap_payload
from pll.ui.components.star import STAR, star_payload

sets = CandidateSets.from_lists([[0], [0, 1, 2, 3], [1, 3], [2, 3]], 4, ["ant", "bee", "cat", "dog"])
st.session_state.setdefault("epoch", 0)
st.session_state.setdefault("selected", None)


def step():
    st.session_state.epoch += 1


def select(example):
    st.session_state.selected = example


every = float(st.query_params.get("every", 0)) or None


@st.fragment(run_every=every)
def live():
    if every and st.session_state.epoch < 8:
        step()
    st.button("Next", on_click=step)
    epoch = st.session_state.epoch
    sure = 0.5 + 0.5 * min(epoch, 5) / 5
    weights = np.array([1, 0.25, 0.25, 0.25, 0.25, sure, 1 - sure, 0.2, 0.8], dtype=np.float32)
    shown = Presentation(f"Epoch {epoch}", st.session_state.selected)
    left, right = st.columns(2)
    with left:
        mount(STAR, star_payload(weights, sets, shown), "star", 4, select)
    with right:
        payload = heatmap_payload(weights, sets, shown)
        mount(HEATMAP, payload, "heatmap", 4, select)
    st.write(f"selected {st.session_state.selected}")


live()
"""

COUNT_PAINTS = """
window.paints = 0;
const clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function (...box) { window.paints += 1; return clear.apply(this, box); };
"""

# Components live in shadow roots, which selectors of the page's own script do not look into.
STILL = """() => {
  const plots = (root) => [...root.querySelectorAll("*")].flatMap((element) => [
    ...(element.matches(".plot") ? [element] : []), ...(element.shadowRoot ? plots(element.shadowRoot) : []),
  ]);
  return plots(document).every((plot) => !plot.dataset.moving);
}"""


@pytest.fixture(scope="module")
def url(serve: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    script: Path = tmp_path_factory.mktemp("app") / "components.py"
    script.write_text(SCRIPT, "utf-8")
    return str(serve(script))


@pytest.fixture
def opened(url: str, new_page: Any) -> Any:
    """`opened(**settings)`: the app in a fresh browser, both pictures drawn and at rest."""

    def open_app(**settings: Any) -> Any:
        page = new_page(**({"reduced_motion": "no-preference"} | settings))
        page.add_init_script(COUNT_PAINTS)
        page.goto(url)
        page.get_by_text("Epoch 0").nth(1).wait_for()
        at_rest(page)
        return page

    return open_app


def at_rest(page: Any) -> int:
    """Waits until no picture moves any more; returns how often pictures were painted until then."""
    page.wait_for_function(STILL)
    return int(page.evaluate("window.paints"))


def star(page: Any) -> Any:
    return page.locator(".plot canvas").first


def heatmap(page: Any) -> Any:
    return page.locator(".plot canvas").nth(1)


def tip(page: Any, which: int = 0) -> Any:
    return page.locator(".plot .tip").nth(which)


def next_epoch(page: Any, epoch: int) -> None:
    page.get_by_role("button", name="Next").click()
    page.get_by_text(f"Epoch {epoch}", exact=True).nth(1).wait_for()


def test_the_canvas_lives_on_glides_and_comes_to_rest(opened: Any) -> None:
    page = opened()
    first = star(page).element_handle()
    first.evaluate("canvas => { canvas.mark = 'the same'; }")
    for epoch in range(1, 3):
        before = at_rest(page)
        next_epoch(page, epoch)
        assert at_rest(page) - before >= 8  # two pictures gliding, even on a machine that has other things to do
    assert first.evaluate("canvas => canvas.isConnected && canvas.mark") == "the same"
    assert star(page).evaluate("canvas => canvas.mark") == "the same"


def test_who_prefers_less_motion_sees_none(opened: Any) -> None:
    page = opened(reduced_motion="reduce")
    before = at_rest(page)
    next_epoch(page, 1)
    assert at_rest(page) - before <= 2 * 4  # a handful of paints a picture, whatever the distance


def test_the_pictures_are_told_in_words_and_keys_reach_every_example(opened: Any) -> None:
    page = opened()
    for canvas, words in ((star(page), "Star plot, Epoch 0: 4 examples"), (heatmap(page), "Heatmap of label weights")):
        assert canvas.get_attribute("aria-label").startswith(words)
        assert canvas.get_attribute("tabindex") == "0"
        described = canvas.evaluate(
            "c => c.getRootNode().getElementById(c.getAttribute('aria-describedby')).textContent"
        )
        assert "Enter selects" in described

    star(page).focus()
    page.keyboard.press("ArrowUp")  # from the middle to the top
    assert tip(page).inner_text().splitlines() == ["example 0", "ant, label weight 100 %"]
    assert page.locator(".plot .now").first.inner_text() == "example 0, ant, label weight 100 %"
    seen = set()
    for _ in range(4):
        page.keyboard.press("PageDown")
        seen.add(tip(page).inner_text().splitlines()[0])
    assert seen == {f"example {i}" for i in range(4)}
    page.keyboard.press("Enter")
    page.get_by_text("selected 0").wait_for()
    page.keyboard.press("Escape")
    assert tip(page).is_hidden()
    next_epoch(page, 1)
    page.get_by_text("selected 0").wait_for()


def test_the_colours_follow_the_theme_at_once(opened: Any) -> None:
    page = opened(color_scheme="light")
    # In the first row "ant" has weight 1: the last colour of the scale. No other class is a candidate: nothing there.
    pixel = """canvas => [0.15, 0.9].map((x) => Array.from(canvas.getContext("2d").getImageData(
        Math.round(x * canvas.width), Math.round(0.15 * canvas.height), 1, 1).data))"""
    for scheme, scale in (("light", WEIGHTS_LIGHT), ("dark", WEIGHTS_DARK), ("light", WEIGHTS_LIGHT)):
        page.emulate_media(color_scheme=scheme)
        weight, blank = heatmap(page).evaluate(pixel)
        while weight != [*bytes.fromhex(scale[-1][1:]), 255]:  # the test's own time limit ends this
            page.wait_for_timeout(50)
            weight, blank = heatmap(page).evaluate(pixel)
        assert blank == [0, 0, 0, 0]

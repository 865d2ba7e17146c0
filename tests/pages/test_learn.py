"""The Learn page: its screens, the ideas that speak of the reader's own data, and what a class is asked.

What runs in the browser is in tests/browser/test_lesson.py and test_learn.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pll.catalog.sources import Source
from pll.runs.config import DataConfig, RunConfig
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.learn.layout import CHAPTERS
from tests.page_helpers import said


def slider(page: Any, key: str) -> Any:
    return next(one for one in page.slider if one.key == key)


def radio(page: Any, name: str) -> Any:
    return next(one for one in page.radio if one.key == f"learn-guess-{name}-choice")


def press(page: Any, key: str) -> Any:
    return next(button for button in page.button if button.key == key).click().run()


def learn(open_page: Any, idea: str, **query: str) -> Any:
    """The Learn page at one of its screens."""
    return open_page("learn", idea=idea, **query)


def turned_to(page: Any, idea: str) -> Any:
    return page.selectbox(key="learn-idea").set_value(idea).run()


def test_every_idea_is_a_screen(open_page: Any) -> None:
    page = open_page("learn")
    seen = []
    for at in range(len(CHAPTERS)):
        assert not page.exception
        seen += [title.value for title in page.title]
        if at:
            assert page.query_params["idea"] in (list(CHAPTERS)[at], [list(CHAPTERS)[at]])
            press(page, "learn-back")
            page = press(page, "learn-next")
        last = next(one for one in page.button if one.key == "learn-next")
        assert last.disabled == (at == len(CHAPTERS) - 1)
        if not last.disabled:
            last.click().run()
    assert seen == list(CHAPTERS.values())


def test_an_idea_that_there_is_not_opens_the_first(open_page: Any) -> None:
    page = open_page("learn", idea="no such idea")
    assert [title.value for title in page.title] == [next(iter(CHAPTERS.values()))]


def test_settings_and_guesses_stay_while_other_ideas_are_seen(open_page: Any) -> None:
    page = learn(open_page, "ambiguity", **{"learn-gamma-q": "0.4"})
    assert slider(page, "learn-gamma-q").value == 0.4
    assert "“Small” means only" not in said(page)
    radio(page, "ambiguity").set_value("5 or fewer").run()
    turned_to(page, "bound")
    turned_to(page, "ambiguity")
    assert slider(page, "learn-gamma-q").value == 0.4
    assert "“5 or fewer”. It is: 6 to 50." in said(page)
    slider(page, "learn-gamma-q").set_value(0.9).run()
    assert "It is: 6 to 50. That was before" in said(page)  # moving on does not judge again
    press(page, "learn-guess-ambiguity-again")
    radio(page, "ambiguity").set_value("more than 50").run()
    assert "Right." in said(page)


def test_gamma_of_digits_is_exact(open_page: Any) -> None:
    page = learn(open_page, "ambiguity")
    assert "\\mathbf{0.770}" in said(page) and "Estimated" not in said(page)
    slider(page, "learn-gamma-q").set_value(1.0).run()
    assert "\\mathbf{1.000}" in said(page)
    press(page, "learn-guess-ambiguity-show")
    assert "**No number.**" in said(page)


def test_gamma_of_a_run_without_truth_is_estimated_and_says_so(open_page: Any, tmp_path: Any) -> None:
    generator = np.random.default_rng(0)
    y = np.arange(60) % 3
    sets = np.eye(3, dtype=bool)[y] | (generator.random((60, 3)) < 0.4)
    X = generator.normal(size=(60, 2)) + 3 * np.eye(3)[y][:, :2]
    np.savez(tmp_path / "data.npz", X=X.astype(np.float32), candidates=sets)
    open_page("home")
    run = session.registry().start(RunConfig(Source("data.npz", path=str(tmp_path / "data.npz")), params={"epochs": 3}))
    run.join(60)
    page = learn(open_page, "ambiguity", run=run.id)
    assert not page.exception
    assert "**Estimated**" in said(page) and "identified as **" in said(page)


def test_chosen_data_without_truth_asks_for_a_run(open_page: Any, tmp_path: Any) -> None:
    np.savez(
        tmp_path / "data.npz", X=np.eye(4, 2, dtype=np.float32), candidates=np.array([[1, 1], [1, 1], [1, 0], [0, 1]])
    )
    page = open_page("home")
    page.session_state["choice"] = DataConfig(Source("data.npz", path=str(tmp_path / "data.npz")))
    page.switch_page("../../pages/learn.py").run()
    turned_to(page, "ambiguity")
    assert not page.exception
    assert "no run has identified any yet" in said(page)


def test_the_bound_of_the_chosen_data(open_page: Any) -> None:
    page = open_page("home")
    page.session_state["choice"] = DataConfig(Source("digits"), flip=Flip("binomial", 0.3))
    page.switch_page("../../pages/learn.py").run()
    turned_to(page, "bound")
    press(page, "learn-guess-bound-show")
    assert not page.exception
    assert "**Vacuous.**" in said(page)
    more = next(one for one in page.select_slider if one.key == "learn-bound-times")
    more.set_value(100_000).run()
    assert "**It says something**" in said(page) and "179{,}700{,}000" in said(page)


@pytest.mark.parametrize("model", ["mlp", "convnet"])
def test_the_bound_of_a_network_is_not_computable(open_page: Any, model: str) -> None:
    page = learn(open_page, "bound")
    next(one for one in page.selectbox if one.key == "learn-bound-model").set_value(model).run()
    assert not page.exception
    assert f"Not computable for the model '{model}'" in said(page)


def test_the_last_idea_leads_to_ones_own_data(open_page: Any) -> None:
    page = open_page("learn", idea=list(CHAPTERS)[-1])
    assert not page.exception
    assert "Try your own data" in [link.proto.label for link in page.get("page_link")]

"""Share links on the compare page: opened, reloaded, looked at in a lesson, made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from pll.catalog.sources import Source
from pll.runs.folder import RunConfig
from pll.runs.lanes import lane_configs
from pll.runs.lanes_link import lanes_from_query, lanes_to_query
from pll.runs.link import Look
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.view_state import run_view, scenes
from tests.page_helpers import button, labels, said
from tests.run_helpers import write_data

IRIS = RunConfig(
    Source("iris"), params={"epochs": 12, "threads": 1}, flip=Flip("binomial", 0.3), holdout=0.2, name="irises"
)
CONFIGS = lane_configs(IRIS, ("proden", "proden-naive", "pn-oracle"), {"proden-naive": {"lr": 0.2}})


def link(look: Look = Look()) -> dict[str, str]:  # noqa: B008 - frozen
    return dict(lanes_to_query(CONFIGS, look))


def started(page: Any) -> Any:
    """The page of a link once Start was pressed on it, if it asks for that."""
    return button(page, "Start").click().run() if "Start" in labels(page) else page


def ended(page: Any) -> tuple[Any, Run]:
    """The page once the comparison in view has ended, and that one."""
    assert not page.exception
    page = started(page)
    comparison = session.registry().get(page.session_state["comparison"])
    comparison.join(60)
    page.run()
    assert not page.exception
    return page, comparison


def test_a_link_sets_up_the_lanes_and_the_view(open_page: Any) -> None:
    page, comparison = ended(open_page("compare", **link(Look(epoch=5, truth=True, patience=50, pace=500.0))))
    assert [run.config for run in comparison.lanes] == CONFIGS
    assert (comparison.pace, comparison.patience) == (500.0, 50)
    assert "in view: after 5 passes" in said(page)
    assert page.session_state[f"run-view-{comparison.id}"].truth
    assert page.query_params["comparison"] == comparison.id


def test_the_same_link_gives_the_same_figures_and_a_reload_finds_them(open_page: Any) -> None:
    first, mine = ended(open_page("compare", **link()))
    second, yours = ended(open_page("compare", **link()))
    assert mine.id != yours.id
    assert first.table[-1].value.equals(second.table[-1].value)
    for one, other in zip(mine.lanes, yours.lanes, strict=True):
        assert np.array_equal(np.load(one.folder.history / "final.npy"), np.load(other.folder.history / "final.npy"))
    reloaded = open_page("compare", **link(), comparison=mine.id)
    assert reloaded.session_state["comparison"] == mine.id
    first.query_params.pop("comparison", None)  # back in the browser's history
    first.run()
    assert first.session_state["comparison"] == mine.id
    assert len(session.registry().comparisons()) == 2


def test_a_lesson_may_hide_everything_and_everything_comes_back(open_page: Any) -> None:
    hidden = ("transport", "speed", "settings", "next", "star", "verdict", "curves", "timeline")
    page, _ = ended(open_page("compare", **link(Look(hidden=hidden))))
    text = said(page)
    assert labels(page) == {"Show everything"}
    assert "What this shows" not in text and "heading" not in text and "seed 0" not in text
    assert not page.get("plotly_chart") and len(page.table) == 1
    (button,) = [one for one in page.button if one.label == "Show everything"]
    button.click().run()
    assert {"Restart", "New comparison"} <= labels(page)
    assert "hide" not in page.query_params
    assert "What this shows" in said(page)


def test_predict_then_reveal(open_page: Any) -> None:
    page, comparison = ended(open_page("compare", **link(Look(hidden=("truth",)))))
    text = said(page)
    assert "No true labels are known here" in text and "correct" not in text.lower()
    assert "Correct" not in page.table[-1].value and not page.toggle
    next(one for one in page.button if one.label == "Show everything").click().run()
    assert "Correct" in page.table[-1].value
    run_view(comparison).hidden = frozenset({"truth"})
    lanes = scenes(comparison, comparison.snapshot())
    again = scenes(comparison, comparison.snapshot())
    assert all(lane.known_truth is None and lane.parts.test is None for lane in lanes)
    assert len({id(lane.data) for lane in [*lanes, *again]}) == 1  # made once


def test_the_popover_gives_the_link(open_page: Any) -> None:
    page, comparison = ended(open_page("compare", **link()))
    page.session_state[f"run-view-{comparison.id}"].look(3, False, 1)
    page.session_state["share"] = True
    page.run()
    assert not page.exception
    pills = page.button_group(key="share-controls-lanes")
    pills.set_value(["transport", "truth"]).run()
    made = page.code[0].value
    assert urlsplit(made).path.endswith("/compare") and "comparison=" not in made
    shares = lanes_from_query(parse_qs(urlsplit(made).query))
    assert [share.config for share in shares] == CONFIGS
    assert (shares[0].look.epoch, set(shares[0].look.hidden)) == (3, {"transport", "truth"})


def test_runs_laid_beside_each_other_have_no_link(open_page: Any) -> None:
    _, comparison = ended(open_page("compare", **link()))
    beside = session.registry().compare([run.id for run in comparison.lanes[:2]])
    page = open_page("compare", comparison=beside.id)
    page.session_state["share"] = True
    page.run()
    assert not page.exception
    assert "trained separately" in said(page)


def test_a_link_that_waits_and_one_that_is_wrong(open_page: Any) -> None:
    page = started(open_page("compare", **link(Look(paused=True, hidden=("navigation",)))))
    assert not page.exception
    comparison = session.registry().get(page.session_state["comparison"])
    comparison.wait_until_paused(30)
    assert comparison.snapshot().epoch == 0
    wrong = open_page("compare", **(link() | {"lanes": "proden,produn"}))
    assert not wrong.exception
    assert "no method called 'produn'" in wrong.error[0].value
    assert len(session.registry().comparisons()) == 1
    next(one for one in wrong.button if one.label == "Continue without this link").click().run()
    assert not wrong.exception and not wrong.error
    assert "Start" in labels(wrong)


def test_a_file_is_asked_for_and_another_one_is_not_taken(open_page: Any, tmp_path: Any) -> None:
    content = write_data(tmp_path / "points.npz").read_bytes()
    open_page("home")
    source = session.keep_upload("points.npz", content)
    configs = lane_configs(replace(IRIS, source=source), ("proden", "proden-naive"))
    page = open_page("compare", **dict(lanes_to_query(configs)))
    assert not page.exception
    assert "One file is needed" in said(page) and "points" in said(page)
    assert str(source.sha256)[:16] in said(page)
    page.session_state["uploads"] = [session.keep_upload("other.npz", b"something else")]
    page.run()
    assert session.registry().comparisons() == []
    page.session_state["uploads"] = [source]
    page.run()
    _, comparison = ended(page)
    assert {run.config.source.sha256 for run in comparison.lanes} == {source.sha256}

"""The compare page: from lanes to a verdict, by link and without truth, and runs of the past side by side."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pll.catalog.sources import Source
from pll.runs.config import DataConfig, RunConfig
from pll.runs.lanes import lane_configs
from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import loader
from tests.page_helpers import button, said
from tests.run_helpers import VARIANTS

IRIS = RunConfig(Source("iris"), params={"epochs": 12}, flip=Flip("binomial", 0.3), holdout=0.2, name="irises")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of runs of a home where a comparison has ended."""
    folder = tmp_path_factory.mktemp("home") / "runs"
    RunRegistry(folder).start(*lane_configs(IRIS, VARIANTS)).join(60)
    return folder


@pytest.fixture
def finished(open_page: Any, runs: Path, tmp_path: Path) -> Run:
    shutil.copytree(runs, tmp_path / "home" / "runs")
    open_page("home")
    return session.registry().comparisons()[0]


def offered(page: Any) -> set[str]:
    """The methods on the page, by title."""
    return {option if isinstance(option, str) else option.content for pills in page.pills for option in pills.options}


def test_too_few_lanes_are_said_and_not_started(open_page: Any) -> None:
    page = open_page("compare")
    for chosen in (["proden"], []):
        page.pills[0].set_value(chosen).run()
        assert not page.exception
        assert f"{len(chosen)} lane" in page.info[0].value
        assert not [one for one in page.button if one.label == "Start"]


def test_the_oracle_is_no_lane_without_truth(open_page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    open_page("home")
    choice = DataConfig(Source("iris"), flip=Flip("binomial", 0.3))
    monkeypatch.setitem(loader.with_candidates(choice).__dict__, "y", None)
    page = open_page("home")
    page.session_state["choice"] = choice
    page.switch_page("../../pages/compare.py").run()
    assert not page.exception
    assert "PN-oracle" not in offered(page) and "PN-oracle" not in said(page)


def test_runs_of_the_past_are_laid_side_by_side(open_page: Any, finished: Run) -> None:
    page = open_page("compare")
    page.button_group(key="compare-way").set_value("Your runs").run()
    assert not page.exception
    chosen = page.multiselect(key="compare-runs")
    assert len(chosen.options) == 5 and button(page, "Compare").disabled
    chosen.set_value([lane.id for lane in finished.lanes[:2]]).run()
    button(page, "Compare").click().run()
    assert not page.exception
    assert not [one for one in page.button if one.label == "Restart"]
    assert len(page.table[-1].value.columns) == 1 + 2
    page.session_state["share"] = True
    assert "trained separately" in said(page.run()) and not page.exception  # they have no link


def test_runs_of_different_data_are_not_called_better(open_page: Any, finished: Run) -> None:
    other = session.registry().start(replace(IRIS, seed=5))
    other.join(60)
    mixed = session.registry().compare([finished.lanes[0].id, other.id])
    page = open_page("compare", comparison=mixed.id)
    assert not page.exception
    assert "cannot be compared" in said(page)
    assert "PRODEN seed 0" in said(page) and "PRODEN seed 5" in said(page)


def test_a_lane_at_work_is_watched_on_its_own_page_but_not_moved(open_page: Any) -> None:
    open_page("home")
    long = replace(IRIS, params={"epochs": 100_000})
    comparison = session.registry().start(*lane_configs(long, ["proden", "proden-naive"]), paused=True)
    comparison.resume(epochs=2)
    comparison.wait_until_paused(30)
    page = open_page("train", run=comparison.lanes[0].id)
    assert not page.exception
    assert "lane of a comparison" in page.info[0].value
    assert button(page, "Stop").disabled and button(page, "Resume").disabled

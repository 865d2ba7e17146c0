"""The compare page: from lanes to a verdict, by link and without truth, and runs of the past side by side."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pll.analysis.comparison_report import figures_table
from pll.catalog.sources import Source
from pll.experiments import background
from pll.experiments.execution import ExperimentFolder, Progress, run_cell
from pll.methods import method_title
from pll.runs.config import RunConfig
from pll.runs.lanes import USUAL, lane_configs
from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.view_state import scenes
from tests.page_helpers import button, said

IRIS = RunConfig(Source("iris"), params={"epochs": 12}, flip=Flip("binomial", 0.3), holdout=0.2, name="irises")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of runs of a home where a comparison has ended."""
    folder = tmp_path_factory.mktemp("home") / "runs"
    RunRegistry(folder).start(*lane_configs(IRIS, USUAL)).join(60)
    return folder


@pytest.fixture
def finished(open_page: Any, runs: Path, tmp_path: Path) -> Run:
    shutil.copytree(runs, tmp_path / "home" / "runs")
    open_page("home")
    return session.registry().comparisons()[0]


def offered(page: Any) -> set[str]:
    """The methods on the page, by title."""
    return {option if isinstance(option, str) else option.content for pills in page.pills for option in pills.options}


def choose(page: Any, *methods: str) -> Any:
    """Choose these methods and no others."""
    for pills in page.pills:
        own = {option if isinstance(option, str) else option.content for option in pills.options}
        pills.set_value([method for method in methods if method_title(method) in own])
    return page


def test_too_few_lanes_are_said_and_not_started(open_page: Any) -> None:
    page = open_page("compare")
    for chosen in (["proden"], []):
        page.pills[0].set_value(chosen).run()
        assert not page.exception
        assert f"{len(chosen)} lane" in page.info[0].value
        assert not [one for one in page.button if one.label == "Start"]


def test_while_lanes_take_turns_they_are_compared_at_the_same_epoch(finished: Run) -> None:
    whole = finished.snapshot()
    ahead = [5, 4, 4, 5, 12]  # the last one has ended; metrics.csv of the others is behind what is on the disk
    lanes = tuple(
        replace(lane, state="finished" if epoch == 12 else "running", rows=lane.rows[:epoch], metrics=None)
        for lane, epoch in zip(whole.lanes, ahead, strict=True)
    )
    seen = scenes(finished, replace(whole, state="running", lanes=lanes))
    assert [lane.frame.epoch for lane in seen] == [4, 4, 4, 4, 12]
    table = figures_table([lane.figures for lane in seen], [lane.known_truth for lane in seen])
    assert [lane.right for lane in seen] == table["identified_correctly"].tolist()  # of the verdict, too


def test_the_oracle_is_no_lane_without_truth(open_page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    open_page("home")
    choice = session.ChosenData(Source("iris"), Flip("binomial", 0.3))
    monkeypatch.setitem(session.dataset_with_candidates(choice).__dict__, "y", None)
    page = open_page("home")
    page.session_state["choice"] = choice
    page.switch_page("../../pages/compare.py").run()
    assert not page.exception
    assert "PN-oracle" not in offered(page) and "PN-oracle" not in said(page)


def test_runs_of_the_past_are_laid_side_by_side(open_page: Any, finished: Run) -> None:
    page = open_page("compare")
    page.button_group(key="compare_way").set_value("Your runs").run()
    assert not page.exception
    chosen = page.multiselect(key="compare_runs")
    assert len(chosen.options) == 5 and button(page, "Compare").disabled
    chosen.set_value([lane.id for lane in finished.lanes[:2]]).run()
    button(page, "Compare").click().run()
    assert not page.exception
    assert not [one for one in page.button if one.label == "Restart"]
    assert len(page.table[-1].value) == 2


def test_lanes_are_repeated_over_seeds_and_q(open_page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[ExperimentFolder] = []
    monkeypatch.setattr(background, "_start", started.append)
    page = open_page("home")
    page.session_state["choice"] = session.ChosenData(Source("iris"), Flip("binomial", 0.5))
    page.switch_page("../../pages/compare.py").run()
    page.button_group(key="compare_way").set_value("Repeat over seeds and q").run()
    choose(page, "proden", "plknn")
    page.number_input(key="sweep-seeds").set_value(2)
    page.button_group(key="sweep-qs").set_value([0.1, 0.4])
    page.number_input(key="compare_epochs").set_value(2).run()
    assert "8 fits" in said(page)
    button(page, "Start").click().run()
    assert not page.exception
    (folder,) = started
    experiment = folder.experiment()
    assert (experiment.methods, experiment.seeds) == (["proden", "plknn"], [0, 1])
    cells = experiment.plan().cells
    assert {cell.settings["epochs"] for cell in cells if cell.method == "proden"} == {2}
    outcomes = {cell.key: run_cell(cell) for cell in cells}
    folder.write_results(cells, outcomes)
    folder.write_progress("finished", Progress(8, 8, 0))
    page.run()
    assert not page.exception
    assert len(page.get("plotly_chart")) == 2 and "±" in str(page.dataframe[0].value.iloc[0, 2])
    button(page, "New comparison").click().run()
    assert "8 of 8 fits" in said(page)


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
    comparison.step(epochs=2)
    comparison.wait_until_paused(30)
    page = open_page("train", run=comparison.lanes[0].id)
    assert not page.exception
    assert "lane of a comparison" in page.info[0].value
    assert button(page, "Stop").disabled and button(page, "Resume").disabled

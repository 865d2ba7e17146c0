"""The compare page: from lanes to a verdict, by link and without truth, and runs of the past side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from pll.analysis.comparison_report import figures_table, verdict
from pll.catalog.sources import Source
from pll.colors import DARK_BACKGROUND, LANE_COLOURS, LIGHT_BACKGROUND, class_colours, contrast
from pll.experiments import background
from pll.experiments.execution import ExperimentFolder, Progress, run_cell
from pll.methods import method_title
from pll.runs.config import RunConfig
from pll.runs.lanes import USUAL, lane_configs
from pll.runs.run import Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.compare import lines, runs_table
from pll.ui.compare.picture import picture
from pll.ui.view_state import scenes
from tests.page_helpers import button, labels, said

IRIS = RunConfig(Source("iris"), params={"epochs": 12}, flip=Flip("binomial", 0.3), holdout=0.2, name="irises")


@pytest.fixture
def finished(open_page: Any) -> Run:
    open_page("home")
    comparison = session.registry().start(*lane_configs(IRIS, USUAL))
    comparison.join(60)
    return comparison


def offered(page: Any) -> set[str]:
    """The methods on the page, by title."""
    return {option if isinstance(option, str) else option.content for pills in page.pills for option in pills.options}


def choose(page: Any, *methods: str) -> Any:
    """Choose these methods and no others."""
    for pills in page.pills:
        own = {option if isinstance(option, str) else option.content for option in pills.options}
        pills.set_value([method for method in methods if method_title(method) in own])
    return page


def test_it_opens_with_the_digits_and_three_methods(open_page: Any) -> None:
    page = open_page("compare")
    assert not page.exception
    assert "**digits** — 1,797 examples" in said(page)
    assert page.pills[0].value == ["proden", "proden-naive", "pn-oracle"]
    assert {"PL-kNN", "PRODEN-itera"} <= offered(page) and "Dawid-Skene" not in offered(page)
    assert page.slider[0].value == 0.7
    assert not button(page, "Start").disabled


def test_from_lanes_to_a_comparison(open_page: Any) -> None:
    page = open_page("home")
    page.session_state["choice"] = session.ChosenData(Source("iris"), Flip("binomial", 0.5))
    page.switch_page("../../pages/compare.py").run()
    assert "150 examples" in said(page)
    page.slider[0].set_value(0.3)
    page.number_input(key="compare_epochs").set_value(7)
    choose(page, "proden-naive", "clpl", "proden").run()
    button(page, "Start").click().run()
    assert not page.exception
    (comparison,) = session.registry().comparisons()
    comparison.join(60)
    configs = [run.config for run in comparison.lanes]
    assert [config.method for config in configs] == ["proden", "proden-naive", "clpl"]
    assert [config.params.get("epochs") for config in configs] == [7, 7, None]
    assert {config.flip for config in configs} == {Flip("binomial", 0.3)}
    assert page.session_state["comparison"] == comparison.id
    page.run()
    assert "PRODEN-naive" in said(page) and "What this shows" in said(page)


def test_too_few_lanes_are_said_and_not_started(open_page: Any) -> None:
    page = open_page("compare")
    for chosen in (["proden"], []):
        page.pills[0].set_value(chosen).run()
        assert not page.exception
        assert f"{len(chosen)} lane" in page.info[0].value
        assert not [one for one in page.button if one.label == "Start"]


def test_its_link_finds_it_with_everything_it_shows(open_page: Any, finished: Run) -> None:
    page = open_page("compare", comparison=finished.id)
    assert not page.exception
    text = said(page)
    assert "Finished." in text
    for lane in finished.snapshot().lanes:
        assert lane.metrics is not None
        assert f"### {100 * lane.metrics['transductive_accuracy']:.1f} %" in text
    table = page.table[-1].value
    assert list(table["Lane"]) == ["PRODEN", "PRODEN-itera", "PRODEN-naive", "PRODEN-sudden", "PN-oracle"]
    accuracy = [lane.metrics["transductive_accuracy"] for lane in finished.snapshot().lanes if lane.metrics]
    assert table["Correct"].tolist() == [f"{100 * share:.1f} %" for share in accuracy]
    assert len(page.get("plotly_chart")) == 3


def test_a_dead_link_is_explained(open_page: Any) -> None:
    page = open_page("compare", comparison="nothing-here")
    assert not page.exception
    assert "no run behind this link" in page.error[0].value
    assert button(page, "Start")


def test_looking_back_moves_every_lane_and_no_run(open_page: Any, finished: Run) -> None:
    page = open_page("compare", comparison=finished.id)
    before = [(run.folder.path / "state.json").read_bytes() for run in finished.lanes]
    page.session_state[f"run-view-{finished.id}"].look(3, False, 1)
    page.run()
    assert not page.exception
    assert "in view: after 3 passes" in said(page)
    rows = [run.folder.metrics()[2] for run in finished.lanes]
    table = page.table[-1].value
    assert table["Epoch"].tolist() == ["3"] * 5
    assert table["Correct"].tolist() == [f"{100 * row['transductive_accuracy']:.1f} %" for row in rows]
    assert [(run.folder.path / "state.json").read_bytes() for run in finished.lanes] == before


def test_the_buttons_move_all_lanes(open_page: Any, finished: Run) -> None:
    page = open_page("compare", comparison=finished.id)
    assert not labels(page) & {"Stop", "Resume", "Run 1"}, "a finished comparison has nothing to pause or to step"
    button(page, "Restart").click().run()
    assert not page.exception
    new = session.registry().get(page.session_state["comparison"])
    assert new.id != finished.id
    new.wait_until_paused(30)
    for press, epoch in (("Run 1", 1), ("Run 5", 6), ("Run 25", 12)):
        button(page, press).click().run()
        new.wait_until_paused(30)
        assert [lane.epoch for lane in new.snapshot().lanes] == [epoch] * 5
    for one, other in zip(new.lanes, finished.lanes, strict=True):  # begun again means the same result
        assert np.array_equal(np.load(one.folder.history / "final.npy"), np.load(other.folder.history / "final.npy"))


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


def test_without_truth_lanes_are_compared_by_agreement(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(finished.parts().train.__dict__, "y", None)
    page = open_page("compare", comparison=finished.id)
    assert not page.exception
    text = said(page)
    assert "lanes name the same label for" in text and "No true labels are known here" in text
    assert "Correct" not in page.table[-1].value


def test_the_oracle_is_no_lane_without_truth(open_page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    open_page("home")
    choice = session.ChosenData(Source("iris"), Flip("binomial", 0.3))
    monkeypatch.setitem(session.dataset_with_candidates(choice).__dict__, "y", None)
    page = open_page("home")
    page.session_state["choice"] = choice
    page.switch_page("../../pages/compare.py").run()
    assert not page.exception
    assert "PN-oracle" not in offered(page) and "PN-oracle" not in said(page)


def test_runs_are_filtered_told_apart_opened_and_laid_side_by_side(
    open_page: Any, finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: list[int] = []
    real = runs_table.selected
    monkeypatch.setattr(runs_table, "selected", lambda frame, key: [real(frame, key), rows][1])
    page = open_page("compare")
    page.button_group(key="compare_way").set_value("Your runs").run()
    assert not page.exception
    assert len(page.dataframe[0].value) == 5 and button(page, "Compare").disabled
    page.text_input(key="runs-filter").set_value("NAIVE").run()
    assert page.dataframe[0].value["Method"].tolist() == ["PRODEN-naive"]
    page.text_input(key="runs-filter").set_value("").run()
    rows[:] = [0]
    page.run()
    assert len(page.get("page_link")) == 1 and button(page, "Compare").disabled
    rows[:] = [0, 1]
    page.run()
    shown = page.dataframe[0].value.iloc[:2]
    diff = page.dataframe[1].value.set_index("")
    assert diff.columns.tolist() == shown["Method"].tolist()
    assert diff.loc["Correct"].tolist() == shown["Correct"].tolist()
    assert "method" in diff.index and "epochs" not in diff.index and "data" not in diff.index  # those they share
    button(page, "Compare").click().run()
    assert not page.exception
    assert not [one for one in page.button if one.label == "Restart"]
    assert set(page.table[-1].value["Lane"]) == set(shown["Method"])


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


def test_nothing_is_averaged_without_truth(open_page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    open_page("home")
    choice = session.ChosenData(Source("iris"), Flip("binomial", 0.3))
    monkeypatch.setitem(session.dataset_with_candidates(choice).__dict__, "y", None)
    page = open_page("home")
    page.session_state["choice"] = choice
    page.switch_page("../../pages/compare.py").run()
    page.button_group(key="compare_way").set_value("Repeat over seeds and q").run()
    assert not page.exception
    assert "No true labels are known" in page.error[0].value
    assert not [one for one in page.button if one.label == "Start"]


def test_runs_of_different_data_are_not_called_better(open_page: Any, finished: Run) -> None:
    other = session.registry().start(replace(IRIS, seed=5))
    other.join(60)
    mixed = session.registry().compare([finished.lanes[0].id, other.id])
    page = open_page("compare", comparison=mixed.id)
    assert not page.exception
    assert "cannot be compared" in said(page)
    assert "PRODEN seed 0" in said(page) and "PRODEN seed 5" in said(page)


def test_a_lane_opens_as_a_run_of_its_own(open_page: Any, finished: Run) -> None:
    for name in ("train", "export"):
        page = open_page(name, run=finished.lanes[1].id)
        assert not page.exception
    assert any("labels" in text.value for text in page.markdown)


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


def test_the_picture_is_sound_xml_whatever_names_say(finished: Run) -> None:
    snapshot = finished.snapshot()
    lanes = scenes(finished, snapshot)
    said = verdict([lane.figures for lane in lanes], lanes[0].known_truth, sizes=lanes[0].data.sets().sizes)
    svg = ElementTree.fromstring(picture(lanes, lines.quantities(lanes), said, "<b> & 'mine'", snapshot.total))
    words = [element.text or "" for element in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert "<b> & 'mine' · epoch 12" in words
    assert said.headline in " ".join(words) and "PN-oracle" in words
    dots = len(list(svg.iter("{http://www.w3.org/2000/svg}circle")))
    assert dots == 5 * (120 + 1)  # every example of every lane, and its rim


def test_labels_of_every_lane_are_one_table(finished: Run) -> None:
    lanes = scenes(finished, finished.snapshot())
    table = lines.labels(lanes)
    assert table.groupby("lane", sort=False).size().to_dict() == {lane.title: 120 for lane in lanes}
    for lane in lanes:
        mine = table[table["lane"] == lane.title]
        right = (mine["identified_label"] == mine["true_label"]).mean()
        assert right == pytest.approx(lane.row["transductive_accuracy"], abs=1e-6)
        assert set(mine["epoch"]) == {12}


def test_lanes_have_colours_of_their_own() -> None:
    assert not set(LANE_COLOURS) & set(class_colours(60))
    for colour in LANE_COLOURS:
        assert min(contrast(colour, LIGHT_BACKGROUND), contrast(colour, DARK_BACKGROUND)) >= 3

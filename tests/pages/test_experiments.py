"""The experiments page: from a definition to tables, and back to one that was stopped."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from pll.errors import UserError
from pll.experiments import registry
from pll.experiments.evaluation import Spread
from pll.experiments.execution import ExperimentFolder, ExperimentProgress, run_cell
from pll.experiments.experiment import PRESETS, Experiment, changed, parse_experiment
from pll.experiments.registry import experiments, experiments_home
from pll.experiments.report import write_report
from pll.experiments.tables import TableEntry
from pll.runs.config import DataConfig
from pll.synthesis import Flip
from pll.ui.data.upload import store_upload
from pll.ui.experiments import live, setup
from pll.ui.experiments.setup import OWN_FILE
from tests.page_helpers import button, labels, said
from tests.run_helpers import wait_for

TEXT = """
title = "Small *one*"
datasets = ["iris"]
methods = ["proden", "plknn"]
flips = [{ how = "binomial", q = 0.3 }]
folds = 3
[[settings]]
epochs = 3
"""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ExperimentFolder]:
    """What would have been started."""
    found: list[ExperimentFolder] = []
    monkeypatch.setattr(registry, "_start", found.append)
    return found


def made(number: int = 6, state: Any = "finished") -> ExperimentFolder:
    """An experiment with so many fits done."""
    experiment = parse_experiment(TEXT, "x")
    folder = ExperimentFolder(experiments_home() / "small")
    folder.create(experiment)
    plan = experiment.plan()
    cells = plan.cells
    outcomes = {cell.key: run_cell(cell) for cell in cells[:number]}
    for cell in cells[:number]:
        folder.write(cell, outcomes[cell.key])
    folder.write_results(cells, outcomes)
    folder.write_progress(state, ExperimentProgress(6, number, 0, 6 - number, rate=1.0))
    write_report(experiment, plan, outcomes, folder)
    return folder


def test_a_preset_says_what_is_missing(open_page: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PLL_DATA", str(tmp_path))
    monkeypatch.delenv("PLL_DATA_PATH", raising=False)
    page = open_page("experiments")
    page.selectbox(key="experiment-preset").set_value("real-world").run()
    assert any(label.startswith("Download (") for label in labels(page)) or "put `lost.mat`" in said(page)
    assert f"`{tmp_path / 'lost'}`" in said(page) and button(page, "Start").disabled
    page.selectbox(key="experiment-preset").set_value("quick").run()
    page.button_group(key="experiment-datasets-quick").set_value([]).run()
    assert "Choose at least one dataset" in said(page) and button(page, "Start").disabled


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("datasets = [", "not a TOML"),
        (TEXT.replace("plknn", "plkn"), "plkn"),
        (TEXT.replace("datasets", "dataset"), "dataset: there is no field of this name"),
        (TEXT.replace("how =", "hwo ="), "flips.0.hwo"),
        (TEXT.replace('["iris"]', '{ mine = "/etc/passwd" }'), "/etc/passwd"),
    ],
)
def test_a_text_that_is_no_experiment_is_refused_in_words(
    open_page: Any, started: list[ExperimentFolder], text: str, words: str
) -> None:
    page = open_page("experiments")
    page.toggle(key="experiment-as-text").set_value(True).run()
    page.text_area[0].set_value(text).run()
    assert button(page, "Start").disabled
    assert words in said(page) and not page.exception and not started


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_and_what_was_chosen_of_it_is_the_same_as_text(name: str) -> None:
    definition = parse_experiment(PRESETS[name], name)
    chosen = changed(definition, folds=None, holdout=0.5, seeds=[3, 4], settings=[{"momentum": 0.25}])
    for one in (definition, chosen):
        assert parse_experiment(setup.as_text(one.model_dump(exclude_defaults=True)), name) == one


def test_the_text_begins_with_what_was_chosen_in_the_form_which_then_no_longer_counts(open_page: Any) -> None:
    page = open_page("experiments")
    page.number_input[0].set_value(30).run()
    (methods,) = [one for one in page.button_group if one.label == "Methods"]
    page = methods.set_value(methods.value[:1]).run()
    page.toggle(key="experiment-as-text").set_value(True).run()
    definition = parse_experiment(page.text_area[0].value, "x")
    assert len(definition.methods) == 1 and definition.settings[-1]["epochs"] == 30
    assert page.number_input[0].disabled and not page.exception


def test_tables_of_an_experiment(open_page: Any) -> None:
    open_page("home")
    made()
    page = open_page("experiments")
    assert "6 of 6 fits" in said(page)
    button(page, "Open").click().run()
    assert not page.exception
    assert page.title[0].value == r"Small \*one\*"
    frame = page.table[0].value
    assert frame.columns.tolist() == ["Method", "q", "iris", live.IDENTIFIED_TITLE]
    assert frame.Method.tolist() == ["PRODEN", "PL-kNN"]
    assert "±" in frame.iris[0]
    assert "Resume" not in labels(page)


def test_no_whisker_goes_beyond_what_an_accuracy_can_be() -> None:
    spreads = {"proden": Spread(98.0, 3.2), "plknn": Spread(1.0, 2.0), "ipal": Spread(50.0, math.nan)}
    entries = [
        TableEntry("iris", "binomial", 0.7, name, "linear", "default", 3, 3, spread, None, 1.0)
        for name, spread in spreads.items()
    ]
    drawn = live._mean_chart(entries, list(spreads), "iris", transductive=False)[0]
    assert [(*one.error_x.array, *one.error_x.arrayminus) for one in drawn.data] == [(2.0, 3.2), (2.0, 1.0), (0.0, 0.0)]


@pytest.mark.slow
def test_it_is_begun_stopped_and_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    definition = parse_experiment(TEXT, "x").model_dump()
    folder = registry.begin("A long one", Experiment.model_validate(definition | {"settings": [{"epochs": 100_000}]}))
    with pytest.raises(UserError, match="One experiment runs at a time"):
        registry.begin("Another", parse_experiment(TEXT, "x"))
    wait_for(lambda: folder.progress()[1] is not None, "the first fits", 120)
    with pytest.raises(UserError, match="stop it first"):
        registry.delete(folder)
    ended(folder, stopped=True)
    assert folder.progress()[0] == "stopped" and [one.path.name for one in experiments()] == ["a-long-one"]
    folder.create(parse_experiment(TEXT, "x"))
    registry.resume(folder)
    ended(folder)
    progress = folder.progress()[1]
    assert progress is not None and progress.done == progress.total == 6
    assert "PL-kNN" in (folder.path / "tables.md").read_text()


def test_one_that_fails_before_its_first_fit_shows_the_error_and_no_earlier_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    folder = made(0, "stopped")
    (folder.path / "experiment.json").write_text("{}")
    registry.resume(folder)
    job = registry.job_of(folder)
    assert job is not None and job.wait(30) and "is damaged" in job.status().error
    assert folder.progress() == ("new", None)


def ended(folder: ExperimentFolder, *, stopped: bool = False) -> None:
    """Wait until the job of an experiment has ended, stopped or by itself."""
    job = registry.job_of(folder)
    assert job is not None
    if stopped:
        registry.stop(folder)
    assert job.wait(120) and job.status().state == ("stopped" if stopped else "done"), job.status()


def test_a_file_of_ones_own_is_tested_in_folds(
    open_page: Any, started: list[ExperimentFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PLL_DATA_PATH", raising=False)
    rows = "".join(f"{k % 3 + k % 7 / 10},{k % 5},{'xyz'[k % 3]}\n" for k in range(60))
    page = open_page("home")
    page.session_state["choice"] = DataConfig(
        store_upload('my "trees".csv', f"a,b,true_label\n{rows}".encode()), flip=Flip("binomial", 0.3)
    )
    page.switch_page("../../pages/experiments.py").run()
    page.selectbox(key="experiment-preset").set_value(OWN_FILE).run()
    assert not page.exception
    button(page, "Start").click().run()
    assert not page.exception
    (folder,) = started
    cells = folder.experiment().plan().cells
    assert {cell.dataset for cell in cells} == {'my "trees".csv'} and {cell.fold for cell in cells} == set(range(5))
    assert run_cell(cells[0]).error == ""

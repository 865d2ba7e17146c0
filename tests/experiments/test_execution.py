from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pll.experiments import execution
from pll.experiments.evaluation import read_results
from pll.experiments.execution import CellOutcome, ExperimentFolder, ExperimentProgress, fit_cell, run, run_cell
from pll.experiments.experiment import Cell, Experiment
from pll.experiments.report import write_report
from pll.methods import METHODS
from pll.methods.base import Task

EXPERIMENT = Experiment.model_validate(
    {
        "datasets": ["iris"],
        "methods": ["proden", "proden-naive", "plknn"],
        "flips": [{"how": "binomial", "q": 0.3}],
        "folds": 3,
        "settings": [{"epochs": 3}],
    }
)
PLAN = EXPERIMENT.plan()
CELLS = PLAN.cells


class Here:
    """Fits in this process."""

    width, words = 1, "here"
    fitted: list[Cell] = []  # noqa: RUF012

    def __init__(self, *_: object) -> None:
        type(self).fitted = []

    def outcomes(self, cells: Sequence[Cell], is_stopped: Callable[[], bool]) -> Iterator[tuple[Cell, CellOutcome]]:
        for cell in cells:
            if is_stopped():
                return
            self.fitted.append(cell)
            yield cell, run_cell(cell)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> type[Here]:
    monkeypatch.setattr(execution, "_Processes", Here)
    return Here


def made(path: Path) -> ExperimentFolder:
    folder = ExperimentFolder(path)
    folder.create(EXPERIMENT)
    return folder


def report(folder: ExperimentFolder, outcomes: dict[str, CellOutcome]) -> dict[str, bytes]:
    """Every file of the report."""
    write_report(EXPERIMENT, PLAN, outcomes, folder)
    files = [*folder.path.glob("tables.*"), *folder.path.glob("figures/*")]
    return {str(file.relative_to(folder.path)): file.read_bytes() for file in files}


def test_every_method_gets_the_same_part_and_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Task] = []
    released: list[str] = []
    for name in ("proden", "plknn"):
        kind = METHODS[name]

        def iter_fit(self: Any, task: Task, *, plain: Any = kind.iter_fit, **more: Any) -> Iterator[Any]:
            seen.append(task)
            yield from plain(self, task, **more)

        monkeypatch.setattr(kind, "iter_fit", iter_fit)
        monkeypatch.setattr(kind, "release", lambda self, name=name: released.append(name))
    cells = [cell for cell in CELLS if cell.method in ("proden", "plknn")]
    results = [fit_cell(cell)[0] for cell in [*cells, replace(cells[0], seed=1)]]
    assert released == [result.method for result in results] == [*["proden", "plknn"] * 3, "proden"]
    for a, b in zip(seen[:6:2], seen[1:6:2], strict=True):
        np.testing.assert_array_equal(a.X, b.X)
        np.testing.assert_array_equal(a.X_test, b.X_test)
        assert a.candidates == b.candidates
    assert seen[0].candidates != seen[6].candidates  # another seed


@pytest.mark.parametrize(("epochs", "last"), [(22, 10), (14, 7), (3, 1)])
def test_a_result_is_the_mean_of_the_last_epochs_and_says_what_it_is_of(epochs: int, last: int) -> None:
    cell = replace(CELLS[0], settings={"epochs": epochs})
    result, curve = fit_cell(cell)
    for name in ("test_accuracy", "transductive_accuracy"):
        values = [row[name] for row in curve]
        assert len(set(values)) > 1  # else the mean could be over any of them
        assert getattr(result, name) == pytest.approx(sum(values[-last:]) / last, abs=1e-12)
    assert (result.dataset, result.model, result.flip, result.q) == ("iris", "linear", "binomial", 0.3)
    settings = json.loads(result.settings)
    assert settings["folds"] == 3 and settings["epochs"] == epochs
    assert "seed" not in settings and "threads" not in settings
    again, _ = fit_cell(cell)
    assert replace(again, seconds=0.0) == replace(result, seconds=0.0)


def test_a_rerun_does_what_is_missing_and_the_report_is_the_same(here: type[Here], tmp_path: Path) -> None:
    whole = made(tmp_path / "whole")
    expected = report(whole, run(PLAN, whole))
    assert len(here.fitted) == 9
    folder = made(tmp_path / "pieces")
    run(PLAN, folder, is_stopped=lambda: len(here.fitted) == 4)
    assert folder.progress()[0] == "stopped"
    next((folder.path / "cells").iterdir()).write_text("{ cut")  # not ours: our writes are whole or not there
    outcomes = run(PLAN, folder)
    assert len(here.fitted) == 6
    assert report(folder, outcomes) == expected
    columns = [name for name in pd.read_csv(whole.path / "results.csv") if name != "seconds"]
    one, other = (pd.read_csv(path.path / "results.csv")[columns] for path in (whole, folder))
    pd.testing.assert_frame_equal(one, other)
    assert read_results(folder.path / "results.csv")[0].method == "proden"
    run(PLAN, folder)
    assert here.fitted == []
    assert folder.progress()[0] == "finished"
    assert folder.experiment() == EXPERIMENT


def test_a_failed_cell_stops_nothing_and_is_tried_again(
    here: type[Here], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no such luck")

    folder = made(tmp_path / "x")
    with monkeypatch.context() as patch:
        patch.setattr(METHODS["plknn"], "iter_fit", broken)
        outcomes = run(PLAN, folder)
    failed = [cell.method for cell in CELLS if outcomes[cell.key].error]
    assert failed == ["plknn"] * 3
    assert "no such luck" in outcomes[CELLS[2].key].error and "broken" in (folder.path / "log.txt").read_text()
    progress = folder.progress()[1]
    assert progress is not None and (progress.done, progress.failed, progress.total) == (6, 3, 9)
    assert [key for key, _ in progress.errors] == [cell.key for cell in CELLS if cell.method == "plknn"]
    told = report(folder, outcomes)["tables.md"].decode()
    assert told.count("no such luck") == 1 and "3 fits failed (" in told  # an error is told once
    run(PLAN, folder)
    assert [cell.method for cell in here.fitted] == ["plknn"] * 3
    assert not (folder.progress()[1] or ExperimentProgress(0, 0, 1)).failed


def test_only_some_cells_and_progress(here: type[Here], tmp_path: Path) -> None:
    said: list[ExperimentProgress] = []
    folder = made(tmp_path / "x")
    run(PLAN, folder, among=CELLS[:2], tell=said.append)
    assert [progress.done for progress in said] == [0, 1, 2, 2]
    assert said[0].left is None and said[-1].left == 0
    assert len(read_results(folder.path / "results.csv")) == 2


def test_a_dead_process_leaves_an_interrupted_experiment(tmp_path: Path) -> None:
    folder = made(tmp_path / "x")
    assert folder.progress()[0] == "new"
    folder.write_progress("running", ExperimentProgress(9, 1, 0))
    state, progress = folder.progress()
    assert state == "interrupted" and progress == ExperimentProgress(9, 1, 0)


DEADLY = """
import os, signal, time
def fit(cell, half_done):
    if cell.endswith("deadly"):
        os.kill(os.getpid(), signal.SIGKILL)
    if cell.endswith("slow"):
        time.sleep(600)
    return os.environ["OMP_NUM_THREADS"] + cell
"""


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[partial[Any]]:
    """Real processes, which do little: nothing of ours is imported there."""
    (tmp_path / "fitting.py").write_text(DEADLY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(execution, "run_cell", importlib.import_module("fitting").fit)
    yield partial(execution._Processes, half_done=lambda cell: tmp_path / cell)
    del sys.modules["fitting"]


def test_a_cell_that_kills_its_process_is_found_and_the_rest_goes_on(processes: partial[Any]) -> None:
    cells = ["a", "b", "c deadly", "d", "e", "f", "g"]
    result = dict(processes(2).outcomes(cells, lambda: False))
    assert result.keys() == set(cells)
    assert "died" in result.pop("c deadly").error
    assert result == {cell: f"1{cell}" for cell in result}  # one thread each

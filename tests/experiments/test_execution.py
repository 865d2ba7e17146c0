from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pytest

from pll.analysis.evaluation import Splits, evaluate, read_results
from pll.catalog import load
from pll.errors import UserError
from pll.experiments import execution
from pll.experiments.execution import CellOutcome, ExperimentFolder, Progress, run, run_cell
from pll.experiments.experiment import Cell, Experiment
from pll.experiments.report import write_report
from pll.methods import METHODS, method_title
from pll.synthesis import Flip

EXPERIMENT = Experiment.model_validate(
    {
        "datasets": ["iris"],
        "methods": ["proden", "proden-naive", "plknn"],
        "flips": [{"how": "binomial", "q": 0.3}],
        "folds": 3,
        "settings": [{"epochs": 3}],
    }
)
CELLS = EXPERIMENT.plan().cells


class Here:
    """Fits in this process; the test sets what happens on the way."""

    width, words = 1, "here"
    fitted: list[Cell] = []  # noqa: RUF012
    stop_after: int | None = None

    def __init__(self, *_: object) -> None:
        type(self).fitted = []

    def outcomes(self, cells: Sequence[Cell], stop: threading.Event) -> Iterator[tuple[Cell, CellOutcome]]:
        for cell in cells:
            if stop.is_set() or len(self.fitted) == self.stop_after:
                stop.set()
                return
            self.fitted.append(cell)
            yield cell, run_cell(cell)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> type[Here]:
    monkeypatch.setattr(execution, "_Processes", Here)
    monkeypatch.setattr(Here, "stop_after", None)
    return Here


def made(path: Path) -> ExperimentFolder:
    folder = ExperimentFolder(path)
    folder.create(EXPERIMENT)
    return folder


def report(folder: ExperimentFolder, outcomes: dict[str, CellOutcome]) -> dict[str, bytes]:
    """Every file of the report."""
    write_report(EXPERIMENT, CELLS, outcomes, folder)
    files = [*folder.path.glob("tables.*"), *folder.path.glob("figures/*"), *folder.path.glob("plench/*/*")]
    return {str(file.relative_to(folder.path)): file.read_bytes() for file in files}


def test_a_cell_is_what_evaluate_gives() -> None:
    factories = {"proden": lambda seed: METHODS["proden"](epochs=3, seed=seed, missing="mean", threads=1)}
    splits = Splits(folds=3, flip_with=Flip("binomial", 0.3))
    expected = list(evaluate(load("iris"), factories, splits))
    for fold, cell in enumerate(cell for cell in CELLS if cell.method == "proden"):
        result = run_cell(cell).result
        assert result is not None
        assert (result.test_accuracy, result.transductive_accuracy) == (
            expected[fold].test_accuracy,
            expected[fold].transductive_accuracy,
        )
        assert result.fold == fold and result.settings == expected[fold].settings


def test_the_method_auto_is_chosen_on_each_part_and_told() -> None:
    settings = [{"method": "auto", "settings": {"epochs": 2, "model": "linear", "lr": 0.1}}]
    found = Experiment.model_validate(EXPERIMENT.model_dump() | {"methods": ["auto", "plknn"], "settings": settings})
    result = run_cell(found.plan().cells[0]).result
    assert result is not None and result.method == "auto"
    assert json.loads(result.settings)["chosen"]["method"] in METHODS
    assert method_title("auto") == "Auto"


def test_the_automatic_recipe_is_searched_on_each_part_and_told() -> None:
    recipes = Experiment.model_validate(EXPERIMENT.model_dump() | {"recipe": ["auto"], "methods": ["proden", "plknn"]})
    cells = recipes.plan().cells[:2]
    assert [cell.estimator().get_params().get("recipe") for cell in cells] == ["auto", None]
    result = run_cell(cells[1]).result
    assert result is not None and result.recipe == "auto"


def test_a_rerun_does_what_is_missing_and_the_report_is_the_same(here: type[Here], tmp_path: Path) -> None:
    whole = made(tmp_path / "whole")
    expected = report(whole, run(CELLS, whole))
    assert len(here.fitted) == 9
    folder = made(tmp_path / "pieces")
    here.stop_after = 4
    run(CELLS, folder)
    assert folder.progress()[0] == "stopped"
    next((folder.path / "cells").iterdir()).write_text("{ cut")  # not ours: our writes are whole or not there
    here.stop_after = None
    outcomes = run(CELLS, folder)
    assert len(here.fitted) == 6
    assert report(folder, outcomes) == expected
    columns = [name for name in pd.read_csv(whole.path / "results.csv") if name != "seconds"]
    one, other = (pd.read_csv(path.path / "results.csv")[columns] for path in (whole, folder))
    pd.testing.assert_frame_equal(one, other)
    assert read_results(folder.path / "results.csv")[0].method == "proden"
    run(CELLS, folder)
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
        outcomes = run(CELLS, folder)
    failed = [cell.method for cell in CELLS if outcomes[cell.key].error]
    assert failed == ["plknn"] * 3
    assert "no such luck" in outcomes[CELLS[2].key].error and "broken" in (folder.path / "log.txt").read_text()
    progress = folder.progress()[1]
    assert progress is not None and (progress.done, progress.failed, progress.total) == (6, 3, 9)
    assert [key for key, _ in progress.errors] == [cell.key for cell in CELLS if cell.method == "plknn"]
    told = report(folder, outcomes)["tables.md"].decode()
    assert told.count("no such luck") == 1 and "3 fits failed (" in told  # an error is told once
    run(CELLS, folder)
    assert [cell.method for cell in here.fitted] == ["plknn"] * 3
    assert not (folder.progress()[1] or Progress(0, 0, 1)).failed


def test_only_some_cells_and_progress(here: type[Here], tmp_path: Path) -> None:
    said: list[Progress] = []
    folder = made(tmp_path / "x")
    run(CELLS, folder, among=CELLS[:2], tell=said.append)
    assert [progress.done for progress in said] == [0, 1, 2, 2]
    assert said[0].left is None and said[-1].left == 0
    assert len(read_results(folder.path / "results.csv")) == 2


def test_one_process_at_a_time(here: type[Here], tmp_path: Path) -> None:
    folder = made(tmp_path / "x")
    with folder.locked(), pytest.raises(UserError, match="at work"):
        run(CELLS, ExperimentFolder(folder.path))
    assert not folder.is_locked()


def test_a_dead_process_leaves_an_interrupted_experiment(tmp_path: Path) -> None:
    folder = made(tmp_path / "x")
    assert folder.progress()[0] == "new"
    folder.write_progress("running", Progress(9, 1, 0))
    state, progress, pid = folder.progress()
    assert (state, pid) == ("interrupted", os.getpid()) and progress == Progress(9, 1, 0)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UserError, match="other files"):
        made(tmp_path)


def test_time_left_is_by_the_median_of_cells_alike() -> None:
    def after(cell: Cell, seconds: float) -> CellOutcome:
        result = run_cell(cell).result
        assert result is not None
        return CellOutcome(type(result)(**{**vars(result), "seconds": seconds}))

    proden, naive = CELLS[0], CELLS[1]
    known = {proden.key: after(proden, 4.0), naive.key: after(naive, 1.0)}
    assert execution.seconds_left([CELLS[3], CELLS[4]], CELLS, known, 2) == 2.5
    assert execution.seconds_left([CELLS[2]], CELLS, known, 1) == 2.5  # the median of all
    assert execution.seconds_left([CELLS[2]], CELLS, {}, 1) is None


DEADLY = """
import os, signal, time
def fit(cell):
    if cell.endswith("deadly"):
        os.kill(os.getpid(), signal.SIGKILL)
    if cell.endswith("slow"):
        time.sleep(600)
    return os.environ["OMP_NUM_THREADS"] + cell
"""


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type]:
    """Real processes, which do little: nothing of ours is imported there."""
    (tmp_path / "fitting.py").write_text(DEADLY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(execution, "run_cell", importlib.import_module("fitting").fit)
    yield execution._Processes
    del sys.modules["fitting"]


def test_a_cell_that_kills_its_process_is_found_and_the_rest_goes_on(processes: type) -> None:
    cells = ["a", "b", "c deadly", "d", "e", "f", "g"]
    found = dict(processes(2).outcomes(cells, threading.Event()))
    assert found.keys() == set(cells)
    assert "died" in found.pop("c deadly").error
    assert found == {cell: f"1{cell}" for cell in found}  # one thread each


def test_a_stop_does_not_wait_for_cells_at_work(processes: type) -> None:
    stop = threading.Event()
    found = []
    started = time.monotonic()
    for cell, _ in processes(2).outcomes(["a", "b slow", "c slow", "d"], stop):
        found.append(cell)
        stop.set()
    assert found == ["a"] and time.monotonic() - started < 300


@pytest.mark.parametrize("place", ["cells", "results.csv", "experiment.json", "tables.csv"])
def test_a_changed_digit_becomes_no_other_result(here: type[Here], tmp_path: Path, place: str) -> None:
    folder = made(tmp_path / "x")
    cells = CELLS[-3:]
    sound = run(cells, folder)
    write_report(EXPERIMENT, cells, sound, folder)
    folder.check()
    folder.seal()
    folder.check()
    file = folder.path / place if place != "cells" else next((folder.path / "cells").glob("*plknn*.json"))
    text = file.read_text()
    at = text.index('"folds": 3') + 9 if place == "experiment.json" else text.index(".") + 1
    file.write_text(f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}")
    with pytest.raises(UserError, match=f"{file.name} is damaged"):
        folder.check()
    if place == "experiment.json":
        with pytest.raises(UserError, match="damaged"):
            folder.experiment()
        return
    folder.create(EXPERIMENT)
    again = run(cells, folder)
    assert len(here.fitted) == (place == "cells")
    scores = {key: (one.result.test_accuracy, one.curve) for key, one in again.items() if one.result}
    assert scores == {key: (one.result.test_accuracy, one.curve) for key, one in sound.items() if one.result}
    folder.check()  # nothing is compared until it is sealed again


def test_a_cell_of_an_earlier_version_is_read(here: type[Here], tmp_path: Path) -> None:
    folder = made(tmp_path / "x")
    run(CELLS[-1:], folder)
    (file,) = (folder.path / "cells").iterdir()
    told = json.loads(file.read_text())
    del told["check"]
    file.write_text(json.dumps(told))
    run(CELLS[-1:], folder)
    assert here.fitted == []

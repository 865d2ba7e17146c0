"""A real Dask scheduler and two workers, one of which is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from pll.errors import UserError
from pll.experiments.execution import ExperimentFolder, ExperimentProgress, run, run_cell
from pll.experiments.experiment import Experiment
from pll.experiments.report import write_report

pytestmark = pytest.mark.skipif(
    find_spec("distributed") is None, reason="Dask is not installed (pip install 'candid-labels[dask]')"
)

EXPERIMENT = Experiment.model_validate(
    {
        "datasets": ["iris"],
        "methods": ["proden", "plknn", "sure"],
        "flips": [{"how": "binomial", "q": [0.1, 0.5]}],
        "folds": 5,
        "settings": [{"epochs": 20}],
    }
)
PLAN = EXPERIMENT.plan()
CELLS = PLAN.cells


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its two workers."""
    file = tmp_path / "scheduler.json"
    python = (sys.executable, "-m")
    started = [
        subprocess.Popen(
            [*python, "distributed.cli.dask_scheduler", "--scheduler-file", str(file), "--port", "0", "--no-dashboard"]
        )
    ]
    try:
        until = time.monotonic() + 120
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.1)
        worker = ("distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard")
        for _ in range(2):
            started.append(subprocess.Popen([*python, *worker, "--no-nanny", "--local-directory", str(tmp_path)]))
        yield json.loads(file.read_text())["address"], started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_worker_is_killed_and_the_table_is_complete_and_identical(
    cluster: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = cluster
    killed = threading.Event()

    def kill(progress: ExperimentProgress) -> None:
        if progress.done >= 5 and not killed.is_set():
            os.kill(workers[0].pid, signal.SIGKILL)
            killed.set()

    there, here = ExperimentFolder(tmp_path / "there"), ExperimentFolder(tmp_path / "here")
    for folder in (there, here):
        folder.create(EXPERIMENT)
    on_cluster = run(PLAN, there, scheduler=address, tell=kill)
    assert killed.is_set() and all(outcome.result for outcome in on_cluster.values())
    write_report(EXPERIMENT, PLAN, on_cluster, there)
    write_report(EXPERIMENT, PLAN, {cell.key: run_cell(cell) for cell in CELLS}, here)
    for name in ("tables.md", "tables.csv"):
        assert (there.path / name).read_bytes() == (here.path / name).read_bytes()


@pytest.mark.slow
def test_an_address_where_nobody_answers_is_refused(tmp_path: Path) -> None:
    folder = ExperimentFolder(tmp_path / "x")
    folder.create(EXPERIMENT)
    with pytest.raises(UserError, match=r"127\.0\.0\.1:1"):
        run(PLAN, folder, scheduler="tcp://127.0.0.1:1")

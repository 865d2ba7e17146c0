"""Fits in several processes, started by torchrun or by a page, paused, resumed and stopped as a page does it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from pll.runs.registry import RunRegistry
from tests.run_helpers import config, registry_in, wait_for, write_data

pytestmark = pytest.mark.slow


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[RunRegistry]:
    with registry_in(tmp_path / "home" / "runs") as made:
        yield made


def test_a_run_of_a_page_trains_in_two_processes_and_outlives_the_death_of_one(
    tmp_path: Path, registry: RunRegistry
) -> None:
    data = write_data(tmp_path / "small.npz")
    run = registry.start(replace(config(data, params={"epochs": 100_000}), processes=2), paused=True)
    try:
        run.resume(epochs=2)
        wait_for(lambda: run.snapshot().state == "paused" and run.snapshot().epoch == 2, "two epochs", 240)
        run.resume(batches=1)
        wait_for(lambda: run.snapshot().lane.moment is not None, "a mini-batch", 60)
        assert run.snapshot().lane.record is not None and "in 2 processes" in (run.folder.path / "log.txt").read_text()
        run.resume()
        wait_for(lambda: run.snapshot().epoch > 10, "more epochs", 60)
        (other,) = _followers()
        os.kill(other, signal.SIGKILL)
        run.join(60)
        snapshot = run.snapshot()
        assert snapshot.state == "interrupted" and "has ended" in str(snapshot.error)
        run.set_processes(1)
        epoch = (run.folder.checkpoint() or {"epoch": 0})["epoch"]
        run.resume()
        wait_for(lambda: run.snapshot().epoch > epoch + 5 and run.snapshot().state == "running", "one process", 60)
        run.stop()
        run.join(60)
        run.set_processes(2)
        stopped = run.snapshot().epoch
        run.resume()
        wait_for(lambda: run.snapshot().epoch > stopped, "two processes again", 240)
        run.stop()
        run.join(60)
        assert run.snapshot().state == "stopped" and run.snapshot().error is None
        assert (run.folder.path / "labels.csv").exists() and _followers() == []
    finally:
        run.stop()
        run.join(60)


def _followers() -> list[int]:
    """Process ids of the others that this process has started."""
    result = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-f", "pll.runs.ranks"], capture_output=True, text=True, check=False
    )
    return [int(line) for line in result.stdout.split()]

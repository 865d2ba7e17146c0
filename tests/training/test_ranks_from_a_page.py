"""A fit in several processes, started by torchrun, paused, resumed and stopped as a page does it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pll.runs.folder import RunFolder
from pll.runs.registry import RunRegistry
from tests.run_helpers import registry_in, wait_for, write_data

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[RunRegistry]:
    with registry_in(tmp_path / "home" / "runs") as made:
        yield made


def test_a_page_pauses_resumes_and_stops_two_ranks(tmp_path: Path, registry: RunRegistry) -> None:
    data = write_data(tmp_path / "small.npz")
    out = registry.root / "together"
    fit = ["fit", str(data), "--flip", "binomial", "--q", "0.3", "--model", "linear", "--epochs", "100000"]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    process = subprocess.Popen(
        [*command, "-m", "pll", *fit, "--out", str(out)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PLL_HOME": str(tmp_path / "home")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        folder = RunFolder(out)
        wait_for(lambda: folder.exists() and len(folder.metrics()) > 2, "training", 240)
        run = registry.get("together")
        run.pause()
        wait_for(lambda: folder.state()["state"] == "paused", "the pause", 60)
        epochs = len(folder.metrics())
        time.sleep(1.0)
        assert len(folder.metrics()) == epochs and process.poll() is None
        run.resume()
        wait_for(lambda: len(folder.metrics()) > epochs, "the next epochs", 60)
        run.stop()
        process.wait(120)
        assert folder.state()["state"] == "stopped"
        assert (folder.checkpoint() or {})["epoch"] == len(folder.metrics())
        assert (out / "labels.csv").exists()
    finally:
        process.kill()
        process.wait()

"""Training in two processes gives what one process gives."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pll.methods.base import Start
from tests.rank_scenarios import SCENARIOS, checkpoint_within, fitted

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow  # two more processes, which import all that this one has


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes leave of all scenarios."""
    folder = tmp_path_factory.mktemp("ranks")
    mixed = SCENARIOS["weights of its own"]
    torch.save(checkpoint_within(mixed, mixed.new()), folder / "of-one.pt")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    among = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.rank_scenarios", str(folder)]
    ended = subprocess.run(
        command, cwd=ROOT, env=os.environ | among, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return folder


def arrays(folder: Path, name: str) -> dict[str, Any]:
    with np.load(folder / f"{name}.npz") as result:
        return dict(result)


@pytest.mark.parametrize("name", SCENARIOS)
def test_two_processes_give_the_result_of_one(folder: Path, name: str) -> None:
    scenario = SCENARIOS[name]
    alone = scenario.new()
    records = fitted(scenario, alone)
    two = arrays(folder, name)
    weights = np.stack([record.label_weights for record in records])
    assert np.abs(two["weights"][0] - weights[0]).max() <= 1e-5
    np.testing.assert_allclose(two["losses"], np.array([record.loss for record in records]), rtol=1e-3)
    for parameter, value in alone.fitted_arrays().items():
        np.testing.assert_allclose(two[parameter], value, atol=1e-3, err_msg=parameter)
    np.testing.assert_array_equal(
        np.maximum.reduceat(two["weights"][-1], scenario.task().candidates.indptr[:-1]) > 0.5,
        np.maximum.reduceat(weights[-1], scenario.task().candidates.indptr[:-1]) > 0.5,
    )
    np.testing.assert_allclose(two["weights"][-1], weights[-1], atol=1e-3)


def test_one_process_goes_on_from_the_checkpoint_of_two(folder: Path) -> None:
    scenario = SCENARIOS["weights of its own"]
    checkpoint = torch.load(folder / "of-two.pt", weights_only=True)
    went_on = fitted(scenario, scenario.new(), Start(checkpoint=checkpoint))
    straight = fitted(scenario, scenario.new())
    np.testing.assert_allclose(went_on[-1].label_weights, straight[-1].label_weights, atol=1e-4)
    assert went_on[0].loss == pytest.approx(straight[4].loss, abs=1e-4)


def test_two_processes_go_on_from_the_checkpoint_of_one(folder: Path) -> None:
    scenario = SCENARIOS["weights of its own"]
    straight = fitted(scenario, scenario.new())
    np.testing.assert_allclose(np.load(folder / "went-on.npy"), straight[-1].label_weights, atol=1e-4)


def test_a_rank_that_dies_ends_the_training_with_a_message(folder: Path) -> None:
    message = (folder / "lost.txt").read_text(encoding="utf-8")
    assert "has ended" in message and "--resume" in message


_CLOSED = """
import os
from pathlib import Path

import numpy as np
import torch.distributed as dist
import torch.distributed.nn.functional

from pll.candidates import CandidateSets
from pll.methods import METHODS
from pll.methods.base import Start, Task
from pll.training.distributed import Ranks

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
ranks = Ranks(0, 1)
estimator = METHODS["proden"](model="linear", epochs=2, device="cpu")
task = Task(np.eye(4, dtype=np.float32), CandidateSets.from_lists([[0], [0, 1], [1, 2], [2]], 3))
fit = estimator.iter_fit(task, start=Start(ranks=ranks))
next(fit)
named = lambda: [Path("/proc/self/task", task, "comm").read_text().strip() for task in os.listdir("/proc/self/task")]
assert any("gloo" in name for name in named()), named()
ranks.close()  # while the estimator still holds its trainer, as after an error
assert not any("gloo" in name for name in named()), named()
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the threads of a process are listed on Linux alone")
def test_no_thread_of_the_process_group_outlives_its_end() -> None:
    """A thread of gloo that is running while the interpreter is finalised aborts the process, in one of a few runs."""
    subprocess.run([sys.executable, "-c", _CLOSED], cwd=ROOT, check=True, timeout=120)

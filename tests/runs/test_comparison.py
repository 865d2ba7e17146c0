"""Lanes: the same start for all, turns by epoch, and for each the result it would have had alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from pll.errors import UserError
from pll.methods import METHODS, deep
from pll.runs import fit_loop, run_data
from pll.runs.config import RunConfig
from pll.runs.data import Splits
from pll.runs.fit_loop import FitLoop
from pll.runs.folder import RunFolder
from pll.runs.lanes import lane_configs
from pll.runs.registry import RunRegistry
from pll.runs.run import MOST_LANES, Run
from pll.training import devices
from pll.training.trainer import Trainer
from tests.run_helpers import BATCHES, VARIANTS, config, result_of, wait_for

ROOT = Path(__file__).parents[2]
LONG = {"epochs": 100_000}


def usual(data: Path, **options: Any) -> list[RunConfig]:
    return lane_configs(config(data, **options), VARIANTS)


def ended(worker: Run | Run) -> Any:
    worker.join(60)
    assert not worker.is_alive()
    return worker


def still(comparison: Run) -> list[int]:
    """The epochs of the lanes, once it stands still."""
    comparison.wait_until_paused(30)
    return [lane.epoch for lane in comparison.snapshot().lanes]


class Spy:
    """What every trainer started from, and every mini-batch in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.starts: list[dict[str, Any]] = []
        self.batches: dict[int, list[list[int]]] = {}
        self.turns: list[tuple[int, int]] = []
        initialise, step = Trainer.__init__, Trainer.step

        def begun(trainer: Trainer, network: Any, X: Any, candidates: Any, *rest: Any, **more: Any) -> None:
            parameters = {name: value.clone() for name, value in network.state_dict().items()}
            self.starts.append({"parameters": parameters, "X": X, "candidates": candidates})
            initialise(trainer, network, X, candidates, *rest, **more)
            trainer.number = len(self.starts) - 1  # type: ignore[attr-defined]

        def stepped(trainer: Any, units: torch.Tensor) -> Any:
            self.batches.setdefault(trainer.number, []).append(units.tolist())
            self.turns.append((trainer.number, trainer.epoch))
            return step(trainer, units)

        monkeypatch.setattr(Trainer, "__init__", begun)
        monkeypatch.setattr(Trainer, "step", stepped)


# ---- the same for all ------------------------------------------------------------------------------------------------


def test_lanes_start_alike_and_see_the_same_batches(
    registry: RunRegistry, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Splits] = []
    load = run_data.load_splits

    def counted(*args: Any, **options: Any) -> Splits:
        loaded.append(load(*args, **options))
        return loaded[-1]

    monkeypatch.setattr(run_data, "load_splits", counted)
    spy = Spy(monkeypatch)
    ended(registry.start(*usual(data, params={"model": "mlp", "epochs": 3})))
    assert len(loaded) == 1  # read and drawn once
    assert len(spy.starts) == len(VARIANTS)
    first = spy.starts[0]
    for other in spy.starts[1:]:
        assert other["candidates"] is first["candidates"]
        assert torch.equal(other["X"], first["X"])
        assert all(torch.equal(value, other["parameters"][name]) for name, value in first["parameters"].items())
    assert len(spy.batches[0]) == 3 * BATCHES
    assert all(batches == spy.batches[0] for batches in spy.batches.values())


LANES = [name for name, method in METHODS.items() if not method.adds_labels and not method.takes_votes]
"""Where sets are the method's own, or votes are needed, lanes share nothing."""


@pytest.mark.parametrize("methods", [LANES[at::5][:4] for at in range(2)])
def test_a_lane_is_to_the_bit_what_the_method_is_alone(methods: list[str], registry: RunRegistry, data: Path) -> None:
    configs = lane_configs(config(data, params={"epochs": 3}), methods)
    comparison = ended(registry.start(*configs))
    for run, what in zip(comparison.lanes, configs, strict=True):
        alone = RunFolder(registry.root / f"{what.method} alone")
        alone.create(what)
        assert FitLoop(alone, find_out=False).train()["state"] == "finished"
        assert result_of(run.folder) == result_of(alone), what.method


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """In pretence: they have names of their own, and compute on the CPU."""
    names = ("meta:0", "meta:1")
    monkeypatch.setattr(devices, "gpus", lambda: names)
    monkeypatch.setattr(devices, "memory_of", lambda name: devices.Memory(5, 9))
    monkeypatch.setattr(deep, "choose_device", lambda name: torch.device("cpu"))
    monkeypatch.setattr(fit_loop, "check_memory", lambda estimator, data: None)
    return names


class TestOnTwoGpus:
    def test_lanes_are_spread_train_at_once_and_stay_together(
        self, registry: RunRegistry, data: Path, two_gpus: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        what = lane_configs(config(data, params={"epochs": 3}), VARIANTS[:4])
        step, both, met = Trainer.step, threading.Barrier(2, timeout=20), list[int]()
        seen: list[tuple[str, ...]] = []

        def stepped(trainer: Trainer, units: torch.Tensor) -> Any:
            if not trainer.cursor:  # two lanes are in the first step of an epoch
                met.append(both.wait())
                seen.append(comparison._held)
                assert {lane.epoch for lane in comparison.snapshot().lanes} <= {trainer.epoch, trainer.epoch + 1}
            return step(trainer, units)

        comparison = registry.start(*what, paused=True)
        comparison.wait_until_paused(30)
        assert [lane.loop.device for lane in comparison.lanes if lane.loop] == [*two_gpus, *two_gpus]
        comparison.resume(epochs=1)  # the lane that was paused takes its turn alone
        comparison.wait_until_paused(60)
        monkeypatch.setattr(Trainer, "step", stepped)
        comparison.resume()
        ended(comparison)
        assert len(met) == 2 * 4 and set(seen) == {two_gpus}
        monkeypatch.undo()
        alone = ended(registry.start(*what))
        assert [result_of(lane.folder) for lane in comparison.lanes] == [result_of(lane.folder) for lane in alone.lanes]

    def test_a_run_that_waits_for_one_has_it_first_and_after_a_pause_each_lane_gets_its_own_back(
        self, registry: RunRegistry, data: Path, two_gpus: tuple[str, ...]
    ) -> None:
        first = registry.start(*lane_configs(config(data, params=LONG), VARIANTS[:2]))
        wait_for(lambda: min(lane.epoch for lane in first.snapshot().lanes) > 1, "both lanes")
        assert first._held == two_gpus and first.snapshot().device == "GPU 0, 0 of 0 GB; GPU 1, 0 of 0 GB"
        second = registry.start(config(data, params=LONG))
        assert second.snapshot().ahead == 1
        first.pause()
        wait_for(lambda: second.snapshot().epoch > 0, "the second")
        first.resume()
        wait_for(lambda: first.snapshot().ahead is not None, "the first to wait for what the second has")
        second.stop()
        before = first.snapshot().lanes[0].epoch
        wait_for(lambda: min(lane.epoch for lane in first.snapshot().lanes) > before, "both lanes")
        assert first._held == two_gpus
        first.stop()
        assert {lane.state for lane in ended(first).snapshot().lanes} == {"stopped"}


# ---- under a person's hand -------------------------------------------------------------------------------------------


def test_steps_are_of_all_lanes_and_change_nothing(registry: RunRegistry, data: Path) -> None:
    through = ended(registry.start(*usual(data)))
    stepped = registry.start(*usual(data), paused=True)
    assert still(stepped) == [0] * 5
    assert stepped.snapshot().state == "paused"
    for epochs, expected in ((1, 1), (2, 3), (25, 6)):
        stepped.resume(epochs=epochs)
        assert still(stepped) == [expected] * 5
    assert stepped.snapshot().state == "finished"
    assert [result_of(run.folder) for run in stepped.lanes] == [result_of(run.folder) for run in through.lanes]


@pytest.mark.slow
def test_pauses_and_stops_change_nothing(registry: RunRegistry, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    what = usual(data, params={"epochs": 20})
    undisturbed = [result_of(run.folder) for run in ended(registry.start(*what)).lanes]
    spy = Spy(monkeypatch)
    comparison = registry.start(*what)
    for disturb in ("pause", "stop", "pause", "stop"):
        before = len(spy.turns)
        wait_for(lambda: len(spy.turns) > before + 37, "37 batches")  # noqa: B023
        getattr(comparison, disturb)()
        wait_for(lambda: comparison.snapshot().state in ("paused", "stopped"), disturb)
        stood = len(spy.turns)
        states = {lane.snapshot().state for lane in comparison.lanes}
        assert states == {"paused" if disturb == "pause" else "stopped"}  # each lane says so by itself
        assert len(spy.turns) == stood
        comparison.resume()
    ended(comparison)
    assert [result_of(run.folder) for run in comparison.lanes] == undisturbed


def test_a_stop_leaves_a_result_in_every_lane(registry: RunRegistry, data: Path) -> None:
    comparison = registry.start(*usual(data, params=LONG))
    wait_for(lambda: comparison.snapshot().epoch >= 2, "two rounds")
    comparison.stop()
    ended(comparison)
    snapshot = comparison.snapshot()
    assert snapshot.state == "stopped"
    epochs = [lane.epoch for lane in snapshot.lanes]
    assert max(epochs) - min(epochs) <= 1
    for run, lane in zip(comparison.lanes, snapshot.lanes, strict=True):
        assert lane.metrics is not None and lane.metrics["epoch"] == lane.epoch
        assert (run.folder.path / "labels.csv").exists() and (run.folder.path / "model.json").exists()
        assert not run.folder.is_locked()


# ---- errors ----------------------------------------------------------------------------------------------------------


def test_a_lane_that_fails_does_not_stop_the_others(registry: RunRegistry, data: Path) -> None:
    own = {"proden-sudden": {"lr": 1e30, "loss": "mse"}}
    comparison = ended(registry.start(*lane_configs(config(data), VARIANTS, own)))
    snapshot = comparison.snapshot()
    assert snapshot.state == "finished"
    states = {lane.method: lane.state for lane in snapshot.lanes}
    assert states.pop("proden-sudden") == "failed" and set(states.values()) == {"finished"}
    failed = next(lane for lane in snapshot.lanes if lane.state == "failed")
    assert failed.error is not None and "smaller learning rate" in failed.error
    comparison.resume()  # nothing is left to do
    assert not comparison.is_alive()


def test_lanes_that_do_not_belong_together_are_refused(registry: RunRegistry, data: Path) -> None:
    shared = config(data)
    with pytest.raises(UserError, match="choose two to 5"):
        lane_configs(shared, ["proden"])
    with pytest.raises(UserError, match="choose two to 5"):
        lane_configs(shared, ["proden"] * (MOST_LANES + 1))
    with pytest.raises(UserError, match="differ in seed"):
        registry.start(shared, config(data, seed=1))
    with pytest.raises(UserError, match="prodne"):
        lane_configs(shared, ["prodne", "proden"])
    assert registry.all() == [] and registry.comparisons() == []


# ---- found again -----------------------------------------------------------------------------------------------------


def test_it_is_found_after_a_restart_and_deleted(registry: RunRegistry, data: Path) -> None:
    comparison = ended(registry.start(*usual(data), name="mine"))
    other = RunRegistry(registry.root)
    (found,) = other.comparisons()
    assert (found.id, found.name, found.listed) == (comparison.id, "mine", comparison.listed)
    assert found.snapshot() == comparison.snapshot()
    assert other.get(comparison.id) is found
    assert len(found.splits().train) == 96
    other.delete(found.id)
    assert list(registry.root.iterdir()) == []
    for link in (comparison.id, "../x", "", "."):
        with pytest.raises(UserError, match="no such run"):
            other.get(link)


def test_finished_runs_are_compared(registry: RunRegistry, data: Path) -> None:
    like_one = lane_configs(config(data), ["proden", "clpl"])
    one, same, other = (ended(registry.start(what)) for what in [*like_one, config(data, seed=3)])
    beside = registry.compare([one.id, same.id])
    assert beside.shares_data() and not beside.is_together
    assert beside.splits(0) is beside.splits(1)
    beside.resume()  # there is nothing to train
    assert not beside.is_alive()
    assert beside.snapshot().state == "finished"
    mixed = registry.compare([one.id, other.id])
    assert not mixed.shares_data()
    assert mixed.splits(0).train.fingerprint != mixed.splits(1).train.fingerprint
    for ids in ([one.id], [one.id, one.id]):
        with pytest.raises(UserError, match="different runs"):
            registry.compare(ids)
    registry.delete(beside.id)
    assert {run.id for run in registry.all()} == {one.id, same.id, other.id}  # they stay


DRIVER = """
import sys
from pathlib import Path
from pll.runs import fit_loop
from pll.runs.lanes import lane_configs
from pll.runs.registry import RunRegistry
from tests.run_helpers import VARIANTS, config
fit_loop.CHECKPOINT_EVERY, fit_loop.CHECKPOINT_SHARE = 0, float("inf")
runs = RunRegistry(Path(sys.argv[1]))
runs.start(*lane_configs(config(Path(sys.argv[2]), params={"epochs": 30}), VARIANTS)).join()
"""


@pytest.mark.slow
def test_killed_with_9_and_resumed_to_the_same_bits(registry: RunRegistry, data: Path) -> None:
    straight = ended(registry.start(*usual(data, params={"epochs": 30})))
    root = registry.root.parent / "killed"
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(root), str(data)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    )
    reader = RunRegistry(root)

    def epoch() -> int:
        result = reader.comparisons()
        return result[0].snapshot().epoch if result and len(result[0].lanes) == 5 else 0

    try:
        wait_for(lambda: epoch() >= 4 or process.poll() is not None, "four rounds", 120)
    finally:
        process.kill()
        assert process.wait() == -signal.SIGKILL
    (comparison,) = RunRegistry(root).comparisons()
    assert comparison.snapshot().state == "interrupted"
    assert 4 <= comparison.snapshot().epoch < 30
    comparison.resume()
    ended(comparison)
    assert comparison.snapshot().state == "finished"
    assert [result_of(run.folder) for run in comparison.lanes] == [result_of(run.folder) for run in straight.lanes]

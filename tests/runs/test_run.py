from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pll.errors import UserError
from pll.runs import fit_loop, run_data
from pll.runs import registry as pll_registry
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from pll.training.trainer import Trainer
from tests.run_helpers import C, config, result_of, wait_for, write_data

LONG = {"epochs": 100_000}
"""A run that does not end by itself while a test lasts."""


class Steps:
    """Counts mini-batches, by the run's thread, and how many were ever taken at the same time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.by_thread: dict[str, int] = {}
        self.most_at_once = 0
        self._inside = 0
        self._guard = threading.Lock()
        step = Trainer.step

        def counted(trainer: Trainer, units: torch.Tensor) -> Any:
            name = threading.current_thread().name
            with self._guard:
                self._inside += 1
                self.most_at_once = max(self.most_at_once, self._inside)
                self.by_thread[name] = self.by_thread.get(name, 0) + 1
            try:
                return step(trainer, units)
            finally:
                with self._guard:
                    self._inside -= 1

        monkeypatch.setattr(Trainer, "step", counted)

    def of(self, run: Run) -> int:
        return self.by_thread.get(f"candid-run-{run.id}", 0)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Steps:
    return Steps(monkeypatch)


def state_of(run: Run) -> str:
    return run.snapshot().state


def wait_for_state(run: Run, *states: str) -> None:
    wait_for(lambda: state_of(run) in states, f"{states}; {run.snapshot()}")


def ended(run: Run) -> Run:
    run.join(60)
    assert not run.is_alive()
    return run


# ---- from start to end -----------------------------------------------------------------------------------------------


def test_a_run_goes_on_by_itself_to_the_same_result_as_in_the_foreground(
    registry: RunRegistry, data: Path, tmp_path: Path
) -> None:
    run = ended(registry.start(config(data)))
    snapshot = run.snapshot()
    assert (snapshot.state, snapshot.epoch, snapshot.total, snapshot.is_active) == ("finished", 6, 6, False)
    assert (snapshot.name, snapshot.lane.method, snapshot.error) == ("small.npz", "proden", None)
    foreground = RunFolder(tmp_path / "foreground")
    foreground.create(config(data))
    fit_loop.FitLoop(foreground).train()
    assert result_of(run.folder) == result_of(foreground)
    assert snapshot.lane.metrics == foreground.state()["metrics"]


def test_a_snapshot_shows_the_run_as_it_goes(registry: RunRegistry, data: Path) -> None:
    run = registry.start(config(data, params=LONG, name="my run"))
    wait_for(lambda: run.snapshot().epoch >= 3, "three epochs")
    snapshot = run.snapshot()
    assert (snapshot.state, snapshot.name, snapshot.total) == ("running", "my run", 100_000)
    assert [row["epoch"] for row in snapshot.lane.rows] == list(range(1, snapshot.epoch + 1))
    assert snapshot.lane.record is not None
    assert len(snapshot.lane.record.label_weights) == run.splits().train.sets().nnz
    assert snapshot.seconds_left is not None and snapshot.seconds_left > 0
    assert (snapshot.ahead, snapshot.lane.metrics) == (None, None)
    assert snapshot.is_active


# ---- pause, resume, stop ---------------------------------------------------------------------------------------------


def test_a_pause_comes_within_one_batch_and_nothing_is_trained_in_it(
    registry: RunRegistry, data: Path, steps: Steps
) -> None:
    run = registry.start(config(data, params=LONG))
    wait_for(lambda: steps.of(run) > 20, "twenty batches")
    run.pause()
    asked_at = steps.of(run)
    wait_for_state(run, "paused")
    stood_at = steps.of(run)
    assert stood_at <= asked_at + 1
    time.sleep(0.05)
    assert steps.of(run) == stood_at
    assert run.folder.state()["state"] == "paused"
    run.resume()
    wait_for(lambda: steps.of(run) > stood_at + 10, "ten more batches")
    assert state_of(run) == "running"


def test_pauses_and_stops_change_nothing_in_the_result(registry: RunRegistry, data: Path, steps: Steps) -> None:
    undisturbed = ended(registry.start(config(data, params={"model": "mlp", "epochs": 12})))
    run = registry.start(config(data, params={"model": "mlp", "epochs": 12}))
    for disturb in ("pause", "stop"):
        before = steps.of(run)
        wait_for(lambda: steps.of(run) > before + 13, "13 batches")  # noqa: B023
        getattr(run, disturb)()
        wait_for_state(run, "paused", "stopped")
        run.resume()
    ended(run)
    assert result_of(run.folder) == result_of(undisturbed.folder)


def test_going_on_right_after_a_stop_waits_for_it_to_end(registry: RunRegistry, data: Path) -> None:
    run = registry.start(config(data, params=LONG))
    wait_for(lambda: run.snapshot().epoch >= 1, "an epoch")
    run.stop()
    run.resume()
    assert run.is_alive()
    before = run.snapshot().epoch
    wait_for(lambda: run.snapshot().epoch > before + 1, "more epochs")


def test_a_run_whose_method_added_labels_goes_on_after_a_stop(registry: RunRegistry, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(400) % C)
    X = (rng.normal(size=(400, 5)) + 3 * rng.normal(size=(C, 5))[y]).astype(np.float32)
    sets = np.eye(C, dtype=np.bool_)[y] & (rng.random(400) > 0.3)[:, None]  # the true label is missing in some
    sets[np.arange(400), rng.integers(0, C, 400)] = True
    file = write_data(tmp_path / "missed.npz", X=X, y=y, candidates=sets)
    run = registry.start(config(file, method="proden-outside", flip=None, holdout=None, params=LONG))
    wait_for(lambda: run.snapshot().epoch >= 1, "an epoch")
    run.stop()
    ended(run)
    before, outside = run.snapshot().epoch, run.splits().train.outside
    assert outside is not None and not outside.is_empty
    run.resume()
    wait_for(lambda: run.snapshot().epoch > before or not run.is_alive(), "another epoch")
    assert run.snapshot().lane.error is None


# ---- one at a time on a device ---------------------------------------------------------------------------------------


def test_runs_wait_for_each_other_in_a_line_that_is_seen(registry: RunRegistry, data: Path, steps: Steps) -> None:
    first = registry.start(config(data, params=LONG))
    wait_for(lambda: steps.of(first) > 0, "the first to begin")
    others = []
    for number in (1, 2, 3):
        others.append(registry.start(config(data, params=LONG)))
        wait_for(lambda: others[-1].snapshot().ahead == number, f"number {number} to wait")  # noqa: B023
        assert state_of(others[-1]) == "queued"
        assert others[-1].folder.state()["state"] == "queued"
    first.stop()
    wait_for_state(others[0], "running")
    wait_for(lambda: [run.snapshot().ahead for run in others] == [None, 1, 2], "the line to move up")
    assert steps.most_at_once == 1


def test_a_paused_run_lets_the_next_one_in(registry: RunRegistry, data: Path, steps: Steps) -> None:
    first = registry.start(config(data, params=LONG))
    wait_for(lambda: steps.of(first) > 0, "the first to begin")
    second = registry.start(config(data))
    first.pause()
    ended(second)
    assert state_of(second) == "finished"
    assert state_of(first) == "paused"
    before = steps.of(first)
    first.resume()
    wait_for(lambda: steps.of(first) > before, "the first to go on")


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "prodne"}, "prodne"),
        ({"params": {"deepness": 3}}, "deepness"),
        ({"params": {"lr": float("nan")}}, "lr"),
    ],
)
def test_a_wrong_setting_is_said_before_there_is_a_run(
    registry: RunRegistry, data: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        registry.start(config(data, **options))
    assert registry.all() == []


def test_a_run_that_was_deleted_elsewhere_or_damaged_is_said(registry: RunRegistry, data: Path) -> None:
    run = registry.start(config(data, params=LONG))
    wait_for(lambda: run.snapshot().epoch >= 1, "an epoch")
    run.stop()
    ended(run)
    with (run.folder.path / "metrics.csv").open("a") as file:
        file.write("nonsense\n")
    with pytest.raises(UserError, match="damaged"):
        run.resume()
    assert not run.folder.is_locked()
    assert registry.has(run.id)
    RunRegistry(registry.root).delete(run.id)
    assert not registry.has(run.id)
    with pytest.raises(UserError, match="deleted"):
        run.resume()
    assert list(registry.root.iterdir()) == []


# ---- snapshots -------------------------------------------------------------------------------------------------------


def test_a_snapshot_of_a_live_run_reads_no_metrics_from_disk(
    registry: RunRegistry, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = registry.start(config(data, params={"epochs": 60}), paused=True)
    run.resume(epochs=20)
    run.wait_until_paused(60)
    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "metrics", lambda folder: pytest.fail("metrics.csv was read"))
        assert run.is_alive() and len(run.snapshot().lane.rows) == 20
    run.resume()
    ended(run)
    assert len(run.snapshot().lane.rows) == 60  # from the disk


def test_data_is_read_once_and_kept_for_the_last_runs_only(
    registry: RunRegistry, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    load = run_data.load_splits

    def counted(what: RunConfig, **kept: Any) -> Any:
        reads.append(what.name)
        return load(what, **kept)

    monkeypatch.setattr(run_data, "load_splits", counted)
    monkeypatch.setattr(pll_registry, "MOST_IDLE", 2)
    some = [ended(registry.start(config(data, name=name, params={"epochs": 1}))) for name in "abc"]
    assert reads == list("abc")
    for run in some[1:]:
        assert run.splits() is run.splits()
    assert reads == list("abc")
    some[0].splits()  # in again; b, looked at longest ago, has to leave
    assert reads == list("abca")
    some[2].splits()
    assert reads == list("abca")
    some[1].splits()
    assert reads == list("abcab")


# ---- the registry ----------------------------------------------------------------------------------------------------


NOWHERE = (
    *("", ".", "..", "../x", "/", "/etc", "x/y", "unknown", "x" * 5000, "a\0b", "\ud800"),
    *("../runs/{id}", "{id}/", "./{id}"),
)


def test_a_link_to_nowhere_is_said(registry: RunRegistry, data: Path) -> None:
    known = ended(registry.start(config(data, params={"epochs": 1})))
    (registry.root.parent / "x").mkdir()
    (registry.root.parent / "x" / "config.json").write_bytes((known.folder.path / "config.json").read_bytes())
    for run_id in NOWHERE:
        with pytest.raises(UserError, match="no such run"):
            registry.get(run_id.format(id=known.id))
    assert registry.get(known.id) is known


def test_a_run_of_a_process_that_died_is_interrupted_and_goes_on(registry: RunRegistry, data: Path) -> None:
    run = ended(registry.start(config(data)))
    undisturbed = result_of(run.folder)
    again = RunFolder(registry.root / "died")
    again.create(config(data))
    again.set_state("running")
    result = RunRegistry(registry.root).get("died")
    assert state_of(result) == "interrupted"
    assert not result.snapshot().is_active
    result.resume()
    ended(result)
    assert result_of(result.folder) == undisturbed


def test_a_run_of_a_process_that_lives_is_left_to_it(registry: RunRegistry, data: Path) -> None:
    run = registry.start(config(data, params=LONG))
    wait_for_state(run, "running")
    seen_elsewhere = RunRegistry(registry.root).get(run.id)
    assert state_of(seen_elsewhere) == "running"
    with pytest.raises(UserError, match="Another process"):
        seen_elsewhere.resume()
    with pytest.raises(UserError, match="at work"):
        RunRegistry(registry.root).delete(run.id)
    assert run.is_alive()


def test_stopping_all_stops_those_that_wait_and_those_that_pause(registry: RunRegistry, data: Path) -> None:
    alive = [registry.start(config(data, params=LONG)) for _ in range(4)]
    wait_for_state(alive[0], "running")
    alive[0].pause()
    wait_for_state(alive[1], "running")
    registry.stop_all(30)
    assert [state_of(run) for run in alive] == ["stopped"] * 4
    assert not any(run.is_alive() for run in alive)


def test_many_threads_may_ask_at_once(registry: RunRegistry, data: Path) -> None:
    run = registry.start(config(data, params={"epochs": 100}))
    troubles: list[BaseException] = []

    def ask(what: Callable[[], object]) -> None:
        try:
            for _ in range(10):
                what()
        except BaseException as error:
            troubles.append(error)

    asks = [run.snapshot, registry.all, run.splits, run.pause, run.resume, run.folder.state]
    threads = [threading.Thread(target=ask, args=(what,)) for what in asks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    run.resume()
    ended(run)
    assert troubles == []
    assert state_of(run) == "finished"

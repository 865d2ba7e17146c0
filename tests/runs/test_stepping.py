"""A run under a person's hand: so many epochs or batches at a time, paused from the start, stopped when settled."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from pll.synthesis import Flip
from tests.run_helpers import BATCH, BATCHES, config


def standing(run: Run) -> tuple[str, int, int]:
    """State, epochs and batches of the next epoch, once the run stands still."""
    run.wait_until_paused(30)
    snapshot = run.snapshot()
    return snapshot.state, snapshot.epoch, 0 if snapshot.lane.moment is None else snapshot.lane.moment.batch


def test_a_run_can_start_paused_and_be_stepped_through(registry: RunRegistry, data: Path) -> None:
    run = registry.start(config(data, params={"epochs": 12}), paused=True)
    assert standing(run) == ("paused", 0, 0)
    run.resume(batches=1)
    assert standing(run) == ("paused", 0, 1)
    run.resume(batches=BATCHES)  # across the end of the epoch
    assert standing(run) == ("paused", 1, 1)
    run.resume(epochs=1)  # the rest of the epoch that was begun
    assert standing(run) == ("paused", 2, 0)
    run.resume(epochs=5)
    assert standing(run) == ("paused", 7, 0)
    run.resume(epochs=3)
    assert standing(run) == ("paused", 10, 0)
    run.resume(epochs=3)  # more than are left
    assert standing(run) == ("finished", 12, 0)


def test_a_moment_shows_what_a_batch_has_changed(registry: RunRegistry, data: Path) -> None:
    run = registry.start(config(data, flip=Flip("binomial", 0.7)), paused=True)
    run.wait_until_paused(30)
    before = run.snapshot().lane.moment
    run.resume(batches=1)
    run.wait_until_paused(30)
    after = run.snapshot().lane.moment
    assert before is not None and after is not None
    assert (after.epoch, after.batch, after.batches) == (0, 1, BATCHES)
    sets = run.splits().train.sets()
    changed = np.unique(sets.rows[before.label_weights != after.label_weights])
    assert BATCH / 2 < len(changed) <= BATCH  # the examples of one batch; sets of one never change


def test_stop_when_settled(registry: RunRegistry, data: Path) -> None:
    slowly = config(data, params={"epochs": 100, "lr": 1e-2}, flip=Flip("binomial", 0.7))
    run = registry.start(slowly, paused=True)  # now and then an epoch changes nothing, and the next does
    run.set_patience(3)
    run.resume()
    run.join(30)
    snapshot = run.snapshot()
    assert snapshot.state == "stopped"
    quiet = [row["changed_labels"] == 0 for row in snapshot.lane.rows]
    assert quiet[-3:] == [True] * 3 and quiet.index(True, 1) < len(quiet) - 3
    first = next(k for k in range(3, len(quiet)) if all(quiet[k - 2 : k + 1]))  # epoch 1 does not count
    assert len(quiet) == first + 1


def test_steps_and_a_slow_start_change_nothing_but_the_time(registry: RunRegistry, data: Path) -> None:
    through = registry.start(config(data, params={"epochs": 3}))
    stepped, slow = (registry.start(config(data, params={"epochs": 3}), paused=True) for _ in range(2))
    through.join(30)
    for _ in range(3 * BATCHES):
        stepped.wait_until_paused(30)
        stepped.resume(batches=1)
    stepped.join(30)
    slow.set_slow_start(0.3, 2)
    slow.resume()
    slow.join(30)
    results = {(run.folder.path / "labels.csv").read_bytes() for run in (through, stepped, slow)}
    assert len(results) == 1 and slow.snapshot().state == "finished"

"""A comparison: several runs trained together as one, which take turns by epoch; or runs of the past side by side.

The lane that is farthest behind takes the next turn, so that all of them are at the same epoch whenever a round is
complete, also after a restart, when each goes on from a checkpoint of its own. The data is read, and the candidate
sets are drawn, once. A lane that fails does not stop the others.

What this file is not about: what a turn does (`pll.runs.runner.rounds`, which goes through the one training loop).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from pll.analysis.protocol import Parts
from pll.errors import UserError
from pll.methods import PartialLabelEstimator
from pll.runs import runner
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import RunFolder, State
from pll.runs.lanes import LaneList
from pll.runs.run import Run, note_failure, quiet_epochs
from pll.runs.snapshots import ComparisonSnapshot, Snapshot, joint_state, seconds_left
from pll.runs.worker import Worker
from pll.training.devices import computing_threads, device_name
from pll.training.metrics import EpochRecord, StopTraining

OVER = ("finished", "failed")
"""States of a lane that has nothing left to do."""


class Comparison(Worker):
    """Lanes in one place of the queue, under one hand. Its id is the name of its folder.

    Args:
        folder: holds `comparison.json`.
        find: gives the run of an id; raises UserError where it is gone.
        queue: where it waits for its device.

    Attributes:
        lanes: what comparison.json says.
        runs: the runs that are still there, in the order of the lanes.
    """

    def __init__(self, folder: Path, find: Callable[[str], Run], queue: DeviceQueue) -> None:
        super().__init__(folder.name, queue)
        self.folder = folder
        self.lanes = LaneList.read(folder)
        self.runs = _those_found(self.lanes.runs, find)
        if not self.runs:
            raise UserError("The runs of this comparison have been deleted.")
        self._loading = threading.Lock()
        self._parts: Parts | None = None
        self._turns: list[_Turns] = []
        self._locked = ExitStack()

    @property
    def name(self) -> str:
        """What to call it on a page."""
        first = self.runs[0].config
        return self.lanes.name or first.name or first.source.name

    def snapshot(self) -> ComparisonSnapshot:
        """How all lanes stand now."""
        with self._guard:
            alive, state = self.is_alive(), self._state
            at_work = {turns.run.id: turns.snapshot(state) for turns in self._turns if alive and not turns.over}
        lanes = tuple(at_work[run.id] if run.id in at_work else run.snapshot() for run in self.runs)
        left = [lane.seconds_left for lane in lanes if lane.id in at_work]
        rounds = max(((lane.total or 0) - lane.epoch for lane in lanes if lane.id in at_work), default=0)
        known = [seconds for seconds in left if seconds is not None]
        return ComparisonSnapshot(
            id=self.id,
            name=self.name,
            state=state if alive else joint_state(lane.state for lane in lanes),
            lanes=lanes,
            ahead=self._queue.position(self._device, self.id) if alive else None,
            error=self._error,
            seconds_left=max(sum(known), rounds * self._pace) if known and len(known) == len(left) else None,
        )

    def shares_data(self) -> bool:
        """Whether all lanes learnt from the same examples with the same candidate sets."""
        marks = {run.folder.about().get("fingerprint") for run in self.runs}
        return self.lanes.together or (len(marks) == 1 and None not in marks)

    def parts(self, lane: int = 0) -> Parts:
        """The data of a lane; trained together, all of them have the same, read once.

        Raises:
            UserError: the source is gone or has changed.
        """
        if not self.lanes.together:
            return self.runs[0 if self.shares_data() else lane].parts()
        with self._loading:
            if self._parts is not None:
                return self._parts
            parts = self.runs[0].parts()
            if self.is_alive():
                self._parts = parts
                with self._guard:
                    self._guard.notify_all()
            return parts

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait, at most so long, for the data to be read; False while it is not. A comparison at rest is ready."""
        with self._guard:
            return self._guard.wait_for(lambda: self._parts is not None or not self.is_alive(), seconds)

    # ---- the thread ----------------------------------------------------------------------------------------------

    def _claim(self) -> bool:
        if not self.lanes.together:
            return False
        # Folders of its own: a lock lets everybody in who holds the same object, and a run must not start by itself.
        folders = [RunFolder(run.folder.path) for run in self.runs]
        with ExitStack() as undo:
            for folder in folders:
                if not folder.exists():
                    raise UserError("A run of this comparison has been deleted.")
                folder.lock()
                undo.callback(folder.unlock)
            lanes = [
                _Turns(run, folder, self.parts, self._hook) for run, folder in zip(self.runs, folders, strict=True)
            ]
            self._turns = [turns for turns in lanes if turns.folder.state()["state"] not in OVER]
            if self._turns:
                self._locked = undo.pop_all()  # they stay locked
        return bool(self._turns)

    def _unclaim(self) -> None:
        self._locked.close()

    def _choose_device(self) -> str:
        wanted = (run.config.params.get("device") for run in self.runs)
        return device_name(str(next((device for device in wanted if device), "auto")))

    def _write_state(self, state: State) -> None:
        for turns in self._turns:
            if not turns.over:
                turns.folder.set_state(state)

    def _labour(self) -> None:
        self.parts()
        with computing_threads(next((turns.threads for turns in self._turns if turns.threads), None)):
            complete = self._complete()
            while not self._is_stopped() and (turns := self._farthest_behind()) is not None:
                if turns.threads:  # a lane that has ended has put back what it found
                    torch.set_num_threads(turns.threads)
                turns.take()
                if self._complete() > complete:
                    complete = self._complete()
                    with self._guard:
                        self._note_epoch(min((turns.quiet for turns in self._turns if not turns.over), default=0))
            if self._is_stopped():
                for turns in self._turns:
                    turns.stop()

    def _farthest_behind(self) -> _Turns | None:
        left = [turns for turns in self._turns if not turns.over]
        return min(left, key=lambda turns: turns.epoch, default=None)  # the first of equals

    def _complete(self) -> int:
        """Epochs that every lane that is not over has completed."""
        left = [turns.epoch for turns in self._turns if not turns.over]
        return min(left, default=max((turns.epoch for turns in self._turns), default=0))

    def _note_pause(self, begins: bool) -> None:
        """Nothing: lanes are looked at between epochs only."""

    def _forget(self) -> None:
        for turns in self._turns:
            turns.close()
        self._turns = []
        self._parts = None

    def _write_failure(self, error: Exception, message: str) -> None:
        for turns in self._turns:
            if not turns.over:
                note_failure(turns.folder, error, message)


class _Turns:
    """One lane at work: what it has shown so far, and its next turn."""

    def __init__(self, run: Run, folder: RunFolder, load: Callable[[], Parts], hook: Callable[[], None]) -> None:
        self.run = run
        self.folder = folder
        self.over = False
        self.threads: int | None = run.config.params.get("threads")
        self.total: int | None = folder.about().get("epochs")
        self.rows: list[dict[str, Any]] = folder.metrics()
        self.record: EpochRecord | None = None
        self._estimator: PartialLabelEstimator | None = None
        self._going: Generator[EpochRecord, None, runner.Outcome] = runner.rounds(
            folder, load=load, hook=hook, on_ready=self._on_ready
        )

    @property
    def epoch(self) -> int:
        return int(self.rows[-1]["epoch"]) if self.rows else 0

    @property
    def quiet(self) -> int:
        """Epochs since an identified label changed."""
        return quiet_epochs(self.rows)

    def take(self) -> None:
        """One epoch; with the last one goes the writing of the result."""
        try:
            record = next(self._going)
            self.rows = [*self.rows, record.metrics()]  # a new list: snapshots have the old one
            self.record = record
            if record.epoch == self.total:
                next(self._going)
        except StopIteration:
            self.over = True
        except UserError:  # the folder says why
            self.over = True

    def stop(self) -> None:
        """Write down what there is, so that it can go on from there."""
        if self.over:
            return
        self.over = True
        try:
            self._going.throw(StopTraining)
        except StopTraining:  # it had not begun
            self.folder.set_state("stopped")
        except (StopIteration, UserError):
            pass

    def close(self) -> None:
        """Let go of the lane where something else went wrong."""
        self._going.close()
        self._estimator = self.record = None

    def snapshot(self, state: State) -> Snapshot:
        """How the lane stands, in a comparison that stands so."""
        config, rows = self.run.config, tuple(self.rows)
        return Snapshot(
            id=self.run.id,
            name=config.name or config.source.name,
            method=config.method,
            state=state,
            total=self.total,
            rows=rows,
            record=self.record,
            seconds_left=seconds_left(rows, self.total),
            stage="" if self._estimator is None else self._estimator.stage_,
        )

    def _on_ready(self, parts: Parts, estimator: PartialLabelEstimator) -> None:
        self._estimator = estimator
        self.total = estimator.total_rounds()
        self.rows = self.folder.metrics()  # a run that goes on starts from its checkpoint


def _those_found(ids: Sequence[str], find: Callable[[str], Run]) -> list[Run]:
    found = []
    for run_id in ids:
        try:
            found.append(find(run_id))
        except UserError:  # deleted by itself
            continue
    return found

"""Pausable training thread: it waits for its place in the queue, pauses, steps, keeps a pace and stops.

A worker trains lanes: each is a run with a folder of its own, trained an epoch at a time by `pll.runs.runner`. A run
by itself (`pll.runs.run`) is a worker of one lane, a comparison (`pll.runs.comparison`) one of several.
"""

from __future__ import annotations

import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pll.errors import UserError, explain
from pll.runs import control
from pll.runs.config import RunConfig
from pll.runs.control import Holder, What
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import ENDED, RunFolder, State
from pll.runs.snapshots import Snapshot, seconds_left
from pll.training.devices import computing_threads, device_name
from pll.training.metrics import EpochRecord, StopTraining, TrainingProgress

if TYPE_CHECKING:
    from pll.analysis.protocol import Parts
    from pll.methods import PartialLabelEstimator
    from pll.runs.runner import RunOutcome


class Lane:
    """One run at work in a worker, trained epoch by epoch.

    Args:
        folder: of the run, locked by the worker.
        load: returns the data.
        hook: called between mini-batches.
        on_ready: called once data and estimator exist, before the first epoch.
        processes: how many train it together.

    Attributes:
        is_over: whether there is nothing left to do: finished, stopped or failed.
        total: epochs in all; None before the data is read.
        rows: the rows of metrics.csv so far.
        record: the last record.
        moment: progress within its epoch, while paused there.
        estimator: the method; None before `on_ready`.
        error: message, where it failed.
    """

    def __init__(
        self,
        folder: RunFolder,
        load: Callable[[], Parts],
        hook: Callable[[], None],
        on_ready: Callable[[Parts], None] = lambda parts: None,
        processes: int = 1,
    ) -> None:
        from pll.runs.runner import run_epochs  # late: nobody trains yet when the home page is opened

        self.id = folder.path.name
        self.folder = folder
        self.is_over = False
        self.total: int | None = folder.about().get("epochs")
        self.rows: list[dict[str, Any]] = folder.metrics()
        self.record: EpochRecord | None = None
        self.moment: TrainingProgress | None = None
        self.estimator: PartialLabelEstimator | None = None
        self.error: str | None = None
        self._on_ready = on_ready
        self._epochs: Generator[EpochRecord, None, RunOutcome] = run_epochs(
            folder, load=load, hook=hook, on_ready=self._note_ready, on_search=self._note_search, processes=processes
        )

    @cached_property
    def config(self) -> RunConfig:
        """The config that the run was started with."""
        return self.folder.config()

    @property
    def threads(self) -> int | None:
        """Number of CPU threads for training; None for the default."""
        return self.config.params.get("threads")

    @property
    def epoch(self) -> int:
        """Epochs complete."""
        return int(self.rows[-1]["epoch"]) if self.rows else 0

    def train_epoch(self) -> None:
        """Train one epoch; after the last one, write the result too."""
        try:
            record = next(self._epochs)
            self.rows = [*self.rows, record.metrics()]  # a new list: snapshots have the old one
            self.record = record
            if record.epoch == self.total:
                next(self._epochs)
        except StopIteration:
            self.is_over = True
        except UserError as error:  # also written to the folder
            self.is_over, self.error = True, explain(error)

    def stop(self, why: str = "") -> None:
        """Write the result so far; the run can continue from there.

        Args:
            why: the sentence that says why training ended by itself; "" where a user stopped it.
        """
        if self.is_over:
            return
        self.is_over = True
        try:
            self._epochs.throw(StopTraining(why))
        except StopTraining:  # training had not begun
            self.folder.set_state("stopped")
        except StopIteration:
            pass
        except UserError as error:
            self.error = explain(error)

    def close(self) -> None:
        """Free the training state; nothing is written where the lane was interrupted."""
        self._epochs.close()
        self.estimator = self.record = self.moment = None

    def snapshot(self, state: State) -> Snapshot:
        """Return the current state of the lane, in a worker of that state."""
        record = self.record  # before the rows, which the thread adds to first: they hold the record's epoch
        rows = tuple(dict(row) for row in self.rows)
        return Snapshot(
            id=self.id,
            name=self.config.name or self.config.source.name,
            method=self.config.method,
            state=state,
            total=self.total,
            rows=rows,
            record=record,
            moment=self.moment,
            seconds_left=seconds_left(rows, self.total),
            stage="" if self.estimator is None else self.estimator.stage_,
        )

    def _note_search(self, estimator: PartialLabelEstimator, share: float) -> None:
        self.estimator = estimator

    def _note_ready(self, parts: Parts, estimator: PartialLabelEstimator) -> None:
        self.estimator = estimator
        vars(self).pop("config", None)  # its method may have been chosen just now
        self.total = estimator.total_epochs()
        self.rows = self.folder.metrics()  # a resumed run starts from its checkpoint
        self._on_ready(parts)


class Worker(ABC):
    """Pausable training thread of one or several lanes, with one place in the queue.

    The lane with the fewest epochs trains next, so that all lanes reach each epoch together, also after a restart,
    when each continues from its own checkpoint. A lane that fails does not stop the others.

    Args:
        name: id of the worker.
        queue: queue for its device.
    """

    OVER: tuple[State, ...] = ("finished",)
    """Final states of a run, which is then not trained further."""
    KEEPS_DATA = True
    """Whether the data stays in memory once the worker has ended."""

    def __init__(self, name: str, queue: DeviceQueue) -> None:
        self.id = name
        self._queue = queue
        self._priority = 0
        self._guard = threading.Condition()
        self._thread: threading.Thread | None = None
        self._lanes: list[Lane] = []
        self._locked = ExitStack()
        self._complete = 0
        self._loading = threading.Lock()
        self._parts: Parts | None = None
        self._wants: State = "running"
        self._why_stopped = ""
        self._state: State = "queued"
        self._device = ""
        self._error: str | None = None
        self._epochs_left: int | None = None
        self._batches_left: int | None = None
        self._is_over = True
        self.settle_after: int | None = None
        self.pace: float | None = None
        self._pace = 0.0
        self._next_epoch_at = 0.0
        self._slow_start, self._slow_epochs = 0.0, 0

    @abstractmethod
    def _paths(self) -> Sequence[Path]:
        """The folders of the runs to train, in the order of the lanes."""

    @abstractmethod
    def parts(self) -> Parts:
        """Return the data of the lanes, read once.

        Raises:
            UserError: the source is missing or has changed.
        """

    # ---- control -------------------------------------------------------------------------------------------------

    def start(self, *, priority: int = 0, paused: bool = False) -> None:
        """Start or resume training in a thread; with `paused`, wait before the first mini-batch.

        Does nothing where the thread is alive or training has finished.

        Args:
            priority: in the queue for the device.
            paused: wait before the first mini-batch.

        Raises:
            UserError: another process is at work on the run, or its files are missing or damaged.
        """
        with self._guard:
            if self.is_alive() or not self._claim():
                return
            self._wants, self._state, self._error = "paused" if paused else "running", "queued", None
            self._is_over, self._why_stopped = False, ""
            self._priority = priority
            with suppress(UserError):  # no such device: the thread reports it
                self._device = self._choose_device()
                self._queue.join(self._device, self.id, priority=priority)  # first come, first served
            self._thread = threading.Thread(target=self._work, name=f"candid-run-{self.id}", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Pause before the next mini-batch; the device is free for others meanwhile.

        Raises:
            UserError: as for `stop`.
        """
        if self._ask("pause"):
            return
        self._allow()
        self._want("paused")

    def resume(self) -> None:
        """Resume after a pause, a stop or an interruption.

        Raises:
            UserError: as for `start` and `stop`.
        """
        if self._ask("resume"):
            return
        self._await_end()
        self._allow()
        self._go()

    def step(self, *, epochs: int | None = None, batches: int | None = None) -> None:
        """Train for so many epochs or mini-batches (units of work), then pause.

        After a pause within an epoch, the rest of that epoch counts as the first one.

        Raises:
            UserError: as for `start` and `stop`.
        """
        if self._ask("step", epochs=epochs, batches=batches):
            return
        self._await_end()
        self._allow(epochs, batches)
        self._go()

    def set_settle(self, epochs: int | None) -> None:
        """Stop automatically once no identified label has changed for so many epochs; None for never."""
        self.settle_after = epochs

    def stop(self) -> None:
        """Stop before the next mini-batch. The result so far is kept, and training can be resumed.

        Raises:
            UserError: another process trains it, which takes no such order, or has not answered yet.
        """
        if not self._ask("stop"):
            self._want("stopped")

    def holder(self) -> Holder | None:
        """Return the other process that trains this and takes orders; None for none."""
        paths = [] if self.is_alive() else self._paths()
        if all(_has_ended(path) for path in paths):  # its lock may still be held for a moment
            return None
        found = control.holder_of(paths[0])
        return found if found is not None and found.worker == self.id else None

    def _ask(self, what: What, *, epochs: int | None = None, batches: int | None = None) -> bool:
        """Send an order to the process that trains this, where it is another one; return whether it is."""
        if (holder := self.holder()) is None:
            return False
        control.send(self._paths()[0], holder, what, epochs=epochs, batches=batches)
        return True

    def set_slow_start(self, seconds: float, epochs: int) -> None:
        """Let each of the first epochs take at least so many seconds, for display; call before the first one.

        Args:
            seconds: also the time for which the state before training stays.
            epochs: so many epochs.
        """
        with self._guard:
            self._slow_start, self._slow_epochs = seconds, epochs

    def set_pace(self, epochs_per_second: float | None) -> None:
        """Limit the speed of training, for display; None for full speed. Results do not change.

        Raises:
            UserError: not above 0.
        """
        if epochs_per_second is not None and not epochs_per_second > 0:
            raise UserError(f"The pace is {epochs_per_second} epochs a second; it must be above 0.")
        with self._guard:
            self.pace = epochs_per_second
            self._pace = 0.0 if epochs_per_second is None else 1.0 / epochs_per_second
            self._next_epoch_at = time.monotonic()
            self._guard.notify_all()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread to end."""
        if self._thread is not None:
            self._thread.join(timeout)

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait at most so many seconds for the data; return whether it was read or the thread is not alive."""
        with self._guard:
            return self._guard.wait_for(lambda: self._parts is not None or not self.is_alive(), seconds)

    def wait_until_paused(self, seconds: float) -> None:
        """Wait at most so many seconds until training is paused or has ended."""
        with self._guard:
            self._guard.wait_for(lambda: self._state == self._wants == "paused" or self._is_over, seconds)
        if self._is_over:
            self.join(seconds)

    def is_alive(self) -> bool:
        """Return whether the thread trains, waits in the queue or is paused."""
        return self._thread is not None and self._thread.is_alive()

    def is_paused(self) -> bool:
        """Return whether it is paused, or about to be."""
        return self.is_alive() and self._wants == "paused"

    # ---- the thread ----------------------------------------------------------------------------------------------

    def _allow(self, epochs: int | None = None, batches: int | None = None) -> None:
        with self._guard:
            self._epochs_left, self._batches_left = epochs, batches

    def _await_end(self) -> None:
        """Wait for a thread that is stopping to write its result, so that it can start again."""
        if self._wants == "stopped":
            self.join()

    def _go(self) -> None:
        if self.is_alive():
            self._want("running")
        else:
            self.start()

    def _want(self, state: State) -> None:
        with self._guard:
            if self._wants != "stopped":
                self._wants = state
                if state == "running" and self._state == "paused":
                    self._state = "queued"  # at once, for the next snapshot
            self._guard.notify_all()
        self._queue.wake()

    def _work(self) -> None:
        try:
            self._device = self._choose_device()
            self._write_state("queued")
            if not self._acquire():
                self._write_state("stopped")
                return
            self._set_state("running")
            self._train()
        except Exception as error:
            message = explain(error)
            with self._guard:
                self._error = message
            for lane in self._lanes:
                if not lane.is_over:
                    note_failure(lane.folder, error, message)
        finally:
            self._queue.release(self._device, self.id)
            self._queue.leave(self._device, self.id)
            with self._guard:
                for lane in self._lanes:
                    lane.close()
                self._lanes = []
                if not self.KEEPS_DATA:
                    self._parts = None
                self._allow()
            self._locked.close()
            with self._guard:
                self._is_over = True
                self._guard.notify_all()

    def _claim(self) -> bool:
        """Lock the runs and say who trains them; return False, with nothing locked, where no lane is left to train.

        Raises:
            UserError: another process is at work on a run, or files are missing or damaged.
        """
        with ExitStack() as undo:
            lanes = []
            is_alone = len(self._paths()) == 1
            for path in self._paths():
                folder = RunFolder(path)  # an object of its own: a lock is reentrant for the same object
                if not folder.exists():
                    raise UserError(f"The run {path.name} has been deleted.")
                folder.lock()
                undo.callback(folder.unlock)
                processes = folder.config().processes if is_alone else 1  # lanes train by turns
                lanes.append(Lane(folder, self.parts, self._hook, self._note_ready, processes))
            self._lanes = [lane for lane in lanes if lane.folder.state()["state"] not in self.OVER]
            if self._lanes:
                for path in reversed(self._paths()):
                    undo.callback(control.withdraw, path)
                    control.announce(path, self.id)
                self._locked = undo.pop_all()  # they stay locked
        self._complete = self._complete_epochs()
        return bool(self._lanes)

    def _choose_device(self) -> str:
        wanted = (lane.config.params.get("device") for lane in self._lanes)
        return device_name(str(next((device for device in wanted if device), "auto")))

    def _write_state(self, state: State) -> None:
        for lane in self._lanes:
            if not lane.is_over:
                lane.folder.set_state(state)

    def _train(self) -> None:
        """Train all lanes until they end or are stopped."""
        import torch

        self.parts()
        with self._guard:
            self._guard.notify_all()
        is_alone = len(self._lanes) == 1
        threads = None if is_alone else next((lane.threads for lane in self._lanes if lane.threads), None)
        with computing_threads(threads):
            while not self._is_stopped() and (lane := self._farthest_behind()) is not None:
                if not is_alone and lane.threads:  # a lane that has ended has restored the number it found
                    torch.set_num_threads(lane.threads)
                lane.train_epoch()
                self._note_turn()
            if self._is_stopped():
                for lane in self._lanes:
                    lane.stop(self._why_stopped)
        if is_alone:
            self._error = self._lanes[0].error

    def _farthest_behind(self) -> Lane | None:
        left = [lane for lane in self._lanes if not lane.is_over]
        return min(left, key=lambda lane: lane.epoch, default=None)  # the first of equals

    def _complete_epochs(self) -> int:
        """Epochs that every lane that is not over has completed."""
        left = [lane.epoch for lane in self._lanes if not lane.is_over]
        return min(left, default=max((lane.epoch for lane in self._lanes), default=0))

    def _note_ready(self, parts: Parts) -> None:
        """Count epochs again: a lane has gone back to its checkpoint, which may precede its last metrics.

        Args:
            parts: its data, with the labels that its method added to the candidate sets.
        """
        with self._guard:
            if parts.train.outside is not None and len(self._lanes) == 1:
                self._parts = parts
            self._complete = self._complete_epochs()
            if self._slow_start and not self._complete:
                self._next_epoch_at = time.monotonic() + self._slow_start
            self._guard.notify_all()

    def _note_turn(self) -> None:
        complete = self._complete_epochs()
        if complete > self._complete:
            self._complete = complete
            left = [lane for lane in self._lanes if not lane.is_over]
            with self._guard:
                self._note_epoch(min((quiet_epochs(lane.rows) for lane in left), default=0))

    def _note_pause(self, begins: bool) -> None:
        """Note the progress of a single lane within its epoch; several lanes are shown between epochs only."""
        if len(self._lanes) == 1 and (estimator := self._lanes[0].estimator) is not None:
            self._lanes[0].moment = estimator.moment() if begins else None

    def _acquire(self) -> bool:
        return self._queue.acquire(self._device, self.id, cancelled=self._is_stopped, priority=self._priority)

    def _is_stopped(self) -> bool:
        return self._wants == "stopped"

    def _hook(self) -> None:
        """Between mini-batches: pause, keep the pace, stop."""
        if self._batches_left == 0 and self._wants == "running":
            self._want("paused")
        if self._pace or self._slow_start:
            self._wait_for_pace()
        if self._wants == "paused":
            self._wait_while_paused()
        if self._wants == "stopped":
            raise StopTraining(self._why_stopped)
        if self._batches_left:
            self._batches_left -= 1

    def _wait_for_pace(self) -> None:
        with self._guard:
            while self._wants == "running" and (left := self._next_epoch_at - time.monotonic()) > 0:
                self._guard.wait(left)

    def _wait_while_paused(self) -> None:
        self._queue.release(self._device, self.id)
        with self._guard:
            self._note_pause(begins=True)
        self._set_state("paused")
        with self._guard:
            self._guard.wait_for(lambda: self._wants != "paused")
            self._note_pause(begins=False)
        if self._wants == "stopped":
            return
        with self._guard:
            self._state = "queued"
        if self._acquire():
            self._set_state("running")

    def _set_state(self, state: State) -> None:
        self._write_state(state)
        with self._guard:
            self._state = state
            self._guard.notify_all()

    def _note_epoch(self, quiet_epochs: int) -> None:
        """After an epoch: pause where a step ends, stop where labels have settled. Called with the guard held.

        Args:
            quiet_epochs: epochs since an identified label last changed.
        """
        pace = max(self._pace, self._slow_start if self._complete < self._slow_epochs else 0.0)
        self._next_epoch_at = max(self._next_epoch_at, time.monotonic() - pace) + pace
        if self._epochs_left:
            self._epochs_left -= 1
            if self._epochs_left == 0 and self._wants == "running":
                self._wants = "paused"
        if self.settle_after and quiet_epochs >= self.settle_after and self._wants != "stopped":
            self._wants = "stopped"
            self._why_stopped = f"Stopped by itself: settled, no label has changed for {self.settle_after} epochs."


_STATE_AFTER: dict[What, State] = {"pause": "paused", "stop": "stopped", "resume": "running", "step": "running"}


def _has_ended(path: Path) -> bool:
    try:
        return RunFolder(path).state()["state"] in ENDED
    except UserError:  # damaged
        return False


def quiet_epochs(rows: Sequence[dict[str, Any]]) -> int:
    """Return the number of epochs since an identified label last changed, not counting the first epoch.

    >>> quiet_epochs([{"changed_labels": changed} for changed in (0, 3, 0, 0)])
    2
    """
    last = next((place for place in range(len(rows), 1, -1) if rows[place - 1]["changed_labels"]), 1)
    return max(len(rows) - last, 0)


def note_failure(folder: RunFolder, error: Exception, message: str) -> None:
    """Write an error to a run's folder, unless `pll.runs.runner` has done so, where the folder is writable."""
    from pll.training.distributed import RanksError

    with suppress(OSError, UserError):
        if folder.state()["state"] != "failed" and not isinstance(error, RanksError):
            folder.log("".join(traceback.format_exception(error)))
            folder.set_state("failed", error=message)

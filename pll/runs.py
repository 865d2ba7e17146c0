"""Runs in the background: each has a thread, an unguessable id and a folder; pages look at snapshots.

What this file is not about: what a run does (pll.fitting) and what it leaves on disk (pll.rundir).
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar

from pll import fitting
from pll.errors import UserError
from pll.methods import PartialLabelEstimator
from pll.methods.deep import choose_device
from pll.monitor import EpochRecord
from pll.protocol import Parts
from pll.queueing import DeviceQueue
from pll.rundir import RunConfig, RunFolder, State
from pll.snapshots import Snapshot, seconds_left
from pll.training import Moment, StopTraining

T = TypeVar("T")


class Run:
    """One run, alive or only on disk."""

    def __init__(self, folder: RunFolder, queue: DeviceQueue, shed: Callable[[], None] = lambda: None) -> None:
        self.id = folder.path.name
        self.folder = folder
        self._queue = queue
        self._priority = 0
        self._shed = shed
        self._loading = threading.Lock()
        self.parts_used_at = 0.0
        self._guard = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wants: State = "running"
        self._state: State = "queued"
        self._device = ""
        self._rows: list[dict[str, Any]] = []
        self._record: EpochRecord | None = None
        self._total: int | None = None
        self._parts: Parts | None = None
        self._error: str | None = None
        self._estimator: PartialLabelEstimator | None = None
        self._moment: Moment | None = None
        self._epochs_left: int | None = None
        self._batches_left: int | None = None
        self._is_over = True
        self.settle_after: int | None = None
        self.pace: float | None = None
        self._pace = 0.0
        self._next_epoch_at = 0.0

    @cached_property
    def config(self) -> RunConfig:
        """What the run was started with."""
        return self.folder.config()

    # ---- what a person can do ------------------------------------------------------------------------------------

    def start(self, *, priority: int = 0, paused: bool = False) -> None:
        """Begin, or go on from the checkpoint, in a thread of its own; with `paused`, wait before the first batch.

        Nothing happens where the run is at work or has finished.

        Raises:
            UserError: another process is at work on it, or its files are gone or damaged.
        """
        with self._guard:
            if self.is_alive():
                return
            if not self.folder.exists():
                raise UserError("This run has been deleted.")
            self.folder.lock()
            try:
                self._rows = self.folder.metrics()
                is_finished = self.folder.state()["state"] == "finished"
            except UserError:
                self.folder.unlock()
                raise
            if is_finished:
                self.folder.unlock()
                return
            self._wants, self._state, self._error = "paused" if paused else "running", "queued", None
            self._is_over = False
            self._priority = priority
            self._thread = threading.Thread(target=self._work, name=f"candid-run-{self.id}", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Wait before the next batch; the device is free for others meanwhile."""
        self._allow()
        self._want("paused")

    def resume(self) -> None:
        """Go on after a pause, or after a stop or an interruption."""
        self._await_end()
        self._allow()
        self._go()

    def step(self, *, epochs: int | None = None, batches: int | None = None) -> None:
        """Go on for so many epochs or mini-batches (units of work), then pause.

        From a pause within an epoch, what is left of that epoch is the first one.
        """
        self._await_end()
        self._allow(epochs, batches)
        self._go()

    def set_settle(self, epochs: int | None) -> None:
        """Stop by itself once no identified label has changed for so many epochs; None for never."""
        self.settle_after = epochs

    def stop(self) -> None:
        """End before the next batch. What was learnt is kept, and the run can go on later."""
        self._want("stopped")

    def set_pace(self, epochs_per_second: float | None) -> None:
        """Train no faster than this, so that eyes can follow; None for full speed. Changes nothing but the speed.

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

    def wait_until_paused(self, seconds: float) -> None:
        """Wait, at most so long, until the run stands still: paused, or ended."""
        with self._guard:
            self._guard.wait_for(lambda: self._state == self._wants == "paused" or self._is_over, seconds)
        if self._is_over:
            self.join(seconds)

    def wait_until_ready(self, seconds: float) -> bool:
        """Wait, at most so long, for the run to read its data; False while it has not. A run at rest is ready."""
        with self._guard:
            return self._guard.wait_for(lambda: self._parts is not None or not self.is_alive(), seconds)

    def while_paused(self, look: Callable[[PartialLabelEstimator], T]) -> T | None:
        """What `look` makes of the method while it surely stands still; None where the run is not paused."""
        with self._guard:  # without it the thread cannot leave its pause
            if self._estimator is None or not self._state == self._wants == "paused" or not self.is_alive():
                return None
            return look(self._estimator)

    # ---- what a person sees --------------------------------------------------------------------------------------

    def is_alive(self) -> bool:
        """Whether its thread is at work, waits in the queue or is paused."""
        return self._thread is not None and self._thread.is_alive()

    def snapshot(self) -> Snapshot:
        """How the run stands now."""
        config = self.config
        if not self.is_alive():
            return self._snapshot_from_disk(config)
        with self._guard:
            rows = tuple(dict(row) for row in self._rows)
            total = self._total
            return Snapshot(
                id=self.id,
                name=config.name or config.source.name,
                method=config.method,
                state=self._state,
                total=total,
                rows=rows,
                record=self._record,
                moment=self._moment,
                ahead=self._queue.position(self._device, self.id),
                error=self._error,
                seconds_left=seconds_left(rows, total, self._pace),
                stage=str(getattr(self._estimator, "stage_", "")),
            )

    def parts(self) -> Parts:
        """The data of the run: from memory while it is at work, else read again.

        Raises:
            UserError: the source is gone or has changed.
        """
        self.parts_used_at = time.monotonic()
        with self._loading:  # the thread and the page ask for it at about the same time
            parts = self._parts
            if parts is None:
                parts = self._parts = fitting.load_parts(self.folder.config())
        self._shed()
        return parts

    def forget_parts(self) -> None:
        """Let go of the data in memory, unless the run is at work."""
        if not self.is_alive():
            self._parts = None

    def _snapshot_from_disk(self, config: RunConfig) -> Snapshot:
        known = self.folder.state()
        state, error = known["state"], known.get("error")
        if state == "interrupted" and self._error:  # not even that could be written down
            state, error = "failed", self._error
        return Snapshot(
            id=self.id,
            name=config.name or config.source.name,
            method=config.method,
            state=state,
            total=self.folder.about().get("epochs"),
            rows=tuple(self.folder.metrics()),
            error=error,
            metrics=known.get("metrics"),
            notes=tuple(known.get("notes", ())),
        )

    # ---- the thread ----------------------------------------------------------------------------------------------

    def _allow(self, epochs: int | None = None, batches: int | None = None) -> None:
        with self._guard:
            self._epochs_left, self._batches_left = epochs, batches

    def _await_end(self) -> None:
        """Where it is just stopping: until all is written, so that it can begin again."""
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
                    self._state = "queued"  # at once, for the page that asks next
            self._guard.notify_all()
        self._queue.wake()

    def _work(self) -> None:
        try:
            self._device = str(self._choose_device())
            self.folder.set_state("queued")
            if not self._acquire():
                self.folder.set_state("stopped")
                return
            self._set_state("running")
            fitting.run(
                self.folder, load=self.parts, hook=self._hook, on_ready=self._on_ready, on_record=self._on_record
            )
        except Exception as error:
            self._fail(error)
        finally:
            self._queue.release(self._device, self.id)
            with self._guard:
                self._record = self._moment = self._estimator = None
                self._rows = []  # from here on the file has them
                self._allow()
            self.folder.unlock()
            with self._guard:
                self._is_over = True
                self._guard.notify_all()

    def _fail(self, error: Exception) -> None:
        """Say what went wrong: in memory, and in the folder where that can still be written to."""
        message = fitting.explain(error)
        with self._guard:
            self._error = message
        with suppress(OSError, UserError):
            if self.folder.state()["state"] != "failed":  # else pll.fitting has said it already
                self.folder.log("".join(traceback.format_exception(error)))
                self.folder.set_state("failed", error=message)

    def _acquire(self) -> bool:
        return self._queue.acquire(self._device, self.id, cancelled=self._is_stopped, priority=self._priority)

    def _choose_device(self) -> object:
        return choose_device(str(self.folder.config().params.get("device", "auto")))

    def _is_stopped(self) -> bool:
        return self._wants == "stopped"

    def _hook(self) -> None:
        if self._batches_left == 0 and self._wants == "running":
            self._want("paused")
        if self._pace:
            self._wait_for_pace()
        if self._wants == "paused":
            self._wait_while_paused()
        if self._wants == "stopped":
            raise StopTraining
        if self._batches_left:
            self._batches_left -= 1

    def _wait_for_pace(self) -> None:
        with self._guard:
            while self._wants == "running" and (left := self._next_epoch_at - time.monotonic()) > 0:
                self._guard.wait(left)

    def _wait_while_paused(self) -> None:
        self._queue.release(self._device, self.id)
        with self._guard:
            self._moment = None if self._estimator is None else self._estimator.moment()
        self._set_state("paused")
        with self._guard:
            self._guard.wait_for(lambda: self._wants != "paused")
            self._moment = None
        if self._wants == "stopped":
            return
        with self._guard:
            self._state = "queued"
        if self._acquire():
            self._set_state("running")

    def _set_state(self, state: State) -> None:
        self.folder.set_state(state)
        with self._guard:
            self._state = state
            self._guard.notify_all()

    def _on_ready(self, parts: Parts, estimator: PartialLabelEstimator) -> None:
        with self._guard:
            self._parts = parts
            self._estimator = estimator
            self._guard.notify_all()
            self._total = estimator.total_rounds()
            self._rows = self.folder.metrics()  # a run that goes on starts from its checkpoint

    def _on_record(self, record: EpochRecord) -> None:
        with self._guard:
            self._record = record
            self._rows.append(record.metrics())
            self._next_epoch_at = max(self._next_epoch_at, time.monotonic() - self._pace) + self._pace
            self._note_limits()

    def _note_limits(self) -> None:
        """After a record: pause where a step ends, stop where nothing moves any more."""
        if self._epochs_left:
            self._epochs_left -= 1
            if self._epochs_left == 0 and self._wants == "running":
                self._wants = "paused"
        quiet = self.settle_after
        # The first epoch has nothing to have changed from.
        if quiet and len(self._rows) > quiet and not any(row["changed_labels"] for row in self._rows[-quiet:]):
            self._wants = "stopped"

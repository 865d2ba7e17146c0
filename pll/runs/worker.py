"""A thread that trains under a person's hand: it waits for its place, pauses, steps, keeps a pace, stops.

What this file is not about: what is trained. That is one run (`pll.runs.run`) or several that take turns
(`pll.runs.comparison`).
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from contextlib import suppress

from pll.errors import UserError, explain
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import State
from pll.training.metrics import StopTraining


class Worker(ABC):
    """Something with an id that trains in a thread of its own, with one place in the queue.

    Args:
        name: its id.
        queue: where it waits for its device.
    """

    def __init__(self, name: str, queue: DeviceQueue) -> None:
        self.id = name
        self._queue = queue
        self._priority = 0
        self._guard = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wants: State = "running"
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

    # ---- what a kind of worker provides --------------------------------------------------------------------------

    @abstractmethod
    def _claim(self) -> bool:
        """Lock what it works on; False (and nothing locked) where there is nothing left to do.

        Raises:
            UserError: another process is at work on it, or files are gone or damaged.
        """

    @abstractmethod
    def _choose_device(self) -> str:
        """The device it computes on. Raises UserError where there is none such."""

    @abstractmethod
    def _labour(self) -> None:
        """All of the work; `_hook` is called between mini-batches and `_note_epoch` after every epoch."""

    @abstractmethod
    def _write_state(self, state: State) -> None:
        """Write down where it stands."""

    @abstractmethod
    def _write_failure(self, error: Exception, message: str) -> None:
        """Write down what went wrong, and in plain words, where that can still be written to."""

    @abstractmethod
    def _forget(self) -> None:
        """Let go of what only a live one needs; called with the guard held."""

    @abstractmethod
    def _unclaim(self) -> None:
        """Unlock what `_claim` locked."""

    @abstractmethod
    def _note_pause(self, begins: bool) -> None:
        """A pause begins (note where within an epoch it stands) or ends. Called with the guard held."""

    # ---- what a person can do ------------------------------------------------------------------------------------

    def start(self, *, priority: int = 0, paused: bool = False) -> None:
        """Begin, or go on from the checkpoint, in a thread of its own; with `paused`, wait before the first batch.

        Nothing happens where it is at work or has finished.

        Raises:
            UserError: another process is at work on it, or its files are gone or damaged.
        """
        with self._guard:
            if self.is_alive() or not self._claim():
                return
            self._wants, self._state, self._error = "paused" if paused else "running", "queued", None
            self._is_over = False
            self._priority = priority
            with suppress(UserError):  # no such device: the thread says so
                self._device = self._choose_device()
                self._queue.join(self._device, self.id, priority=priority)  # first come, first served
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
        """End before the next batch. What was learnt is kept, and it can go on later."""
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
        """Wait, at most so long, until it stands still: paused, or ended."""
        with self._guard:
            self._guard.wait_for(lambda: self._state == self._wants == "paused" or self._is_over, seconds)
        if self._is_over:
            self.join(seconds)

    def is_alive(self) -> bool:
        """Whether its thread is at work, waits in the queue or is paused."""
        return self._thread is not None and self._thread.is_alive()

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
            self._device = self._choose_device()
            self._write_state("queued")
            if not self._acquire():
                self._write_state("stopped")
                return
            self._set_state("running")
            self._labour()
        except Exception as error:
            message = explain(error)
            with self._guard:
                self._error = message
            self._write_failure(error, message)
        finally:
            self._queue.release(self._device, self.id)
            self._queue.leave(self._device, self.id)
            with self._guard:
                self._forget()
                self._allow()
            self._unclaim()
            with self._guard:
                self._is_over = True
                self._guard.notify_all()

    def _acquire(self) -> bool:
        return self._queue.acquire(self._device, self.id, cancelled=self._is_stopped, priority=self._priority)

    def _is_stopped(self) -> bool:
        return self._wants == "stopped"

    def _hook(self) -> None:
        """Between mini-batches: pause, keep the pace, stop."""
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
        """After an epoch: pause where a step ends, stop where nothing moves any more. Called with the guard held.

        Args:
            quiet_epochs: epochs since an identified label last changed.
        """
        self._next_epoch_at = max(self._next_epoch_at, time.monotonic() - self._pace) + self._pace
        if self._epochs_left:
            self._epochs_left -= 1
            if self._epochs_left == 0 and self._wants == "running":
                self._wants = "paused"
        if self.settle_after and quiet_epochs >= self.settle_after:
            self._wants = "stopped"

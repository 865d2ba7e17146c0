"""Runs in the background: each has a thread, an unguessable id and a folder; pages look at snapshots.

What this file is not about: what a run does (pll.runs.runner), what it leaves on disk (pll.runs.folder), and how its
thread is paused, stepped and stopped (pll.runs.worker).
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar

from pll.analysis.protocol import Parts
from pll.errors import UserError
from pll.methods import PartialLabelEstimator
from pll.runs import run_data, runner
from pll.runs.config import RunConfig
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import RunFolder, State
from pll.runs.snapshots import ACTIVE, Snapshot, seconds_left
from pll.runs.worker import Worker
from pll.training.devices import device_name
from pll.training.metrics import EpochRecord, TrainingProgress

T = TypeVar("T")


class Run(Worker):
    """One run, alive or only on disk."""

    def __init__(self, folder: RunFolder, queue: DeviceQueue, shed: Callable[[], None] = lambda: None) -> None:
        super().__init__(folder.path.name, queue)
        self.folder = folder
        self._shed = shed
        self._loading = threading.Lock()
        self.parts_used_at = 0.0
        self._rows: list[dict[str, Any]] = []
        self._record: EpochRecord | None = None
        self._total: int | None = None
        self._parts: Parts | None = None
        self._estimator: PartialLabelEstimator | None = None
        self._moment: TrainingProgress | None = None

    @cached_property
    def config(self) -> RunConfig:
        """What the run was started with."""
        return self.folder.config()

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

    def is_elsewhere(self) -> bool:
        """Whether it is trained by somebody else: another process, or a comparison that it is a lane of.

        It can be watched from here, but not paused or stopped.
        """
        return not self.is_alive() and self.folder.state()["state"] in ACTIVE

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
                stage="" if self._estimator is None else self._estimator.stage_,
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
                parts = self._parts = run_data.parts_of(self.folder)
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

    def _claim(self) -> bool:
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
        return not is_finished

    def _unclaim(self) -> None:
        self.folder.unlock()

    def _choose_device(self) -> str:
        return device_name(str(self.folder.config().params.get("device", "auto")))

    def _write_state(self, state: State) -> None:
        self.folder.set_state(state)

    def _labour(self) -> None:
        runner.run(self.folder, load=self.parts, hook=self._hook, on_ready=self._on_ready, on_record=self._on_record)

    def _forget(self) -> None:
        self._record = self._moment = self._estimator = None
        self._rows = []  # from here on the file has them

    def _write_failure(self, error: Exception, message: str) -> None:
        note_failure(self.folder, error, message)

    def _note_pause(self, begins: bool) -> None:
        self._moment = self._estimator.moment() if begins and self._estimator is not None else None

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
            self._note_epoch(quiet_epochs(self._rows))


def quiet_epochs(rows: Sequence[dict[str, Any]]) -> int:
    """Epochs since an identified label last changed. The first epoch does not count: it has nothing to change from.

    >>> quiet_epochs([{"changed_labels": changed} for changed in (0, 3, 0, 0)])
    2
    """
    last = next((place for place in range(len(rows), 1, -1) if rows[place - 1]["changed_labels"]), 1)
    return max(len(rows) - last, 0)


def note_failure(folder: RunFolder, error: Exception, message: str) -> None:
    """Say in a run's folder what went wrong, where it can still be written to and `pll.runs.runner` has not said it."""
    with suppress(OSError, UserError):
        if folder.state()["state"] != "failed":
            folder.log("".join(traceback.format_exception(error)))
            folder.set_state("failed", error=message)

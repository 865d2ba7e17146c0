"""One run, alive or only on disk: a worker of one lane, with an unguessable id and a folder.

Pages look at snapshots. What a run does is in `pll.runs.runner`, what it leaves on disk in `pll.runs.folder`, how its
thread is paused, stepped and stopped in `pll.runs.worker`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from pll.analysis.protocol import Parts
from pll.methods import PartialLabelEstimator
from pll.runs import runner
from pll.runs.config import RunConfig
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import RunFolder
from pll.runs.snapshots import ACTIVE, Snapshot, seconds_left
from pll.runs.worker import Worker

T = TypeVar("T")


class Run(Worker):
    """One run, alive or only on disk. Its id is the name of its folder.

    Args:
        folder: made by `RunFolder.create`.
        queue: where it waits for its device.
        shed: called when its data was read; may have idle runs forget theirs.
    """

    def __init__(self, folder: RunFolder, queue: DeviceQueue, shed: Callable[[], None] = lambda: None) -> None:
        super().__init__(folder.path.name, queue)
        self.folder = folder
        self._shed = shed
        self.parts_used_at = 0.0

    @cached_property
    def config(self) -> RunConfig:
        """What the run was started with."""
        return self.folder.config()

    def while_paused(self, look: Callable[[PartialLabelEstimator], T]) -> T | None:
        """What `look` returns for the method while it surely stands still; None where the run is not paused."""
        with self._guard:  # without it the thread cannot leave its pause
            estimator = self._lanes[0].estimator if self._lanes else None
            if estimator is None or not self._state == self._wants == "paused" or not self.is_alive():
                return None
            return look(estimator)

    def is_elsewhere(self) -> bool:
        """Whether it is trained by somebody else: another process, or a comparison that it is a lane of.

        It can be watched from here, but not paused or stopped.
        """
        return not self.is_alive() and self.folder.state()["state"] in ACTIVE

    def snapshot(self) -> Snapshot:
        """How the run stands now."""
        with self._guard:
            if self.is_alive() and self._lanes:
                known = self._lanes[0].snapshot(self._state)
                return replace(
                    known,
                    ahead=self._queue.position(self._device, self.id),
                    error=self._error,
                    seconds_left=seconds_left(known.rows, known.total, self._pace),
                )
        return self._snapshot_from_disk()

    def parts(self) -> Parts:
        """The data of the run: from memory while it is at work, else read again.

        Raises:
            UserError: the source is gone or has changed.
        """
        self.parts_used_at = time.monotonic()
        with self._loading:  # the thread and the page ask for it at about the same time
            parts = self._parts
            if parts is None:
                parts = self._parts = runner.parts_of(self.folder)
        self._shed()
        return parts

    def forget_parts(self) -> None:
        """Free the data in memory, unless the run is at work."""
        if not self.is_alive():
            self._parts = None

    def _snapshot_from_disk(self) -> Snapshot:
        config, known = self.config, self.folder.state()
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

    def _paths(self) -> Sequence[Path]:
        return [self.folder.path]

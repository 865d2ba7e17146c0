"""One run, alive or only on disk: a worker of one lane, with an unguessable id and a folder.

Pages read snapshots. `pll.runs.runner` has the steps of a run, `pll.runs.folder` its files, `pll.runs.worker` the
thread that is paused, stepped and stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pll.analysis.health import Health
from pll.errors import UserError
from pll.runs.config import RunConfig
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import RunFolder
from pll.runs.snapshots import ACTIVE, Snapshot, seconds_left
from pll.runs.worker import Worker

if TYPE_CHECKING:
    from pll.analysis.protocol import Parts
    from pll.methods import PartialLabelEstimator

T = TypeVar("T")


class Run(Worker):
    """One run, alive or only on disk. Its id is the name of its folder.

    Args:
        folder: created by `RunFolder.create`.
        queue: queue for its device.
        shed: called after its data was read; may free the data of idle runs.
    """

    def __init__(self, folder: RunFolder, queue: DeviceQueue, shed: Callable[[], None] = lambda: None) -> None:
        super().__init__(folder.path.name, queue)
        self.folder = folder
        self._shed = shed
        self.parts_used_at = 0.0

    @cached_property
    def config(self) -> RunConfig:
        """The config that the run was started with."""
        return self.folder.config()

    def _note_ready(self, parts: Parts) -> None:
        vars(self).pop("config", None)  # its method may have been chosen just now
        super()._note_ready(parts)

    def rename(self, name: str) -> None:
        """Give the run another display name.

        Raises:
            UserError: the name is empty, too long or of several lines, or it cannot be written.
        """
        self.folder.rename(name)
        for known in (self, *self._lanes):
            vars(known).pop("config", None)  # it is read again

    def set_processes(self, processes: int) -> None:
        """Let the run be resumed with so many processes.

        Raises:
            UserError: it is at work, or config.json cannot be written.
        """
        if self.is_alive() or self.folder.is_locked():
            raise UserError("This run is at work; stop it first.")
        config = replace(self.folder.config(), processes=processes)
        self.folder.note(run=config.to_json())
        vars(self).pop("config", None)

    def while_paused(self, look: Callable[[PartialLabelEstimator], T]) -> T | None:
        """Call `look` with the estimator while the run is paused and return its result; None where it is not."""
        with self._guard:  # without it the thread cannot leave its pause
            estimator = self._lanes[0].estimator if self._lanes else None
            if estimator is None or not self._state == self._wants == "paused" or not self.is_alive():
                return None
            return look(estimator)

    def is_elsewhere(self) -> bool:
        """Return whether the run is trained by another process, or by a comparison that it is a lane of.

        It can then be watched from here; `holder` says whether it also takes orders.
        """
        return not self.is_alive() and self.folder.state()["state"] in ACTIVE

    def snapshot(self) -> Snapshot:
        """Return the current state of the run."""
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
        """Return the data of the run, read again where it is not in memory.

        Raises:
            UserError: the source is missing or has changed.
        """
        from pll.runs.runner import parts_of  # late: the home page reads no data

        self.parts_used_at = time.monotonic()
        with self._loading:  # thread and page need it at about the same time
            parts = self._parts
            if parts is None:
                parts = self._parts = parts_of(self.folder)
        self._shed()
        return parts

    def forget_parts(self) -> None:
        """Free the data in memory, unless the run is at work."""
        if not self.is_alive():
            self._parts = None

    def _snapshot_from_disk(self) -> Snapshot:
        config, known = self.config, self.folder.state()
        state, error = known["state"], known.get("error")
        if state == "interrupted" and self._error and not error:  # the failure could not be written to disk
            state, error = "failed", self._error
        total, rows = self.folder.about().get("epochs"), tuple(self.folder.metrics())
        return Snapshot(
            id=self.id,
            name=config.name or config.source.name,
            method=config.method,
            state=state,
            total=total,
            rows=rows,
            seconds_left=seconds_left(rows, total) if state in ACTIVE else None,
            error=error,
            metrics=known.get("metrics"),
            notes=tuple(known.get("notes", ())),
            health=Health.from_json(known.get("health")),
        )

    def _paths(self) -> Sequence[Path]:
        return [self.folder.path]


def readable(runs: Iterable[Run]) -> list[Run]:
    """Return the runs whose settings and metrics can be read, in the same order; damaged ones are left out."""
    found = []
    for run in runs:
        with suppress(UserError):
            run.snapshot()
            found.append(run)
    return found

"""All runs of one process and of its folder: made here, found by their id, kept within bounds."""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pll import fitting
from pll.errors import UserError
from pll.methods import get_method
from pll.queueing import DeviceQueue
from pll.rundir import RunConfig, RunFolder, list_runs
from pll.runs import Run
from pll.threads import default_threads

MOST_ALIVE = 20
"""Runs that may be waiting, training or paused at once."""
KEPT_PARTS = 4
"""Runs whose data stays in memory for the pages that show them."""


class RunRegistry:
    """All runs of this process and of its folder. One per process; see `pll.ui.session`.

    Args:
        root: where run folders are made.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._queue = DeviceQueue()
        self._runs: dict[str, Run] = {}
        self._guard = threading.Lock()

    def start(self, config: RunConfig, *, priority: int = 0, paused: bool = False) -> Run:
        """Make a new run and start it; with `paused`, it waits before its first batch.

        Raises:
            UserError: too many runs are alive, or the method or its settings do not exist.
        """
        fitting.new_estimator(config)  # a wrong setting is said here, not in the thread
        has_threads = "threads" in get_method(config.method)().get_params()
        if has_threads and config.params.get("threads") is None:
            config = replace(config, params=config.params | {"threads": default_threads()})
        with self._guard:
            alive = sum(run.is_alive() for run in self._runs.values())
            if alive >= MOST_ALIVE:
                raise UserError(f"{alive} runs are already waiting or training; stop one first.")
            folder = RunFolder(self.root / secrets.token_urlsafe(12).replace("-", "a").replace("_", "b"))
            try:
                folder.create(config)
            except UserError:
                shutil.rmtree(folder.path, ignore_errors=True)
                raise
            run = self._runs[folder.path.name] = Run(folder, self._queue, self._shed)
        run.start(priority=priority, paused=paused)
        return run

    def get(self, run_id: str) -> Run:
        """The run of that id, alive or on disk.

        Raises:
            UserError: there is none.
        """
        with self._guard:
            if run_id not in self._runs:
                if not self._is_here(run_id):
                    raise UserError("There is no run behind this link; it may have been deleted.")
                self._runs[run_id] = Run(RunFolder(self.root / run_id), self._queue, self._shed)
            return self._runs[run_id]

    def _is_here(self, run_id: str) -> bool:
        path = self.root / run_id
        try:
            is_a_name = path.name == run_id and path.resolve().parent == self.root.resolve()
            return is_a_name and RunFolder(path).exists()
        except (OSError, ValueError):  # what cannot be the name of a file
            return False

    def all(self) -> list[Run]:
        """Every run, the newest first."""
        found = []
        for folder in list_runs(self.root):
            with suppress(UserError):  # deleted since it was listed
                found.append(self.get(folder.path.name))
        return found

    def delete(self, run_id: str) -> None:
        """Remove a run and its folder for good.

        Raises:
            UserError: it is at work, or its files cannot be deleted.
        """
        run = self.get(run_id)
        if run.is_alive() or run.folder.is_locked():
            raise UserError("This run is at work; stop it before deleting it.")
        run.folder.lock()
        try:
            shutil.rmtree(run.folder.path)
        except OSError as error:
            raise UserError(f"The run could not be deleted completely: {error}.") from error
        finally:
            run.folder.unlock()
        with self._guard:
            self._runs.pop(run_id, None)

    def stop_all(self, timeout: float = 10.0) -> None:
        """Stop every run and wait for them together."""
        alive = [run for run in list(self._runs.values()) if run.is_alive()]
        for run in alive:
            run.stop()
        deadline = time.monotonic() + timeout
        for run in alive:
            run.join(max(0.0, deadline - time.monotonic()))

    def _shed(self) -> None:
        """Keep in memory the data of those idle runs only that were looked at last."""
        runs = sorted(self._runs.values(), key=lambda run: run.parts_used_at, reverse=True)
        for run in [run for run in runs if not run.is_alive()][KEPT_PARTS:]:
            run.forget_parts()

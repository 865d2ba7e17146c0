"""Registry of all runs of a process and of its folder: creates, finds, lists, deletes and limits them."""

from __future__ import annotations

import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pll.errors import UserError
from pll.methods import get_method
from pll.paths import candid_home
from pll.runs.access import Access, access_of, write_access
from pll.runs.bin import move_to_bin
from pll.runs.comparison import LANES_FILE, MOST_LANES, Comparison, LaneList
from pll.runs.config import RunConfig
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import RunFolder, list_runs
from pll.runs.process import PerProcess
from pll.runs.run import Run
from pll.training.devices import default_threads

MOST_ALIVE = 20
"""Maximum number of runs that wait, train or are paused."""
KEPT_PARTS = 4
"""Number of idle runs whose data stays in memory for pages."""


class RunRegistry:
    """All runs of this process and of its folder. One per process; see `default_registry`.

    Args:
        root: parent of the run folders.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._queue = DeviceQueue()
        self._runs: dict[str, Run] = {}
        self._comparisons: dict[str, Comparison] = {}
        self._guard = threading.Lock()

    def start(self, config: RunConfig, *, priority: int = 0, paused: bool = False, owner: str = "") -> Run:
        """Create a run and start it; with `paused`, it waits before its first mini-batch.

        Args:
            owner: id of the person it belongs to; "" for none. A run that a review taught is its first run's owner's.

        Raises:
            UserError: too many runs are alive, or the method or its settings do not exist.
        """
        from pll.runs.runner import new_estimator  # late: the home page starts nothing

        new_estimator(config)  # a wrong setting raises here, not in the thread
        with self._guard:
            self.check_alive()
            run = self._create(config, self._access_of_new(config, owner))
        run.start(priority=priority, paused=paused)
        return run

    def _access_of_new(self, config: RunConfig, owner: str) -> Access:
        if config.decided_sets is None:
            return Access(owner)
        root = config.decided_sets.root
        return Access(access_of(self.root / root).owner, like=root)

    def check_alive(self) -> None:
        """Raise UserError where as many runs as may wait, train or be paused do."""
        if (alive := len(self.alive())) >= MOST_ALIVE:
            raise UserError(f"{alive} runs are already waiting or training; stop one first.")

    def _create(self, config: RunConfig, access: Access) -> Run:
        """Create the folder of a new run. Called with the guard held."""
        has_threads = "threads" in get_method(config.method)().get_params()
        if has_threads and config.params.get("threads") is None:
            config = replace(config, params=config.params | {"threads": default_threads()})
        folder = RunFolder(self.root / _new_id())
        try:
            folder.create(config)
            if access != Access():
                write_access(folder.path, access)
        except UserError:
            shutil.rmtree(folder.path, ignore_errors=True)
            raise
        run = self._runs[folder.path.name] = Run(folder, self._queue, self._shed)
        return run

    def get(self, run_id: str) -> Run:
        """Return the run of that id, alive or on disk.

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
        return self._is_name(run_id) and RunFolder(self.root / run_id).exists()

    def _is_name(self, name: str) -> bool:
        """Return whether this can be a folder directly under the root."""
        path = self.root / name
        try:
            return path.name == name and path.resolve().parent == self.root.resolve() and path.exists()
        except (OSError, ValueError):  # not a valid file name
            return False

    def all(self) -> list[Run]:
        """Return every run, newest first."""
        found = []
        for folder in list_runs(self.root):
            with suppress(UserError):  # deleted since it was listed
                found.append(self.get(folder.path.name))
        return found

    @property
    def bin(self) -> Path:
        """Folder that deleted runs and comparisons move to."""
        return self.root.parent / "bin"

    def delete(self, run_id: str, *, by: str = "") -> None:
        """Move a run to the bin.

        Args:
            by: id of the person who deletes it.

        Raises:
            UserError: it is at work, or it cannot be moved.
        """
        run = self.get(run_id)
        if run.is_alive() or run.folder.is_locked():
            raise UserError("This run is at work; stop it before deleting it.")
        run.folder.lock()
        try:
            move_to_bin(run.folder.path, self.bin, by)
        finally:
            run.folder.unlock()
        with self._guard:
            self._runs.pop(run_id, None)

    # ---- comparisons ---------------------------------------------------------------------------------------------

    def compare(
        self,
        configs: Sequence[RunConfig],
        *,
        name: str = "",
        paused: bool = False,
        owner: str = "",
    ) -> Comparison:
        """Create a run for each lane and train them together, with one place in the queue.

        Args:
            configs: see `lane_configs`.
            name: display name of the comparison.
            paused: wait before the first mini-batch.
            owner: id of the person it belongs to; "" for none.

        Raises:
            UserError: lanes that cannot be compared, settings that do not exist, or too many runs are alive.
        """
        from pll.runs.lanes import check_lanes

        check_lanes(configs)
        made: list[Run] = []
        with self._guard:
            self.check_alive()
            try:
                for config in configs:
                    made.append(self._create(config, Access(owner)))
                comparison = self._join(made, together=True, name=name, owner=owner)
            except UserError:
                for run in made:
                    shutil.rmtree(run.folder.path, ignore_errors=True)
                    del self._runs[run.id]
                raise
        comparison.start(paused=paused)
        return comparison

    def lay_beside(self, run_ids: Sequence[str], *, name: str = "", owner: str = "") -> Comparison:
        """Return a comparison of past runs, which are not changed.

        Raises:
            UserError: fewer than two or too many runs, or one without label weights.
        """
        if not 2 <= len(set(run_ids)) == len(run_ids) <= MOST_LANES:
            raise UserError(f"Choose two to {MOST_LANES} different runs to lay beside each other.")
        runs = [self.get(run_id) for run_id in run_ids]
        for run in runs:
            if run.is_alive() or run.folder.is_locked() or not run.folder.metrics():
                raise UserError(f"{run.config.name or run.id} has no result yet; finish or stop it first.")
        with self._guard:
            return self._join(runs, together=False, name=name, owner=owner)

    def _join(self, runs: Sequence[Run], *, together: bool, name: str, owner: str) -> Comparison:
        """Write the folder of a comparison. Called with the guard held."""
        folder = self.root / _new_id()
        known = {run.id: run for run in runs}
        try:
            LaneList(tuple(known), together, name).write(folder)
            if owner:
                write_access(folder, Access(owner))
            if together:
                for run in runs:
                    run.folder.note(comparison=folder.name)
                    if owner:
                        write_access(run.folder.path, Access(owner, like=folder.name))
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise UserError(f"Cannot write to {folder}: {error.strerror or error}.") from error
        comparison = self._comparisons[folder.name] = Comparison(folder, known.__getitem__, self._queue)
        return comparison

    def comparison(self, comparison_id: str) -> Comparison:
        """Return the comparison of that id, alive or on disk.

        Raises:
            UserError: there is none, or its runs were deleted.
        """
        known = self._comparisons.get(comparison_id)
        if known is not None and (known.is_alive() or all(run.folder.exists() for run in known.runs)):
            return known
        if not self._is_name(comparison_id):
            raise UserError("There is no comparison behind this link; it may have been deleted.")
        made = Comparison(self.root / comparison_id, self.get, self._queue)
        with self._guard:
            if known is None:
                return self._comparisons.setdefault(comparison_id, made)
            self._comparisons[comparison_id] = made
            return made

    def comparisons(self) -> list[Comparison]:
        """Return every comparison, newest first, without those whose runs were all deleted."""
        found = []
        for file in self.root.glob(f"*/{LANES_FILE}"):
            with suppress(UserError):
                found.append(self.comparison(file.parent.name))
        return sorted(found, key=lambda comparison: comparison.lanes.created, reverse=True)

    def delete_comparison(self, comparison_id: str, *, by: str = "") -> None:
        """Move a comparison to the bin, with its runs where it trained them.

        Args:
            by: id of the person who deletes it.

        Raises:
            UserError: one of them is at work, or a folder cannot be moved.
        """
        comparison = self.comparison(comparison_id)
        if comparison.is_alive():
            raise UserError("This comparison is at work; stop it before deleting it.")
        if comparison.lanes.together:
            for run in comparison.runs:
                self.delete(run.id, by=by)
        move_to_bin(comparison.folder, self.bin, by)
        with self._guard:
            self._comparisons.pop(comparison_id, None)

    # ---- all together --------------------------------------------------------------------------------------------

    def stop_all(self, timeout: float = 10.0) -> None:
        """Stop every run and wait at most `timeout` seconds for all of them."""
        alive = self.alive()
        for worker in alive:
            worker.stop()
        deadline = time.monotonic() + timeout
        for worker in alive:
            worker.join(max(0.0, deadline - time.monotonic()))

    def alive(self) -> list[Run | Comparison]:
        """Return the runs and comparisons that wait, train or are paused in this process."""
        workers: list[Run | Comparison] = [*self._runs.values(), *self._comparisons.values()]
        return [worker for worker in workers if worker.is_alive()]

    def _shed(self) -> None:
        """Free the data of idle runs, except for the `KEPT_PARTS` that were used last."""
        runs = sorted(self._runs.values(), key=lambda run: run.parts_used_at, reverse=True)
        for run in [run for run in runs if not run.is_alive()][KEPT_PARTS:]:
            run.forget_parts()


def _new_id() -> str:
    """Return an unguessable id, since anybody with the link may see the run."""
    return secrets.token_urlsafe(12).replace("-", "a").replace("_", "b")


default_registry = PerProcess(lambda: RunRegistry(candid_home() / "runs"))
"""Return the registry of this process, over the runs in Candid's home."""

"""The registry: which runs there are, and who may do what with them. One per process; see `default_registry`."""

from __future__ import annotations

import copy
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pll.errors import UserError
from pll.io import write_json, writing_to
from pll.methods import METHODS
from pll.paths import candid_home
from pll.runs.access import ACCESS_ROLES, Access, Person, Role, access_of, place_of_access, write_access
from pll.runs.config import RunConfig, new_estimator
from pll.runs.device_queue import DeviceQueue
from pll.runs.files import COMPARISON_FILE, DELETED_FILE
from pll.runs.folder import RunFolder, list_runs
from pll.runs.process import PerProcess
from pll.runs.run import MOST_LANES, Lane, LaneList, Run
from pll.runs.server_log import log_event
from pll.training.devices import default_threads, device_names

MOST_ALIVE = 20
"""Maximum number of runs that wait, train or are paused."""
MOST_IDLE = 4
"""Number of idle lanes whose data stays in memory for pages."""
NEEDED = {
    "viewer": "It is not shared with you; ask its owner.",
    "reviewer": "Only people who may review this run can do that; ask its owner.",
    "owner": "Only the owner of this run can do that.",
}
"""Message where a role is missing."""
NOT_THERE = "There is no such {}; it may have been deleted."
GONE = "There is no such {}; it may have been deleted, or is not shared with you."
"""With a login the same for what does not exist and for what somebody may not know of."""


class RunRegistry:
    """All runs of this process and of its folder: creates, finds, lists, deletes and limits them.

    Parameters
    ----------
    root
        Parent of the run folders.

    Attributes
    ----------
    bin
        Folder that deleted runs move to.
    person
        Who uses it (`for_person`), and may do what their role allows; every method then raises `UserError` for what
        is not allowed. None where there is no login, and everything is.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root.parent / "bin"
        self.person: Person | None = None
        self._queue = DeviceQueue()
        self._lanes: dict[str, Lane] = {}
        self._runs: dict[str, Run] = {}
        self._guard = threading.RLock()

    def for_person(self, person: Person | None) -> RunRegistry:
        """Return the same registry as one person may use it."""
        same = copy.copy(self)  # of the same runs, lanes and queue
        same.person = person
        return same

    # ---- who may what --------------------------------------------------------------------------------------------

    @property
    def _user(self) -> str:
        return "" if self.person is None else self.person.id

    def role(self, run: Run, *, has_link: bool = True) -> Role | None:
        """Return what this person may do with a run; None for nothing.

        Parameters
        ----------
        run
            The run.
        has_link
            Whether they came by its link.
        """
        if self.person is None:
            return "owner"
        if not run.is_together and not all(self._role_in(lane.folder.path, False) for lane in run.lanes):
            return None
        return self._role_in(run.path, has_link)

    def _role_in(self, folder: Path, has_link: bool) -> Role | None:
        return None if self.person is None else access_of(folder).role_of(self.person, has_link=has_link)

    def may(self, run: Run, needed: Role) -> bool:
        """Return whether this person may do what that role may.

        Parameters
        ----------
        run
            The run.
        needed
            The role.
        """
        role = self.role(run)
        return role is not None and ACCESS_ROLES.index(role) >= ACCESS_ROLES.index(needed)

    def require(self, run: Run, needed: Role) -> None:
        """Raise UserError unless this person may do what that role may.

        Parameters
        ----------
        run
            The run.
        needed
            The role.
        """
        if not self.may(run, needed):
            raise UserError(NEEDED[needed])

    def is_own(self, run: Run) -> bool:
        """Return whether it is this person's, or made without a login."""
        return self.person is None or self.owner(run) == self.person.id

    def owner(self, run: Run) -> str:
        """Return the id of the owner; "" for none."""
        return access_of(run.path).owner

    def access(self, run: Run) -> Access:
        """Return who may do what with it; for its owner."""
        self.require(run, "owner")
        return access_of(run.path)

    def share(self, run: Run, access: Access) -> None:
        """Change who may do what with it.

        Parameters
        ----------
        run
            The run.
        access
            The new rule.
        """
        self.require(run, "owner")
        write_access(place_of_access(run.path), access)
        log_event("shared", by=self._user, run=run.id, people=dict(access.people), link=access.link)

    def claim(self, folder: Path) -> None:
        """Make the folder of something that is no run, an experiment say, this person's."""
        if self.person is not None:
            write_access(folder, Access(self._user))

    def owns(self, folder: Path) -> bool:
        """Return whether that folder is this person's, or there is no login."""
        return self.person is None or self._role_in(folder, False) == "owner"

    # ---- new runs ------------------------------------------------------------------------------------------------

    def start(self, *configs: RunConfig, name: str = "", priority: int = 0, paused: bool = False) -> Run:
        """Create a run and start it: of one lane, or a comparison of several that are trained together.

        Parameters
        ----------
        *configs
            One for each lane; see `pll.runs.lanes.lane_configs`.
        name
            Display name of a comparison.
        priority
            In the queue for the device; lower numbers first.
        paused
            Wait before the first mini-batch.

        Returns
        -------
        Run
            It belongs to the person of this registry; a run that a review taught to the owner of its first run.

        Raises
        ------
        UserError
            Too many runs are alive, a method or its settings do not exist, or lanes that cannot be compared.
        """
        from pll.runs.lanes import check_lanes  # late: the home page starts nothing

        self._refuse_strangers()
        if len(configs) > 1:
            check_lanes(configs)
        for config in configs:  # a wrong setting raises here, not in the thread
            new_estimator(config)
            device_names(str(config.params.get("device") or "auto"))
        folders = [RunFolder(self.root / _new_id()) for _ in configs]
        path = folders[0].path if len(folders) == 1 else self.root / _new_id()
        with self._guard:
            self._check_alive()
            try:
                for folder, config in zip(folders, configs, strict=True):
                    self._create(folder, config, comparison=path.name if len(folders) > 1 else "")
                if len(folders) > 1:
                    self._write_comparison(path, folders, together=True, name=name)
                run = self._runs[path.name] = self._opened(path.name)
            except UserError:
                for place in (path, *(folder.path for folder in folders)):
                    shutil.rmtree(place, ignore_errors=True)
                raise
        run.start(priority=priority, paused=paused)
        methods = [config.method for config in configs]
        log_event("run started", by=self._user, run=run.id, methods=methods, data=configs[0].source.name)
        return run

    def compare(self, run_ids: Sequence[str]) -> Run:
        """Return a comparison of finished runs, which are not changed.

        Raises
        ------
        UserError
            Fewer than two or too many runs, or one without label weights.
        """
        self._refuse_strangers()
        if not 2 <= len(set(run_ids)) == len(run_ids) <= MOST_LANES:
            raise UserError(f"Choose two to {MOST_LANES} different runs to compare.")
        lanes = [lane for run_id in run_ids for lane in self.get(run_id).lanes]
        for lane in lanes:
            if lane.folder.is_locked() or not lane.folder.metrics():
                raise UserError(f"{lane.config.name or lane.id} has no result yet; let it go on to one first.")
        path = self.root / _new_id()
        with self._guard:
            self._write_comparison(path, [lane.folder for lane in lanes], together=False)
            run = self._runs[path.name] = self._opened(path.name)
            return run

    def _check_alive(self) -> None:
        """Raise UserError where as many runs as may wait, train or be paused do."""
        if (alive := len(self.alive())) >= MOST_ALIVE:
            raise UserError(f"{alive} runs are already waiting or training; stop one first.")

    def _create(self, folder: RunFolder, config: RunConfig, *, comparison: str) -> None:
        """Create the folder of a new lane.

        Parameters
        ----------
        comparison
            Id of the comparison that trains it; "" for a run of its own.
        """
        has_threads = "threads" in METHODS[config.method]().get_params()
        if has_threads and config.params.get("threads") is None:
            config = replace(config, params=config.params | {"threads": default_threads()})
        folder.create(config)
        access = Access(self._user)
        if comparison:
            with writing_to(folder.path):
                folder.note(comparison=comparison)
            access = replace(access, like=comparison if self.person is not None else "")
        elif config.decided_sets is not None:
            root = config.decided_sets.root
            access = Access(access_of(self.root / root).owner, like=root)
        if access != Access():
            write_access(folder.path, access)

    def _write_comparison(self, path: Path, lanes: Sequence[RunFolder], *, together: bool, name: str = "") -> None:
        try:
            LaneList(tuple(lane.path.name for lane in lanes), together, name).write(path)
            self.claim(path)
        except UserError:
            shutil.rmtree(path, ignore_errors=True)
            raise

    # ---- those there are -----------------------------------------------------------------------------------------

    def get(self, run_id: str) -> Run:
        """Return the run of that id, alive or on disk; a lane of a comparison is a run of its own, too.

        Raises
        ------
        UserError
            There is none, or this person may not know of it.
        """
        try:
            run = self._find(run_id)
        except UserError as error:
            if self.person is None:
                raise
            raise UserError(GONE.format("run")) from error
        if self.role(run) is None:
            raise UserError(GONE.format("run"))
        return run

    def has(self, run_id: str) -> bool:
        """Return whether there is a run of that id that this person may know of."""
        try:
            self.get(run_id)
        except UserError:
            return False
        return True

    def _find(self, run_id: str) -> Run:
        with self._guard:
            run = self._runs.get(run_id)
            if run is None or not (run.is_alive() or all(lane.folder.exists() for lane in run.lanes)):
                run = self._runs[run_id] = self._opened(run_id)
            return run

    def _opened(self, run_id: str) -> Run:
        path = self.root / run_id
        if not self._is_name(run_id):
            raise UserError(NOT_THERE.format("run"))
        if (path / COMPARISON_FILE).exists():
            listed = LaneList.read(path)
            lanes = [self._lane(one) for one in listed.runs if self._is_lane(one)]
            if not lanes:
                raise UserError("The runs of this comparison have been deleted.")
            return Run(path, lanes, self._queue, listed)
        if not self._is_lane(run_id):
            raise UserError(NOT_THERE.format("run"))
        return Run(path, [self._lane(run_id)], self._queue)

    def _lane(self, name: str) -> Lane:
        return self._lanes.setdefault(name, Lane(RunFolder(self.root / name), self._free_memory))

    def _is_lane(self, name: str) -> bool:
        return self._is_name(name) and RunFolder(self.root / name).exists()

    def _is_name(self, name: str) -> bool:
        """Return whether this can be a folder directly under the root."""
        path = self.root / name
        try:
            return path.name == name and path.resolve().parent == self.root.resolve() and path.exists()
        except (OSError, ValueError):  # not a valid file name
            return False

    def all(self, *, everybodys: bool = False) -> list[Run]:
        """Return every run of one lane, the lanes of comparisons too, newest first.

        Of a person those that are theirs or shared with them by name.

        Parameters
        ----------
        everybodys
            Of an administrator: all runs.
        """
        return self._listed((folder.path.name for folder in list_runs(self.root)), everybodys)

    def comparisons(self, *, everybodys: bool = False) -> list[Run]:
        """Return every comparison like `all`, without those whose runs were all deleted."""
        runs = self._listed((file.parent.name for file in self.root.glob(f"*/{COMPARISON_FILE}")), everybodys)
        return sorted(runs, key=Run.created, reverse=True)

    def _listed(self, names: Iterable[str], everybodys: bool) -> list[Run]:
        runs = []
        for name in names:
            with suppress(UserError):  # deleted since it was listed
                run = self._find(name)
                if self._lists(run, everybodys):
                    runs.append(run)
        return runs

    def _lists(self, run: Run, everybodys: bool) -> bool:
        if self.person is not None and self.person.is_admin and not everybodys:
            access = access_of(run.path)
            return self.person.id == access.owner or self.person.id in access.people
        return self.role(run, has_link=False) is not None

    def rename(self, run: Run, name: str) -> None:
        """Give a run another display name.

        Parameters
        ----------
        run
            The run.
        name
            The new name.
        """
        self.require(run, "owner")
        run.rename(name)
        log_event("renamed", by=self._user, run=run.id)

    def delete(self, run_id: str) -> None:
        """Move a run to the bin; a comparison with the lanes that it trained.

        Raises
        ------
        UserError
            It is at work, or it cannot be moved.
        """
        run = self.get(run_id)
        self.require(run, "owner")
        if run.is_alive():
            raise UserError("This run is at work; stop it before deleting it.")
        with ExitStack() as locked:
            lanes = run.lanes if run.is_together else []
            for lane in lanes:
                locked.enter_context(lane.folder.locked())
            for lane in lanes:
                self._move_to_bin(lane.folder.path)
                with self._guard:
                    self._lanes.pop(lane.id, None)
                    self._runs.pop(lane.id, None)
        if run.is_comparison:
            self._move_to_bin(run.path)
            with self._guard:
                self._runs.pop(run.id, None)
        log_event("run deleted", by=self._user, run=run_id)

    def _move_to_bin(self, folder: Path) -> None:
        """Move a folder to the bin under its own name, with `deleted.json` (when, and by whom) added."""
        place, number = self.bin / folder.name, 1
        while place.exists():
            number += 1
            place = self.bin / f"{folder.name}.{number}"
        note = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "by": self._user}
        try:
            self.bin.mkdir(parents=True, exist_ok=True)
            write_json(folder / DELETED_FILE, note)
            folder.rename(place)
        except OSError as error:
            (folder / DELETED_FILE).unlink(missing_ok=True)
            raise UserError(f"{folder.name} could not be deleted: {error.strerror or error}.") from error

    # ---- at work -------------------------------------------------------------------------------------------------

    def control(self, run: Run, action: Callable[[], None], event: str = "", *, trains: bool = False) -> None:
        """Pause, resume, stop or set something of a run.

        Parameters
        ----------
        run
            The run.
        action
            Does it.
        event
            For the log, as in "stopped"; "" for what is not worth a line.
        trains
            The run trains after that: within the limit of this server.
        """
        self.require(run, "owner")
        if trains and not run.is_alive():  # else it continues where it is
            self._check_alive()
        action()
        if event:
            log_event(f"run {event}", by=self._user, run=run.id)

    def alive(self) -> list[Run]:
        """Return the runs that wait, train or are paused in this process."""
        with self._guard:
            return [run for run in self._runs.values() if run.is_alive()]

    def stop_all(self, timeout: float = 10.0) -> None:
        """Stop every run and wait at most `timeout` seconds for all of them."""
        with self._guard:
            runs = list(self._runs.values())
        for run in runs:
            run.stop()
        deadline = time.monotonic() + timeout
        for run in runs:
            run.join(max(0.0, deadline - time.monotonic()))

    def _refuse_strangers(self) -> None:
        if self.person is not None and not self.person.id:
            raise UserError("Log in first.")

    def _free_memory(self) -> None:
        """Free the data of idle lanes, except for the `MOST_IDLE` that were used last."""
        idle = [lane for lane in list(self._lanes.values()) if lane.loop is None]
        for lane in sorted(idle, key=lambda lane: lane.data_used_at, reverse=True)[MOST_IDLE:]:
            lane.loaded = None


def _new_id() -> str:
    """Return an unguessable id, since anybody with the link may see the run."""
    return secrets.token_urlsafe(12).replace("-", "a").replace("_", "b")


default_registry = PerProcess(lambda: RunRegistry(candid_home() / "runs"))
"""Return the registry of this process, over the runs in Candid's home."""

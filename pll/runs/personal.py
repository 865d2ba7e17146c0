"""`PersonalRegistry`: the registry of runs as one person may use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pll.errors import UserError
from pll.runs.access import Access, Person, Role, access_of, at_least, place_of_access, write_access
from pll.runs.comparison import Comparison
from pll.runs.config import RunConfig
from pll.runs.events import log_event
from pll.runs.registry import RunRegistry
from pll.runs.run import Run
from pll.runs.worker import Worker

W = TypeVar("W", bound=Worker)
NEEDED = {
    "viewer": "It is not shared with you; ask its owner.",
    "reviewer": "Only people who may review this run can do that; ask its owner.",
    "owner": "Only the owner of this run can do that.",
}
"""What is said where a role is missing."""
GONE = "There is no {} behind this link; it may have been deleted, or is not shared with you."
"""The same for what does not exist and for what somebody may not know of."""


class PersonalRegistry:
    """What one person may do with the runs of a registry. Every method raises UserError where it is not allowed.

    Args:
        registry: of this process.
        person: who has logged in; None where there is no login, and everything is allowed.
    """

    def __init__(self, registry: RunRegistry, person: Person | None) -> None:
        self._all = registry
        self.person = person

    @property
    def _id(self) -> str:
        return "" if self.person is None else self.person.id

    # ---- what they may do ----------------------------------------------------------------------------------------

    def role(self, worker: Worker, *, has_link: bool = True) -> Role | None:
        """Return what this person may do with a run or comparison; None for nothing."""
        if self.person is None:
            return "owner"
        if isinstance(worker, Comparison):
            role = access_of(worker.folder).role_of(self.person, has_link=has_link)
            if worker.lanes.together or all(self.role(run, has_link=False) for run in worker.runs):
                return role
            return None
        return access_of(_folder(worker)).role_of(self.person, has_link=has_link)

    def may(self, worker: Worker, needed: Role) -> bool:
        """Return whether this person may do what that role may."""
        return at_least(self.role(worker), needed)

    def require(self, worker: Worker, needed: Role) -> None:
        """Raise UserError unless this person may do what that role may."""
        if not self.may(worker, needed):
            raise UserError(NEEDED[needed])

    def is_own(self, worker: Worker) -> bool:
        """Return whether it is this person's, or made without a login."""
        return self.person is None or self.owner(worker) == self.person.id

    def owner(self, worker: Worker) -> str:
        """Return the id of the owner; "" for none."""
        return access_of(_folder(worker)).owner

    def access(self, worker: Worker) -> Access:
        """Return who may do what with it; for its owner."""
        self.require(worker, "owner")
        return access_of(_folder(worker))

    def share(self, worker: Worker, access: Access) -> None:
        """Change who may do what with it."""
        self.require(worker, "owner")
        write_access(place_of_access(_folder(worker)), access)
        log_event("shared", by=self._id, run=worker.id, people=dict(access.people), link=access.link)

    def claim(self, folder: Path) -> None:
        """Make the folder of something that is no run, an experiment say, this person's."""
        if self.person is not None:
            write_access(folder, Access(self._id))

    def owns(self, folder: Path) -> bool:
        """Return whether that folder is this person's, or there is no login."""
        return self.person is None or access_of(folder).role_of(self.person, has_link=False) == "owner"

    # ---- runs ----------------------------------------------------------------------------------------------------

    def start(self, config: RunConfig, *, paused: bool = False) -> Run:
        """`RunRegistry.start`; the run is theirs."""
        self._refuse_strangers()
        run = self._all.start(config, paused=paused, owner=self._id)
        log_event("run started", by=self._id, run=run.id, method=config.method, data=config.source.name)
        return run

    def get(self, run_id: str) -> Run:
        """Return the run of that id, if this person may see it."""
        return self._shown(lambda: self._all.get(run_id), "run")

    def all(self, *, everybodys: bool = False) -> list[Run]:
        """Return the runs that are theirs or shared with them by name, newest first.

        Args:
            everybodys: of an administrator: all runs.
        """
        return [run for run in self._all.all() if self._lists(run, everybodys)]

    def delete(self, run_id: str) -> None:
        """Move a run to the bin."""
        self.require(self.get(run_id), "owner")
        self._all.delete(run_id, by=self._id)
        log_event("run deleted", by=self._id, run=run_id)

    def rename(self, worker: Run | Comparison, name: str) -> None:
        """Give a run or comparison another display name."""
        self.require(worker, "owner")
        worker.rename(name)
        log_event("renamed", by=self._id, run=worker.id)

    # ---- comparisons ---------------------------------------------------------------------------------------------

    def compare(self, configs: Sequence[RunConfig], *, name: str = "", paused: bool = False) -> Comparison:
        """`RunRegistry.compare`; the comparison and its runs are theirs."""
        self._refuse_strangers()
        made = self._all.compare(configs, name=name, paused=paused, owner=self._id)
        log_event("comparison started", by=self._id, comparison=made.id, runs=[run.id for run in made.runs])
        return made

    def lay_beside(self, run_ids: Sequence[str], *, name: str = "") -> Comparison:
        """`RunRegistry.lay_beside` of runs that they may see."""
        self._refuse_strangers()
        for run_id in run_ids:
            self.get(run_id)
        return self._all.lay_beside(run_ids, name=name, owner=self._id)

    def comparison(self, comparison_id: str) -> Comparison:
        """Return the comparison of that id, if this person may see it."""
        return self._shown(lambda: self._all.comparison(comparison_id), "comparison")

    def comparisons(self, *, everybodys: bool = False) -> list[Comparison]:
        """Return the comparisons that are theirs or shared with them by name, newest first."""
        return [one for one in self._all.comparisons() if self._lists(one, everybodys)]

    def delete_comparison(self, comparison_id: str) -> None:
        """Move a comparison to the bin, with its runs where it trained them."""
        self.require(self.comparison(comparison_id), "owner")
        self._all.delete_comparison(comparison_id, by=self._id)
        log_event("comparison deleted", by=self._id, comparison=comparison_id)

    # ---- at work -------------------------------------------------------------------------------------------------

    def control(self, worker: Worker, what: str, action: Callable[[], None]) -> None:
        """Pause, stop or set something of a run or comparison.

        Args:
            what: for the log, as in "stopped"; "" for what is not worth a line.
        """
        self.require(worker, "owner")
        action()
        if what:
            log_event(f"run {what}", by=self._id, run=worker.id)

    def resume(self, worker: Worker, action: Callable[[], None], what: str = "resumed") -> None:
        """Let a run or comparison go on, within the limit of this server."""
        self.require(worker, "owner")
        if worker.holder() is None and not worker.is_alive():  # else it continues where it is
            self._all.check_alive()
        self.control(worker, what, action)

    # ---- inside --------------------------------------------------------------------------------------------------

    def _shown(self, find: Callable[[], W], kind: str) -> W:
        """Return what exists and may be seen; else the error does not disclose whether it exists."""
        if self.person is None:
            return find()
        try:
            found = find()
        except UserError as error:
            raise UserError(GONE.format(kind)) from error
        if self.role(found) is None:
            raise UserError(GONE.format(kind))
        return found

    def _lists(self, worker: Worker, everybodys: bool) -> bool:
        if self.person is None:
            return True
        if self.person.is_admin and not everybodys:
            access = access_of(_folder(worker))
            return self.person.id == access.owner or self.person.id in access.people
        return self.role(worker, has_link=False) is not None

    def _refuse_strangers(self) -> None:
        if self.person is not None and not self.person.id:
            raise UserError("Log in first.")


def _folder(worker: Worker) -> Path:
    if isinstance(worker, Comparison):
        return worker.folder
    assert isinstance(worker, Run)
    return worker.folder.path

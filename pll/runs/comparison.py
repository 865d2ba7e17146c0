"""A comparison: several runs trained together, or runs of the past side by side.

A lane is an ordinary run with a folder of its own; lanes share the data, the candidate sets, the seed and, unless a
lane has its own, the settings. A folder beside the runs holds one file, `comparison.json`: a name, the time of
creation, the ids of the runs, and whether they are trained together. The data is read, and the candidate sets are
drawn, once.

How lanes take turns is in `pll.runs.worker`; what a comparison shows in `pll.analysis.comparison_report`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pll.errors import UserError
from pll.io import write_json
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import OUTSIDE_FILE, checked_name
from pll.runs.run import Run
from pll.runs.snapshots import ComparisonSnapshot, joint_state
from pll.runs.worker import Worker

if TYPE_CHECKING:
    from pll.analysis.protocol import Parts

MOST_LANES = 5
"""Maximum number of lanes of a comparison."""
LANES_FILE = "comparison.json"


@dataclass(frozen=True)
class LaneList:
    """Content of comparison.json.

    Attributes:
        runs: ids of the runs, in the order of the lanes.
        together: whether they are trained together; otherwise they are past runs shown side by side.
        name: display name.
        created: time of creation, ISO 8601 in UTC.
    """

    runs: tuple[str, ...]
    together: bool
    name: str = ""
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="microseconds"))

    def write(self, folder: Path) -> None:
        """Write comparison.json into its folder, which is created if missing."""
        write_json(folder / LANES_FILE, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> LaneList:
        """Read comparison.json, the inverse of `write`.

        Raises:
            UserError: the file is missing or damaged.
        """
        try:
            known = json.loads((folder / LANES_FILE).read_text(encoding="utf-8"))
            runs = tuple(str(run) for run in known["runs"])
            return cls(runs, bool(known["together"]), str(known["name"]), str(known["created"]))
        except FileNotFoundError as error:
            raise UserError("There is no comparison behind this link; it may have been deleted.") from error
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise UserError(f"{folder / LANES_FILE} cannot be read ({error}); start a new comparison.") from error


class Comparison(Worker):
    """Lanes trained together, with one place in the queue. Its id is the name of its folder.

    Args:
        folder: holds `comparison.json`.
        find: returns the run of an id; raises UserError where it does not exist.
        queue: queue for its device.

    Attributes:
        lanes: content of comparison.json.
        runs: the runs that still exist, in the order of the lanes.
    """

    OVER = ("finished", "failed")
    KEEPS_DATA = False

    def __init__(self, folder: Path, find: Callable[[str], Run], queue: DeviceQueue) -> None:
        super().__init__(folder.name, queue)
        self.folder = folder
        self.lanes = LaneList.read(folder)
        self.runs = _those_found(self.lanes.runs, find)
        if not self.runs:
            raise UserError("The runs of this comparison have been deleted.")

    @property
    def name(self) -> str:
        """Display name."""
        first = self.runs[0].config
        return self.lanes.name or first.name or first.source.name

    def rename(self, name: str) -> None:
        """Give the comparison another display name; its runs keep theirs.

        Raises:
            UserError: the name is empty, too long or of several lines, or it cannot be written.
        """
        lanes = replace(self.lanes, name=checked_name(name))
        try:
            lanes.write(self.folder)
        except OSError as error:
            raise UserError(f"Cannot write to {self.folder}: {error.strerror or error}.") from error
        self.lanes = lanes

    def snapshot(self) -> ComparisonSnapshot:
        """Return the current state of all lanes."""
        with self._guard:
            alive, state = self.is_alive(), self._state
            at_work = {lane.id: lane.snapshot(state) for lane in self._lanes if alive and not lane.is_over}
        lanes = tuple(at_work[run.id] if run.id in at_work else run.snapshot() for run in self.runs)
        left = [lane.seconds_left for lane in lanes if lane.id in at_work]
        epochs = max(((lane.total or 0) - lane.epoch for lane in lanes if lane.id in at_work), default=0)
        known = [seconds for seconds in left if seconds is not None]
        return ComparisonSnapshot(
            id=self.id,
            name=self.name,
            state=state if alive else joint_state(lane.state for lane in lanes),
            lanes=lanes,
            ahead=self._queue.position(self._device, self.id) if alive else None,
            error=self._error,
            seconds_left=max(sum(known), epochs * self._pace) if known and len(known) == len(left) else None,
        )

    def shares_data(self) -> bool:
        """Return whether all lanes learnt from the same examples with the same candidate sets."""
        marks = {run.folder.about().get("fingerprint") for run in self.runs}
        if any((run.folder.path / OUTSIDE_FILE).exists() for run in self.runs):  # labels were added to the sets
            return False
        return self.lanes.together or (len(marks) == 1 and None not in marks)

    def parts(self, lane: int = 0) -> Parts:
        """Return the data of a lane; lanes trained together share it, read once.

        Raises:
            UserError: the source is gone or has changed.
        """
        if not self.lanes.together:
            return self.runs[0 if self.shares_data() else lane].parts()
        with self._loading:
            if self._parts is not None:
                return self._parts
            parts = self.runs[0].parts()
            if self.is_alive():
                self._parts = parts
                with self._guard:
                    self._guard.notify_all()
            return parts

    def _paths(self) -> Sequence[Path]:
        return [run.folder.path for run in self.runs] if self.lanes.together else []


def _those_found(ids: Sequence[str], find: Callable[[str], Run]) -> list[Run]:
    found = []
    for run_id in ids:
        try:
            found.append(find(run_id))
        except UserError:  # deleted
            continue
    return found

"""A comparison: several runs trained together, or runs of the past side by side.

A lane is an ordinary run with a folder of its own; lanes share the data, the candidate sets, the seed and, unless a
lane has its own, the settings. A folder beside the runs holds one file, `comparison.json`: a name, the time of
creation, the ids of the runs, and whether they are trained together. The data is read, and the candidate sets are
drawn, once.

How lanes take turns is in `pll.runs.worker`; what a comparison shows in `pll.analysis.comparison_report`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pll.analysis.protocol import Parts
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.io import write_json
from pll.methods import METHODS, get_method, method_title
from pll.methods.advice import advise
from pll.methods.proden import update_interval
from pll.runs.config import RunConfig
from pll.runs.device_queue import DeviceQueue
from pll.runs.folder import OUTSIDE_FILE, checked_name
from pll.runs.run import Run
from pll.runs.runner import new_estimator
from pll.runs.snapshots import ComparisonSnapshot, joint_state
from pll.runs.worker import Worker

MOST_LANES = 5
"""Maximum number of lanes of a comparison."""
USUAL = ("proden", "proden-itera", "proden-naive", "proden-sudden", "pn-oracle")
"""Default lanes: PRODEN and its variants of the paper, §4."""
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


def lane_configs(
    shared: RunConfig, methods: Sequence[str], own: Mapping[str, Mapping[str, Any]] | None = None
) -> list[RunConfig]:
    """Return one config per method: the same data, split, candidate sets, seed, and the shared settings it has.

    Args:
        shared: settings that all lanes have in common; its `method` is ignored.
        methods: names of `METHODS`.
        own: method → settings in which this lane differs from the shared ones.

    Raises:
        UserError: see `check_lanes`; a setting that does not exist.
    """
    made = []
    for method in methods:
        known = get_method(method)().get_params()
        common = {name: value for name, value in shared.params.items() if name in known}
        made.append(replace(shared, method=method, params=common | dict((own or {}).get(method, {}))))
    check_lanes(made)
    return made


def check_lanes(configs: Sequence[RunConfig]) -> None:
    """Raise UserError unless these are two to `MOST_LANES` lanes that share all but method and settings."""
    if not 2 <= len(configs) <= MOST_LANES:
        raise UserError(f"{len(configs)} lanes cannot be compared; choose two to {MOST_LANES}.")
    for config in configs:
        new_estimator(config)
        for name in ("source", "flip", "holdout", "test", "features", "seed", "strict", "noisy"):
            if getattr(config, name) != getattr(configs[0], name):
                raise UserError(f"The lanes differ in {name}; lanes share everything but method and settings.")


def why_not(method: str, data: PartialLabelDataset, params: Mapping[str, Any] | None = None) -> str | None:
    """Return the reason why a method cannot be a lane on this data; None where it can.

    Args:
        data: with its candidate sets.
        params: settings; those the method does not have are ignored.
    """
    kind = METHODS[method]
    if kind.needs_truth and (data.y is None or bool((data.y < 0).any())):
        return f"{kind.title} learns from the true label of every example, which this data does not have."
    known = kind().get_params()
    settings = {name: value for name, value in (params or {}).items() if name in known}
    if kind.adds_labels:
        return f"{kind.title} adds labels to candidate sets, and lanes share theirs; train it on its own."
    obstacles = advise(kind(**settings), data).obstacles
    return obstacles[0] if obstacles else None


def lane_titles(configs: Sequence[RunConfig]) -> list[str]:
    """Return the title of each lane: its method; where a method occurs twice, also the settings that differ."""
    titles = [method_title(config.method) for config in configs]
    made = []
    for place, (config, title) in enumerate(zip(configs, titles, strict=True)):
        namesakes = [other for other, same in zip(configs, titles, strict=True) if same == title]
        apart = _differences(config, namesakes) if len(namesakes) > 1 else ""
        number = f"({titles[: place + 1].count(title)})" if len(namesakes) > 1 and not apart else ""
        made.append(" ".join(part for part in (title, apart, number) if part))
    return [title if made.count(title) == 1 else f"{title} ({k + 1})" for k, title in enumerate(made)]


def _differences(config: RunConfig, namesakes: Sequence[RunConfig]) -> str:
    """Format the settings in which a run differs from others of the same title."""
    facts = [_facts(other) for other in namesakes]
    mine = _facts(config)
    return ", ".join(f"{k} {v}".strip() for k, v in mine.items() if any(other.get(k) != v for other in facts))


def _facts(config: RunConfig) -> dict[str, str]:
    every = get_method(config.method)().get_params() | config.params
    words = {"update_every": "update every", "batch_size": "batch", "weight_decay": "weight decay"}
    settings = {words.get(name, name): str(value) for name, value in every.items() if name not in ("seed", "threads")}
    sets = "" if config.flip is None else config.flip.words
    return {"": config.name or config.source.name, "sets": sets, "seed": str(config.seed)} | settings


def rule_of(config: RunConfig) -> str:
    """Return what the method of a lane does with its weights, as a clause; "" where there is nothing to say."""
    match config.method:
        case "proden-naive":
            return "all candidates weigh the same in its loss from beginning to end"
        case "proden-sudden":
            return "it puts all weight on its top candidate at every step"
        case "proden-itera":
            every = get_method(config.method)().get_params() | config.params
            interval = update_interval(every["epochs"], every["update_every"])
            return f"it renews its weights only every {interval} epochs"
        case "pn-decomp":
            return "it learns every candidate as if it were true"
        case _:
            return ""


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

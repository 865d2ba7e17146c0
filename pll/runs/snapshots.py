"""Snapshots: immutable states of a run and of its lanes at one moment, for pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from pll.analysis.health import Health
from pll.runs.folder import State
from pll.training.metrics import TRUTH_METRICS, EpochRecord, TrainingProgress
from pll.weights import Weights

ACTIVE: tuple[State, ...] = ("queued", "running", "paused")
SETTINGS, HOW_SURE = "choosing settings", "how sure the labels are"
"""Steps of a run besides those that read and prepare its data: before the first epoch, and the last one."""


@dataclass(frozen=True)
class StepProgress:
    """How far a step of a run is: one before training, or the last one, which finds out how sure its labels are.

    Attributes
    ----------
    what
        Its name.
    share
        That is done.
    seconds_left
        Estimated; None at the beginning.
    """

    what: str
    share: float = 0.0
    seconds_left: float | None = None


@dataclass(frozen=True)
class LaneSnapshot:
    """Immutable state of a lane at one moment.

    Attributes
    ----------
    id, name, method
        Id of the lane's folder, display name, name of the method.
    state
        See `pll.runs.folder.State`.
    total
        Epochs in all; None before the data is read.
    rows
        The rows of metrics.csv so far.
    record
        The last record, with the label weights of all examples; None where the lane is not at work in this process.
    moment
        Progress within its epoch of a run of one lane that is paused; None else, or where the method has no epochs.
    error
        Message, where it failed.
    metrics
        The final metrics, once ended.
    stage
        Current work of a method without epochs, before its next record.
    notes
        Deviations from the original method, and why it ended by itself, once ended.
    health
        Whether its labels can be used, once ended.
    step
        While data is read and settings are chosen, before the first epoch, and while it finds out how sure its labels
        are, after training; else None.
    found
        While settings are chosen: number and label weights of the likeliest model so far; None before and after.
    """

    id: str
    name: str
    method: str
    state: State
    total: int | None
    rows: tuple[dict[str, Any], ...]
    record: EpochRecord | None = None
    moment: TrainingProgress | None = None
    error: str | None = None
    metrics: dict[str, Any] | None = None
    stage: str = ""
    notes: tuple[str, ...] = ()
    health: Health | None = None
    step: StepProgress | None = None
    found: tuple[int, Weights] | None = None

    @property
    def epoch(self) -> int:
        """Epochs complete."""
        return int(self.rows[-1]["epoch"]) if self.rows else 0

    @property
    def without_truth(self) -> LaneSnapshot:
        """The same without metrics that need true labels."""
        nothing = dict.fromkeys(TRUTH_METRICS)
        metrics = None if self.metrics is None else self.metrics | nothing
        return replace(self, rows=tuple(row | nothing for row in self.rows), metrics=metrics)

    @property
    def epochs_left(self) -> int:
        """Epochs to go; 0 before the data is read."""
        return (self.total or 0) - self.epoch

    @property
    def seconds_left(self) -> float | None:
        """Estimated from the median of the last 20 epochs, so that what happens once (a checkpoint) does not count."""
        recent: list[float] = [row["seconds"] for row in self.rows[-20:] if row["seconds"] is not None]
        return None if not recent or self.total is None else self.epochs_left * median(recent)

    @property
    def is_active(self) -> bool:
        """Queued, running or paused: it may still change by itself."""
        return self.state in ACTIVE


@dataclass(frozen=True)
class Snapshot:
    """Immutable state of a run at one moment.

    Attributes
    ----------
    id, name
        Of the run.
    state
        Joint state of the lanes; see `joint_state`.
    lanes
        State of each lane, at least one.
    ahead
        Number of runs before it, while queued.
    least_seconds
        What an epoch of all lanes takes at least.
    device
        The GPU that it trains on and its memory, in words; "" where it does not train, or on the CPU.
    """

    id: str
    name: str
    state: State
    lanes: tuple[LaneSnapshot, ...]
    ahead: int | None = None
    least_seconds: float = 0.0
    device: str = ""

    @property
    def epoch(self) -> int:
        """Epochs that all unfinished lanes have completed; where all have ended, those of the longest."""
        going = [lane.epoch for lane in self.lanes if lane.state not in ("finished", "failed")]
        return min(going) if going else max(lane.epoch for lane in self.lanes)

    @property
    def total(self) -> int | None:
        """Largest number of epochs of a lane; None before the data is read."""
        totals = [lane.total for lane in self.lanes]
        return max((total for total in totals if total is not None), default=None)

    @property
    def is_active(self) -> bool:
        """Queued, running or paused: it may still change by itself."""
        return self.state in ACTIVE

    @property
    def seconds_left(self) -> float | None:
        """Estimated, for all lanes at work; None where it is not known of one, or none is."""
        active = [lane for lane in self.lanes if lane.is_active]
        known = [lane.seconds_left for lane in active if lane.seconds_left is not None]
        slowest = self.least_seconds * max((lane.epochs_left for lane in active), default=0)
        return max(sum(known), slowest) if len(known) == len(active) > 0 else None

    @property
    def error(self) -> str | None:
        """Message of the first lane, where every lane failed."""
        errors = [lane.error for lane in self.lanes]
        return None if None in errors else errors[0]

    @property
    def step(self) -> StepProgress | None:
        """The step that is under way in one of the lanes; None where there is none."""
        return next((lane.step for lane in self.lanes if lane.step is not None), None)

    @property
    def lane(self) -> LaneSnapshot:
        """State of the first lane, the only one of a run of one."""
        return self.lanes[0]


def joint_state(states: Iterable[State]) -> State:
    """Return the joint state of lanes that are not at work in this process; unfinished states come first.

    Examples
    --------
    >>> joint_state(["finished", "stopped", "failed"]), joint_state(["finished", "failed"]), joint_state(["failed"])
    ('stopped', 'finished', 'failed')
    """
    present = set(states)
    precedence: tuple[State, ...] = ("running", "queued", "paused", "interrupted", "stopped", "finished", "failed")
    return next(state for state in precedence if state in present)

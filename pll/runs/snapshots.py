"""Snapshots: immutable states of a run and of a comparison at one moment, for pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from pll.analysis.health import Health
from pll.runs.folder import State
from pll.training.metrics import EpochRecord, TrainingProgress

ACTIVE: tuple[State, ...] = ("queued", "running", "paused")


@dataclass(frozen=True)
class Snapshot:
    """Immutable state of a run at one moment.

    Attributes:
        state: see `pll.runs.folder.State`.
        total: epochs in all; None before the data is read.
        rows: the rows of metrics.csv so far.
        record: the last record, with the label weights of all examples; None where the run is not alive.
        moment: progress of a paused run within its epoch; None where it is not paused, or has no epochs.
        ahead: number of runs before it, while queued.
        error: message, where it failed.
        metrics: the final metrics, once ended.
        seconds_left: estimated.
        stage: current work of a method without epochs, before its next record.
        notes: deviations from the original method, and why it ended by itself, once ended.
        health: whether its labels can be used, once ended; None of a run of an earlier version.
    """

    id: str
    name: str
    method: str
    state: State
    total: int | None
    rows: tuple[dict[str, Any], ...]
    record: EpochRecord | None = None
    moment: TrainingProgress | None = None
    ahead: int | None = None
    error: str | None = None
    metrics: dict[str, Any] | None = None
    seconds_left: float | None = None
    stage: str = ""
    notes: tuple[str, ...] = ()
    health: Health | None = None

    @property
    def epoch(self) -> int:
        """Epochs complete."""
        return int(self.rows[-1]["epoch"]) if self.rows else 0

    @property
    def is_active(self) -> bool:
        """Queued, running or paused: it may still change by itself."""
        return self.state in ACTIVE


def seconds_left(rows: tuple[dict[str, Any], ...], total: int | None, pace: float = 0.0) -> float | None:
    """Estimate the remaining seconds from the median of the last 20 epochs; `pace` is the minimum of an epoch.

    The median: what happens once (getting ready, a checkpoint) does not count.
    """
    if not rows or total is None:
        return None
    recent: list[float] = [row["seconds"] for row in rows[-20:] if row["seconds"] is not None]
    if not recent:
        return None
    return (total - int(rows[-1]["epoch"])) * max(pace, median(recent))


@dataclass(frozen=True)
class ComparisonSnapshot:
    """Immutable state of a comparison at one moment.

    Attributes:
        state: joint state of the lanes; see `joint_state`.
        lanes: state of each lane.
        ahead: number of runs before it, while queued.
        error: message, where all lanes failed.
        seconds_left: estimated, for all lanes.
    """

    id: str
    name: str
    state: State
    lanes: tuple[Snapshot, ...]
    ahead: int | None = None
    error: str | None = None
    seconds_left: float | None = None

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


def joint_state(states: Iterable[State]) -> State:
    """Return the joint state of lanes that are not at work in this process; unfinished states come first.

    >>> joint_state(["finished", "stopped", "failed"]), joint_state(["finished", "failed"]), joint_state(["failed"])
    ('stopped', 'finished', 'failed')
    """
    found = set(states)
    order: tuple[State, ...] = ("running", "queued", "paused", "interrupted", "stopped", "finished", "failed")
    return next(state for state in order if state in found)

"""Immutable snapshots of a run and of a comparison at one moment, for pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pll.runs.folder import State
from pll.training.metrics import EpochRecord, TrainingProgress

ACTIVE: tuple[State, ...] = ("queued", "running", "paused")


@dataclass(frozen=True)
class Snapshot:
    """A run as it was at one moment. Immutable; safe to keep.

    Attributes:
        state: see `pll.runs.folder.State`.
        total: epochs in all; None before the data is read.
        rows: the rows of metrics.csv so far.
        record: the last record, with the label weights of all examples; None where the run is not alive.
        moment: where a paused run stands within its epoch; None where it is not paused, or has no epochs.
        ahead: how many runs come first, while queued.
        error: what went wrong, in plain words.
        metrics: the final metrics, once ended.
        seconds_left: estimated.
        stage: what a method without epochs is at before its next epoch, in words.
        notes: what the method had to do differently, in words, once ended.
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

    @property
    def epoch(self) -> int:
        """Epochs complete."""
        return int(self.rows[-1]["epoch"]) if self.rows else 0

    @property
    def is_active(self) -> bool:
        """Queued, running or paused: it may still change by itself."""
        return self.state in ACTIVE


def seconds_left(rows: tuple[dict[str, Any], ...], total: int | None, pace: float = 0.0) -> float | None:
    """From the mean cost of the last epochs; `pace` is what an epoch takes at least."""
    if not rows or total is None:
        return None
    recent: list[float] = [row["seconds"] for row in rows[-20:]]
    return (total - int(rows[-1]["epoch"])) * max(pace, sum(recent) / len(recent))


@dataclass(frozen=True)
class ComparisonSnapshot:
    """Lanes as they were at one moment. Immutable; safe to keep.

    Attributes:
        state: of all of them together; see `joint_state`.
        lanes: how each stood.
        ahead: how many come first, while queued.
        error: what went wrong with all of them, in plain words.
        seconds_left: estimated, for all of them.
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
        """Epochs that every lane has completed that may still go on; those of the longest where none may."""
        going = [lane.epoch for lane in self.lanes if lane.state not in ("finished", "failed")]
        return min(going) if going else max(lane.epoch for lane in self.lanes)

    @property
    def total(self) -> int | None:
        """Epochs of the lane that has most; None before the data is read."""
        totals = [lane.total for lane in self.lanes]
        return max((total for total in totals if total is not None), default=None)

    @property
    def is_active(self) -> bool:
        """Queued, running or paused: it may still change by itself."""
        return self.state in ACTIVE


def joint_state(states: Iterable[State]) -> State:
    """The state of lanes together, once nobody here is at work on them: what is left to do comes first.

    >>> joint_state(["finished", "stopped", "failed"]), joint_state(["finished", "failed"]), joint_state(["failed"])
    ('stopped', 'finished', 'failed')
    """
    found = set(states)
    order: tuple[State, ...] = ("running", "queued", "paused", "interrupted", "stopped", "finished", "failed")
    return next(state for state in order if state in found)

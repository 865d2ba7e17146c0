"""View state of a comparison: one epoch for all lanes, and the label weights of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.analysis.comparison_report import LaneFigures
from pll.analysis.protocol import Parts
from pll.dataset import PartialLabelDataset
from pll.methods import METHODS
from pll.runs.comparison import Comparison
from pll.runs.history import History
from pll.runs.lanes import lane_titles, rule_of
from pll.runs.run import Run
from pll.runs.snapshots import ComparisonSnapshot, Snapshot
from pll.ui.view_state import ViewState, metrics_at, stored_frame, without_truth_figures
from pll.weights import Weights

EARLY = 0.1
"""Share of the epochs after which the verdict looks what became of early mistakes."""


@dataclass
class ComparisonView(ViewState):
    """What one tab shows of a comparison."""

    def hide_truth(self, parts: Parts) -> Parts:
        """The data of a lane as this lesson shows it: without true labels where they are hidden."""
        return Parts(parts.train.without_truth) if "truth" in self.hidden else parts


def comparison_view(comparison: Comparison) -> ComparisonView:
    """Return this tab's view of a comparison."""
    state: ComparisonView = st.session_state.setdefault(f"comparison-view-{comparison.id}", ComparisonView())
    return state


@dataclass(frozen=True, eq=False)
class LaneView:
    """One lane at the epoch in view.

    Attributes:
        place: 0, 1, …: its colour.
        stored: the epochs that can be looked at.
        epoch: the one in view, at most that of `ComparisonView`.
        row: the line of metrics.csv of that epoch; empty before the first, and until it is written.
        figures: what the verdict reads, and whatever else is said of this epoch.
    """

    place: int
    run: Run
    snapshot: Snapshot
    parts: Parts
    stored: list[int]
    epoch: int
    weights: Weights
    row: dict[str, Any]
    figures: LaneFigures

    @property
    def title(self) -> str:
        return self.figures.title

    @property
    def data(self) -> PartialLabelDataset:
        return self.parts.train

    @property
    def truth(self) -> npt.NDArray[np.int64] | None:
        """(n,) true labels, −1 where unknown; None where none is known."""
        y = self.data.y
        return None if y is None or not (y >= 0).any() else y

    @property
    def right(self) -> float | None:
        """Share of the known true labels that are identified; None before training, and where none is known."""
        if self.truth is None or not self.epoch:
            return None
        known = self.truth >= 0
        return float((self.figures.identified == self.truth)[known].mean())

    @property
    def confidence(self) -> float | None:
        """Mean top label weight; None before training."""
        return float(self.figures.confidence.mean()) if self.epoch else None


def lanes_in_view(comparison: Comparison, snapshot: ComparisonSnapshot, looking: ComparisonView) -> list[LaneView]:
    """Every lane at the epoch in view.

    Raises:
        UserError: the data of a run cannot be read.
    """
    titles = lane_titles([run.config for run in comparison.runs])
    level = common_epoch(snapshot)
    early = max(1, round(EARLY * (snapshot.total or 1)))
    shown = [without_truth_figures(lane) for lane in snapshot.lanes] if "truth" in looking.hidden else snapshot.lanes
    return [
        _lane(place, run, lane, looking.hide_truth(comparison.parts(place)), titles[place], looking, early, level)
        for place, (run, lane) in enumerate(zip(comparison.runs, shown, strict=True))
    ]


def common_epoch(snapshot: ComparisonSnapshot) -> int | None:
    """The latest epoch that every lane at work has completed; None where none is at work.

    Lanes train in turn: at most moments some of them are one epoch ahead, and would be compared with an advantage.
    """
    return min((lane.epoch for lane in snapshot.lanes if lane.is_active), default=None)


def _lane(
    place: int,
    run: Run,
    snapshot: Snapshot,
    parts: Parts,
    title: str,
    looking: ComparisonView,
    early: int,
    level: int | None,
) -> LaneView:
    sets = parts.train.sets()
    history = History(run.folder.history, sets)
    stored = history.epochs() or [0]
    record = snapshot.record
    latest = max(stored[-1], 0 if record is None else record.epoch)
    if level is not None and snapshot.is_active and (level in stored or (record is not None and record.epoch == level)):
        latest = level
    if looking.follow and record is not None and record.epoch == latest:
        epoch, weights, sharp = record.epoch, record.label_weights, record.sharpness
    else:
        frame = stored_frame(history, latest if looking.follow else looking.epoch, sets)
        epoch, weights, sharp = frame.epoch, frame.weights, frame.sharp
    row = metrics_at(snapshot, epoch)
    before = None if epoch <= early else stored_frame(history, early, sets)
    figures = LaneFigures(
        title,
        sharp.identified,
        sharp.confidence,
        epoch,
        rule=rule_of(run.config),
        given_truth=run.config.method in METHODS and METHODS[run.config.method].needs_truth,
        early=None if before is None or not 0 < before.epoch < epoch else (before.epoch, before.sharp.identified),
        test=_test_counts(row.get("test_accuracy"), parts),
        failure=snapshot.error if snapshot.state == "failed" else None,
    )
    return LaneView(place, run, snapshot, parts, stored, epoch, weights, row, figures)


def _test_counts(accuracy: float | None, parts: Parts) -> tuple[int, int] | None:
    """How many test examples are right, of how many whose truth is known."""
    y = None if parts.test is None else parts.test.y
    if accuracy is None or y is None:
        return None
    known = int((y >= 0).sum())
    return round(accuracy * known), known

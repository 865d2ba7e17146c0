"""Scenes: what the views of a run need of each lane, and the label weights at the moment in view.

Looking at an earlier epoch never changes the run: the page reads its history, whatever the run does meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.analysis.comparison_report import LaneFigures
from pll.analysis.health import still_learns
from pll.analysis.intervals import wilson
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.methods import METHODS
from pll.runs.config import new_estimator
from pll.runs.data import Splits
from pll.runs.history import History
from pll.runs.lanes import lane_titles
from pll.runs.run import Lane, Run
from pll.runs.snapshots import LaneSnapshot, Snapshot
from pll.ui.format import after
from pll.ui.run_view import RunView, run_view
from pll.weights import Sharpness, Weights, accuracy, identified_labels, sharpness, taken_home
from pll.wording import count, percent

CACHED_FRAMES = 12
"""Epochs whose label weights stay in memory: those just looked at are looked at again, in a comparison of each lane."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Label weights at one moment, and quantities derived from them."""

    epoch: int  # epochs complete
    weights: Weights  # (nnz,) label weights
    sharp: Sharpness  # identified label, and how far the weights lie on it, of every example
    # mini-batches of the next epoch that are in `weights` already, and how many it has; None between epochs
    batch: tuple[int, int] | None = None
    has_passes: bool = True  # whether the method goes through the data again and again, as those of votes alone do not
    found: int = 0  # before training: which of the models that the search for settings found likeliest; 0 for none

    @property
    def when(self) -> str:
        """The moment as text."""
        if self.found:
            return "The likeliest settings so far"
        if self.batch is not None:
            return f"After {count(self.epoch, 'pass', 'passes')} and {self.batch[0]} of {self.batch[1]} steps"
        return after(self.epoch) if self.has_passes or not self.epoch else "Computed at once"


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything a view needs of a lane: the run, its data, and the moment in view."""

    run: Run
    place: int  # 0, 1, …: which of its lanes
    title: str  # of the lane: its method, and what it differs in from lanes with the same one
    snapshot: LaneSnapshot
    total: int | None  # epochs of the longest lane; None before the data is read
    splits: Splits
    history: History  # its label weights over the epochs
    epochs: list[int]  # the stored epochs, in order
    looking: RunView  # what this tab shows of the run
    frame: Frame  # the label weights in view; of a lane that has fewer epochs its last ones
    row: dict[str, Any]  # the line of metrics.csv of that epoch; empty before the first, and until it is written

    @property
    def lane(self) -> Lane:
        return self.run.lanes[self.place]

    @property
    def data(self) -> PartialLabelDataset:
        return self.splits.train

    @property
    def sets(self) -> CandidateSets:
        return self.data.sets()

    @property
    def truth(self) -> npt.NDArray[np.int64]:
        """(n,) true labels, −1 where unknown."""
        y = self.data.y
        return np.full(len(self.data), -1, dtype=np.int64) if y is None else y

    @property
    def y_true(self) -> npt.NDArray[np.int64] | None:
        """(n,) true labels, −1 where unknown; None where none is known."""
        return self.truth if self.data.n_labelled else None

    @property
    def right(self) -> float | None:
        """Share of the known true labels that are identified; None before training, and where none is known."""
        return accuracy(self.frame.sharp.identified, self.data.y) if self.frame.epoch else None

    @property
    def confidence(self) -> float | None:
        """Mean top label weight; None before training."""
        return float(self.frame.sharp.top.mean()) if self.frame.epoch else None

    @cached_property
    def figures(self) -> LaneFigures:
        """What a verdict on several lanes reads."""
        sharp, config = self.frame.sharp, self.lane.config
        share, test = self.row.get("test_accuracy"), self.splits.test
        return LaneFigures(
            self.title,
            sharp.identified,
            sharp.top,
            self.frame.epoch,
            rule=new_estimator(config).rule,
            is_supervised=METHODS[config.method].needs_truth,
            test=None if share is None or test is None else (round(share * test.n_labelled), test.n_labelled),
            n_tied=self._n_tied(),
            learns="" if self.snapshot.is_active or not self.is_latest else still_learns(self.snapshot.rows),
        )

    def _n_tied(self) -> int:
        """How many labels are ties, as on Train; of votes alone."""
        if not self.votes_alone:
            return 0
        held_out = self.lane.folder.held_out(self.sets)
        return int(taken_home(self.frame.weights, held_out, self.sets, self.data.tied_votes).is_tied.sum())

    @property
    def votes_alone(self) -> bool:
        """Whether its labels come from votes and nothing else."""
        return not METHODS[self.lane.config.method].needs_features

    @cached_property
    def decided(self) -> dict[int, str]:
        """What people decided about its examples, by row, in words; empty while it trains."""
        from pll.ui.review import service  # loads a database

        return {} if self.snapshot.is_active else service.decided(self.run)

    @property
    def is_latest(self) -> bool:
        """Whether this is the latest epoch."""
        return self.frame.epoch >= max(self.epochs[-1], self.snapshot.epoch)

    @property
    def result_stamp(self) -> tuple[str, int]:
        """What the result of the run is, for everybody who looks at it."""
        return str(self.history.folder), _final_stamp(self.history)

    @property
    def stamp(self) -> tuple[object, ...]:
        """What the label weights in view are, for everybody who looks at this moment of this run."""
        return (*self.result_stamp, self.frame.epoch, self.frame.batch, self.frame.found)

    def before(self) -> Weights | None:
        """(nnz,) label weights at the stored epoch before; None where nothing was identified yet."""
        before = [epoch for epoch in self.epochs if epoch < self.frame.epoch or self.frame.batch is not None]
        if not before or (before[-1] == 0 and self.frame.batch is None):
            return None
        return self.history.weights(before[-1])

    def story(self, row: int) -> tuple[list[int], npt.NDArray[np.float32]]:
        """Return epochs and one example's label weights in them, (epochs, |S_i|); what was read is kept.

        They are the stored epochs, and the latest one where it is in view: when frames are thinned, it is not stored.
        """
        key = (row, _final_stamp(self.history))
        if self.looking.story is None or self.looking.story[0] != key:
            self.looking.story = (key, {})
        known, rows = self.looking.story[1], np.array([row])
        new = [epoch for epoch in self.epochs if epoch not in known]
        try:
            for epoch, (_, weights) in zip(new, self.history.frames(new, rows), strict=True):
                known[epoch] = weights
        except FileNotFoundError:  # nothing is stored yet
            return [self.frame.epoch], self.frame.weights[self.sets.positions(rows)][None]
        epochs, latest = self.epochs, self.frame.epoch
        if latest > epochs[-1] and self.frame.batch is None:
            epochs, known = [*epochs, latest], known | {latest: self.frame.weights[self.sets.positions(rows)]}
        return epochs, np.stack([known[epoch] for epoch in epochs])

    def lately_changed(self, many: int) -> npt.NDArray[np.int64]:
        """Return the (≤ many,) examples whose label changed last, the latest first, over 30 stored epochs."""
        rows: dict[int, None] = {}  # a set that keeps its order
        later = self.frame.sharp.identified
        before = [epoch for epoch in self.epochs if 0 < epoch < self.frame.epoch][::-1][:30]
        for _, weights in self.history.frames(before):
            earlier = identified_labels(weights, self.sets)
            changed = np.flatnonzero(earlier != later)
            later = earlier
            unsure = changed[np.argsort(self.frame.sharp.top[changed], kind="stable")]
            rows |= dict.fromkeys(unsure.tolist())
            if len(rows) >= many:
                break
        return np.array(list(rows)[:many], dtype=np.int64)


def scenes(run: Run, snapshot: Snapshot) -> list[Scene]:
    """What is to be seen now of every lane; UserError where the data of the run cannot be read.

    Parameters
    ----------
    run
        The run.
    snapshot
        Where it stands.
    """
    looking = run_view(run)
    if looking.sought is not None:
        looking.seek(run.splits().train)
    titles = lane_titles([lane.config for lane in run.lanes])
    # The latest epoch that every lane at work has completed: lanes train in turn, so that at most moments some of them
    # are one epoch ahead, and would be compared with an advantage.
    at_work = [lane.epoch for lane in snapshot.lanes if lane.is_active]
    level = min(at_work) if at_work and len(run.lanes) > 1 else None
    result = []
    for place, (lane, state) in enumerate(zip(run.lanes, snapshot.lanes, strict=True)):
        splits = run.splits(place)
        if "truth" in looking.hidden:  # by a lesson
            splits, state = Splits(splits.train.without_truth), state.without_truth
        history = History(lane.folder.history, splits.train.sets())
        epochs = history.epochs() or [0]
        frame = _frame(state, history, epochs, looking, level)
        frame = replace(frame, has_passes=METHODS[lane.config.method].needs_features)
        row = state.rows[frame.epoch - 1] if 0 < frame.epoch <= len(state.rows) else {}
        if state.metrics and frame.epoch == state.metrics.get("epoch"):
            row = row | state.metrics  # of the last epoch those of the final model, as in labels.csv
        result.append(
            Scene(run, place, titles[place], state, snapshot.total, splits, history, epochs, looking, frame, row)
        )
    return result


def identified(row: Mapping[str, Any], data: PartialLabelDataset, test: PartialLabelDataset | None) -> tuple[str, str]:
    """How many identified labels are right, in a row of metrics.csv, and what that rests on.

    With a 95 % interval where only some true labels are known, and the share of the held-out examples in `test`.

    Parameters
    ----------
    row
        Of metrics.csv.
    data
        What was learnt from.
    test
        What was held out; None for nothing.
    """
    share, on_test = row.get("transductive_accuracy"), row.get("test_accuracy")
    n_labelled = data.n_labelled
    if share is None:
        return "–", f"{n_labelled:,} true labels known"
    right = round(share * n_labelled)
    below = f"{right:,} of {n_labelled:,}"
    if n_labelled == len(data):
        below += " labels"
    else:
        low, high = wilson(right, n_labelled)
        below += f" known; {low * 100:.0f} to {high * 100:.0f} % of all"
    if on_test is not None and test is not None and test.n_labelled:
        below += f" · {round(on_test * test.n_labelled):,} of {test.n_labelled:,} unseen"
    return percent(share), below


def _frame(snapshot: LaneSnapshot, history: History, epochs: list[int], looking: RunView, level: int | None) -> Frame:
    if not looking.follow:
        return stored_frame(history, looking.epoch)
    if snapshot.found is not None:
        number, weights = snapshot.found
        return Frame(0, weights, sharpness(weights, history.candidates), found=number)
    moment, record = snapshot.moment, snapshot.record
    if moment is not None and moment.batch:
        at = (moment.batch, moment.batches)
        return Frame(moment.epoch, moment.label_weights, sharpness(moment.label_weights, history.candidates), at)
    latest = max(epochs[-1], 0 if record is None else record.epoch)
    if level is not None and snapshot.is_active and (level in epochs or (record is not None and record.epoch == level)):
        latest = level
    if record is not None and record.epoch == latest:
        return Frame(record.epoch, record.label_weights, record.sharpness)
    return stored_frame(history, latest)


def stored_frame(history: History, epoch: int) -> Frame:
    """The label weights of the stored epoch nearest to `epoch`; uniform where nothing is stored yet.

    Parameters
    ----------
    history
        Label weights over the epochs.
    epoch
        That is wanted.
    """
    for _ in range(2):  # a frame may be thinned out just when it is wanted; another one is the nearest then
        try:
            return _cached(str(history.folder), _final_stamp(history), history.nearest(epoch), history)
        except FileNotFoundError:
            continue
    uniform = history.candidates.uniform_weights()
    return Frame(0, uniform, sharpness(uniform, history.candidates))


def _final_stamp(history: History) -> int:
    """When the final label weights were written: with them the last epoch's frame becomes another one."""
    file = history.folder / "final.npy"
    return file.stat().st_mtime_ns if file.exists() else 0


@st.cache_resource(max_entries=CACHED_FRAMES, show_spinner=False)
def _cached(folder: str, stamp: int, epoch: int, _history: History) -> Frame:
    weights = _history.weights(epoch)
    return Frame(epoch, weights, sharpness(weights, _history.candidates))

"""View state of a run: epoch, example and options in view, and the label weights there.

Looking at an earlier epoch never changes the run: the page reads its history, whatever the run does meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.analysis.intervals import wilson
from pll.candidates import CandidateSets
from pll.colors import percent
from pll.dataset import PartialLabelDataset
from pll.runs.history import History
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.weights import Sharpness, Weights, identified_labels, sharpness

FOLLOWING = ("One example", "Map", "Triangle", "Slow motion")
"""Views that show the chosen example by themselves."""
KEPT_FRAMES = 12
"""Epochs whose label weights stay in memory: those just looked at are looked at again, in a comparison two of each
lane."""


@dataclass(kw_only=True)
class ViewState:
    """What one browser tab shows of something that trains: a run, or a comparison.

    Attributes:
        follow: whether the latest epoch is in view, whichever that is.
        epoch: the epoch in view otherwise.
        asked: number of the timeline's last request, so that it knows when it was answered.
        truth: whether star plots are coloured by true labels.
        hidden: controls that a lesson hides: names of `pll.runs.link.CONTROLS` or `LANE_CONTROLS`, or `view-…`.
    """

    follow: bool = True
    epoch: int = 0
    asked: int = 0
    truth: bool = False
    hidden: frozenset[str] = frozenset()

    def look(self, epoch: int, follow: bool, asked: int) -> None:
        """Show this epoch, or follow the latest one."""
        self.epoch, self.follow, self.asked = epoch, follow, asked


@dataclass
class RunView(ViewState):
    """What one tab shows of a run.

    Attributes:
        run_id: the run.
        selected: the example in view.
        order: how the heatmap's rows are sorted.
        frozen: the order kept by the user; None where rows are sorted again at every epoch.
        view: the view shown, a key of `VIEWS`; the widget may lag behind it.
        listed: the list shown in the gallery; None for the one that fits best.
        phase: how many of the four steps of slow motion are shown, less one.
        slow: the mini-batch in slow motion, preceded by the state it was computed for.
        story: label weights of one example by epoch, preceded by the example.
        pins: pinned examples, in the order in which they were pinned.
        sought: ids in a link (the example in view, pinned examples), until the data has been read.
        lost: those of them that the data does not have.
        presenting: whether the pictures fill the screen.
        outline: the corners of what was drawn on the map; None where nothing is.
    """

    run_id: str
    selected: int | None = None
    order: str = "confidence"
    frozen: npt.NDArray[np.int64] | None = field(default=None, repr=False)
    view: str = "Examples"
    listed: str | None = None
    phase: int = 0
    slow: tuple[tuple[Any, ...], Any] | None = field(default=None, repr=False)
    story: tuple[tuple[Any, ...], dict[int, Weights]] | None = field(default=None, repr=False)
    pins: list[int] = field(default_factory=list)
    sought: tuple[str | None, tuple[str, ...]] | None = None
    lost: tuple[str, ...] = ()
    presenting: bool = False
    outline: list[tuple[int, int]] | None = None

    @property
    def view_key(self) -> str:
        """The widget that says which view is shown."""
        return f"view-{self.run_id}"

    def select(self, example: int) -> None:
        """Select this example."""
        self.selected = example

    def open_story(self, example: int) -> None:
        """Select this example, and show its history unless the current view shows it."""
        self.select(example)
        if self.view not in FOLLOWING:
            self.view = st.session_state[self.view_key] = "One example"

    def draw_outline(self, outline: list[tuple[int, int]] | None) -> None:
        """Keep what was drawn on the map; None clears it."""
        self.outline = outline

    def pin(self, example: int) -> None:
        """Pin or unpin this example."""
        if example in self.pins:
            self.pins.remove(example)
        else:
            self.pins.append(example)

    def seek(self, data: PartialLabelDataset) -> None:
        """Resolve the ids of a link to row numbers."""
        if self.sought is None:
            return
        example, pins = self.sought
        place = {str(name): row for row, name in enumerate(data.row_ids)}
        wanted = [*pins, *([] if example is None else [example])]
        self.lost = tuple(dict.fromkeys(name for name in wanted if name not in place))
        self.pins = [place[name] for name in pins if name in place]
        self.selected = self.selected if example is None else place.get(example)
        self.sought = None

    def hide_truth(self, data: PartialLabelDataset) -> PartialLabelDataset:
        """The data as this lesson shows it: without true labels where they are hidden."""
        return data.without_truth if "truth" in self.hidden else data


def run_view(run: Run) -> RunView:
    """Return this tab's view of a run."""
    state: RunView = st.session_state.setdefault(f"run-view-{run.id}", RunView(run.id))
    return state


def hides_navigation() -> bool:
    """Return whether lesson mode hides the navigation."""
    query = st.query_params
    if "lanes" in query or "comparison" in query:
        looking = st.session_state.get(f"comparison-view-{query.get('comparison')}")
    else:
        looking = st.session_state.get(f"run-view-{query.get('run') or st.session_state.get('run')}")
    if looking is None:  # a link that is just being opened
        return "link" in query and "navigation" in query.get("hide", "").split(",")
    return "navigation" in looking.hidden or getattr(looking, "presenting", False)


@dataclass(frozen=True, eq=False)
class Frame:
    """Label weights at one moment, and quantities derived from them.

    Attributes:
        epoch: epochs complete.
        weights: (nnz,) label weights.
        sharp: identified label, confidence, margin and entropy of every example.
        batch: mini-batches of the next epoch that are in `weights` already, and how many it has; None between epochs.
    """

    epoch: int
    weights: Weights
    sharp: Sharpness
    batch: tuple[int, int] | None = None

    @property
    def when(self) -> str:
        """The moment as text."""
        if self.batch is not None:
            return f"Epoch {self.epoch} and {self.batch[0]} of {self.batch[1]} mini-batches"
        return f"Epoch {self.epoch}" if self.epoch else "Before training"


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything a view needs: the run, its data, and the moment in view.

    Attributes:
        epochs: the stored epochs, in order.
        frame: the label weights in view.
        row: the line of metrics.csv of that epoch; empty before the first.
    """

    run: Run
    snapshot: Snapshot
    data: PartialLabelDataset
    history: History
    epochs: list[int]
    looking: RunView
    frame: Frame
    row: dict[str, Any]

    @property
    def sets(self) -> CandidateSets:
        return self.data.sets()

    @property
    def truth(self) -> npt.NDArray[np.int64]:
        """(n,) true labels, −1 where unknown."""
        y = self.data.y
        return np.full(len(self.data), -1, dtype=np.int64) if y is None else y

    @property
    def is_latest(self) -> bool:
        """Whether this is the latest epoch."""
        return self.frame.epoch >= max(self.epochs[-1], self.snapshot.epoch)

    @property
    def stamp(self) -> tuple[object, ...]:
        """What the label weights in view are, for everybody who looks at this moment of this run."""
        return str(self.history.folder), _final_stamp(self.history), self.frame.epoch, self.frame.batch

    def before(self) -> Weights | None:
        """(nnz,) label weights at the stored epoch before; None where nothing was identified yet."""
        before = [epoch for epoch in self.epochs if epoch < self.frame.epoch or self.frame.batch is not None]
        if not before or (before[-1] == 0 and self.frame.batch is None):
            return None
        return self.history.weights(before[-1])

    def story(self, row: int) -> tuple[list[int], npt.NDArray[np.float32]]:
        """One example's label weights over the epochs, as `History.example`; what was read once is kept."""
        if row in self.history.tracked:
            return self.history.example(row)
        key = (row, _final_stamp(self.history))
        if self.looking.story is None or self.looking.story[0] != key:
            self.looking.story = (key, {})
        known, rows = self.looking.story[1], np.array([row])
        new = [epoch for epoch in self.epochs if epoch not in known]
        for epoch, (_, weights) in zip(new, self.history.frames(new, rows), strict=True):
            known[epoch] = weights
        return self.epochs, np.stack([known[epoch] for epoch in self.epochs])

    def lately_changed(self, many: int) -> npt.NDArray[np.int64]:
        """Return the (≤ many,) examples whose label changed last, the latest first, over 30 stored epochs."""
        found: dict[int, None] = {}  # a set that keeps its order
        later = self.frame.sharp.identified
        before = [epoch for epoch in self.epochs if 0 < epoch < self.frame.epoch][::-1][:30]
        for _, weights in self.history.frames(before):
            earlier = identified_labels(weights, self.sets)
            changed = np.flatnonzero(earlier != later)
            later = earlier
            unsure = changed[np.argsort(self.frame.sharp.confidence[changed], kind="stable")]
            found |= dict.fromkeys(unsure.tolist())
            if len(found) >= many:
                break
        return np.array(list(found)[:many], dtype=np.int64)


def scene(run: Run, snapshot: Snapshot) -> Scene:
    """What is to be seen now.

    Raises:
        UserError: the data of the run cannot be read.
    """
    looking, data = run_view(run), run.parts().train
    looking.seek(data)
    data = looking.hide_truth(data)
    if "truth" in looking.hidden:
        snapshot = without_truth_figures(snapshot)
    sets = data.sets()
    history = History(run.folder.history, sets)
    epochs = history.epochs() or [0]
    frame = _frame(snapshot, history, epochs, looking, sets)
    return Scene(run, snapshot, data, history, epochs, looking, frame, metrics_at(snapshot, frame.epoch))


def metrics_at(snapshot: Snapshot, epoch: int) -> dict[str, Any]:
    """Return the metrics of an epoch; of the last one those of the final model, as in labels.csv. Empty before it."""
    row = snapshot.rows[epoch - 1] if 0 < epoch <= len(snapshot.rows) else {}
    if snapshot.metrics and epoch == snapshot.metrics.get("epoch"):
        row = row | snapshot.metrics
    return row


def identified(row: Mapping[str, Any], data: PartialLabelDataset, test: PartialLabelDataset | None) -> tuple[str, str]:
    """How many identified labels are right, with the number of known true labels behind it.

    Args:
        row: of metrics.csv.
        data: what was learnt from.
        test: held-out examples.

    Returns:
        the share, and what it rests on: with a 95 % interval where only some true labels are known.
    """
    share, on_test = row.get("transductive_accuracy"), row.get("test_accuracy")
    known = 0 if data.y is None else int((data.y >= 0).sum())
    if share is None:
        return "–", f"{known:,} true labels known"
    right = round(share * known)
    below = f"{right:,} of {known:,}"
    if known < len(data):
        low, high = wilson(right, known)
        below += f" known; {low * 100:.0f} to {high * 100:.0f} % of all"
    if on_test is not None and test is not None and test.y is not None:
        n = int((test.y >= 0).sum())
        below += f" · {round(on_test * n):,} of {n:,} unseen"
    return percent(share), below


def without_truth_figures(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without metrics that need true labels."""
    nothing = {"transductive_accuracy": None, "test_accuracy": None}
    metrics = None if snapshot.metrics is None else snapshot.metrics | nothing
    return replace(snapshot, rows=tuple(row | nothing for row in snapshot.rows), metrics=metrics)


def _frame(snapshot: Snapshot, history: History, epochs: list[int], looking: RunView, sets: CandidateSets) -> Frame:
    if not looking.follow:
        return stored_frame(history, looking.epoch, sets)
    moment, record = snapshot.moment, snapshot.record
    if moment is not None and moment.batch:
        at = (moment.batch, moment.batches)
        return Frame(moment.epoch, moment.label_weights, sharpness(moment.label_weights, sets), at)
    if record is not None and record.epoch >= epochs[-1]:
        return Frame(record.epoch, record.label_weights, record.sharpness)
    return stored_frame(history, epochs[-1], sets)


def stored_frame(history: History, epoch: int, sets: CandidateSets) -> Frame:
    """The label weights of the stored epoch nearest to `epoch`; uniform where nothing is stored yet."""
    for _ in range(2):  # a frame may be thinned out just when it is wanted; another one is the nearest then
        try:
            return _cached(str(history.folder), _final_stamp(history), history.nearest(epoch), history, sets)
        except FileNotFoundError:
            continue
    uniform = sets.uniform_weights()
    return Frame(0, uniform, sharpness(uniform, sets))


def _final_stamp(history: History) -> int:
    """When the final label weights were written: with them the last epoch's frame becomes another one."""
    file = history.folder / "final.npy"
    return file.stat().st_mtime_ns if file.exists() else 0


@st.cache_resource(max_entries=KEPT_FRAMES, show_spinner=False)
def _cached(folder: str, stamp: int, epoch: int, _history: History, _sets: CandidateSets) -> Frame:
    weights = _history.weights(epoch)
    return Frame(epoch, weights, sharpness(weights, _sets))

"""What one browser tab shows of a run: epoch, example and options in view. Light: the first page asks for it too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.runs.run import Run
from pll.weights import Weights


@dataclass
class RunView:
    """What one browser tab shows of a run. What is of one example or one picture only runs of one lane use."""

    run_id: str
    follow: bool = True  # whether the latest epoch is in view, whichever that is
    epoch: int = 0  # the epoch in view otherwise, of every lane
    requested: int = 0  # number of the timeline's last request, so that it knows when it was answered
    truth: bool = False  # whether star plots are coloured by true labels
    # controls that a lesson hides: names of `pll.runs.link.CONTROLS`, or `view-…`
    hidden: frozenset[str] = frozenset()
    selected: int | None = None  # the example in view
    order: Literal["confidence", "label"] = "confidence"  # how the heatmap's rows are sorted
    classes: tuple[int, ...] = ()  # those that pictures show where there are many; none for the largest
    view: str = "Pictures"  # the view shown, a key of `VIEWS`; the widget may lag behind it
    listed: str | None = None  # the list shown in the gallery; None for the one that fits best
    phase: int = 0  # how many of the four steps of slow motion are shown, less one
    # the mini-batch in slow motion, preceded by the state it was computed for
    slow: tuple[tuple[Any, ...], Any] | None = field(default=None, repr=False)
    # label weights of one example by epoch, preceded by the example
    story: tuple[tuple[Any, ...], dict[int, Weights]] | None = field(default=None, repr=False)
    sought: str | None = None  # id in a link of the example in view, until the data has been read
    lost: str | None = None  # it, where the data does not have it
    presenting: bool = False  # whether the pictures fill the screen
    outline: list[tuple[int, int]] | None = None  # the corners of what was drawn on the map; None where nothing is

    def look(self, epoch: int, follow: bool, requested: int) -> None:
        """Show this epoch, or follow the latest one.

        Parameters
        ----------
        epoch
            The epoch.
        follow
            Whether the latest is followed.
        requested
            Number of the timeline's request.
        """
        self.epoch, self.follow, self.requested = epoch, follow, requested

    def select(self, example: int) -> None:
        """Select this example."""
        self.selected = example

    def seek(self, data: PartialLabelDataset) -> None:
        """Select the example that a link names."""
        if self.sought is None:
            return
        rows = np.flatnonzero(data.row_ids == self.sought)
        self.selected = int(rows[0]) if len(rows) else None
        self.lost = None if len(rows) else self.sought
        self.sought = None


def run_view(run: Run) -> RunView:
    """Return this tab's view of a run."""
    return view_of(run.id) or show_as(RunView(run.id))


def view_of(run_id: str | None) -> RunView | None:
    """Return this tab's view of a run; None where the tab has not shown it yet."""
    looking: RunView | None = st.session_state.get(f"run-view-{run_id}")
    return looking


def show_as(looking: RunView) -> RunView:
    """Let this be the tab's view of its run from now on, and return it."""
    st.session_state[f"run-view-{looking.run_id}"] = looking
    return looking

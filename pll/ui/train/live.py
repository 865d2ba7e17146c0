"""Live view of a run of one lane: the result once it has ended, progress, pictures, and what experts ask for."""

from __future__ import annotations

import time
from datetime import datetime
from functools import partial

import streamlit as st

from pll.runs.link import slug
from pll.runs.snapshots import Snapshot
from pll.training.metrics import ABOUT, Metric
from pll.ui import live_page
from pll.ui.format import count, duration, plain
from pll.ui.train import delayed_start, ended, pictures, presenter
from pll.ui.train.shown_classes import choose_classes
from pll.ui.train.views import EXPERT_VIEWS, VIEWS, example
from pll.ui.view_state import Scene, identified
from pll.ui.widgets import ShownFigure, bound, show_figures
from pll.weights import CONFIDENT
from pll.wording import percent

PLACEHOLDER = pictures.PICTURES_HEIGHT + 300


def draw(lanes: list[Scene], snapshot: Snapshot) -> None:
    """Everything about a run of one lane that changes.

    Parameters
    ----------
    lanes
        What is to be seen of its one lane.
    snapshot
        Where the run stands.
    """
    now = lanes[0]
    delayed_start.seen(now.run, now.frame.epoch)
    if now.looking.lost:
        st.caption(f":material/info: The link names an example that is not here: {plain(now.looking.lost)}.")
    if now.looking.presenting:
        presenter.line(now)
        live_page.draw_timeline(lanes, snapshot)
        pictures.draw(now)
        return
    with st.container(gap="xsmall"):
        with st.container(gap="xsmall"):  # always there: pictures that change places are made anew
            ended.draw(now)
        live_page.progress(lanes, snapshot)
        _views(now)
    _experts(now)


def _views(now: Scene) -> None:
    """Show the selector of views, the selected view, and the history of the selected example."""
    looking = now.looking
    names = [name for name in VIEWS if f"view-{slug(name)}" not in looking.hidden]
    if not names:
        return
    if looking.view not in names:
        looking.view = names[0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        bound(
            st.segmented_control,
            "View",
            names,
            key=looking.view_key,
            now=looking.view,
            change=partial(setattr, looking, "view"),
            required=True,
            label_visibility="collapsed",
        )
        choose_classes(now)
    VIEWS[looking.view](now)
    if looking.selected is not None:
        example.draw(now, looking.selected)


def _experts(now: Scene) -> None:
    """Show the figures, and one of the views for experts where one is chosen."""
    hidden = now.looking.hidden
    names = [name for name in EXPERT_VIEWS if not hidden & {f"view-{slug(name)}", slug(name)}]
    has_figures = "figures" not in hidden
    if not names and not has_figures:
        return
    with st.expander("For experts", icon=":material/science:", key=f"experts-{now.run.id}"):
        if has_figures:
            _figures(now)
        view = st.segmented_control("What to show", names, key=now.looking.expert_key, label_visibility="collapsed")
        if view is not None:
            EXPERT_VIEWS[view](now)


HELP = {
    "Epoch": "The epoch in view.",
    "Identified": "Training examples whose identified label is the true one, of those whose true label is known; and, "
    "where examples were held out, how many of those are predicted correctly. From some known labels the share of all "
    "follows within an interval (95 %), if those labelled were chosen at random.",
    "Sharp": "Examples whose largest label weight is at least this. Sharp is not sure: that is found out at the end.",
    "Changed": "Identified labels that changed in this epoch.",
    "Sharpness": "The largest label weight, on average; and the share of examples where it is "
    f"{percent(CONFIDENT, 0)} or more. Sharp is not sure.",
    "Time": "The search for settings and pauses included.",
}


def _figures(now: Scene) -> None:
    """The strip of five figures, at the epoch in view, and those of metrics with a caption."""
    snapshot, row = now.snapshot, now.row
    changed = row.get("changed_labels", 0)
    sure = float((now.frame.sharp.top >= CONFIDENT).mean()) if now.frame.epoch else None
    if now.data.y is None:
        right = ("Sharp", percent(sure), f"label weight {percent(CONFIDENT, 0)} or more")
        below = "largest label weight"
    else:
        right = ("Identified", *identified(row, now.data, now.splits.test))
        below = f"{percent(sure)} at {percent(CONFIDENT, 0)} or more"
    every = [
        ("Epoch", f"{now.frame.epoch:,}", f"of {snapshot.total:,}" if snapshot.total else "…"),
        right,
        ("Changed", "–" if changed is None else f"{changed:,}", f"of {count(len(now.data), 'label')}"),
        ("Sharpness", percent(row.get("mean_confidence")), "not begun" if sure is None else below),
        ("Time", duration(_elapsed(now)), "from the start"),
    ]
    every += [(one.title, _figure(row.get(name), one), one.caption) for name, one in ABOUT.items() if one.caption]
    with st.container(key="run-figures"):
        show_figures([ShownFigure(name, value, HELP.get(name, ""), below) for name, value, below in every])


def _figure(value: float | None, about: Metric) -> str:
    """A metric as people read it: a share in percent, a count with separators."""
    if value is None:
        return "–"
    return percent(value) if about.unit == "%" else f"{value:,.6g}"


def _elapsed(now: Scene) -> float:
    """Seconds from the start of a run to its end, or to now while it is active."""
    folder = now.lane.folder
    began = datetime.fromisoformat(str(folder.about()["created"])).timestamp()
    return (time.time() if now.snapshot.is_active else float(folder.state()["changed"])) - began

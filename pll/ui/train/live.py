"""Live view of a run of one lane: timeline, figures, star plot, heatmap and views."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pll.colors import percent
from pll.runs.link import slug
from pll.runs.snapshots import Snapshot
from pll.ui import live_page
from pll.ui.components.star import SURE
from pll.ui.format import count, duration, plain
from pll.ui.train import pictures, presenter
from pll.ui.train.views import VIEWS
from pll.ui.view_state import Scene, identified

PLACEHOLDER = pictures.HEIGHT + 300


def draw(lanes: list[Scene], snapshot: Snapshot) -> None:
    """Everything about a run of one lane that changes."""
    now = lanes[0]
    if now.looking.lost:
        st.caption(
            f":material/info: The link names examples that are not here: {plain(', '.join(now.looking.lost[:5]))}."
        )
    if now.looking.presenting:
        presenter.line(now)
        live_page.draw_timeline(lanes, snapshot)
        pictures.draw(now)
        return
    above = st.container(gap="xsmall")
    below = st.container()  # at the usual distances
    drawn = [(above, partial(summary, now, snapshot)), (below, partial(views, now))]
    for place, draw_part in drawn[:: -1 if VIEWS[now.looking.view].is_first else 1]:
        with place:
            draw_part()


def summary(now: Scene, snapshot: Snapshot) -> None:
    """Where the run stands: timeline, figures and the two pictures."""
    live_page.progress([now], snapshot)
    if "figures" not in now.looking.hidden:
        figures(now)
    pictures.draw(now)


def figures(now: Scene) -> None:
    """The strip of five figures, at the epoch in view."""
    snapshot, row = now.snapshot, now.row
    spent = sum(r["seconds"] or 0.0 for r in snapshot.rows)
    changed = row.get("changed_labels", 0)
    sure = float((now.frame.sharp.confidence >= SURE).mean()) if now.frame.epoch else None
    truth = None if now.data.y is None else identified(row, now.data, now.parts.test)
    strip = [
        ("Epoch", f"{now.frame.epoch:,}", f"of {snapshot.total:,}" if snapshot.total else "…", "The epoch in view."),
        ("Identified", *truth, _I)
        if truth is not None
        else ("Sure", percent(sure), f"label weight {percent(SURE, 0)} or more", _S),
        ("Changed", "–" if changed is None else f"{changed:,}", f"of {count(len(now.data), 'label')}", _C),
        (
            "Mean confidence",
            percent(row.get("mean_confidence")),
            _below_confidence(sure, has_truth=truth is not None),
            _M,
        ),
        ("Time left", duration(snapshot.seconds_left), f"{duration(spent)} so far", "Estimated from the last epochs.")
        if snapshot.is_active
        else ("Time", duration(spent), "for all epochs", "What the epochs cost, without pauses."),
    ]
    with st.container(key="run-figures"):
        cells = st.grid(5, min_column_width=140, gap="small")
    for label, value, below, help_ in strip:
        with cells.cell(), st.container(gap=None):
            st.metric(label, value, help=help_)
            st.caption(below)


def _below_confidence(sure: float | None, *, has_truth: bool) -> str:
    if sure is None:
        return "not begun"
    return f"{percent(sure)} at {percent(SURE, 0)} or more" if has_truth else "largest label weight"


_I = (
    "Training examples whose identified label is the true one, of those whose true label is known; and, where examples "
    "were held out, how many of those are predicted correctly. From some known labels the share of all follows within "
    "an interval (95 %), if those labelled were chosen at random."
)
_S = "Examples whose largest label weight is at least this. Sure is not right: see the verdict when the run has ended."
_C = "Identified labels that changed in this epoch."
_M = f"The largest label weight, on average; and the share of examples where it is {percent(SURE, 0)} or more."


def views(now: Scene) -> None:
    """Show the selector of views and the selected view; the others are not computed."""
    looking = now.looking
    names = [
        name
        for name, view in VIEWS.items()
        if (now.data.y is not None or not view.needs_truth) and f"view-{slug(name)}" not in looking.hidden
    ]
    if not names:
        return
    if looking.view not in names:  # put away, or of no use without the truth
        looking.view = names[0]
    st.session_state[looking.view_key] = looking.view  # and no default beside it, of which Streamlit would warn

    def choose() -> None:
        looking.view = st.session_state[looking.view_key] or looking.view

    st.segmented_control(
        "View",
        names,
        required=True,
        key=looking.view_key,
        on_change=choose,
        label_visibility="collapsed",
    )
    st.markdown(f"##### {VIEWS[looking.view].question}")
    VIEWS[looking.view].draw(now)

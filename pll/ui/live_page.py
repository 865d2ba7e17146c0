"""Common parts of the Train and Compare pages: heading, and a part that refreshes itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

import streamlit as st

from pll.runs.snapshots import ComparisonSnapshot, Snapshot
from pll.runs.worker import Worker
from pll.ui import session
from pll.ui.format import STATES, plain, state_icon
from pll.ui.pace import pace
from pll.ui.review.error_messages import show_errors

T = TypeVar("T", bound=Worker)
IDLE = 3.0
"""Seconds between refreshes while paused: another tab may resume it."""
PATIENCE = 0.5
"""Seconds to wait for the data before a placeholder is shown."""


def heading(
    snapshot: Snapshot | ComparisonSnapshot,
    in_short: str,
    hidden: Collection[str],
    *,
    settings: Callable[[], None],
    share: Callable[[], None],
    onward: Callable[[], None],
    beside: Callable[[], None] | None = None,
) -> None:
    """Show name, state and settings; at the right, sharing and next steps.

    Args:
        in_short: how it was set up, in one line.
        hidden: what a lesson puts away.
        beside: draws what is beside that line.
    """
    with st.container(
        key="run-heading", horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"
    ):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            st.title(plain(snapshot.name), width="content", anchor=False)
            st.markdown(f"{state_icon(snapshot)} {STATES[snapshot.state]}", width="content")
            if "settings" not in hidden:
                with st.popover("Settings", icon=":material/tune:", type="tertiary"):
                    settings()
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            if not hidden:  # a lesson is shared by its author
                share()
            if "next" not in hidden:
                onward()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if "settings" not in hidden:
            st.caption(plain(in_short), width="content")
        if beside is not None:
            beside()


def refreshed(draw: Callable[[T, str], None], what: T, state: str, every: float) -> None:
    """Draw a part of the page, and refresh it while it may change.

    Args:
        draw: given `what`, and the state that the rest of the page was made for.
        every: seconds between two looks at what moves; more where many tabs look (`Pace`).
    """
    shortest = {"running": every, "queued": every, "paused": IDLE}.get(state)
    interval = None if shortest is None else pace().interval(shortest)

    @show_errors
    def draw_settled() -> None:
        session.settle_address()
        if session.registry().role(what) is None:
            st.rerun()  # it is no longer shared; the page says so
        if shortest is None or interval is None:
            draw(what, state)
            return
        with pace().counted(session.tab_id()):
            draw(what, state)
        if pace().has_changed(interval, shortest):
            st.rerun()  # the browser keeps the interval until all of the page is made anew

    st.fragment(draw_settled, run_every=interval)()

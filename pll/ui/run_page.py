"""The page of a run of one or more lanes, at work or ended: Train and Compare."""

from __future__ import annotations

import streamlit as st

from pll.runs.run import Run
from pll.ui import controls, links, live_page, session
from pll.ui.compare import live as lanes
from pll.ui.format import plain
from pll.ui.run_view import run_view
from pll.ui.train import live as lane
from pll.ui.widgets import button, popover, show_error


def follow(run: Run) -> None:
    """Heading, controls, and what changes while the run is at work."""
    snapshot, looking = run.snapshot(), run_view(run)
    draw, height = (lanes.draw, lanes.HEIGHT_OF_LANES) if run.is_comparison else (lane.draw, lane.HEIGHT_OF_PICTURES)
    if looking.presenting:
        lane.presenter_strip(run, snapshot)
        live_page.watch(run, snapshot.state, draw, height)
        return
    with st.container(gap="xsmall"):
        beside_state, right = live_page.heading(snapshot)
        with beside_state:
            if run.is_comparison and "settings" not in looking.hidden:
                with st.popover("Settings", icon=":material/tune:", type="tertiary"):
                    lanes.settings(run)
            controls.restart_finished(run, snapshot.state)
        with right:
            if not looking.hidden:  # a lesson is shared by its author
                popover("Share", links.share, run, snapshot, key="share", icon="share", kind="secondary")
            if "next" not in looking.hidden:
                if not run.is_comparison:
                    lane.presenter_switch(looking)
                kind: session.Kind = "comparison" if run.is_comparison else "run"
                button(f"New {kind}", session.view, None, kind, icon="add", key="new")
        if run.is_comparison and "settings" not in looking.hidden:
            st.caption(plain(lanes.format_shared(run)))
        controls.bar(run, snapshot.state)
        with st.container(gap="xsmall"):  # always there: pictures that change places are made anew
            if snapshot.error:
                show_error(snapshot.error)
        live_page.watch(run, snapshot.state, draw, height)
        links.end_of_lesson(looking)
    controls.begin_once_shown(run)

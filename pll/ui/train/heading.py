"""Heading of a run of one lane: settings, notes and next steps; and the demo, which begins once it is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Literal

import streamlit as st

from pll.runs.config import format_settings
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.ui import controls, live_page, session
from pll.ui.format import count, plain
from pll.ui.routes import go
from pll.ui.train import chosen, presenter, setup
from pll.ui.view_state import run_view

SHOWN_BEFORE = 1.2
"""Seconds that the demo shows its state before training."""


def heading(run: Run, snapshot: Snapshot, share: Callable[[], None]) -> None:
    """Show name, state and settings of a run; at the right, sharing and next steps."""
    live_page.heading(
        snapshot,
        format_settings(run.config, chosen.settings_of(run)),
        run_view(run).hidden,
        settings=partial(setup.overview, run.config, chosen.settings_of(run)),
        share=share,
        onward=partial(what_next, run, snapshot),
        beside=partial(_beside, run, snapshot),
    )


def _beside(run: Run, snapshot: Snapshot) -> None:
    """Show what stands beside the settings: what is to be known of the run, and how a finished one begins again."""
    controls.restart_finished(run, snapshot.state)
    told = chosen.told(run)
    notes = [note for note in snapshot.notes if note not in told]
    if notes:
        with st.popover(count(len(notes), "note"), icon=":material/info:", type="tertiary", key="notes"):
            for note in notes:
                st.markdown(plain(note))


def begin_when_shown(run: Run) -> None:
    """Let a run that waits before its first epoch begin once its page has shown that."""
    st.session_state["begins"] = run.id


def begin(run: Run) -> None:
    """At the end of a page that has shown a run before its first epoch: let it begin, where that was asked for."""
    if st.session_state.get("begins") != run.id:
        return
    del st.session_state["begins"]
    time.sleep(SHOWN_BEFORE)  # of this page alone; what stands on it has been sent
    controls.play(run)
    st.rerun()


def what_next(run: Run, snapshot: Snapshot) -> None:
    """Show next steps: review, export, new run; the export stands out where the run is healthy."""
    state = snapshot.state
    labels = {"finished": "Export labels and model", "stopped": "Export labels so far"}
    if state in labels:
        if st.button("Review uncertain labels", icon=":material/rate_review:", key="review"):
            go("review", run=run.id)
        is_healthy = snapshot.health is not None and snapshot.health.is_healthy
        kind: Literal["primary", "secondary"] = "primary" if is_healthy else "secondary"
        if st.button(labels[state], type=kind, icon=":material/download:", key="export"):
            go("export", run=run.id)
    presenter.button(run_view(run))
    if st.button("New run", icon=":material/add:", key="new"):
        session.view(None)
        st.rerun()

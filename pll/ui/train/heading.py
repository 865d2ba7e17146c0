"""Heading of a run of one lane; and the demo, which begins once it is shown."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import streamlit as st

from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.ui import controls, live_page, session
from pll.ui.train import presenter
from pll.ui.view_state import run_view

SHOWN_BEFORE = 1.2
"""Seconds that the demo shows its state before training."""


def heading(run: Run, snapshot: Snapshot, share: Callable[[], None]) -> None:
    """Show name and state of a run; at the right, sharing, presenting and a new run."""
    live_page.heading(
        snapshot,
        run_view(run).hidden,
        actions=partial(controls.restart_finished, run, snapshot.state),
        share=share,
        onward=partial(what_next, run),
    )


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


def what_next(run: Run) -> None:
    """Show the projector's view, and a new run."""
    presenter.button(run_view(run))
    if st.button("New run", icon=":material/add:", key="new"):
        session.view(None)
        st.rerun()

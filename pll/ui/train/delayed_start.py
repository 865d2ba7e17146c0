"""A run that waits for eyes: the demo begins once its page has shown it, and a short run is slow until it was seen."""

from __future__ import annotations

import time

import streamlit as st

from pll.runs.run import Run
from pll.ui import controls

START_DELAY = 1.2
"""Seconds that the demo shows its state before training."""
SEEN_PACE = 12.0
"""Epochs a second until then: what is slower by itself, as most is, is not slowed down."""
SEEN_SECONDS = 3.0
"""Seconds of training that its page shows at that pace."""
SHORT_RUN = 500
"""Epochs of a run that nobody minds at that pace, should its page be left before it was seen."""


def slow_until_seen(run: Run) -> None:
    """Let a run that has just been started, and may be over in a second, be seen."""
    if int(run.config.params.get("epochs", SHORT_RUN)) <= SHORT_RUN:
        run.set_pace(SEEN_PACE)
        st.session_state["unseen"] = (run.id, None)


def seen(run: Run, epoch: int) -> None:
    """Called whenever the page of a run has drawn an epoch: at full speed from `SEEN_SECONDS` after the first on.

    Parameters
    ----------
    run
        The run on the page.
    epoch
        That the page has drawn; 0 before the first.
    """
    unseen, since = st.session_state.get("unseen", (None, None))
    if unseen != run.id or not epoch:
        return
    if since is None:
        st.session_state["unseen"] = (run.id, time.monotonic())
    elif time.monotonic() - since > SEEN_SECONDS:
        del st.session_state["unseen"]
        if run.pace == SEEN_PACE:  # else somebody has chosen another
            run.set_pace(None)


def begin_when_shown(run: Run) -> None:
    """Let a run that waits before its first epoch begin once its page has shown that."""
    st.session_state["begins"] = run.id


def begin(run: Run) -> None:
    """At the end of a page that has shown a run before its first epoch: let it begin, where that was asked for."""
    if st.session_state.get("begins") != run.id:
        return
    del st.session_state["begins"]
    time.sleep(START_DELAY)  # of this page alone; what stands on it has been sent
    controls.play(run)
    st.rerun()

"""A run that begins once its page has shown it before training: the demo."""

from __future__ import annotations

import time

import streamlit as st

from pll.runs.run import Run
from pll.ui import controls

START_DELAY = 1.2
"""Seconds that the demo shows its state before training."""


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

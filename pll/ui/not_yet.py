"""What pages about labels show of a run that has none yet."""

from __future__ import annotations

import streamlit as st

from pll.runs.run import Run
from pll.ui import controls
from pll.ui.choose_run import has_labels
from pll.ui.format import format_state
from pll.ui.routes import link
from pll.ui.widgets import heading


def not_yet(run: Run, what: str) -> None:
    """A run without labels: it is at work, or has come to nothing.

    Parameters
    ----------
    run
        The run in view.
    what
        What is done with labels on this page.
    """
    heading(run.name)
    snapshot = run.snapshot()
    state = format_state(snapshot)
    state += "" if state.endswith((".", "…")) else "."
    if snapshot.is_active:
        st.info(f"{state} You can {what} its labels when it has ended or was stopped.", icon=":material/hourglass_top:")
        link("train", "Watch it train", run=run.id)
        _wait(run)
    else:
        st.info(f"{state} It has no labels to {what}.", icon=":material/info:")
        controls.resume(run, snapshot.state)
        link("train", "Go to the run", run=run.id)


@st.fragment(run_every=2.0)
def _wait(run: Run) -> None:
    """Goes on by itself when the run has ended."""
    if has_labels(run) and not run.is_alive():
        st.rerun()

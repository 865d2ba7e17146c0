"""Presenter mode of a run: the pictures fill a projector, type is larger, the transport is one strip."""

from __future__ import annotations

import streamlit as st

from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.ui import controls, session
from pll.ui.view_state import RunView, Scene, identified, run_view
from pll.ui.widgets import button

PRESENT_KEY = "f"
"""The key that begins presenter mode, and ends it."""
STYLE = """<style>
header[data-testid="stHeader"] { display: none; }
[data-testid="stMainBlockContainer"] { max-width: none; padding: 0.6rem 1.2rem 0; }
[data-testid="stMainBlockContainer"] [data-testid="stVerticalBlock"] { gap: 0.4rem; }
[class*="st-key-picture-head-"] { display: none; }
html { font-size: 18px; }
.st-key-pause, .st-key-play_arrow { min-width: 8rem; }  /* its width on the page is in pixels */
</style>"""


def _toggle(looking: RunView) -> None:
    """Begin presenter mode, or end it."""
    looking.presenting = not looking.presenting


def switch(looking: RunView) -> None:
    """Show the button that begins presenter mode, or ends it."""
    button(
        "Leave" if looking.presenting else "Present",
        _toggle,
        looking,
        icon="close_fullscreen" if looking.presenting else "present_to_all",
        key="present",
        shortcut=PRESENT_KEY,
        help=None if looking.presenting else "The pictures fill the screen, for a projector.",
    )


def strip(run: Run, snapshot: Snapshot) -> None:
    """Show the transport in one strip, and the way out.

    Parameters
    ----------
    run
        The run.
    snapshot
        Where it stands.
    """
    st.html(STYLE)
    looking = run_view(run)
    movable = snapshot.state in controls.MOVABLE and not run.is_elsewhere() and session.registry().may(run, "owner")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        switch(looking)
        if movable and "transport" not in looking.hidden:
            moving = snapshot.state in ("running", "queued")
            controls.play_or_pause(run, moving=moving, disabled=False)
            controls.steps(run, disabled=False)
        if movable and "speed" not in looking.hidden:
            controls.speed(run)


def line(now: Scene) -> None:
    """The figures at the epoch in view, in one line."""
    total = f" of {now.snapshot.total:,}" if now.snapshot.total else ""
    words = [f"**{now.frame.when}{total}**" if now.frame.epoch else f"**{now.frame.when}**"]
    if now.data.y is not None and now.row:
        share, below = identified(now.row, now.data, now.splits.test)
        words.append(f"{share} right ({below})")
    if now.row:
        words.append(f"{now.row['changed_labels']:,} labels changed")
    st.markdown(" · ".join(words))

"""Where a comparison stands, in words; and who trains a run that this page cannot move."""

from __future__ import annotations

import streamlit as st

from pll.runs.run import Run
from pll.runs.snapshots import ComparisonSnapshot
from pll.ui.routes import link
from pll.ui.words import STATES, count, duration


def standing_of_lanes(snapshot: ComparisonSnapshot) -> str:
    """Where it stands, in a sentence."""
    total = f" of {snapshot.total}" if snapshot.total else ""
    left = f" · about {duration(snapshot.seconds_left)} left" if snapshot.seconds_left else ""
    stage = next((lane.stage for lane in snapshot.lanes if lane.stage and lane.state == "running"), "")
    match snapshot.state:
        case "queued" if snapshot.ahead:
            return f"Waiting: {count(snapshot.ahead, 'run')} first on this machine."
        case "queued":
            return "Getting ready…"
        case "running":
            return f"Training: epoch {snapshot.epoch}{total}{f' · {stage}' if stage else ''}{left}"
        case "paused":
            return f"Paused after epoch {snapshot.epoch}{total}."
        case "stopped" | "interrupted":
            return (
                f"{STATES[snapshot.state].capitalize()} after epoch {snapshot.epoch}{total}. It can go on from there."
            )
        case "failed":
            return snapshot.error or "No lane could be trained."
        case _:
            return f"Finished: {count(snapshot.epoch, 'epoch')}."


def trained_elsewhere(run: Run) -> None:
    """Say who has this run in hand, and lead there where that can be."""
    comparison = run.folder.about().get("comparison")
    if comparison:
        said = "This run is a lane of a comparison, which pauses and stops all its lanes together."
        st.info(said, icon=":material/compare:")
        link("compare", "Open the comparison", comparison=str(comparison))
        return
    st.info(
        "Another process trains this run (a shell, or another server). It can be watched here, but not paused or "
        "stopped.",
        icon=":material/visibility:",
    )

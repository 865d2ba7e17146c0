"""Which of the runs that have labels is in view: on the Review and the Export page."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, tzinfo
from itertools import islice
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from pll.methods import method_title
from pll.runs.run import Run, readable
from pll.ui import session
from pll.ui.format import format_when, plain, state_icon
from pll.ui.routes import link, nothing_yet
from pll.ui.widgets import bound, openable, symbol
from pll.wording import count

MOST_RECENT_RUNS = 5
"""Runs that are offered where none is in view."""


def has_labels(run: Run) -> bool:
    """Whether a run has come to labels and a model."""
    return (run.folder.path / "model.json").exists()


def choose_run(in_view: Run | None, what: str, icon: str) -> None:
    """A choice among the runs with labels, which becomes the run in view; where none is, what to do next.

    Parameters
    ----------
    in_view
        The run that the page shows; None for none.
    what
        What is done with its labels.
    icon
        Beside that, the name of a Material symbol.
    """
    every = readable(session.registry().all())
    runs = {} if in_view is None else {in_view.id: in_view}
    runs |= {run.id: run for run in every if has_labels(run)}
    if not runs:
        at_work = next((run for run in every if run.snapshot().is_active), None)
        if at_work is None:
            nothing_yet(f"Nothing to {what} yet. Train on your data first.", icon, "data", "Upload or choose data")
        else:
            sentence = f"Nothing to {what} yet: {plain(at_work.name)} is at work."
            nothing_yet(sentence, icon, "train", "Watch it train", run=at_work.id)
    elif in_view is None:
        st.info(f"Open the run whose labels you want to {what}.", icon=symbol(icon))
        for run in islice(runs.values(), MOST_RECENT_RUNS):
            examples = count(run.folder.about().get("data", {}).get("examples", 0), "example")
            about = f"{method_title(run.config.method)} · {examples} · {begun(run)}"
            title = f"{state_icon(run.snapshot())} **{plain(run.name)}**"
            openable(title, about, session.view, run, key=f"open-{run.id}")
        if len(runs) > MOST_RECENT_RUNS:
            link("home", f"All {len(runs):,} runs")
        link("data", "Get labels for other data")
    elif len(runs) > 1:
        bound(
            st.selectbox,
            "Run",
            _titles(runs),
            key="choose-run",
            now=in_view.id,
            change=lambda chosen: session.view(runs[chosen]),
            label_visibility="collapsed",
        )


def begun(run: Run) -> str:
    """Return when a run was made, in the zone of the reader."""
    try:
        zone: tzinfo = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):  # a name unknown to this machine
        zone = UTC
    return format_when(run.created(), zone)


def _titles(runs: dict[str, Run]) -> dict[str, str]:
    """Name and time of each run; its method too where another has both."""
    titles = {name: f"{run.name} · {begun(run)}" for name, run in runs.items()}
    several = {title for title, many in Counter(titles.values()).items() if many > 1}
    return {
        name: f"{title} · {method_title(runs[name].config.method)}" if title in several else title
        for name, title in titles.items()
    }

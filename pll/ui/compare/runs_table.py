"""Table of all runs: filter them, see in what they differ, open them, or lay them side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from pll.colors import percent
from pll.runs.lanes import lane_titles
from pll.runs.run import MOST_LANES, Run, readable
from pll.runs.runs_table import differences, runs_frame
from pll.ui import charts, session
from pll.ui.format import STATES, count, plain
from pll.ui.routes import link

HEADINGS = {
    "name": "Name",
    "method": "Method",
    "candidates": "Candidates",
    "state": "State",
    "identified": "Correct",
    "unseen": "Unseen correct",
    "mean_confidence": "Mean confidence",
    "health": "Health",
    "epochs": "Epochs",
    "model": "Model",
    "seed": "Seed",
    "data": "Data",
    "created": "Created",
}
"""Columns of the table in their order."""
HELP = {
    "identified": "Identified labels that are the true ones, of the true labels known.",
    "unseen": "Held-out examples whose predicted label is the true one.",
    "mean_confidence": "Mean top label weight. High confidence is no evidence of being right.",
    "health": "Whether labels hardly change any more and are better than chance; otherwise the problem found.",
}


def choose() -> list[str]:
    """Show the table of runs and what is chosen in it; return the ids of the chosen runs that can be compared."""
    runs = {run.id: run for run in readable(session.registry().all())}
    if not runs:
        st.info("You have no runs yet. Train one, or train methods together here.", icon=":material/info:")
        link("train", "Train")
        return []
    frame = runs_frame(list(runs.values()))
    words = st.text_input(
        "Filter",
        key="runs-filter",
        placeholder="Name, data, method, state or health",
        icon=":material/filter_alt:",
        width=420,
    )
    found = filtered(frame, words)
    rows = selected(found, key=f"runs-table-{words}")
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(f"{len(found):,} of {count(len(frame), 'run')}. Select rows to open or compare them.")
        charts.csv_button(lambda: found, "candid-runs.csv", key="runs-csv")
    chosen = [runs[run_id] for run_id in found["id"].iloc[rows]]
    if chosen:
        show_chosen(chosen, found.iloc[rows])
    return [run.id for run in chosen if _can_be_shown(run)]


def filtered(frame: pd.DataFrame, words: str) -> pd.DataFrame:
    """The runs that hold every word somewhere in their texts, ignoring case.

    Examples
    --------
    >>> frame = pd.DataFrame({"name": ["Digits", "Lost"], "method": ["PRODEN", "CLPL"], "seed": [1, 2]})
    >>> filtered(frame, "proden dig")["name"].tolist()
    ['Digits']
    """
    texts = frame.select_dtypes(exclude=["number", "datetime", "datetimetz"]).astype(str).agg(" ".join, axis=1)
    texts = texts.str.casefold()
    keep = pd.Series(True, index=frame.index)
    for word in words.casefold().split():
        keep &= texts.str.contains(word, regex=False)
    return frame[keep].reset_index(drop=True)


def selected(frame: pd.DataFrame, key: str) -> list[int]:
    """Show the runs; return the places of the rows that are selected."""
    event: Any = st.dataframe(
        readable_frame(frame),
        hide_index=True,
        key=key,
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            title: st.column_config.Column(title, help=HELP.get(name), pinned=name == "name" or None)
            for name, title in HEADINGS.items()
        }
        | {"Created": st.column_config.DatetimeColumn("Created", format="YYYY-MM-DD HH:mm")},
        height=min(38 + 35 * max(len(frame), 1), 430),
        alt="Your runs with results, health and settings",
    )
    rows = event.selection.rows if hasattr(event, "selection") else []
    return [row for row in rows if row < len(frame)]


def readable_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The table as people read it: shares with their n; columns of which nothing is known are left out."""
    shown = frame.assign(
        state=frame["state"].map(lambda state: STATES.get(state, state)),
        identified=_shares(frame, "transductive_accuracy", "known_labels"),
        unseen=_shares(frame, "test_accuracy", "known_test_labels"),
        mean_confidence=[_percent(share) for share in frame["mean_confidence"]],
    )
    shown = shown[list(HEADINGS)].rename(columns=HEADINGS)
    return shown.loc[:, [column for column in shown if not (shown[column] == "").all() or not len(shown)]]


def _shares(frame: pd.DataFrame, share: str, known: str) -> list[str]:
    return [
        _percent(value) + ("" if pd.isna(value) or pd.isna(n) or not n else f" of {int(n):,}")
        for value, n in zip(frame[share], frame[known], strict=True)
    ]


def _percent(share: float | None) -> str:
    return "" if share is None or pd.isna(share) else percent(share)


def show_chosen(runs: Sequence[Run], frame: pd.DataFrame) -> None:
    """Links to the chosen runs, and the settings in which they differ beside their results."""
    titles = lane_titles([run.config for run in runs])
    with st.container(horizontal=True, gap="small"):
        for run, title in zip(runs, titles, strict=True):
            link("train", f"Open {plain(title)}", run=run.id)
    if len(runs) < 2:
        return
    table = diff_table(runs, frame, titles)
    st.markdown("**Differences**")
    st.dataframe(table, hide_index=True, key="runs-diff", alt="Settings and results in which the chosen runs differ")
    charts.csv_button(lambda: table, "candid-run-differences.csv", key="runs-diff-csv")


def diff_table(runs: Sequence[Run], frame: pd.DataFrame, titles: Sequence[str]) -> pd.DataFrame:
    """Results of runs, then the settings in which they differ: a row each, a column a run."""
    results = readable_frame(frame)
    names = [name for name in ("Correct", "Unseen correct", "Mean confidence", "Health", "State") if name in results]
    top = [[name, *results[name].tolist()] for name in names]
    settings = differences(runs).to_numpy().tolist()
    return pd.DataFrame([*top, *settings], columns=["", *titles])


def _can_be_shown(run: Run) -> bool:
    snapshot = run.snapshot()
    return snapshot.state in ("finished", "stopped") and bool(snapshot.rows)


def problem(chosen: Sequence[str]) -> str:
    """Why these runs cannot be laid side by side; "" where they can."""
    if 2 <= len(chosen) <= MOST_LANES:
        return ""
    return f"Select two to {MOST_LANES} finished runs to lay them side by side."

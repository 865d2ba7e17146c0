"""Long work as a page shows it: how far it is, how fast, how long still, and a button to stop it.

The work is a job of this process (pll.runs.background): it goes on while people look at other pages, and two who
want the same share one. A page polls it; the thread never touches Streamlit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import streamlit as st

from pll.runs.background import JobBoard, JobStatus, Report, default_board
from pll.ui.words import duration

EVERY = 0.5
"""Seconds between two looks."""
CHECKING = 0.2
"""The part of reading a table of text that checking its encoding takes."""
AT_ONCE = 0.3
"""Seconds a page waits before it shows progress: what is quicker is simply there."""


def board() -> JobBoard:
    """Return the jobs of this process."""
    return default_board()


def result_of(key: str, title: str, work: Callable[[Report], Any], *, slot: str = "") -> Any:
    """What the work returns, or None while it is not done; then its progress, or why it ended, is on the page.

    The work begins the first time; the result is handed over once, and is the caller's to keep.

    Args:
        key: what tells this work from any other.
        title: of what is done, as in "Reading big.csv".
        slot: of this kind a tab has one at a time: another key in the same slot stops the work before, which nobody
            waits for any more.
    """
    if slot:
        before = st.session_state.get(f"job-{slot}")
        if before not in (None, key):
            board().forget(before)
        st.session_state[f"job-{slot}"] = key
    job = board().start(key, work)
    job.wait(AT_ONCE)
    standing = job.status()
    if standing.state == "done":
        found = job.result()
        board().forget(key)
        return found
    short = hashlib.sha256(key.encode()).hexdigest()[:12]
    if standing.state == "working":
        st.button("Stop", icon=":material/stop:", key=f"stop-{short}", on_click=job.stop)
        _watch(key, title)
    else:
        if standing.state == "failed":
            st.error(standing.error, icon=":material/error:")
        else:
            st.info(f"{title} was stopped.", icon=":material/stop_circle:")
        st.button("Try again", icon=":material/refresh:", key=f"again-{short}", on_click=board().forget, args=(key,))
    return None


@st.fragment(run_every=EVERY)
def _watch(key: str, title: str) -> None:
    job = board().get(key)
    if job is None or job.status().state != "working":
        st.rerun()
    else:
        standing = job.status()
        st.progress(in_all(standing), text=f"{title}{in_words(standing)}")


def in_all(standing: JobStatus) -> float:
    """How much of all the work is done, 0-1: the bar of a file that is checked, then read, does not start anew.

    >>> in_all(JobStatus("working", "bytes checked", 5, 10)), round(in_all(JobStatus("working", "rows", 5, 10)), 3)
    (0.1, 0.6)
    """
    if standing.what == "bytes checked":
        return CHECKING * standing.share
    return CHECKING + (1 - CHECKING) * standing.share if standing.what == "rows" else standing.share


def in_words(standing: JobStatus) -> str:
    """How far a job is: what stands behind its title.

    >>> in_words(JobStatus("working", "bytes", 5_100_000, 11_600_000, 2_000_000.0))
    ': 5.1 of 11.6 MB · 2.0 MB a second · 3 s left'
    >>> in_words(JobStatus("working", "rows", 12_000, None)), in_words(JobStatus("working"))
    (': 12,000 rows', '…')
    """
    if not standing.what:
        return "…"
    is_bytes = standing.what.startswith("bytes")
    unit, what = (1e6, standing.what.replace("bytes", "MB")) if is_bytes else (1, standing.what)

    def figure(number: float) -> str:
        return f"{number / unit:,.1f}" if is_bytes else f"{number:,.0f}"

    parts = [figure(standing.done) + (f" of {figure(standing.total)}" if standing.total else "") + f" {what}"]
    if standing.rate and standing.rate >= 1:
        parts.append(f"{figure(standing.rate)}{' MB' if is_bytes else ''} a second")
    if standing.seconds_left is not None:
        parts.append(f"{duration(max(1.0, standing.seconds_left))} left")
    return f": {' · '.join(parts)}"

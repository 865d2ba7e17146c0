"""Background jobs on a page: progress, rate, time left, and a button to stop.

The work is a job of this process (pll.runs.jobs): it continues while other pages are open, and two sessions
that need the same share one. A page polls it; the thread never touches Streamlit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import streamlit as st

from pll.io import Progress
from pll.runs.jobs import JobStatus, bare, default_board
from pll.ui.format import plain, with_left
from pll.ui.widgets import button, show_error

LOOK_SECONDS = 0.5
"""Seconds between two looks."""
CHECKING_SHARE = 0.2
"""The part of reading a table of text that checking its encoding takes."""
WAIT_SECONDS = 0.3
"""Seconds a page waits before it shows progress: what is quicker is simply there."""


def result_of(key: str, title: str, work: Callable[[Progress], Any], *, slot: str = "") -> Any:
    """What the work returns, or None while it is not done; then its progress, or why it ended, is on the page.

    An error of a `kind`, to which a page offers an answer, is raised as if the work were done here.

    The work begins the first time; the result is handed over once, and is the caller's to store. Of one `slot` a tab
    has one job at a time: another key stops the work before, which no one waits for any more.

    Parameters
    ----------
    key
        Of the work: sessions that need the same share one job.
    title
        What is done, as the page says it.
    work
        Called in a thread with a function by which it reports how far it is.
    slot
        For what the tab needs it; "" where it may have several jobs at a time.
    """
    if slot:
        before = st.session_state.get(f"job-{slot}")
        if before not in (None, key):
            default_board().forget(before)
        st.session_state[f"job-{slot}"] = key
    job = default_board().start(key, work)
    job.wait(WAIT_SECONDS)
    status = job.status()
    if status.state == "done":
        result = job.result()
        default_board().forget(key)
        return result
    if status.failure is not None and status.failure.kind:
        raise bare(status.failure)
    short = hashlib.sha256(key.encode()).hexdigest()[:12]
    if status.state == "working":
        button("Stop", job.stop, icon="stop", key=f"stop-{short}")
        _watch(key, title)
    else:
        if status.state == "failed":
            show_error(status.error or "")
        else:
            st.info(f"{plain(title)} was stopped.", icon=":material/stop_circle:")
        button("Try again", default_board().forget, key, icon="refresh", key=f"again-{short}")
    return None


@st.fragment(run_every=LOOK_SECONDS)
def _watch(key: str, title: str) -> None:
    job = default_board().get(key)
    if job is None or job.status().state != "working":
        st.rerun()
    else:
        status = job.status()
        st.progress(overall_share(status), text=f"{plain(title)}{format_progress(status)}")


def overall_share(status: JobStatus) -> float:
    """How much of all the work is done, 0-1: the bar of a file that is checked, then read, does not start again.

    Examples
    --------
    >>> (
    ...     overall_share(JobStatus("working", "bytes checked", 5, 10)),
    ...     round(overall_share(JobStatus("working", "rows", 5, 10)), 3),
    ... )
    (0.1, 0.6)
    """
    if status.what == "bytes checked":
        return CHECKING_SHARE * status.share
    return CHECKING_SHARE + (1 - CHECKING_SHARE) * status.share if status.what == "rows" else status.share


def format_progress(status: JobStatus) -> str:
    """Progress of a job: the text behind its title.

    Examples
    --------
    >>> format_progress(JobStatus("working", "bytes", 5_100_000, 11_600_000, 2_000_000.0))
    ': 5.1 of 11.6 MB · 2.0 MB a second · about 3 s left'
    >>> format_progress(JobStatus("working", "rows", 12_000, None)), format_progress(JobStatus("working"))
    (': 12,000 rows', '…')
    """
    if not status.what:
        return "…"
    is_bytes = status.what.startswith("bytes")
    unit, what = (1e6, status.what.replace("bytes", "MB")) if is_bytes else (1, status.what)

    def figure(number: float) -> str:
        return f"{number / unit:,.1f}" if is_bytes else f"{number:,.0f}"

    words = [figure(status.done) + (f" of {figure(status.total)}" if status.total else "") + f" {what}"]
    if status.rate and status.rate >= 1:
        words.append(f"{figure(status.rate)}{' MB' if is_bytes else ''} a second")
    return f": {with_left(' · '.join(words), status.seconds_left)}"

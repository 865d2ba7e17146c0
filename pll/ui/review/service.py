"""The database and the open reviews of this process, shared by all tabs."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import nullcontext
from weakref import WeakValueDictionary

import streamlit as st

from pll.review.database import Database
from pll.review.desk import Desk
from pll.review.label_snapshot import review_id
from pll.review.queue import ReviewQueue
from pll.review.session import open_review
from pll.review.store import reading
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry
from pll.runs.run import Run
from pll.ui.review.review_tab import ReviewTab
from pll.ui.review.reviewer import Reviewer
from pll.ui.widgets import show_errors

RECENT_REVIEWS = 4
"""Reviews that stay in memory after the last tab has left them."""


class _Reviews:
    """Queues by the id of their review: never two of one review at a time."""

    def __init__(self) -> None:
        self._in_use: WeakValueDictionary[str, ReviewQueue] = WeakValueDictionary()
        self._recent: list[ReviewQueue] = []
        self._guard = threading.Lock()
        self._opening: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def get(self, key: str, open_: Callable[[], ReviewQueue]) -> ReviewQueue:
        """Return the queue of a review, opened where it is not in memory."""
        with self._guard:
            opening = self._opening[key]
        with opening:
            entry = self._in_use.get(key)
            if entry is None:
                entry = self._in_use[key] = open_()
        with self._guard:
            self._recent = [entry, *(one for one in self._recent if one is not entry)][:RECENT_REVIEWS]
        return entry


database = PerProcess(Database)
"""The database of decisions."""
_reviews = PerProcess(_Reviews)


def queue_of(run: Run, who: Reviewer | None = None, *, show_progress: bool = True) -> ReviewQueue:
    """The review that a run belongs to; begun by this reviewer where it does not exist yet.

    Parameters
    ----------
    run
        The run, or one that was retrained in its review.
    who
        Who begins the review where it does not exist yet; None for nobody.
    show_progress
        Whether a page waits, and says so.
    """

    def open_() -> ReviewQueue:
        runs = default_registry()  # the review is shared by people who may see different runs
        with st.spinner("Getting the review ready…") if show_progress else nullcontext():
            name, verified = (None, False) if who is None else (who.name, who.verified)
            review = open_review(run, database(), runs.get, opened_by=name, verified=verified)
            queue = ReviewQueue(review, runs)
            queue.begin()
        return queue

    return _reviews().get(review_id(run.folder), open_)


def is_begun(run: Run) -> bool:
    """Whether anybody has begun to review this run."""
    with reading(database(), review_id(run.folder)) as reader:
        return reader.review() is not None


def decided(run: Run) -> dict[int, str]:
    """What people decided about the examples of a run, by row, in words; empty where nobody has begun to review it."""
    decisions = queue_of(run).review.state.decisions() if is_begun(run) else {}
    return {row: f"decided: {one.label or 'none of these'}" for row, one in decisions.items()}


def tab_of(queue: ReviewQueue, who: Reviewer) -> ReviewTab:
    """This tab's place at the desk; a new one where the reviewer or the review is another.

    Parameters
    ----------
    queue
        The queue of the review.
    who
        The reviewer.
    """
    tab: ReviewTab | None = st.session_state.get("review-tab")
    desk = Desk(queue.review, who.name, verified=who.verified)
    reviewer = (desk.reviewer, desk.verified)
    if tab is None or tab.queue is not queue or (tab.desk.reviewer, tab.desk.verified) != reviewer:
        tab = st.session_state["review-tab"] = ReviewTab(queue, desk)
    tab.begin()
    return tab


@st.fragment(run_every=120.0)
@show_errors
def stay(tab: ReviewTab) -> None:
    """While the page is open, what is assigned stays assigned."""
    tab.require("reviewer")
    tab.desk.renew()

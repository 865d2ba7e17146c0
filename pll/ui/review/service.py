"""The reviews of this process: one store, and one guide for each review, shared by all tabs."""

from __future__ import annotations

import streamlit as st

from pll.review.label_snapshot import review_id
from pll.review.opening import open_review
from pll.review.queue_manager import QueueManager
from pll.review.settings import Settings
from pll.runs.run import Run
from pll.store import Database, Store
from pll.ui import session
from pll.ui.review.reviewer import Reviewer
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import shown


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """Where decisions are kept."""
    return Store(Database())


@st.cache_resource(max_entries=4, show_spinner="Getting the review ready…")
def _guide(key: str, _run: Run, _settings: Settings | None) -> QueueManager:
    runs = session.registry()
    reviewing = open_review(_run, store(), runs.get, settings=_settings)
    guide = QueueManager(reviewing, runs)
    guide.begin()
    return guide


def guide_of(run: Run, settings: Settings | None = None) -> QueueManager:
    """The review that a run belongs to; begun with these settings where it does not exist yet.

    Raises:
        UserError: the run has no result, its data is gone, or the database cannot be used.
    """
    return _guide(review_id(run.folder), run, settings)


def is_begun(run: Run) -> bool:
    """Whether anybody has begun to review this run."""
    with store().read(review_id(run.folder)) as reader:
        return reader.review() is not None


def sitting_of(guide: QueueManager, who: Reviewer) -> Sitting:
    """This tab's place at the desk; a new one where the reviewer or the review is another.

    Raises:
        UserError: a name that cannot be kept.
    """
    key, about = "review-sitting", (guide.reviewing.id, who)
    known = st.session_state.get(key)
    if known is None or known[0] != about or known[1].guide is not guide:
        made = Sitting(guide, guide.reviewing.desk(who.name, verified=who.verified), blind=starts_blind())
        st.session_state[key] = known = (about, made)
    sitting: Sitting = known[1]
    sitting.begin()
    return sitting


def starts_blind() -> bool:
    """Whether the model's view is hidden at first, as was chosen when the review was begun in this tab."""
    return bool(st.session_state.get("review-starts-blind", False))


@st.fragment(run_every=120.0)
@shown
def stay(sitting: Sitting) -> None:
    """While the page is open, what is in hand stays in hand."""
    sitting.desk.renew()

"""Review: people settle what stays uncertain, and know when they may stop."""

import streamlit as st

from pll.errors import UserError
from pll.runs.run import Run
from pll.ui import session
from pll.ui.choose_run import choose_run, has_labels
from pll.ui.not_yet import not_yet
from pll.ui.review import (
    batch,
    certify_panel,
    changes,
    conflicts,
    desk_view,
    progress,
    queue_controls,
    service,
)
from pll.ui.review.review_tab import DISAGREEMENTS, ONE_BY_ONE
from pll.ui.review.reviewer import ask, reviewer, sign
from pll.ui.routes import link
from pll.ui.widgets import heading, show_error

VIEWS = {
    ONE_BY_ONE: desk_view.draw,
    "Look-alikes": batch.draw,
    DISAGREEMENTS: conflicts.draw,
    "Progress": progress.draw,
}


def review(run: Run) -> None:
    """A run with labels."""
    registry, right = session.registry(), heading(run.name)
    if not registry.may(run, "reviewer"):
        st.info("This run is shared with you to look at, not to review.", icon=":material/visibility:")
        link("train", "Go to the run", run=run.id)
        return
    if not service.is_begun(run) and not registry.may(run, "owner"):
        st.info("Its owner has not started the review yet.", icon=":material/hourglass_empty:")
        return
    who = reviewer()
    if who is None:
        ask()
        return
    tab = service.tab_of(service.queue_of(run, who), who)
    with right:
        queue_controls.display_options(tab)
        if st.session_state.get(tab.view_key) != "Progress" and tab.may("owner"):  # there it is below
            certify_panel.chooser(tab)
        sign(who)
    service.stay(tab)
    changes.notice(tab)
    queue_controls.chosen_rows(tab, run.id)
    hidden = set() if conflicts.may_be(tab) else {DISAGREEMENTS}
    hidden |= set() if tab.queue.data.X.size else {"Look-alikes"}  # votes alone: nothing looks alike
    names = [name for name in VIEWS if name not in hidden]
    if st.session_state.get(tab.view_key) not in names:  # and no default beside it, of which Streamlit would warn
        st.session_state[tab.view_key] = names[0]
    st.segmented_control("View", names, required=True, key=tab.view_key, label_visibility="collapsed")
    view = st.session_state[tab.view_key]
    if view == ONE_BY_ONE and tab.assignment is None:
        queue_controls.nothing_left(tab)
    else:  # one view at a time; the others cost nothing
        VIEWS[view](tab)


in_view, problem = None, None
try:
    in_view = session.run_in_view()
except UserError as error:  # it was deleted, or is damaged
    problem = error
try:
    if in_view is None:
        st.title("Review")
        if problem is not None:
            show_error(problem)
        choose_run(None, "review", "rate_review")
    elif has_labels(in_view) and not in_view.is_alive():
        review(in_view)
    else:
        not_yet(in_view, "review")
except UserError as error:
    show_error(error)
    st.button("Try again", icon=":material/refresh:")  # the run that a press starts is the trial
    link("home", "See your runs")

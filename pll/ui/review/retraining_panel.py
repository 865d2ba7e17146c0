"""Panel that retrains the model on the decisions, and the notice when it has finished."""

from __future__ import annotations

import streamlit as st

from pll.errors import UserError
from pll.review.retraining import changed_by_retraining
from pll.ui.format import count, format_state, plain
from pll.ui.review.review_tab import ReviewTab
from pll.ui.widgets import button

RETRAINING_SECONDS = 2.0
"""Seconds between looks at a model that is being retrained."""
OUTSIDE_KEY = "review-retrain-outside"


def panel(tab: ReviewTab) -> None:
    """Retrain the model; how that stands; what it changed."""
    queue = tab.queue
    st.markdown("**Retrain the model**")
    waiting = queue.retraining.waiting()
    st.caption(
        "Training continues in the background with your decisions, while you go on. Controls are not used. "
        "The new labels get their own certificate."
    )
    if queue.retraining.can_look_outside():
        st.checkbox(
            "Also look for labels off the sets",
            key=OUTSIDE_KEY,
            help="Trains PRODEN-outside anew: your decisions also teach which sets miss the right label. It takes "
            "longer, and may put labels that are no candidates.",
        )
    button(
        f"Train on {count(waiting, 'decision')}",
        _begin,
        tab,
        icon="school",
        key="review-retrain",
        disabled=not waiting or queue.retraining.snapshot() is not None,
    )
    if tab.review.previous is not None:
        changed = len(changed_by_retraining(tab.review))
        st.caption(f"Last time, {count(changed, 'other label')} changed because of your decisions.")
        if changed:
            button("Review these next", _look, tab, key="review-look-panel", kind="tertiary")


def _begin(tab: ReviewTab) -> None:
    """Start retraining, or say why not."""
    tab.require("owner")
    outside = bool(st.session_state.get(OUTSIDE_KEY)) and tab.queue.retraining.can_look_outside()
    tab.queue.retraining.begin(outside=outside, by=tab.desk.reviewer, verified=tab.desk.verified)


def notice(tab: ReviewTab) -> None:
    """Above the desk: that the model is being retrained, why that failed, or what it changed."""
    if tab.queue.retraining.snapshot() is not None:
        _watch(tab)
        return
    run, changed = st.session_state.get("review-retrained", ("", 0))
    if run != tab.review.current.run:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f":material/school: **{count(changed, 'other label')}** changed because of your decisions.", width="content"
        )
        if changed:
            button("Review these next", _look, tab, key="review-look")
        button("Dismiss", _dismiss, key="review-retrained-dismiss", kind="tertiary")


@st.fragment(run_every=RETRAINING_SECONDS)
def _watch(tab: ReviewTab) -> None:
    queue = tab.queue
    try:
        if queue.adopt_retrained():
            changed = len(changed_by_retraining(tab.review))
            st.session_state["review-retrained"] = (tab.review.current.run, changed)
            st.rerun()
    except UserError as error:
        st.caption(f":material/error: {plain(error)}")
        return
    snapshot = queue.retraining.snapshot()
    if snapshot is None:  # another tab has seen to it
        st.rerun()
    elif snapshot.is_active:
        st.caption(f":material/school: The model is training on your decisions. {format_state(snapshot)}")
    elif snapshot.state != "finished":
        st.warning(plain(snapshot.error or format_state(snapshot)), icon=":material/error:")
        if tab.may("owner") and st.button("Dismiss", key="review-retrain-dismiss"):
            queue.retraining.dismiss()
            st.rerun()


def _look(tab: ReviewTab) -> None:
    """Those first whose labels changed."""
    tab.look_at(changed_by_retraining(tab.review).rows, "changed by retraining")
    _dismiss()


def _dismiss() -> None:
    """Read."""
    st.session_state.pop("review-retrained", None)

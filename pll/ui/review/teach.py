"""Decisions teach: the model goes on with what was decided, in the background; what that changed can be looked at."""

from __future__ import annotations

import streamlit as st

from pll.errors import UserError
from pll.review.teaching import changed_by_teaching
from pll.ui.format import count, format_state
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import told

LOOK = 2.0
"""Seconds between looks at a model that is being taught."""
FOCUS = "changed by teaching"


def panel(sitting: Sitting) -> None:
    """Teach the model; how that stands; what it changed."""
    guide = sitting.guide
    st.markdown("**Teach the model**")
    snapshot = guide.teacher.snapshot()
    if snapshot is not None and not snapshot.is_active and snapshot.state != "finished":
        st.warning(snapshot.error or format_state(snapshot), icon=":material/error:")
        st.button("Dismiss", on_click=guide.teacher.dismiss, key="review-teach-dismiss")
        return
    waiting = guide.teacher.waiting()
    st.caption(
        "The model goes on learning with your decisions as given, in the background, while you go on. Controls are "
        "kept out, and the labels that it finds then get a certificate of their own."
    )
    st.button(
        f"Teach it {count(waiting, 'decision')}",
        key="review-teach",
        icon=":material/school:",
        disabled=not waiting or snapshot is not None,
        on_click=begin,
        args=(sitting,),
    )
    if guide.reviewing.previous is not None and not guide.reviewing.current.taken_over:
        changed = len(changed_by_teaching(guide.reviewing))
        st.caption(f"The last time, {count(changed, 'other label')} changed because of your decisions.")
        if changed:
            st.button("Look at those next", key="review-look-panel", on_click=look, args=(sitting,), type="tertiary")


@told
def begin(sitting: Sitting) -> None:
    """Start teaching, or say why not."""
    sitting.guide.teacher.begin(by=sitting.desk.reviewer, verified=sitting.desk.verified)


def notice(sitting: Sitting) -> None:
    """Above the desk: that the model is being taught, and once it has been, what changed."""
    if sitting.guide.teacher.snapshot() is not None:
        _watch(sitting)
        return
    run, changed = st.session_state.get("review-taught", ("", 0))
    if run != sitting.guide.reviewing.current.run:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f":material/school: **{count(changed, 'other label')}** changed because of your decisions.", width="content"
        )
        if changed:
            st.button("Look at those next", key="review-look", on_click=look, args=(sitting,))
        st.button("Dismiss", key="review-told", on_click=dismiss, type="tertiary")


@st.fragment(run_every=LOOK)
def _watch(sitting: Sitting) -> None:
    guide = sitting.guide
    try:
        if guide.learnt():
            changed = len(changed_by_teaching(guide.reviewing))
            st.session_state["review-taught"] = (guide.reviewing.current.run, changed)
            st.rerun()
    except UserError as error:
        st.caption(f":material/error: {error}")
        return
    snapshot = guide.teacher.snapshot()
    if snapshot is None:  # another tab has seen to it
        st.rerun()
    elif snapshot.is_active:
        st.caption(f":material/school: The model learns from your decisions. {format_state(snapshot)}")


@told
def look(sitting: Sitting) -> None:
    """Those first whose labels teaching changed."""
    changed = changed_by_teaching(sitting.guide.reviewing)
    sitting.desk.look_at(changed.rows, FOCUS)
    sitting.again()
    dismiss()


def dismiss() -> None:
    """Read."""
    st.session_state.pop("review-taught", None)

"""Notice on the Progress view about a control that blocks the certificate."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from pll.review.blocking import BlockingControl, free_control, waiting
from pll.ui.format import count, plain
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.review_tab import ReviewTab


def draw(tab: ReviewTab) -> None:
    """What the certificate waits for; nothing where it does not wait."""
    found = waiting(tab.manager.review)
    if found is None:
        return
    name = tab.desk.reviewer
    st.caption(f":material/hourglass_top: {plain(format_blocking(found, name))}")
    with st.container(horizontal=True, gap="small"):
        if any(holder.name != name for holder in found.holders):
            st.button("Release it now", key="review-free", type="tertiary", on_click=free, args=(tab,))
        if tab.desk.skipped:
            put_off = count(len(tab.desk.skipped), "example")
            st.button(
                f"Show {put_off} you skipped again",
                key="review-bring-back",
                type="tertiary",
                on_click=tab.desk.bring_back_skipped,
            )


def format_blocking(found: BlockingControl, name: str) -> str:
    """In words, for one reviewer. Of what they have assigned themselves it is not said that it is the control."""
    behind = count(found.behind, "answered control")
    one = f"{behind} {'does' if found.behind == 1 else 'do'} not count yet: one drawn before is still open"
    others = [holder for holder in found.holders if holder.name != name]
    if others:
        holder = others[0]
        return (
            f"{one}. {holder.name} is working on it. If {holder.name} has left, others get it in "
            f"{_minutes(holder.gone)}, else in {_minutes(holder.latest)} at the latest."
        )
    if found.asked > 1 and name in found.answered_by:
        known = " and ".join(found.answered_by)
        return f"{one}, and asks for {found.asked} reviewers; another one than {known} is needed."
    return f"{one}. It will be shown in its turn."


@toast_errors
def free(tab: ReviewTab) -> None:
    """Release it from whoever has it."""
    tab.require("reviewer")
    done = free_control(tab.manager.review, tab.desk.reviewer)
    st.toast("It will be shown in its turn." if done else "Nobody is working on it any more.", icon=":material/check:")


def _minutes(left: timedelta) -> str:
    """

    >>> _minutes(timedelta(seconds=61)), _minutes(timedelta(seconds=20))
    ('2 minutes', '1 minute')
    """
    return count(max(1, -(-int(left.total_seconds()) // 60)), "minute")

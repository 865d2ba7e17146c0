"""On Progress: that the certificate waits for a control which somebody has in hand or put off, and what can be done."""

from __future__ import annotations

from datetime import timedelta

import streamlit as st

from pll.review.blocking import Waiting, set_free, waiting
from pll.ui.format import count
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import told


def draw(sitting: Sitting) -> None:
    """What the certificate waits for; nothing where it does not wait."""
    found = waiting(sitting.guide.reviewing)
    if found is None:
        return
    name = sitting.desk.reviewer
    st.caption(f":material/hourglass_top: {said(found, name)}")
    with st.container(horizontal=True, gap="small"):
        if any(holder.name != name for holder in found.holders):
            st.button("Free it now", key="review-free", type="tertiary", on_click=free, args=(sitting,))
        if sitting.desk.skipped:
            put_off = count(sitting.desk.skipped, "example")
            st.button(
                f"Bring back the {put_off} that you skipped",
                key="review-bring-back",
                type="tertiary",
                on_click=sitting.desk.bring_back,
            )


def said(found: Waiting, name: str) -> str:
    """In words, for one reviewer. Of what they have in hand themselves it is not said that it is the control."""
    behind = count(found.behind, "answered control")
    one = f"{behind} {'does' if found.behind == 1 else 'do'} not count yet: one drawn before is still open"
    others = [holder for holder in found.holders if holder.name != name]
    if others:
        holder = others[0]
        return (
            f"{one}. {holder.name} has it in hand. If {holder.name} is gone it comes to others in "
            f"{_minutes(holder.gone)}, else in {_minutes(holder.latest)} at the latest."
        )
    if found.asked > 1 and name in found.answered_by:
        return (
            f"{one}, and asks for {found.asked} reviewers; somebody beside {' and '.join(found.answered_by)} is needed."
        )
    return f"{one}. It comes up in its turn."


@told
def free(sitting: Sitting) -> None:
    """Out of the hands of whoever has it."""
    done = set_free(sitting.guide.reviewing, sitting.desk.reviewer)
    st.toast("It comes up in its turn." if done else "Nobody had it in hand any more.", icon=":material/check:")


def _minutes(left: timedelta) -> str:
    """

    >>> _minutes(timedelta(seconds=61)), _minutes(timedelta(seconds=20))
    ('2 minutes', '1 minute')
    """
    return count(max(1, -(-int(left.total_seconds()) // 60)), "minute")

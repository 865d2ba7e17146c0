"""Another promise in the place of the one that was made when the review was begun, with a draw of its own."""

from __future__ import annotations

import streamlit as st

from pll.review.rounds import Promise
from pll.review.sampling_plan import how_many
from pll.review.session import ReviewSession
from pll.ui.format import count, percent
from pll.ui.review import opening
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import told

BOX = "review-another-promise"


def popover(sitting: Sitting) -> None:
    """Ask what is to be promised instead, and say what that costs."""
    box = st.popover("Promise something else", icon=":material/handshake:", type="tertiary", key=BOX, on_change="rerun")
    if not box.open:  # a closed one costs nothing
        return
    reviewing = sitting.guide.reviewing
    n = len(reviewing.root)
    with box:
        st.caption(
            "A promise is fixed before its controls are drawn. Another one begins with a fresh draw, in which examples "
            "already decided count."
        )
        share, level = opening.draw(n)
        max_error = opening.promise(n, share, level)
        st.caption(f":material/info: {together(reviewing, level)}")
        st.button(
            f"Promise this and draw {count(how_many(n, share), 'control')}",
            key="review-promise",
            type="primary",
            on_click=make,
            args=(sitting, Promise(share, max_error, level), reviewing.round.number),
        )


def together(reviewing: ReviewSession, level: float) -> str:
    """How sure all promises of these labels are together, a further one of this level among them."""
    levels = [record.level for record in reviewing.rounds if record.key == reviewing.current.key] + [level]
    every = "both" if len(levels) == 2 else f"all {len(levels)}"
    all_hold = max(0.0, 1 - sum(1 - one for one in levels))
    return (
        f"Each promise of these labels holds with a confidence of its own; that {every} do, with "
        f"{percent(all_hold, 0)} only. Do not choose among them by what they certify."
    )


@told
def make(sitting: Sitting, promise: Promise, instead_of: int) -> None:
    """Draw the controls of the new promise; the certificate begins anew."""
    reviewing, me = sitting.guide.reviewing, sitting.desk
    st.session_state[BOX] = False
    opened = reviewing.round.opened
    if reviewing.round.number == instead_of + 1 and (opened.how, opened.by) == ("new promise", me.reviewer):
        return  # pressed twice
    reviewing.new_promise(promise, by=me.reviewer, verified=me.verified, instead_of=instead_of)
    sitting.again()
    st.toast("Promised. The certificate begins anew with a fresh draw.", icon=":material/handshake:")

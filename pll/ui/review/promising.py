"""Another promise in the place of the one that was made when the review was begun, with a draw of its own."""

from __future__ import annotations

import streamlit as st

from pll.review.planning import how_many
from pll.review.rounds import Promise
from pll.ui.review import opening
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import told
from pll.ui.words import count, percent

BOX = "review-another-promise"


def popover(sitting: Sitting) -> None:
    """Ask what is to be promised instead, and what that costs."""
    box = st.popover("Promise something else", icon=":material/handshake:", type="tertiary", key=BOX, on_change="rerun")
    if not box.open:  # a closed one costs nothing
        return
    reviewing = sitting.guide.reviewing
    n = len(reviewing.root)
    with box:
        st.caption(
            "A promise is fixed before its controls are drawn. Another one begins with a fresh draw, in which examples "
            f"already decided count. {_both(reviewing.round.level)}"
        )
        share, level = opening.draw(n)
        max_error = opening.promise(n, share, level)
        st.button(
            f"Promise this and draw {count(how_many(n, share), 'control')}",
            key="review-promise",
            type="primary",
            on_click=make,
            args=(sitting, Promise(share, max_error, level)),
        )


def _both(level: float) -> str:
    both = percent(1 - 2 * (1 - level), 0)
    return f"Each holds with {percent(level, 0)} confidence; that both do, with {both} where the second is as sure."


@told
def make(sitting: Sitting, promise: Promise) -> None:
    """Draw the controls of the new promise; the certificate begins anew."""
    sitting.guide.reviewing.new_promise(promise, by=sitting.desk.reviewer, verified=sitting.desk.verified)
    sitting.again()
    st.session_state[BOX] = False
    st.toast("Promised. The certificate begins anew with a fresh draw.", icon=":material/handshake:")

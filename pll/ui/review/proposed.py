"""Proposals: what the decisions so far would change elsewhere, to be looked at or taken over."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pll.errors import UserError
from pll.review.relabel import Offer
from pll.ui.format import count
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import told

SHOWN = 200
"""Rows of the table."""
FOCUS = "proposed"


def panel(sitting: Sitting) -> None:
    """What would change; a look at it; taking it over."""
    st.markdown("**Take over what your decisions propose**")
    try:
        with st.spinner("Working out what your decisions propose…"):  # comes up where that takes half a second or more
            offer = sitting.guide.offer()
    except UserError as error:
        st.warning(str(error), icon=":material/error:")
        return
    if not len(offer):
        st.caption("From your decisions, Candid would change no label that nobody has looked at.")
        return
    st.caption(
        f"From your decisions, Candid would change {count(len(offer), 'label')} that nobody has looked at. "
        "Controls are kept out of it."
    )
    st.dataframe(table(offer), hide_index=True, alt="Labels that would change, the surest first")
    if len(offer) > SHOWN:
        st.caption(f"The {SHOWN} surest of {len(offer):,}.")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Take these over",
            key="review-take-over",
            icon=":material/done_all:",
            on_click=take_over,
            args=(sitting, offer),
        )
        st.button("Look at those next", key="review-look-proposed", on_click=look, args=(sitting, offer))
    st.caption(
        "Taken over, they are the model's new labels: the certificate begins anew with a fresh draw, and controls "
        "answered for the labels before do not count for it, unless they are drawn again."
    )


def table(offer: Offer) -> pd.DataFrame:
    """The surest of them."""
    return pd.DataFrame(
        {
            "id": offer.labels.ids[offer.rows[:SHOWN]].astype(object),
            "label now": offer.before[:SHOWN],
            "proposed": offer.after[:SHOWN],
            "confidence": offer.confidence[:SHOWN].round(3),
        }
    )


def take_over(sitting: Sitting, offer: Offer) -> None:
    """Put them in the place of the labels so far, or say why not."""
    try:
        done = sitting.guide.take_over(offer, by=sitting.desk.reviewer, verified=sitting.desk.verified)
    except (UserError, OSError) as error:
        st.toast(f"Nothing was taken over: {error}", icon=":material/error:")
        return
    if done:
        sitting.again()
        st.toast(f"{count(len(offer), 'label')} taken over. The certificate begins anew.", icon=":material/done_all:")
    else:
        st.toast("Other labels came under review meanwhile; look at what is proposed now.", icon=":material/info:")


@told
def look(sitting: Sitting, offer: Offer) -> None:
    """Those first, the surest leading."""
    sitting.desk.look_at(offer.rows, FOCUS)
    sitting.again()

"""Form that changes how many reviewers are asked."""

from __future__ import annotations

import streamlit as st

from pll.ui.review.review_tab import ReviewTab
from pll.ui.widgets import button
from pll.wording import percent

OVERLAP_SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Of the examples."""


def reviewers(tab: ReviewTab) -> None:
    """How many reviewers are asked, and on which share of the examples."""
    record = tab.review.record
    overlap = st.segmented_control(
        "Reviewers for each example",
        [1, 2, 3],
        default=min(3, record.overlap),
        required=True,
        key="review-overlap",
        help="With two or more, Candid says how far they agree, and lists where they do not.",
    )
    share_now = record.overlap_share if record.overlap > 1 else 0.1
    share = st.select_slider(
        "On which share of the examples",
        OVERLAP_SHARES,
        value=min(OVERLAP_SHARES, key=lambda one: abs(one - share_now)),
        format_func=lambda share: percent(share, 0),
        key="review-overlap-share",
        disabled=overlap == 1,
        help="On the others one reviewer is enough.",
    )
    button("Save", _ask, tab, overlap, share if overlap > 1 else 1.0, key="review-ask")


def _ask(tab: ReviewTab, overlap: int, share: float) -> None:
    """From now on so many reviewers answer each example of that share."""
    tab.require("owner")
    tab.review.configure(overlap=overlap, overlap_share=share)
    st.toast("Saved.", icon=":material/group:")

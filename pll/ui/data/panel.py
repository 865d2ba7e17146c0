"""Details of the Data page on several voters together: a model among people, what all are worth."""

from __future__ import annotations

import streamlit as st

from pll.annotations.independence import worth_of_votes
from pll.dataset import PartialLabelDataset


def show(data: PartialLabelDataset) -> None:
    """Put what the answers are worth together on the page, where that is known."""
    annotations = data.annotations
    assert annotations is not None
    worth = worth_of_votes(annotations, data.y)
    if worth is not None:
        st.markdown("**What the answers are worth together**")
        st.text(worth.sentence)

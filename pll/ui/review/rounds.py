"""Which labels were under review since when, how they came about, and by whom."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pll.review.session import ReviewSession
from pll.store.records import Opened, RoundRecord
from pll.ui.format import percent

HOW = {
    "first": "the review was begun",
    "taught": "decisions taught the model",
    "taken over": "proposals were taken over",
    "new promise": "something else was promised",
    "run went on": "the run was continued",
}


def draw(reviewing: ReviewSession) -> None:
    """The rounds, the latest first."""
    st.markdown("**The labels under review**")
    st.dataframe(table(reviewing.rounds), hide_index=True, alt="Which labels were under review since when, and by whom")


def table(rounds: tuple[RoundRecord, ...]) -> pd.DataFrame:
    """A row a round."""
    latest_first = rounds[::-1]
    return pd.DataFrame(
        {
            "round": [record.number for record in latest_first],
            "since": [f"{record.opened_at.day} {record.opened_at:%B %Y, %H:%M} UTC" for record in latest_first],
            "because": [HOW.get(record.opened.how or "", "not recorded") for record in latest_first],
            "by": [who(record.opened) for record in latest_first],
            "wrong at most": [percent(record.max_error) for record in latest_first],
            "how sure": [percent(record.level, 0) for record in latest_first],
            "controls": [f"{len(record.controls):,}" for record in latest_first],
        }
    )


def who(opened: Opened) -> str:
    """By whom.

    >>> who(Opened("first", "Ada")), who(Opened("first", "Ada", verified=True)), who(Opened("run went on"))
    ('Ada (unverified)', 'Ada', 'nobody')
    """
    if opened.by is None:
        return "nobody" if opened.how == "run went on" else "not recorded"
    return opened.by if opened.verified else f"{opened.by} (unverified)"

"""Disagreements view: agreement between reviewers, and conflicts to settle."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pll.annotations.agreement import Agreement, agreement
from pll.annotations.data import Annotations
from pll.errors import UserError
from pll.review.session import ReviewSession
from pll.review.state import Outcome
from pll.ui.example import show_contents, show_picture
from pll.ui.format import plain
from pll.ui.review.review_tab import ReviewTab
from pll.ui.voters import show_agreement
from pll.ui.widgets import button, show_errors, show_table
from pll.wording import count, percent, short_by_name

NONE_OF_THESE = "None of these"
PICTURE_WIDTH = 200
SHOWN_CONFLICTS = 200
"""Disagreements listed at once."""


def may_be(tab: ReviewTab) -> bool:
    """Whether two reviewers can have answered the same example."""
    review = tab.review
    return review.record.overlap > 1 or bool(review.conflicts())


@st.fragment
@show_errors
def draw(tab: ReviewTab) -> None:
    """The figures, then one disagreement after the other."""
    review = tab.review
    review.refresh()
    _figures(_agreement_of(review))
    open_ = review.conflicts()
    if not open_:
        st.success("No disagreement is open.", icon=":material/check_circle:")
        return
    st.markdown(f"**{count(len(open_), 'disagreement')} to settle**")
    listed, chosen_one = st.columns([2, 3], gap="large")
    with listed:
        table, key = _table_of(review, open_[:SHOWN_CONFLICTS]), f"review-conflicts-{review.id}-{len(open_)}"
        alt = "Examples on which reviewers disagree"
        chosen = show_table(table, alt, key=key, on_select="rerun", selection_mode="single-row")
    rows = chosen["selection"]["rows"]
    with chosen_one:
        row, outcome = open_[rows[0] if rows else 0]
        _settle(tab, row, outcome)


def _figures(agreed: Agreement | None) -> None:
    """How far reviewers agree."""
    if agreed is None or agreed.rows == 0:
        st.info(
            "No example has been answered by two reviewers yet. Agreement is shown as soon as one has.",
            icon=":material/group:",
        )
        return
    share = percent(agreed.percent.value, 0)
    st.markdown(f"{count(agreed.rows, 'example')} answered by two reviewers or more: they agree on {share}.")
    with st.expander("For experts"):
        show_agreement(agreed)


def _agreement_of(review: ReviewSession) -> Agreement | None:
    """Of the labels that reviewers gave; "none of these" is an answer like any other, unsure is none."""
    triples = [
        (row, name, answer.label if answer.label is not None else NONE_OF_THESE)
        for row, outcome in review.state.outcomes()
        for name, answer in outcome.answers.items()
        if answer.status in ("label", "none")
    ]
    if not triples:
        return None
    rows, names, labels = zip(*triples, strict=True)
    return agreement(Annotations.from_long(rows, names, labels))


def _table_of(review: ReviewSession, open_: list[tuple[int, Outcome]]) -> pd.DataFrame:
    """A row a disagreement: who answered what."""
    short = short_by_name(review.root.candidates.class_names)
    rows = []
    for row, outcome in open_:
        given = {name: answer.label or answer.status for name, answer in outcome.answers.items()}
        words = " · ".join(f"{name}: {short.get(answer, answer)}" for name, answer in given.items())
        rows.append((str(review.root.ids[row]), words))
    return pd.DataFrame(rows, columns=["example", "answers"])


def _settle(tab: ReviewTab, row: int, outcome: Outcome) -> None:
    """One disagreement: the example, the answers, and what is to count."""
    data, review = tab.queue.data, tab.review
    st.markdown(f"**{plain(review.root.ids[row])}**")
    try:
        if not show_picture(data, row, PICTURE_WIDTH) or data.texts is not None:
            show_contents(data, row)
    except UserError as error:  # its picture is gone
        st.caption(plain(error))
    for name, answer in outcome.answers.items():
        text = "unsure" if answer.status == "unsure" else f"**{plain(answer.label or NONE_OF_THESE.lower())}**"
        st.markdown(f"{plain(name)}: {text}")
    named = [answer.label for answer in outcome.answers.values() if answer.label is not None]
    labels = list(dict.fromkeys([*named, *review.root.candidates.names(row)]))
    with st.container(horizontal=True):
        for k, label in enumerate([*labels, NONE_OF_THESE]):
            button(
                plain(label),
                _decide,
                tab,
                row,
                None if label == NONE_OF_THESE else label,
                key=f"settle-{review.id}-{row}-{k}",
                kind="primary" if label in named else "secondary",
            )


def _decide(tab: ReviewTab, row: int, label: str | None) -> None:
    """This label counts."""
    tab.require("reviewer")
    tab.desk.settle(row, label)

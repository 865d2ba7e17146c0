"""Where reviewers disagree: how far they agree in all, and each disagreement to be settled."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pll.annotations.agreement import Agreement, agreement
from pll.annotations.data import Annotations
from pll.errors import UserError
from pll.review.events import Verdict
from pll.review.session import ReviewSession
from pll.ui.components.gallery import show_picture
from pll.ui.format import count, percent
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import shown, told

NONE = "None of these"
SHOWN = 200
"""Disagreements listed at once."""


def may_be(sitting: Sitting) -> bool:
    """Whether two reviewers can have answered the same example."""
    reviewing = sitting.guide.reviewing
    return reviewing.record.overlap > 1 or bool(reviewing.conflicts())


@st.fragment
@shown
def draw(sitting: Sitting) -> None:
    """The figures, then one disagreement after the other."""
    reviewing = sitting.guide.reviewing
    reviewing.refresh()
    figures(agreement_of(reviewing))
    open_ = reviewing.conflicts()
    if not open_:
        st.success("No disagreement is open.", icon=":material/check_circle:")
        return
    st.markdown(f"**{count(len(open_), 'disagreement')} to settle**")
    listed, chosen_one = st.columns([2, 3], gap="large")
    with listed:
        table = table_of(reviewing, open_[:SHOWN])
        chosen = st.dataframe(
            table,
            hide_index=True,
            key=f"review-conflicts-{reviewing.id}-{len(open_)}",
            on_select="rerun",
            selection_mode="single-row",
            alt="Examples on which reviewers disagree",
        )
    rows = chosen["selection"]["rows"]
    with chosen_one:
        row, verdict = open_[rows[0] if rows else 0]
        settle(sitting, row, verdict)


def figures(found: Agreement | None) -> None:
    """How far reviewers agree."""
    if found is None or found.rows == 0:
        st.info(
            "No example has been answered by two reviewers yet. Agreement is shown as soon as one has.",
            icon=":material/group:",
        )
        return
    places = st.columns(4)
    places[0].metric("Answered twice", f"{found.rows:,}", help="Examples with the answers of at least two reviewers.")
    places[1].metric("Agreement", percent(found.percent.value), help="How often two reviewers gave the same answer.")
    for place, name, figure in (
        (places[2], "Fleiss' kappa", found.kappa),
        (places[3], "Krippendorff's alpha", found.alpha),
    ):
        said = "–" if figure.value is None else f"{figure.value:.2f}"
        place.metric(name, said, help=figure.reason or "1 is perfect, 0 is what chance would give.")


def agreement_of(reviewing: ReviewSession) -> Agreement | None:
    """Of the labels that reviewers gave; "none of these" is an answer like any other, unsure is none."""
    triples = [
        (row, name, answer.label if answer.label is not None else NONE)
        for row, verdict in reviewing.state.verdicts()
        for name, answer in verdict.answers.items()
        if answer.status in ("label", "none")
    ]
    if not triples:
        return None
    names = list(dict.fromkeys(name for _, name, _ in triples))
    labels = list(dict.fromkeys(label for _, _, label in triples))
    return agreement(
        Annotations(
            np.array([row for row, _, _ in triples], dtype=np.int64),
            np.array([names.index(name) for _, name, _ in triples], dtype=np.int64),
            np.array([labels.index(label) for _, _, label in triples], dtype=np.int64),
            len(reviewing.root),
            tuple(labels),
            tuple(names),
        )
    )


def table_of(reviewing: ReviewSession, open_: list[tuple[int, Verdict]]) -> pd.DataFrame:
    """A row a disagreement: who said what."""
    return pd.DataFrame(
        {
            "example": [str(reviewing.root.ids[row]) for row, _ in open_],
            "answers": [
                " · ".join(f"{name}: {answer.label or answer.status}" for name, answer in verdict.answers.items())
                for _, verdict in open_
            ],
        }
    )


def settle(sitting: Sitting, row: int, verdict: Verdict) -> None:
    """One disagreement: the example, what was said, and what is to count."""
    data, reviewing = sitting.guide.data, sitting.guide.reviewing
    st.markdown(f"**{reviewing.root.ids[row]}**")
    try:
        pictured = show_picture(data, row, 200)
    except UserError as error:
        st.caption(str(error))
        pictured = False
    if data.texts is not None:
        st.text(str(data.texts[row]))
    elif not pictured:
        columns = sitting.guide.similar.columns(row)
        told = pd.DataFrame([(one.name, one.value, one.usual) for one in columns], columns=["column", "here", "nearby"])
        st.dataframe(told, hide_index=True, height=220, key=f"review-conflict-row-{row}", alt="The row")
    for name, answer in verdict.answers.items():
        st.markdown(f"{name}: **{answer.label or NONE.lower()}**" if answer.status != "unsure" else f"{name}: unsure")
    named = [answer.label for answer in verdict.answers.values() if answer.label is not None]
    labels = list(dict.fromkeys([*named, *reviewing.root.candidates.names(row)]))
    with st.container(horizontal=True):
        for k, label in enumerate([*labels, NONE]):
            st.button(
                label,
                key=f"settle-{reviewing.id}-{row}-{k}",
                type="primary" if label in named else "secondary",
                on_click=decide,
                args=(sitting, row, None if label == NONE else label),
            )


@told
def decide(sitting: Sitting, row: int, label: str | None) -> None:
    """This label counts."""
    sitting.desk.settle(row, label)

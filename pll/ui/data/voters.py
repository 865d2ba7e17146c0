"""Answers of people or models: how labels come of them, how far they agree, and what each of them is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from pll.annotations import Annotations, rule_table
from pll.annotations.agreement import Agreement
from pll.annotations.voters import (
    LEAST_CHECKED,
    VoterCard,
    fit_voters,
    voter_cards,
)
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.ui.agreement import show_agreement, show_two
from pll.ui.data import panel
from pll.ui.data.loader import data_key
from pll.wording import percent, short_by_name

OWN_SETS = ""
MOST_FITTED = 10**6
"""Examples × classes up to which the voter models are fitted while one waits."""
RULE_TITLES = {
    "voters": "Weight everybody (voter models)",
    OWN_SETS: "As the data has them",
    "union": "Every label somebody gave",
    "votes": "Labels that several people gave",
    "reliability": "Labels that are likely, given everybody's accuracy",
}
WEIGHTED_WORDS = "named by anybody, weighted by everybody's accuracy"
TABLE_WORDS = {
    "meaning": "a label is possible where",
    "rows": "examples",
    "mean_candidates": "labels each",
    "fallback": "no label meets it",
    "truth_inside": "truth inside",
}


def with_rule(source: Source, data: PartialLabelDataset) -> Source:
    """Show how labels come of the answers; return the source with that rule. Where voters can be weighed, they are.

    Parameters
    ----------
    source
        Where the data comes from.
    data
        Data with annotations.
    """
    annotations = data.annotations
    assert annotations is not None
    names = [name for name in RULE_TITLES if _is_possible(name, data, annotations)]
    # As in the shell: votes of a file without sets of its own are settled; a dataset of the catalogue stays as it is.
    is_file = bool(source.path or source.votes)
    weighed = "voters" in names and OWN_SETS not in names and annotations.n_annotators > 1 and is_file
    default = "voters" if weighed else OWN_SETS if OWN_SETS in names else "union"
    left, right = st.columns([2, 1], gap="medium")
    with left:
        how = st.selectbox(
            "Labels come from",
            names,
            index=names.index(default),
            format_func=lambda name: RULE_TITLES[name] + " · recommended" * (name == "voters" == default),
            key=f"rule-how-{source.name}",
            persist_state="session",
        )
    with right:
        if how == "votes":
            how = f"votes:{st.number_input('At least so many votes', 1, 1000, 2, key='rule-votes')}"
        elif how == "reliability":
            least = st.slider("Probability at least", 0.01, 0.5, 0.05, 0.01, key="rule-probability")
            how = f"reliability:{least}"
    return replace(source, rule=how)


def _is_possible(rule: str, data: PartialLabelDataset, annotations: Annotations) -> bool:
    if rule == OWN_SETS:  # where its sets are just what everybody said, the union is the same
        counts = np.diff(annotations.votes.indptr)
        return data.candidates is not None and not np.array_equal(counts, data.candidates.sizes)
    if rule == "voters":
        return not annotations.anonymous and annotations.n_classes > 1 and annotations.n_answers > 0
    return rule != "reliability" or not annotations.anonymous


def show_details(source: Source, data: PartialLabelDataset, agreed: Agreement) -> None:
    """Show how far the voters agree, what each rule would leave, and what each of several voters is worth.

    Parameters
    ----------
    source
        Where the data comes from: what is computed is kept by it.
    data
        Data with annotations.
    agreed
        How far the voters agree.
    """
    annotations = data.annotations
    assert annotations is not None
    show_agreement(agreed)
    st.markdown("**What each rule leaves**")
    table = _rules(data_key(source), annotations, data.y)
    if _is_possible(
        "voters", data, annotations
    ):  # as the union, and likely labels that nobody named are added in training
        table = pd.concat([table.iloc[[0]].assign(**{TABLE_WORDS["meaning"]: WEIGHTED_WORDS}), table])
    st.dataframe(
        table,
        hide_index=True,
        key="rules",
        column_config={
            "labels each": st.column_config.NumberColumn(format="%.2f"),
            "truth inside": st.column_config.NumberColumn(format="percent"),
        },
        alt="For each rule: examples, labels each, and examples by number of labels",
    )
    if annotations.n_annotators < 2 or not can_be_judged(annotations):
        return
    with st.spinner("Comparing the voters…"):
        cards = voter_table(data_key(source), annotations, data.y)
    st.markdown("**Who said what**")
    st.caption(
        "Accuracy is estimated from agreement alone; voters that share mistakes look better than they are. An interval "
        f"needs {LEAST_CHECKED} known labels."
    )
    show_voters(cards)
    panel.show(data_key(source), data, agreed)
    show_two(data_key(source), annotations)


def can_be_judged(annotations: Annotations) -> bool:
    """Whether it is known who answered, and the voter models are fitted while one waits."""
    is_small = annotations.n_rows * annotations.n_classes <= MOST_FITTED
    return not annotations.anonymous and annotations.n_classes > 1 and is_small


def show_voters(table: pd.DataFrame) -> None:
    """Put the table of `voter_table` on the page."""
    counted = bool((table["counted on"] > 0).any())
    st.dataframe(
        table if counted else table.drop(columns=["95 % interval", "counted on"]),
        hide_index=True,
        key="voters",
        column_config={
            "voter": st.column_config.TextColumn(width="medium"),
            "accuracy": st.column_config.NumberColumn("accuracy", format="%.1f %%"),
        },
        alt="For each voter: answers, accuracy and most frequent confusion",
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def voter_table(
    key: str,
    _annotations: Annotations,
    _y: npt.NDArray[np.int64] | None,
    _counted: npt.NDArray[np.int64] | None = None,
) -> pd.DataFrame:
    """A row for each annotator.

    `_y` (n,) are labels of the data or of a review, −1 elsewhere; accuracy is counted on `_counted` of them, random
    ones say, where not on all.
    """
    models = fit_voters(_annotations, true_labels=_y)
    cards = voter_cards(models, _y if _counted is None else _counted)
    short = short_by_name(_annotations.class_names)
    return pd.DataFrame(
        {
            "voter": [card.name for card in cards],
            "answers": [card.answers for card in cards],
            "accuracy": [100 * card.accuracy for card in cards],
            "95 % interval": [f"{percent(card.low)} – {percent(card.high)}" if card.checked else "" for card in cards],
            "counted on": [card.checked for card in cards],
            "confuses": [_confusion_words(card, short) for card in cards],
        }
    )


def _confusion_words(card: VoterCard, short: Mapping[str, str]) -> str:
    return "; ".join(
        f"{short[true]} → {short[voted]} ({percent(share, 0)})" for true, voted, share in card.confusions[:2]
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _rules(key: str, _annotations: Annotations, _y: npt.NDArray[np.int64] | None) -> pd.DataFrame:
    """`rule_table` with columns as a person reads them: examples by how many labels they have."""
    table = rule_table(_annotations, y=_y).drop(columns="rule").rename(columns=TABLE_WORDS)
    sizes = {name: f"{name} label{'s' * (name != '1')}" for name in map(str, table) if name[0].isdigit()}
    return table.rename(columns=sizes)

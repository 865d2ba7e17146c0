"""Candidate sets from the data: its own, or made from annotators' labels by a rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from pll.annotations import Annotations, rule_table
from pll.annotations.agreement import ENOUGH_ROWS, Agreement, Figure, agreement
from pll.annotations.voters import (
    LEAST_CHECKED,
    LEAST_WITH_COPIES,
    VoterCard,
    dependent_voters,
    fit_voters,
    voter_cards,
)
from pll.catalog.sources import Source
from pll.colors import percent, short_by_name
from pll.dataset import PartialLabelDataset
from pll.ui.data.candidates import Offer
from pll.ui.format import plain
from pll.ui.session import ChosenData, data_key

OWN = ""
MOST_SHOWN = 10**6
"""Examples × classes up to which the voter models are fitted while one waits."""
RULE_TITLES = {
    "voters": "Weight the annotators (voter models and features)",
    OWN: "As the data has them",
    "union": "Every label somebody gave",
    "votes": "Labels that several people gave",
    "reliability": "Labels that are likely, given each annotator's accuracy",
}
WEIGHTED_WORDS = "given by anyone, weighted by each annotator's accuracy"
RECOMMENDED = (
    "Recommended: weighted annotators. On 15 real sets of votes 73.0 % of the labels were right on average, 71.1 % "
    "with every label somebody gave, 70.8 % by the majority."
)
"""Figures of docs/votes.md, of which a test says that they are still there."""
TABLE_WORDS = {
    "meaning": "a label is a candidate where",
    "rows": "examples",
    "mean_candidates": "candidates each",
    "fallback": "no label meets it",
    "truth_inside": "truth inside",
}


def choose_rule(source: Source, data: PartialLabelDataset) -> Offer:
    """The data's own sets; from several annotators by a rule."""
    said = data.annotations
    if said is None:
        return Offer(ChosenData(source))
    names = [name for name in RULE_TITLES if _is_possible(name, data, said)]
    # As in the shell: votes of a file without sets of its own are settled; a dataset of the catalogue stays as it is.
    has_inputs = bool(data.X.size) or data.texts is not None or data.pictures is not None or bool(data.categories)
    from_file = source.path is not None or bool(source.votes)
    settled = "voters" in names and OWN not in names and from_file and has_inputs
    default = "voters" if settled else OWN if OWN in names else "union"
    left, right = st.columns([2, 1], gap="medium")
    with left:
        how = st.selectbox(
            "Candidates are",
            names,
            index=names.index(default),
            format_func=lambda name: RULE_TITLES[name] + " · recommended" * (name == "voters" == default),
            key=f"rule_how-{source.name}",
            persist_state="session",
        )
    with right:
        rule = _rule_with_value(how)
    _disagreement(data_key(source), said, data.y, default, settles="voters" in names)
    if not said.anonymous and said.n_classes > 1 and said.n_rows * said.n_classes <= MOST_SHOWN:
        _voters(data_key(source), said, data.y)
    return Offer(ChosenData(replace(source, rule=rule)))


def _is_possible(rule: str, data: PartialLabelDataset, said: Annotations) -> bool:
    if rule == OWN:  # where its sets are just what everybody said, the union is the same
        given = np.diff(said.votes.indptr)
        return data.candidates is not None and not np.array_equal(given, data.candidates.sizes)
    if rule == "voters":
        return not said.anonymous and said.n_classes > 1 and said.n_answers > 0
    return rule != "reliability" or not said.anonymous


def _rule_with_value(how: str) -> str:
    if how == "votes":
        return f"votes:{st.number_input('At least so many votes', 1, 1000, 2, key='rule_votes')}"
    if how == "reliability":
        return f"reliability:{st.slider('Probability at least', 0.01, 0.5, 0.05, 0.01, key='rule_probability')}"
    return how


def _disagreement(
    key: str, said: Annotations, y: npt.NDArray[np.int64] | None, recommended: str, *, settles: bool
) -> None:
    """How far people agree, and what each rule would leave; the row of the recommended rule says so."""
    with st.spinner("Comparing what people said…"):
        found, table = _agreement(key, said), _recommending(_rules(key, said, y), recommended, settles=settles)
    figures = {
        "Agreement of two annotators": (
            found.percent,
            "{:.1%}",
            "How often two annotators give an example the same label.",
        ),
        "Fleiss' kappa": (found.kappa, "{:.2f}", "Agreement beyond chance: 1 is full, 0 is none."),
        "Krippendorff's alpha": (found.alpha, "{:.2f}", "The same for answers of several labels (MASI distance)."),
    }
    with st.container(horizontal=True):
        for label, (figure, form, hint) in figures.items():
            if found.rows < ENOUGH_ROWS and figure is not found.percent:
                hint = f"{hint} Shown from {ENOUGH_ROWS} examples with two answers."
                figure = Figure(None)
            value = "–" if figure.value is None else form.format(figure.value).replace("%", " %")
            st.metric(label, value, help=f"{hint} {plain(figure.reason or '')}".strip(), width=220)
    st.markdown("**What each rule leaves**")
    if recommended == "voters":
        st.caption(RECOMMENDED)
    st.dataframe(
        table,
        hide_index=True,
        key="rules",
        column_config={
            "candidates each": st.column_config.NumberColumn(format="%.2f"),
            "truth inside": st.column_config.NumberColumn(format="percent"),
        },
        alt="For each rule: examples, candidates each, and examples by number of candidates",
    )


def _recommending(table: pd.DataFrame, recommended: str, *, settles: bool) -> pd.DataFrame:
    """The table of rules, the recommended one marked and, where votes can be weighted, a row for that."""
    if settles:  # the candidates are those of the union, and likely labels that nobody named are added in training
        first = table.iloc[[0]].assign(**{TABLE_WORDS["meaning"]: WEIGHTED_WORDS})
        table = pd.concat([first, table], ignore_index=True)
    marked = {"voters": 0, "union": int(settles)}.get(recommended)
    table = table.copy()  # the one that is cached stays as it is
    table.insert(0, " ", ["recommended" if row == marked else "" for row in range(len(table))])
    return table


def _voters(key: str, said: Annotations, y: npt.NDArray[np.int64] | None) -> None:
    """What the voter models say of each annotator."""
    with st.spinner("Comparing the annotators…"):
        table, notes = voter_table(key, said, y)
    st.markdown("**Annotators**")
    counted = bool((table["counted on"] > 0).any())
    st.caption(
        "Accuracy is estimated from agreement alone; annotators that share mistakes look better than they are."
        + (
            f" Where {LEAST_CHECKED} labels or more are known, it is counted on these, with its 95 % interval."
            if counted
            else f" An interval needs {LEAST_CHECKED} known labels: of the data, or decided in a review."
        )
        + " Decisive: examples whose label would be another one without this annotator."
    )
    for words in notes:
        st.text(words)
    show_voters(table)


def show_voters(table: pd.DataFrame) -> None:
    """Put the table of `voter_table` on the page."""
    counted = bool((table["counted on"] > 0).any())
    st.dataframe(
        table if counted else table.drop(columns=["95 % interval", "counted on"]),
        hide_index=True,
        key="voters",
        column_config={
            "annotator": st.column_config.TextColumn(width="medium"),
            "accuracy": st.column_config.NumberColumn("accuracy", format="%.1f %%"),
        },
        alt="For each annotator: answers, accuracy, decisive answers and most frequent confusion",
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def voter_table(
    key: str,
    _said: Annotations,
    _known: npt.NDArray[np.int64] | None,
    _counted: npt.NDArray[np.int64] | None = None,
) -> tuple[pd.DataFrame, list[str]]:
    """A row for each annotator, and what is to be said of their dependence.

    Args:
        key: of the cache: the annotations and the known labels.
        _known: (n,) labels of the data or of a review, −1 elsewhere.
        _counted: those of them that accuracy is counted on, where not on all: random ones, say.
    """
    models = fit_voters(_said, known=_known)
    cards = voter_cards(models, _known if _counted is None else _counted)
    short = short_by_name(_said.class_names)
    table = pd.DataFrame(
        {
            "annotator": [card.name for card in cards],
            "answers": [card.answers for card in cards],
            "accuracy": [100 * card.accuracy for card in cards],
            "95 % interval": [f"{percent(card.low)} – {percent(card.high)}" if card.checked else "" for card in cards],
            "counted on": [card.checked for card in cards],
            "decisive": [card.decisive for card in cards],
            "confuses": [_confusion_words(card, short) for card in cards],
        }
    )
    pairs = dependent_voters(models)
    # Three copies among five outvote the others: what those have in common, the truth, looks like shared mistakes then.
    shared = (
        "They share mistakes, or others that agree still more are copies of one another: known labels tell."
        if len(cards) >= LEAST_WITH_COPIES
        else "They share mistakes."
    )
    return table, [
        f"{pair.first} and {pair.second} agree on {percent(pair.observed, 0)} of {pair.rows:,} examples; independent "
        f"ones would on {percent(pair.expected, 0)}. {shared}"
        for pair in pairs
    ]


def _confusion_words(card: VoterCard, short: Mapping[str, str]) -> str:
    return "; ".join(
        f"{short[true]} → {short[said]} ({percent(share, 0)})" for true, said, share in card.confusions[:2]
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _agreement(key: str, _said: Annotations) -> Agreement:
    return agreement(_said)


@st.cache_resource(max_entries=8, show_spinner=False)
def _rules(key: str, _said: Annotations, _y: npt.NDArray[np.int64] | None) -> pd.DataFrame:
    """`rule_table` with columns as a person reads them: examples by how many candidates they have."""
    table = rule_table(_said, y=_y).drop(columns="rule").rename(columns=TABLE_WORDS)
    sizes = {name: f"{name} candidate{'s' * (name != '1')}" for name in map(str, table) if name[0].isdigit()}
    return table.rename(columns=sizes)

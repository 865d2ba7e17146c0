"""How labels are made of some data: where its candidate sets come from, what is learnt from, and *Get labels*."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pll.annotations import Annotations
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.features.selection import CHOICES, fitting_choices, suggested, without_folders
from pll.formats.checks import listing
from pll.runs.config import DataConfig, RunConfig
from pll.runs.data import (
    ADDRESSES_ALONE,
    can_be_weighed,
    has_own_sets,
    method_of_votes,
    single_labels,
    weighs_voters,
)
from pll.ui.widgets import choose

AS_IN_DATA, SYNTHESISE = "As in the data", "Make them from the true labels"
DOUBT = "Doubt the labels: some are wrong"
PLAIN_WAYS = {
    SYNTHESISE: "Yes: make them ambiguous and see what is found",
    DOUBT: "Some may be wrong: find those",
    AS_IN_DATA: "Yes: take them as they are",
}
"""The same for data with nothing but one label each."""
FEATURE_TITLES = {
    "": "Pictures as they are",
    "none": "The numbers as they are",
    "table": "Columns of the table",
    "tfidf": "Words of the texts",
    "embedding": "Texts as a language model understands them",
    "pixels": "Pixels of the pictures",
    "backbone": "Pictures as a network trained on photographs sees them",
}
OWN_SETS = ""
RULE_TITLES = {
    "voters": "Weight everybody (voter models)",
    OWN_SETS: "As the data has them",
    "union": "Every label somebody gave",
    "votes": "Labels that several people gave",
    "reliability": "Labels that are likely, given everybody's accuracy",
}


def ways(data: PartialLabelDataset) -> list[str]:
    """What can be done with this data, the usual first; nothing where it has neither candidates nor truth."""
    doubtful, votes = single_labels(data) is not None, data.annotations
    if doubtful and votes is not None and votes.n_annotators == 1 and not votes.anonymous:
        return [DOUBT, AS_IN_DATA, SYNTHESISE]
    return [AS_IN_DATA] * (data.candidates is not None) + [SYNTHESISE] * (data.y is not None) + [DOUBT] * doubtful


def is_question(ways: Sequence[str]) -> bool:
    """Whether the choice is the question of the page: the data has nothing but one label each, by one person or true.

    Of data with candidates it is among the details.
    """
    return len(ways) > 1 and ways[0] != AS_IN_DATA


def choose_way(ways: Sequence[str], source: Source, page: DeltaGenerator, details: DeltaGenerator) -> str:
    """Which of the ways, the first by default.

    Parameters
    ----------
    ways
        As `ways` returns them, one at least.
    source
        Where the data comes from: another one is asked anew.
    page
        Where the question stands that all have to answer.
    details
        Where it stands for data that has candidates anyway.
    """
    if len(ways) == 1:
        return ways[0]
    key = f"candidates-way-{source.name}"
    if not is_question(ways):
        return details.radio("Labels", ways, key=f"{key}-own", horizontal=True, persist_state="session")
    return page.radio(
        "Are these labels right?", ways, format_func=PLAIN_WAYS.__getitem__, key=key, persist_state="session"
    )


def _feature_title(spec: str) -> str:
    """The features of a specification, in words.

    Examples
    --------
    >>> _feature_title("tfidf"), _feature_title("table+tfidf:100")
    ('Words of the texts (tfidf)', 'Columns of the table + Words of the texts (table+tfidf:100)')
    >>> _feature_title("")
    'Pictures as they are'
    """
    titles = [FEATURE_TITLES.get(part.split(":")[0].strip(), part) for part in spec.split("+")]
    return " + ".join(titles) + (f" ({spec})" if spec else "")


def with_features(choice: DataConfig, data: PartialLabelDataset) -> DataConfig:
    """How texts, pictures and words become features, where the data has some.

    Raises UserError where what was typed is no kind of features, or cannot be made of this data; the remedy is named.

    Parameters
    ----------
    choice
        The data, and how its candidate sets are made.
    data
        The same, read.
    """
    usual = suggested(data)
    if not usual and "pictures" not in data.contents:
        return choice
    ready = ["none"] if usual and "numbers" in data.contents else []
    key = f"features-{choice.source.sha256 or choice.source.name}-{usual}"  # none is kept from other data
    spec = st.selectbox(
        "What is learnt from",
        list(dict.fromkeys([usual, *ready, *fitting_choices(data)])),
        format_func=_feature_title,
        help="The one for this data is chosen. You can type another, such as tfidf:500; several are joined by +. A "
        "language model (MiniLM, 90 MB, downloaded once) reads about 50 texts a second.",
        key=key,
        accept_new_options=True,
        persist_state="session",
    )
    if spec and spec not in (*CHOICES, "none"):
        without_folders(spec)  # typed: says at once what is wrong with it
    return replace(choice, features=spec or "auto")


# ---- answers of several people ---------------------------------------------------------------------------------------


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
    names = [name for name in RULE_TITLES if _is_possible_rule(name, data, annotations)]
    default = "voters" if weighs_voters(source, data) else OWN_SETS if OWN_SETS in names else "union"
    left, right = st.columns([2, 1], gap="medium")
    with left:
        titles = {name: RULE_TITLES[name] + " · recommended" * (name == "voters" == default) for name in names}
        at, key = names.index(default), f"rule-how-{source.name}"
        how = choose("Labels come from", titles, index=at, key=key, persist_state="session")
    with right:
        if how == "votes":
            how = f"votes:{st.number_input('At least so many votes', 1, 1000, 2, key='rule-votes')}"
        elif how == "reliability":
            least = st.slider("Probability at least", 0.01, 0.5, 0.05, 0.01, key="rule-probability")
            how = f"reliability:{least}"
    return replace(source, rule=how)


def _is_possible_rule(rule: str, data: PartialLabelDataset, annotations: Annotations) -> bool:
    if rule == OWN_SETS:  # where its sets are just what everybody said, the union is the same
        return has_own_sets(data)
    if rule == "voters":
        return can_be_weighed(annotations)
    return rule != "reliability" or not annotations.anonymous


# ---- *Get labels*: a run with the automatic settings, started at once ------------------------------------------------


def missing(data: PartialLabelDataset) -> str:
    """Say what is missing for labels to be found; "" where nothing is."""
    if len(data) < 2 or data.n_classes < 2:
        return f"There must be two examples and two classes at least; here there are {len(data)} and {data.n_classes}."
    if data.contents:
        return ""
    if not method_of_votes(data):
        remedy = "Add texts, pictures or numbers." if data.pictures is None else ADDRESSES_ALONE
        if data.extras:
            remedy += f" Only carried along: {listing(list(data.extras))}; under Details you can say what it is."
        return f"There is nothing to learn from beside the labels. {remedy}"
    if data.annotations is not None and data.annotations.n_annotators < 2:
        return (
            "One person's answers are all there is, and nothing tells which of them are wrong. Add another person's "
            "answers, or texts, pictures or numbers to learn from."
        )
    return ""


def usual_holdout(source: Source, data: PartialLabelDataset) -> float | None:
    """Return the share held out to test on where nobody says otherwise; None where nothing can be tested or held out.

    Parameters
    ----------
    source
        Where the data comes from: every row of a person's own file gets a label.
    data
        The same, read.
    """
    if data.y is None or (data.is_test is not None and data.is_test.any()):
        return None
    return 0.2 if source.path is None else 0.0


def automatic(choice: DataConfig, data: PartialLabelDataset) -> RunConfig:
    """Return a run on this choice with every setting chosen by the data, which has no features made of texts yet.

    Parameters
    ----------
    choice
        The data, and how its candidate sets are made.
    data
        The same, read.
    """
    learns = bool(data.contents)
    return RunConfig.on(
        choice,
        method="proden" if learns else method_of_votes(data),
        params={"recipe": "auto"} if learns else {},
        holdout=(learns and usual_holdout(choice.source, data)) or None,
        name=data.name,
    )

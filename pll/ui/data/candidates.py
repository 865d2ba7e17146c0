"""Where the candidate sets of the data page come from, and what is learnt from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.features import CHOICES, fitting_choices, suggested, without_folders
from pll.runs.data import single_labels
from pll.ui.session import ChosenData

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


def ways(data: PartialLabelDataset) -> list[str]:
    """What can be done with this data, the usual first; nothing where it has neither candidates nor truth."""
    doubtful = single_labels(data) is not None
    if doubtful and _is_of_one_person(data):
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


def _is_of_one_person(data: PartialLabelDataset) -> bool:
    return data.annotations is not None and data.annotations.n_annotators == 1 and not data.annotations.anonymous


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


def with_features(choice: ChosenData, data: PartialLabelDataset) -> ChosenData:
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

"""Attribution panel: which columns or words the model bases a label on; computed on request."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pll.analysis.attribution import (
    Attribution,
    column_attribution,
    column_names,
    reads_words,
    runner_up,
    word_attribution,
)
from pll.dataset import PartialLabelDataset
from pll.features import Featuriser, load_features
from pll.methods import PartialLabelEstimator
from pll.methods.persistence import load_model
from pll.runs.registry import default_registry
from pll.ui.format import plain
from pll.ui.review.error_messages import show_errors
from pll.ui.review.review_tab import ReviewTab

SHOWN = 8
"""Words or columns in the table."""
ASKED = "review-attribution"


@show_errors
def draw(tab: ReviewTab) -> None:
    """Below the desk; nothing where the model's view is hidden, or its inputs are neither words nor columns."""
    given, data = tab.given, tab.manager.data
    is_picture = data.is_image or (data.texts is None and (data.images is not None or data.pictures is not None))
    if given is None or tab.hides or is_picture or not data.X.size:
        return
    asked = (tab.manager.review.id, tab.manager.review.current.key, given.row)
    with st.expander("Reasons for the label", icon=":material/troubleshoot:"):
        if st.session_state.get(ASKED) != asked:
            st.button("Show for this example", key="review-attribution-show", on_click=_ask, args=(asked,))
            return
        _table(asked[1], data, given.row)


def _ask(about: tuple[str, tuple[str, str], int]) -> None:
    st.session_state[ASKED] = about


@st.cache_resource(max_entries=2, show_spinner="Reading the model…")
def _model(key: tuple[str, str]) -> tuple[PartialLabelEstimator, Featuriser | None]:
    """The model of a run and what made its features; `key` is that of its labels."""
    folder = default_registry().get(key[0]).folder  # a review is shared by people who may see different runs
    return load_model(folder.path), load_features(folder.path)


def _table(key: tuple[str, str], data: PartialLabelDataset, row: int) -> None:
    estimator, features = _model(key)
    scores = estimator.predict_scores(data.X[row : row + 1])[0]
    among = data.sets()[row].tolist()
    label = max(among, key=lambda j: float(scores[j]))
    other = runner_up(scores, among, label)
    names = column_names(features, data)
    if reads_words(features) and features is not None:
        found, what = word_attribution(estimator, features, data, row, label, other), "word"
    elif names is not None:
        found, what = column_attribution(estimator, data.X[row], label, other, names), "column"
    else:
        st.text("The features of this model are neither words nor columns.")
        return
    _show(found, what, data.class_names[label], data.class_names[other])


def _show(found: Attribution, what: str, label: str, other: str) -> None:
    strongest = found.strongest(SHOWN)
    st.text(f"By the model: {label} ({found.difference:+.2f}) against {other}, in units of its scores.")
    if not strongest:
        st.text(f"No {what} makes a difference.")
        return
    terms = np.array([term for _, term in strongest])
    table = pd.DataFrame({what: [name for name, _ in strongest], "in favour of": np.where(terms > 0, label, other)})
    st.dataframe(
        table.assign(by=np.abs(terms)),
        hide_index=True,
        key="review-attribution-table",
        column_config={"by": st.column_config.NumberColumn(format="%.3f")},
        alt=f"The {what}s with the largest effect on either label",
    )
    if found.rest is None:
        st.caption("How far the difference falls when the word is left out. These need not add up to it.")
    else:
        rest = f"{found.rest:+.2f}"
        st.caption(
            plain(f"Against a typical example, for which the difference is {rest}. All columns add up to the rest.")
        )

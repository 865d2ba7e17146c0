"""Details of the Data page on several voters together: where two of them differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pll.annotations import Annotations
from pll.annotations.agreement import Pair, confusion_of_two, sentence_of_two
from pll.dataset import PartialLabelDataset
from pll.ui.pairs import choose_pair, pairs_of

MOST_SHOWN_WHOLE = 12
"""Classes up to which all of the confusion table is shown; of more, its largest cells."""
LARGEST_CELLS = 20


def show(key: str, data: PartialLabelDataset) -> None:
    """Put where two of them disagree on the page."""
    annotations = data.annotations
    assert annotations is not None
    pairs = pairs_of(key, annotations)
    if pairs:
        st.markdown("**Where two of them disagree**")
        pair = choose_pair(annotations, pairs, label="Two voters", key=f"pair-{key}")
        if pair is not None:
            st.text(sentence_of_two(annotations, pair.first, pair.second))
            st.dataframe(
                confusion_frame(annotations, pair),
                hide_index=True,
                key="confusion",
                alt="How often the first of the two gave each label where the second gave another",
            )


def confusion_frame(annotations: Annotations, pair: Pair) -> pd.DataFrame:
    """The confusion table of two voters: a column for each label of the second; of many classes the largest cells."""
    table = confusion_of_two(annotations, pair.first, pair.second)
    first, second = (annotations.annotator_names[who] for who in (pair.first, pair.second))
    names = np.array(annotations.class_names)
    if len(names) <= MOST_SHOWN_WHOLE:
        frame = pd.DataFrame(np.round(table, 2), columns=list(names))
        frame.insert(0, f"{first} ↓ {second} →", names)
        return frame
    np.fill_diagonal(table, 0.0)
    k, j = np.divmod(np.argsort(-table, axis=None, kind="stable")[:LARGEST_CELLS], len(names))
    cells = table[k, j] > 0
    said = {f"{first} said": names[k], f"{second} said": names[j], "examples": table[k, j]}
    return pd.DataFrame(said)[cells]

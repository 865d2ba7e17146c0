"""One example as people see it: its picture, else its text, its words or its features."""

from __future__ import annotations

import html

import pandas as pd
import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.ui.components.gallery import picture_uri
from pll.ui.widgets import show_table

MOST_FEATURES = 200
MOST_TEXT = 4000
"""Characters of a text."""


def show_picture(data: PartialLabelDataset, row: int, width: int) -> bool:
    """The picture of one example, small ones with their pixels as they are; False where it has none.

    Parameters
    ----------
    data
        The data.
    row
        The example.
    width
        In pixels.
    """
    uri = picture_uri(data, row, 2 * width)
    if uri is None:
        return False
    sharp = "image-rendering:pixelated;" if uri.startswith("data:image/png") else ""
    alt = html.escape(f"example {data.row_ids[row]}", quote=True)
    st.html(f'<img src="{uri}" alt="{alt}" style="width:{width}px;border-radius:6px;{sharp}">', width="content")
    return True


def show_contents(data: PartialLabelDataset, row: int) -> None:
    """What there is to read of an example that has no picture: its text, its words, else its features.

    Parameters
    ----------
    data
        The data.
    row
        The example.
    """
    if data.texts is not None:
        st.text(str(data.texts[row])[:MOST_TEXT])
        return
    if data.categories:
        words = {name: cells[row] or "" for name, cells in data.categories.items()}
        table = pd.DataFrame({"column": list(words), "value": list(words.values())})
        show_table(table, "Its words", key="words")
        return
    values = data.X[row].ravel()
    names = data.feature_names or tuple(f"feature {k}" for k in range(len(values)))
    table = pd.DataFrame({"feature": names[:MOST_FEATURES], "value": values[:MOST_FEATURES]})
    show_table(table, "Its features", height=220, key="features")
    if len(values) > MOST_FEATURES:
        st.caption(f"The first {MOST_FEATURES} of {len(values):,} features.")

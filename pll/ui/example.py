"""One example as people see it: its picture, else its text or its columns."""

from __future__ import annotations

import html
from collections.abc import Iterator

import pandas as pd
import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.review.similar import figure
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
    """What there is to read of an example that has no picture: its text, else its columns.

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
    if data.X.ndim != 2:
        st.caption("Its picture cannot be shown.")
        return
    cells = list(cells_of(data, row))
    show_table(pd.DataFrame(cells[:MOST_FEATURES], columns=["column", "value"]), "Its columns", height=220)
    if len(cells) > MOST_FEATURES:
        st.caption(f"The first {MOST_FEATURES} of {len(cells):,} columns.")


def cells_of(data: PartialLabelDataset, row: int) -> Iterator[tuple[str, str]]:
    """Yield the columns of an example and what stands in them: its words, then its numbers, where a run fills gaps.

    Parameters
    ----------
    data
        The data, whose features are columns; those that words were made into are left out.
    row
        The example.
    """
    made = tuple(f"{name} {sign} " for name in data.categories for sign in ("=", "is"))
    yield from ((name, str(cells[row])) for name, cells in data.categories.items() if cells[row] is not None)
    numbers = zip(data.column_names, data.X[row].tolist(), strict=True)
    yield from ((name, figure(value)) for name, value in numbers if not name.startswith(made))

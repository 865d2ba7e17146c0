"""A table of which a person edits one column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from pll.ui.buttons import button

TABLE_ROW = 35
"""Pixels of a row of a table."""


def edit_column(
    table: pd.DataFrame,
    column: str,
    save: Callable[[dict[int, str | None]], None],
    *,
    key: str,
    config: Mapping[str, Any],
    visible_rows: int,
) -> None:
    """Show a table; `save` takes the cells of a column that a person changed, by row.

    Parameters
    ----------
    table
        What is shown.
    column
        The one column of it that can be edited.
    save
        Called with the cells of that column that a person changed, by number of the row; None for an emptied one.
    key
        Of the widget.
    config
        How columns are shown, as Streamlit takes it.
    visible_rows
        Rows that show without scrolling, at most.
    """
    key = f"{key}-{hash(tuple(table[column]))}"  # the widget has no edits of an earlier table

    def edited() -> None:
        save({int(row): cells.get(column) for row, cells in st.session_state[key]["edited_rows"].items()})

    st.data_editor(
        table,
        hide_index=True,
        disabled=[str(name) for name in table if name != column],
        column_config=config,
        height=TABLE_ROW * (min(len(table), visible_rows) + 1) + 2,
        key=key,
        on_change=edited,
    )


def undo_all(edits: str) -> None:
    """Show the button that forgets the edits which the session state has under a key."""
    button(
        "Undo all",
        st.session_state.pop,
        edits,
        None,
        icon="undo",
        disabled=not st.session_state.get(edits),
        key=f"{edits}-undo",
    )

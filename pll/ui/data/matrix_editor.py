"""Editor of the probabilities with which wrong labels become candidates: a table to type into, and what fills it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from pll.colors import short_names
from pll.errors import UserError
from pll.synthesis.transitions import Matrix, checked_transitions
from pll.ui.format import count, plain

MOST_AT_ONCE = 20
"""Classes up to which the whole matrix is one table; of more, one true label at a time."""
_STATE = "typed-matrix"


@dataclass
class TypedMatrix:
    """The matrix of one tab.

    Attributes:
        names: c classes.
        start: (c, c) what the table in the browser began with; it stays as it is while the table is on the page, since
            the table sends what differs from it.
        now: (c, c) the same with all that was typed, right or wrong; NaN where a cell was emptied.
        version: counts the changes by buttons: each begins a new table.
    """

    names: tuple[str, ...]
    start: Matrix
    now: Matrix
    version: int = 0

    def replace(self, matrix: Matrix) -> None:
        """Begin a new table."""
        self.now, self.version = matrix, self.version + 1


def typed(names: Sequence[str]) -> Matrix | None:
    """Show the editor; return the (c, c) matrix, or None where a cell is no probability, which the page says."""
    found: TypedMatrix | None = st.session_state.get(_STATE)
    if found is None or found.names != tuple(names):
        found = st.session_state[_STATE] = TypedMatrix(tuple(names), np.eye(len(names)), np.eye(len(names)))
    st.caption(
        "Double-click a cell to change it. Row: true label. Column: probability, 0 to 1, that this label is a "
        "candidate too. A true label always is: its own cell stays 1."
    )
    row = None
    if len(names) > MOST_AT_ONCE:
        row = st.selectbox(
            "True label",
            range(len(names)),
            format_func=names.__getitem__,
            key="matrix_row",
            help="Type to search. The other rows keep what they have.",
        )
    key = f"matrix-{found.version}" + ("" if row is None else f"-{row}")
    if key not in st.session_state:  # the table was not on the page just now
        found.start = found.now.copy()
    found.now = _edited(found, row, key)
    try:
        matrix, problem = checked_transitions(found.now, names), ""
    except UserError as error:
        matrix, problem = None, str(error)
    _sums(found.now, names, row)
    _buttons(found, is_valid=matrix is not None)
    if problem:
        st.error(plain(problem), icon=":material/error:")
    return matrix


def _edited(found: TypedMatrix, row: int | None, key: str) -> Matrix:
    names, now = list(found.names), found.now.copy()
    if row is None:
        number = st.column_config.NumberColumn(step=0.01, width="small")
        table = pd.DataFrame(found.start, index=names, columns=names)
        edited = st.data_editor(table, key=key, column_config=dict.fromkeys(names, number))
        now[:] = edited.to_numpy(dtype=np.float64)
    else:
        table = pd.DataFrame({"label": names, "probability": found.start[row]})
        edited = st.data_editor(
            table,
            key=key,
            hide_index=True,
            disabled=["label"],
            height=390,
            column_config={"probability": st.column_config.NumberColumn(step=0.01)},
        )
        now[row] = edited["probability"].to_numpy(dtype=np.float64)
    np.fill_diagonal(now, 1.0)
    return now


def _sums(matrix: Matrix, names: Sequence[str], row: int | None) -> None:
    """Wrong labels that join each true label, on average."""
    sums = matrix.sum(axis=1) - 1
    if row is not None:
        filled = int((sums > 0).sum())
        st.caption(f"Wrong labels on average: {sums[row]:.2f}. {count(filled, 'row')} of {len(names):,} filled.")
        return
    shown = " · ".join(f"{plain(name)} {total:.2f}" for name, total in zip(short_names(names), sums, strict=True))
    st.caption(f"Wrong labels on average, by true label: {shown}")


def _buttons(found: TypedMatrix, *, is_valid: bool) -> None:
    is_empty = bool((found.now == np.eye(len(found.names))).all())
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Normalise rows",
            key="matrix-normalise",
            disabled=is_empty or not is_valid,
            help="Scales each row so that the probabilities of wrong labels add up to 1: one wrong label on average.",
            on_click=lambda: found.replace(normalised(found.now)),
        )
        st.button(
            "Make symmetric",
            key="matrix-symmetric",
            disabled=is_empty or not is_valid,
            help="An empty cell takes what its mirror image has; where both are filled, both get their mean.",
            on_click=lambda: found.replace(symmetric(found.now)),
        )
        st.button(
            "Reset",
            key="matrix-reset",
            icon=":material/restart_alt:",
            disabled=is_empty,
            on_click=lambda: found.replace(np.eye(len(found.names))),
        )


def normalised(matrix: Matrix) -> Matrix:
    """Return the matrix with rows whose entries off the diagonal add up to 1; rows of zeros stay.

    Args:
        matrix: (c, c) probabilities, 1 on the diagonal.

    >>> normalised(np.array([[1.0, 0.2, 0.2], [0, 1, 0], [0.1, 0, 1]])).tolist()
    [[1.0, 0.5, 0.5], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    others = matrix - np.diag(matrix.diagonal())
    sums = others.sum(axis=1, keepdims=True)
    return np.minimum(others / np.where(sums > 0, sums, 1.0), 1.0) + np.eye(len(matrix))


def symmetric(matrix: Matrix) -> Matrix:
    """Return the matrix made symmetric: cells of 0 take their mirror image, others the mean of both.

    >>> symmetric(np.array([[1.0, 0.2, 0.5], [0.4, 1, 0], [0, 0, 1]])).round(6).tolist()
    [[1.0, 0.3, 0.5], [0.3, 1.0, 0.0], [0.5, 0.0, 1.0]]
    """
    mirror = matrix.T
    both = (matrix > 0) & (mirror > 0)
    return np.where(both, (matrix + mirror) / 2, np.maximum(matrix, mirror))

"""Matrices of classes on the data page: brought as a file, made of a confusion matrix, and drawn."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from pll.errors import UserError
from pll.synthesis.transitions import Matrix, checked_transitions, read_matrix, transitions_from_confusion
from pll.ui import charts
from pll.ui.error_messages import show_error

MATRIX_FILES = ["csv", "tsv", "json", "npy", "npz"]
MOST_DRAWN = 400
FILE, CONFUSION = "A file", "From a confusion matrix"


def uploaded(label: str, names: Sequence[str], key: str, help_: str) -> Matrix | None:
    """A (c, c) matrix of numbers in a file of the user's; None while there is none, or what is wrong is on the page."""
    upload = st.file_uploader(label, type=MATRIX_FILES, key=key, help=help_)
    if upload is None:
        st.caption(
            f"{len(names):,} × {len(names):,} numbers as CSV, JSON or npz; a first row and column of class names put "
            "it into order."
        )
        charts.csv_button(
            lambda: _template(names), "matrix.csv", key=f"{key}-template", label="An empty one to fill in"
        )
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"matrix{Path(upload.name).suffix.lower()}"
        file.write_bytes(upload.getvalue())
        return or_error(lambda: read_matrix(file, names, name=upload.name))


def _template(names: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(np.eye(len(names), dtype=np.int64), columns=list(names))
    table.insert(0, "", list(names))
    return table


def transitions(names: Sequence[str]) -> Matrix | None:
    """A transition matrix of the user's, as it is or from a confusion matrix; None while there is none."""
    origin = st.selectbox("The matrix is", [FILE, CONFUSION], key="matrix_origin", persist_state="session")
    if origin == FILE:
        help_ = "Row: true label. Column: probability, 0 to 1, that this label is a candidate too. The diagonal is 1."
        matrix = uploaded("Matrix of probabilities", names, "matrix-file", help_)
        return None if matrix is None else or_error(lambda: checked_transitions(matrix, names))
    help_ = "Row: true label. Column: how often it was taken for this label, as counts or shares."
    confusion = uploaded("Confusion matrix", names, "confusion-file", help_)
    if confusion is None:
        return None
    highest = st.slider(
        "Highest probability (0: as often as they are confused)", 0.0, 1.0, 0.6, 0.05, key="matrix_highest"
    )
    return or_error(lambda: transitions_from_confusion(confusion, names, highest=highest or None))


def draw(matrix: Matrix, names: Sequence[str], *, key: str, title: str, across: str, down: str) -> None:
    """A matrix as a heatmap; one of very many classes is only said to be."""
    if len(names) > MOST_DRAWN:
        st.caption(f"{len(names):,} classes are too many to draw.")
        return
    figure, table = charts.matrix_chart(matrix, names, title=title, across=across, down=down)
    charts.show(figure, table, key, f"{title}: {down} by {across}, in percent")


def or_error(make: Callable[[], Matrix]) -> Matrix | None:
    """What `make` gives; where it cannot, why, beside the field it is about."""
    try:
        return make()
    except UserError as error:
        show_error(error)
        return None

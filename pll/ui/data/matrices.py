"""Matrices of classes on the data page: brought as a file, made of a confusion matrix, and drawn."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.synthesis.label_noise import estimated_confusion
from pll.synthesis.transitions import Matrix, checked_transitions, read_matrix, transitions_from_confusion
from pll.ui import background, charts
from pll.ui.data.loader import QUICK
from pll.ui.format import plain

KINDS = ["csv", "tsv", "json", "npy", "npz"]
MOST_DRAWN = 400
FILE, CONFUSION, CLASSIFIER = "A file", "From a confusion matrix", "From a classifier's confusions"


def uploaded(label: str, names: Sequence[str], key: str, help_: str) -> Matrix | None:
    """A (c, c) matrix of numbers in a file of the user's; None while there is none, or what is wrong is on the page."""
    given = st.file_uploader(label, type=KINDS, key=key, help=help_)
    if given is None:
        st.caption(
            f"{len(names):,} × {len(names):,} numbers as CSV, JSON or npz; a first row and column of class names put "
            "it into order."
        )
        st.download_button(
            "An empty one to fill in",
            data=_template(names),
            file_name="matrix.csv",
            mime="text/csv",
            key=f"{key}-template",
            on_click="ignore",
            type="tertiary",
            icon=":material/download:",
        )
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"matrix{Path(given.name).suffix.lower()}"
        file.write_bytes(given.getvalue())
        return _or_error(lambda: read_matrix(file, names, name=given.name))


def _template(names: Sequence[str]) -> str:
    table = pd.DataFrame(np.eye(len(names), dtype=np.int64), index=list(names), columns=list(names))
    return table.to_csv()


def transitions(data: PartialLabelDataset, seed: int) -> Matrix | None:
    """A transition matrix of the user's, from where they want; None while there is none."""
    origin = st.selectbox("The matrix is", [FILE, CONFUSION, CLASSIFIER], key="matrix_origin", persist_state="session")
    names = data.class_names
    if origin == FILE:
        help_ = "Row: true label. Column: probability, 0 to 1, that this label is a candidate too. The diagonal is 1."
        found = uploaded("Matrix of probabilities", names, "matrix-file", help_)
        return None if found is None else _or_error(lambda: checked_transitions(found, names))
    if origin == CONFUSION:
        help_ = "Row: true label. Column: how often it was taken for this label, as counts or shares."
        confusion = uploaded("Confusion matrix", names, "confusion-file", help_)
    else:
        confusion = _of_classifier(data, seed)
    if confusion is None:
        return None
    highest = st.slider(
        "Highest probability (0: as often as they are confused)", 0.0, 1.0, 0.6, 0.05, key="matrix_highest"
    )
    return _or_error(lambda: transitions_from_confusion(confusion, names, highest=highest or None))


def _of_classifier(data: PartialLabelDataset, seed: int) -> Matrix | None:
    """How a classifier confuses the true labels: its mean probabilities, by true label."""
    if data.y is None or (data.y < 0).any() or not data.X.size:
        st.caption("A classifier needs features, and the true label of every example.")
        return None
    work = partial(estimated_confusion, data.X, data.y, data.n_classes, seed=seed)
    if data.X.size <= QUICK:
        with st.spinner("Fitting a classifier…"):
            return _or_error(work)
    key = hashlib.sha256(f"{data.name} {data.X.shape} {seed} {float(data.X.sum())} {data.y.sum()}".encode()).hexdigest()
    kept = st.session_state.get("confusion_of_classifier")
    if kept is None or kept[0] != key:
        found = background.result_of(
            f"confusion {key}",
            "Fitting a classifier",
            lambda report: work(progress=partial(report, "parts of the data judged")),
        )
        if found is None:
            return None
        st.session_state["confusion_of_classifier"] = kept = (key, found)
    matrix: Matrix = kept[1]
    return matrix


def draw(matrix: Matrix, names: Sequence[str], *, key: str, title: str, across: str, down: str) -> None:
    """A matrix as a heatmap; one of very many classes is only said to be."""
    if len(names) > MOST_DRAWN:
        st.caption(f"{len(names):,} classes are too many to draw.")
        return
    figure, table = charts.matrix_chart(matrix, names, title=title, across=across, down=down)
    charts.show(figure, table, key, f"{title}: {down} by {across}, in percent")


def _or_error(make: object) -> Matrix | None:
    """What `make` gives; where it cannot, why, beside the field it is about."""
    assert callable(make)
    try:
        found: Matrix = make()
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        return None
    return found

"""Forms that make candidate sets from true labels, or from single labels that may be wrong."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.runs.config import DataConfig
from pll.runs.data import single_labels
from pll.synthesis import Flip, flip_matrix_of
from pll.synthesis.label_noise import Noisy, estimated_confusion
from pll.synthesis.names import FLIPS, NOISY
from pll.synthesis.transitions import (
    Matrix,
    checked_transitions,
    read_matrix,
    transitions_from_confusion,
    truth_given_label,
)
from pll.ui import charts
from pll.ui.data.loader import choice_key
from pll.ui.widgets import choose, number_field, share_slider, show_error

MATRIX_FILES = ["csv", "tsv", "json", "npy", "npz"]
FILE, CONFUSION = "A file", "From a confusion matrix"
CLASSIFIER = "From a classifier's confusions"


def make_from_truth(source: Source, data: PartialLabelDataset, details: DeltaGenerator) -> DataConfig | None:
    """Sets made from true labels; None while a matrix is missing. What few want to set stands among the details.

    Parameters
    ----------
    source
        Where the data comes from, read so that it has true labels.
    data
        The data, whose classes a matrix has to have.
    details
        Where the seed stands.
    """
    left, right = st.columns(2, gap="medium")
    with left:
        titles = {name: way.title for name, way in FLIPS.items()}
        how = choose("How wrong labels enter", titles, key="flip-how", persist_state="session")
    with right:
        settings = _settings(how, data)
    with details:
        seed = number_field("seed", 0, key="flip-seed", persist_state="session")
    if "matrix" in FLIPS[how].needs:
        matrix = _transitions(data.class_names)
        if matrix is None:
            return None
        settings["matrix"] = tuple(tuple(row) for row in matrix.tolist())
    return DataConfig(source, flip=Flip(how, **settings), seed=int(seed))


def _settings(how: str, data: PartialLabelDataset) -> dict[str, Any]:
    """The numbers that a way takes; those that it need not have only where they are given."""
    way, most = FLIPS[how], {"size": data.n_classes}
    words: dict[str, Any] = {"help": way.help} if way.help else {}
    needed = {
        name: share_slider(name, 0.7, key=f"flip-{name}", **words, persist_state="session")
        for name in way.needs
        if name != "matrix"
    }
    keys = {name: f"flip-{name}-{how}" for name in way.takes}
    for key in keys.values():  # a field that begins with a number cannot be emptied again, but for this
        st.session_state.setdefault(key, way.usual)
    given = {
        name: number_field(name, None, key=key, most=most.get(name), placeholder=way.without, **words)
        for name, key in keys.items()
    }
    return needed | {name: value for name, value in given.items() if value is not None}


def make_from_noisy_labels(source: Source, data: PartialLabelDataset) -> DataConfig | None:
    """Sets made of single labels that may be wrong; None while a confusion matrix is missing.

    Parameters
    ----------
    source
        Where the data comes from.
    data
        The data, with single labels.
    """
    st.caption(
        "The label that was given always stays. More candidates hold more of the truth, and say less."
        + " Doubted labels are no truth: nothing is measured against them." * (data.candidates is None)
    )
    how = choose("What joins it", {name: words[0] for name, words in NOISY.items()}, key="noisy-how")
    noisy = _top_k(data) if how == "topk" else _confusion(data)
    return None if noisy is None else DataConfig(source, noisy=noisy)


def _top_k(data: PartialLabelDataset) -> Noisy:
    most = max(1, min(10, data.n_classes - 1))
    help_ = "A classifier that has not seen the label judges each example; so many of its likeliest labels join."
    k = st.number_input("Likeliest labels that join", 1, most, min(2, most), key=f"noisy-k-{most}", help=help_)
    return Noisy("topk", int(k))


def _confusion(data: PartialLabelDataset) -> Noisy | None:
    least = st.slider("Joins where it is the truth with probability at least", 0.01, 0.5, 0.05, 0.01, key="noisy-least")
    origin = st.selectbox("The confusion matrix is", [CLASSIFIER, FILE], key="noisy-origin")
    if origin == CLASSIFIER:
        return Noisy("confusion", least)
    rows = st.radio(
        "Its rows are", ["true", "given"], format_func="{} labels".format, horizontal=True, key="noisy-rows"
    )
    help_ = "How often each true label was given which label, as counts or shares."
    matrix = _uploaded("Confusion matrix", data.class_names, "noisy-file", help_)
    if matrix is None:
        return None
    if _or_error(lambda: truth_given_label(matrix, data.class_names, rows=rows)) is None:
        return None
    return Noisy("confusion", least, tuple(tuple(row) for row in matrix.tolist()), rows)


def show_result(choice: DataConfig, raw: PartialLabelDataset, made: PartialLabelDataset) -> None:
    """The matrix of the settings, as a chart.

    Parameters
    ----------
    choice
        How the sets were made; those of the data themselves show nothing here.
    raw
        The data as it was read.
    made
        The same with the sets that were made.
    """
    flip, noisy, names = choice.flip, choice.noisy, made.class_names
    if flip is not None:
        each = flip.way.by_example  # then every example has probabilities of its own
        matrix = _mean_flips(choice_key(choice), choice, made) if each else flip_matrix_of(flip, len(names), names)
        title, down = "Pairs of labels", "true label"
        charts.show_matrix(lambda: matrix, names, "transitions", title=title, across="label", down=down)
        if each:
            st.caption("The mean over the examples of each class: every example has probabilities of its own.")
    elif noisy is not None:
        confusion = noisy.matrix(names)
        matrix = (
            _estimated(choice_key(replace(choice, noisy=None)), choice, raw, made)
            if confusion is None
            else truth_given_label(confusion, names, rows=noisy.rows)
        )
        title = "What a given label may truly be"
        charts.show_matrix(lambda: matrix, names, "doubt", title=title, across="true label", down="given label")


@st.cache_data(max_entries=8, show_spinner=False)
def _mean_flips(key: str, _choice: DataConfig, _made: PartialLabelDataset) -> Matrix:
    assert _choice.flip is not None
    return flip_matrix_of(_choice.flip, _made.n_classes, _made.class_names, y=_made.y, X=_made.X, seed=_choice.seed)


@st.cache_data(max_entries=8, show_spinner=False)
def _estimated(key: str, _choice: DataConfig, _raw: PartialLabelDataset, _made: PartialLabelDataset) -> Matrix:
    """Pr(label j | given i) as the classifier has it; the examples without a label are gone from `_made`."""
    labels = single_labels(_raw)
    assert labels is not None
    return estimated_confusion(_made.X, labels[labels >= 0], _made.n_classes, seed=_choice.seed)


# ---- matrices of classes --------------------------------------------------------------------------------------------


def _uploaded(label: str, names: Sequence[str], key: str, help_: str) -> Matrix | None:
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
        return _or_error(lambda: read_matrix(file, names, name=upload.name))


def _template(names: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(np.eye(len(names), dtype=np.int64), columns=list(names))
    table.insert(0, "", list(names))
    return table


def _transitions(names: Sequence[str]) -> Matrix | None:
    """A transition matrix of the user's, as it is or from a confusion matrix; None while there is none."""
    origin = st.selectbox("The matrix is", [FILE, CONFUSION], key="matrix-origin", persist_state="session")
    if origin == FILE:
        help_ = "Row: true label. Column: probability, 0 to 1, that this label is a candidate too. The diagonal is 1."
        matrix = _uploaded("Matrix of probabilities", names, "matrix-file", help_)
        return None if matrix is None else _or_error(lambda: checked_transitions(matrix, names))
    help_ = "Row: true label. Column: how often it was taken for this label, as counts or shares."
    confusion = _uploaded("Confusion matrix", names, "confusion-file", help_)
    if confusion is None:
        return None
    highest = st.slider(
        "Highest probability (0: as often as they are confused)", 0.0, 1.0, 0.6, 0.05, key="matrix-highest"
    )
    return _or_error(lambda: transitions_from_confusion(confusion, names, highest=highest or None))


def _or_error(make: Callable[[], Matrix]) -> Matrix | None:
    """What `make` gives; where it cannot, why, beside the field it is about."""
    try:
        return make()
    except UserError as error:
        show_error(error)
        return None

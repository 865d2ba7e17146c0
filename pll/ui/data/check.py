"""Details of the data page: statistics and charts of the candidate sets."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.colors import ACCENT
from pll.dataset import PartialLabelDataset
from pll.errors import notes_of
from pll.runs.data import warnings_about
from pll.synthesis.ambiguity import co_occurrence, label_cooccurrence
from pll.ui import charts
from pll.ui.format import format_shape, plain
from pll.ui.widgets import ShownFigure, show_figures
from pll.wording import percent

MOST_PAIRED = 200
"""Beyond this a picture of all pairs of classes shows nothing."""


def notes(data: PartialLabelDataset) -> None:
    """Notes of the reader, without those that the page or its columns say already."""
    shown = notes_of(data.notes, "columns", "spellings", "no answer", "lost", "one voter")
    for note in data.notes:
        if note not in shown:
            st.caption(f":material/info: {plain(note)}")


def warnings(data: PartialLabelDataset) -> None:
    """What may be wrong with the candidate sets."""
    for warning in warnings_about(data)[len(data.notes) :]:
        st.caption(f":material/warning: {plain(warning)}")


def figures(data: PartialLabelDataset) -> None:
    """The statistics that matter before training."""
    sets = data.sets()
    y = data.y if sets.n_classes > 1 else None
    cooccurrence = None if y is None or not (y >= 0).any() else label_cooccurrence(sets, y)
    entries = [
        ShownFigure("Examples", f"{len(data):,}"),
        ShownFigure("Classes", f"{sets.n_classes:,}"),
        ShownFigure("Features", format_shape(data.input_shape)),
        ShownFigure("Candidates each", f"{sets.nnz / len(sets):.2f}", "Candidate labels of an example, on average."),
        ShownFigure("Already certain", percent(float((sets.sizes == 1).mean())), "Examples with one candidate."),
    ]
    outside = len(data.truth_outside())
    if data.y is not None and outside:
        share = 1 - outside / int((data.y >= 0).sum())
        hint = "Sets that hold the true label, where it is known."
        entries.append(ShownFigure("Truth inside", percent(share, 2), hint))
    if cooccurrence is not None:
        hint = (
            "How often the most frequent wrong label accompanies a true one. Below 100 % the true labels can be "
            "found in principle; the lower, the easier."
        )
        gamma = percent(cooccurrence.gamma) if cooccurrence.says_enough else "–"
        entries.append(ShownFigure("Ambiguity degree γ", gamma, hint))
    show_figures(entries, width=160)
    if cooccurrence is not None:
        st.caption(f"γ: {plain(cooccurrence.sentence(sets.class_names))}")


def charts_of(data: PartialLabelDataset) -> None:
    """Show the sizes of candidate sets and which labels occur together."""
    sets = data.sets()
    left, right = st.columns(2, gap="large")
    with left:
        figure, table = _sizes_chart(sets.sizes)
        charts.show(figure, table, "sizes", "Number of examples by number of candidates")
    with right:
        if (sets.sizes == 1).all():
            st.caption("No two labels share a set, so no labels occur together.")
            return
        if sets.n_classes > MOST_PAIRED:
            st.caption(f"{sets.n_classes:,} classes are too many to draw which occur together.")
            return
        figure, table = charts.matrix_chart(
            co_occurrence(sets),
            sets.class_names,
            title="Which labels occur together",
            across="is a candidate too, % of the sets",
            down="where this is a candidate",
        )
        charts.show(figure, table, "company", "Share of sets with one label that hold another")


def _sizes_chart(sizes: npt.NDArray[np.int64]) -> tuple[go.Figure, pd.DataFrame]:
    """How many candidates the examples have."""
    counts = np.bincount(sizes)
    table = pd.DataFrame({"candidates": np.arange(1, len(counts)), "examples": counts[1:]})
    figure = go.Figure()
    figure.add_bar(x=table["candidates"].to_numpy(), y=table["examples"].to_numpy(), marker_color=ACCENT)
    charts.dress(figure, "Candidates an example", "candidates", "examples")
    figure.update_xaxes(dtick=max(1, len(counts) // 12))
    return figure, table

"""Step 3 of the data page: statistics, examples and charts to check the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pll.colors import percent
from pll.dataset import PartialLabelDataset
from pll.synthesis.ambiguity import co_occurrence, degree_of
from pll.ui import charts
from pll.ui.components.gallery import gallery
from pll.ui.format import format_shape, plain

PREVIEWED = 12
MOST_CLASSES = 200
"""Beyond this a picture of all pairs of classes shows nothing."""


def figures(data: PartialLabelDataset) -> None:
    """The statistics that matter before training."""
    sets = data.sets()
    degree = None if data.y is None else degree_of(sets, data.y)
    entries: list[tuple[str, str, str | None]] = [
        ("Examples", f"{len(data):,}", None),
        ("Classes", f"{sets.n_classes:,}", None),
        ("Features", format_shape(data.input_shape), None),
        ("Candidates each", f"{sets.nnz / len(sets):.2f}", "Candidate labels of an example, on average."),
        ("Already certain", percent(float((sets.sizes == 1).mean())), "Examples with one candidate."),
    ]
    if degree is not None:
        help_ = (
            "How often the most frequent wrong label accompanies a true one. Below 100 % the true labels can be "
            "found in principle; the lower, the easier."
        )
        entries.append(("Ambiguity degree γ", percent(degree.value) if degree.says_enough else "–", help_))
    with st.container(horizontal=True):
        for label, value, hint in entries:
            st.metric(label, value, help=hint, width=160 if len(value) < 10 else 300)
    if degree is not None:
        st.caption(f"γ: {plain(degree.sentence(sets.class_names))}")


def examples(data: PartialLabelDataset) -> None:
    """A few examples with their candidates: pictures, or the first rows."""
    st.markdown("**A few examples**")
    if data.picture(0) is not None or data.texts is not None:
        rows = np.random.default_rng(0).choice(len(data), min(PREVIEWED, len(data)), replace=False)
        gallery(data, np.sort(rows))
        return
    st.dataframe(first_rows(data), hide_index=True, key="first-rows")


def first_rows(data: PartialLabelDataset, rows: int = PREVIEWED, columns: int = 12) -> pd.DataFrame:
    """The first rows as a table: id, candidates, truth, and the first columns a person reads: words, else features."""
    few = data.take(slice(0, rows))
    sets = few.sets()
    table = pd.DataFrame({"id": few.row_ids, "candidates": [", ".join(sets.names(i)) for i in range(len(few))]})
    if few.y is not None:
        table["true label"] = [few.class_names[j] if j >= 0 else "" for j in few.y]
    for name, cells in list(few.categories.items())[:columns]:
        table[name if name not in table else f"{name} (words)"] = [cell or "" for cell in cells]
    if few.categories:  # the features are made of them
        return table
    flat = few.X.reshape(len(few), -1)[:, :columns]
    names = few.feature_names or tuple(f"feature {k}" for k in range(flat.shape[1]))
    for name, values in zip(names, flat.T, strict=False):
        table[name if name not in table else f"{name} (feature)"] = values
    return table


def charts_of(data: PartialLabelDataset) -> None:
    """Show the sizes of candidate sets and which labels occur together."""
    sets = data.sets()
    left, right = st.columns(2, gap="large")
    with left:
        figure, table = charts.sizes_chart(sets.sizes)
        charts.show(figure, table, "sizes", "Number of examples by number of candidates")
    with right:
        if (sets.sizes == 1).all():
            st.caption("No two labels share a set, so no labels occur together.")
            return
        if sets.n_classes > MOST_CLASSES:
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

"""Accuracy view: accuracy beside confidence, and the loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.colors import ACCENT, RIGHT
from pll.ui import charts
from pll.ui.view_state import Scene

LINES = {
    "transductive_accuracy": ("identified correctly", RIGHT, "solid"),
    "test_accuracy": ("test accuracy", "#127500", "solid"),
    "mean_confidence": ("mean confidence", charts.QUIET, "dot"),
}


def draw(scene: Scene) -> None:
    viewed = None if scene.is_latest else scene.frame.epoch
    left, right = st.columns(2, gap="large")
    with left:
        figure, table = accuracy_chart(scene.snapshot.rows, scene.snapshot.total, viewed)
        charts.show(figure, table, "accuracy", "Accuracy and mean confidence over the epochs")
    with right:
        if scene.snapshot.rows and scene.snapshot.rows[-1]["loss"] is None:
            st.caption("This method minimises no loss that could be drawn.")
            return
        figure, table = loss_chart(scene.snapshot.rows, scene.snapshot.total, viewed)
        charts.show(figure, table, "loss", "Training loss over the epochs")


def accuracy_chart(
    rows: Sequence[dict[str, Any]], total: int | None = None, viewed: int | None = None
) -> tuple[go.Figure, pd.DataFrame]:
    """How many labels are right, beside how sure the method is of them: sharp is not the same as right."""
    table = _table(rows, ("epoch", *LINES))
    drawn = table.iloc[charts.thinned(len(table))]
    figure = go.Figure()
    for name, (label, colour, dash) in LINES.items():
        values = drawn[name].to_numpy(dtype=np.float32) * 100
        if not np.isnan(values).all():
            line = {"color": colour, "dash": dash}
            figure.add_scatter(
                x=drawn["epoch"].to_numpy(np.int32),
                y=values,
                name=label,
                mode="lines",
                line=line,
                hovertemplate="%{y:.1f} %",
            )
    charts.dress(figure, "Accuracy and confidence", "epoch", "%")
    figure.update_yaxes(range=[0, 101])
    charts.over_epochs(figure, total, viewed)
    return figure, table


def loss_chart(
    rows: Sequence[dict[str, Any]], total: int | None = None, viewed: int | None = None
) -> tuple[go.Figure, pd.DataFrame]:
    """The training loss. It may fall while labels are wrong: under the method's own weights it always looks fine."""
    table = _table(rows, ("epoch", "loss", "changed_labels"))
    drawn = table.iloc[charts.thinned(len(table))]
    figure = go.Figure()
    figure.add_scatter(
        x=drawn["epoch"].to_numpy(np.int32),
        y=drawn["loss"].to_numpy(np.float32),
        mode="lines",
        name="loss",
        line={"color": ACCENT},
    )
    charts.dress(figure, "Training loss", "epoch", "mean loss an example")
    charts.over_epochs(figure, total, viewed)
    return figure, table


def _table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of metrics.csv; empty fields are NaN."""
    return pd.DataFrame([{name: row[name] for name in columns} for row in rows], columns=list(columns)).astype(
        np.float64
    )

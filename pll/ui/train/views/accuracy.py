"""Accuracy view: accuracy beside sharpness, and the loss."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from pll.colors import ACCENT, RIGHT_COLOUR
from pll.training.metrics import ABOUT
from pll.ui import charts
from pll.ui.scenes import Scene

ACCURACY_LINES = {
    "transductive_accuracy": {"color": RIGHT_COLOUR, "dash": "solid"},
    "test_accuracy": {"color": "#127500", "dash": "solid"},
    "mean_confidence": {"color": charts.QUIET, "dash": "dot"},
}


def draw(scene: Scene) -> None:
    """Beside each other: how many labels are right and how sharp they are; and the loss, which may fall while
    labels are wrong.
    """
    total, viewed = scene.snapshot.total, None if scene.is_latest else scene.frame.epoch
    rows = scene.snapshot.rows
    table = pd.DataFrame(list(rows), columns=["epoch", *ACCURACY_LINES, "loss", "changed_labels"])
    left, right = st.columns(2, gap="large")
    with left:
        known = [name for name in ACCURACY_LINES if table[name].notna().any()]
        lines = [charts.ChartLine(name, rows, ACCURACY_LINES[name]) for name in known]
        title = "Sharpness" if known == ["mean_confidence"] else "Accuracy and sharpness"
        figure = charts.over_epochs(title, "%", lines, total=total, viewed=viewed)
        charts.show(figure, table[["epoch", *ACCURACY_LINES]], "accuracy", f"{title} over the epochs")
    with right:
        if rows and rows[-1]["loss"] is None:
            st.caption("This method minimises no loss that could be drawn.")
            return
        about, loss = ABOUT["loss"], [charts.ChartLine("loss", rows, {"color": ACCENT})]
        figure = charts.over_epochs(about.title, about.unit, loss, total=total, viewed=viewed)
        charts.show(figure, table[["epoch", "loss", "changed_labels"]], "loss", f"{about.title} over the epochs")

"""Accuracy view: accuracy beside sharpness, and the loss."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pll.colors import ACCENT, RIGHT_COLOUR
from pll.training.metrics import ABOUT
from pll.ui import charts
from pll.ui.charts import ChartLine
from pll.ui.view_state import Scene

ACCURACY_LINES = {
    "transductive_accuracy": (RIGHT_COLOUR, "solid"),
    "test_accuracy": ("#127500", "solid"),
    "mean_confidence": (charts.QUIET, "dot"),
}


def draw(scene: Scene) -> None:
    """Beside each other: how many labels are right and how sharp they are; and the loss, which may fall while
    labels are wrong.
    """
    snapshot, viewed = scene.snapshot, None if scene.is_latest else scene.frame.epoch
    table = pd.DataFrame(list(snapshot.rows), columns=["epoch", *ACCURACY_LINES, "loss", "changed_labels"]).astype(
        np.float64
    )
    epochs = table["epoch"].to_numpy()
    left, right = st.columns(2, gap="large")
    with left:
        known = {name: line for name, line in ACCURACY_LINES.items() if table[name].notna().any()}
        shares = [
            ChartLine(
                ABOUT[name].title, epochs, ABOUT[name].scale * table[name].to_numpy(), {"color": colour, "dash": dash}
            )
            for name, (colour, dash) in known.items()
        ]
        title = "Sharpness" if [*known] == ["mean_confidence"] else "Accuracy and sharpness"
        figure = charts.over_epochs(title, "%", shares, total=snapshot.total, viewed=viewed)
        charts.show(figure, table[["epoch", *ACCURACY_LINES]], "accuracy", f"{title} over the epochs")
    with right:
        if snapshot.rows and snapshot.rows[-1]["loss"] is None:
            st.caption("This method minimises no loss that could be drawn.")
            return
        loss = [ChartLine("loss", epochs, table["loss"].to_numpy(), {"color": ACCENT})]
        figure = charts.over_epochs("Training loss", "mean loss an example", loss, total=snapshot.total, viewed=viewed)
        numbers = table[["epoch", "loss", "changed_labels"]]
        charts.show(figure, numbers, "loss", "Training loss over the epochs")

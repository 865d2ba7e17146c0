"""How sure is it, of how many? Right and wrong apart where the truth is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from pll.runs.history import BINS, confidence_counts
from pll.ui import charts
from pll.ui.palette import ACCENT, RIGHT, WRONG
from pll.ui.view_state import Scene


def draw(scene: Scene) -> None:
    counts = confidence_counts(scene.frame.sharp, scene.data.y)
    figure, table = confidence_chart(counts, has_truth=scene.data.y is not None, when=scene.frame.when)
    charts.show(figure, table, "confidence", "Number of examples by confidence")


def confidence_chart(
    counts: npt.NDArray[np.float32], *, has_truth: bool, when: str = ""
) -> tuple[go.Figure, pd.DataFrame]:
    """A histogram of confidence.

    Args:
        counts: (2, BINS) right (or unknown) and wrong, from `pll.runs.history.confidence_counts`.
        has_truth: whether the two can be told apart.
        when: the epoch in words, for the title.
    """
    lower = np.arange(BINS) / BINS
    table = pd.DataFrame({"confidence_from": lower, "confidence_to": lower + 1 / BINS})
    figure = go.Figure()
    names = (("right", RIGHT), ("wrong", WRONG)) if has_truth else (("examples", ACCENT),)
    for (name, colour), values in zip(names, counts, strict=False):
        table[name] = values.astype(np.int64)
        figure.add_bar(x=(lower + 0.5 / BINS) * 100, y=values, name=name, marker_color=colour, width=90 / BINS)
    figure.update_layout(barmode="stack", bargap=0)
    charts.dress(figure, f"How sure, of how many{' · ' + when if when else ''}", "confidence, %", "examples")
    figure.update_layout(uirevision="confidence")
    figure.update_xaxes(range=[0, 100])
    return figure, table

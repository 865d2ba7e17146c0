"""Distributions over the examples: confidence at the viewed epoch, and entropy over the epochs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go

from pll.colors import ACCENT, RIGHT, WRONG
from pll.runs.history import BINS, confidence_counts
from pll.ui import charts
from pll.ui.view_state import Scene

MOST_COLUMNS = 400
"""Epochs drawn; of a longer run every second, third, … one."""


def draw_confidence(scene: Scene) -> None:
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


def draw_entropy(scene: Scene) -> None:
    figure, table = entropy_chart(
        scene.history.entropy(), scene.snapshot.total, None if scene.is_latest else scene.frame.epoch
    )
    charts.show(figure, table, "entropy", "Number of examples by entropy, over the epochs")


def entropy_chart(
    counts: npt.NDArray[np.float32], total: int | None = None, viewed: int | None = None
) -> tuple[go.Figure, pd.DataFrame]:
    """A 2-D histogram, entropy by epoch; shares of the examples, on a scale by their root so that few are seen.

    Args:
        counts: (epochs, BINS) from `History.entropy`, epoch 0 first.
        total: epochs in all.
        viewed: the epoch to mark.
    """
    epochs = np.arange(0, len(counts), max(1, -(-len(counts) // MOST_COLUMNS)))
    shares = counts[epochs] / np.maximum(counts[epochs].sum(axis=1, keepdims=True), 1)
    middles = (np.arange(BINS) + 0.5) / BINS
    figure = go.Figure(
        go.Heatmap(
            x=epochs,
            y=middles,
            z=np.rint(np.sqrt(shares.T) * 255).astype(np.uint8),
            customdata=np.round(shares.T * 100, 1).astype(np.float32),
            colorscale=[[0, "rgba(53,104,212,0)"], [0.02, "rgba(53,104,212,0.08)"], [1, ACCENT]],
            zmin=0,
            zmax=255,
            showscale=False,
            hovertemplate="epoch %{x}: %{customdata} % of the examples at entropy %{y:.3f}<extra></extra>",
        )
    )
    charts.dress(figure, "Entropy of the label weights", "epoch", "normalised entropy (0 = certain)")
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(showgrid=False, zeroline=False)
    figure.update_yaxes(range=[0, 1], showgrid=False, zeroline=False)
    charts.over_epochs(figure, total, viewed, first=-0.5)
    table = pd.DataFrame(counts[epochs].astype(np.int64), columns=[f"{low / BINS:.2f}" for low in range(BINS)])
    table.insert(0, "epoch", epochs)
    return figure, table

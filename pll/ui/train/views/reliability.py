"""Reliability view: how often labels are right, by how sharp and by how sure they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.analysis.calibration import ReliabilityDiagram, reliability
from pll.colors import ACCENT
from pll.ui import charts
from pll.ui.scenes import Scene
from pll.weights import sharpness, taken_home
from pll.wording import percent


def draw(scene: Scene) -> None:
    """The share right against label weight and against confidence, where both are known."""
    diagrams = _diagrams_of(scene)
    if not diagrams:
        st.caption("Needs true labels, and a run that has ended.")
        return
    figure, table = _chart(diagrams)
    charts.show(figure, table, "reliability", "Share of right labels by label weight and by confidence")
    errors = [f"{name} {percent(diagram.error)}" for name, diagram in diagrams.items()]
    n = max(int(diagram.counts.sum()) for diagram in diagrams.values())
    st.caption(f"Expected calibration error over {n:,} examples: {', '.join(errors)}.")


def _diagrams_of(scene: Scene) -> dict[str, ReliabilityDiagram]:
    """By name, of the examples whose true label is known; empty without any, or before the run has ended."""
    known = np.flatnonzero(scene.truth >= 0)
    if scene.snapshot.is_active or not len(known) or scene.snapshot.metrics is None:
        return {}
    weights, held_out = scene.history.final(), scene.lane.folder.held_out(scene.sets)
    sharp, labels = sharpness(weights, scene.sets), taken_home(weights, held_out, scene.sets)
    result = {"label weight": reliability(sharp.top[known], (sharp.identified == scene.truth)[known])}
    sure = known[labels.is_known[known]]
    if len(sure):
        result["confidence"] = reliability(labels.confidence[sure], (labels.identified == scene.truth)[sure])
    return result


def _chart(diagrams: dict[str, ReliabilityDiagram]) -> tuple[go.Figure, pd.DataFrame]:
    """A line for each diagram, a point a bin, its size by the examples in it."""
    figure = go.Figure()
    diagonal = np.array([0.0, 100.0])
    line = {"color": charts.QUIET, "dash": "dot", "width": 1}
    figure.add_scatter(x=diagonal, y=diagonal, mode="lines", name="as sure as right", line=line, hoverinfo="skip")
    rows = []
    for (name, diagram), colour in zip(diagrams.items(), (charts.QUIET, ACCENT), strict=False):
        filled = diagram.counts > 0
        figure.add_scatter(
            x=diagram.confidence[filled] * 100,
            y=diagram.accuracy[filled] * 100,
            name=name,
            mode="lines+markers",
            line={"color": colour},
            marker={"size": 6 + 14 * np.sqrt(diagram.counts[filled] / diagram.counts.sum()), "color": colour},
            customdata=diagram.counts[filled],
            cliponaxis=False,  # a full bin lies on the very edge
            hovertemplate="%{x:.0f} %: %{y:.0f} % of %{customdata} right",
        )
        rows.append(
            pd.DataFrame(
                {
                    "of": name,
                    "from": diagram.edges[:-1],
                    "to": diagram.edges[1:],
                    "examples": diagram.counts,
                    "mean": diagram.confidence,
                    "right": diagram.accuracy,
                }
            )
        )
    charts.dress(figure, "Right, by how sharp and how sure", "label weight or confidence, %", "share right, %")
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(range=[-2, 103], dtick=20)
    figure.update_yaxes(range=[-4, 106], dtick=20)
    return figure, pd.concat(rows, ignore_index=True)

"""Reliability view: confidence against the share of correct labels, by bin."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.analysis.calibration import ReliabilityDiagram, reliability
from pll.colors import RIGHT, percent
from pll.ui import charts
from pll.ui.view_state import Scene


def draw(scene: Scene) -> None:
    known = scene.truth >= 0
    if not known.any():
        st.info("Only true labels can tell whether confidence is justified; there are none.", icon=":material/help:")
        return
    sharp = scene.frame.sharp
    result = reliability(sharp.confidence[known], sharp.identified[known] == scene.truth[known])
    figure, table = reliability_chart(result, scene.frame.when)
    chart, words = st.columns([5, 2], gap="large", vertical_alignment="center")
    with chart:
        charts.show(figure, table, "reliability", "Share of correct labels by confidence")
    with words:
        st.metric(
            "Expected calibration error",
            percent(result.error),
            help="How far confidence and accuracy are apart, on average over the examples. 0 % would be perfect.",
        )
        st.caption(verdict(result))


def verdict(result: ReliabilityDiagram) -> str:
    """The chart in a sentence.

    >>> verdict(reliability(np.array([0.9, 0.9]), np.array([True, False])))
    'On average it is 90 % sure and 50 % right: overconfident.'
    """
    weights = result.counts / result.counts.sum()
    sure = float(np.nansum(weights * result.confidence))
    right = float(np.nansum(weights * result.accuracy))
    gap = sure - right
    said = "confidence matches accuracy" if abs(gap) < 0.02 else "overconfident" if gap > 0 else "underconfident"
    return f"On average it is {percent(sure, 0)} sure and {percent(right, 0)} right: {said}."


def reliability_chart(result: ReliabilityDiagram, when: str = "") -> tuple[go.Figure, pd.DataFrame]:
    """Bars of accuracy by confidence, and the diagonal on which they should end."""
    lower, upper = result.edges[:-1], result.edges[1:]
    table = pd.DataFrame(
        {
            "confidence_from": lower,
            "confidence_to": upper,
            "examples": result.counts,
            "mean_confidence": result.confidence,
            "accuracy": result.accuracy,
        }
    )
    figure = go.Figure()
    figure.add_bar(
        x=(lower + upper) * 50,
        y=result.accuracy * 100,
        customdata=result.counts,
        width=np.diff(result.edges) * 94,
        name="right",
        marker_color=RIGHT,
        hovertemplate="%{y:.1f} % of %{customdata} examples are right<extra></extra>",
    )
    figure.add_scatter(
        x=np.array([0, 100]),
        y=np.array([0, 100]),
        mode="lines",
        name="perfectly calibrated",
        line={"color": charts.QUIET, "dash": "dot"},
        hoverinfo="skip",
    )
    charts.dress(figure, f"Right by confidence{' · ' + when if when else ''}", "confidence, %", "share right, %")
    figure.update_layout(uirevision="reliability", hovermode="closest")
    figure.update_xaxes(range=[0, 100])
    figure.update_yaxes(range=[0, 101])
    return figure, table

"""Calibration panel of the Progress view: reliability on the decided examples, before and after."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.analysis.calibration import ReliabilityDiagram, error_by_chance
from pll.colors import ACCENT, percent
from pll.errors import UserError
from pll.review.calibration import Calibration, calibration_of
from pll.review.session import ReviewSession
from pll.ui import charts
from pll.ui.format import count, plain

FULLEST = 2
"""Decisions that a bin needs to be worth a sentence."""


def draw(review: ReviewSession) -> None:
    """Reliability before and after, and what that means; or how many decisions are missing."""
    st.markdown("**Calibration**")
    try:
        calibration = calibration_of(review.root.candidates, review.own, review.current, review.state)
    except UserError as error:
        st.info(plain(error), icon=":material/hourglass_bottom:")
        return
    figure, table = chart(calibration)
    picture, words = st.columns([5, 2], gap="large", vertical_alignment="center")
    with picture:
        charts.show(figure, table, "calibrated", "Share of correct labels by confidence, before and after calibration")
    with words:
        st.metric(
            "Expected calibration error",
            percent(calibration.after.error),
            delta=f"{(calibration.after.error - calibration.before.error) * 100:+.1f} points",
            delta_color="inverse",
            help="How far confidence and the share that is right are apart, on average over the decided examples. Each "
            "is judged by a calibration made without it.",
        )
        st.caption(" ".join(words_of(calibration)))


def words_of(calibration: Calibration) -> list[str]:
    """The chart in sentences."""
    before, temperature = calibration.before, calibration.temperature
    chance = percent(error_by_chance(calibration.after))
    how = "the model was overconfident" if temperature > 1 else "the model was underconfident"
    if abs(temperature - 1) < 0.05:
        how = "confidence matches accuracy"
    sentences = [
        f"On {count(calibration.decisions, 'decided example')}: {percent(before.error)} before, "
        f"{percent(calibration.after.error)} after. Perfect confidence would show about {chance} on so few, by chance.",
        f"Temperature {temperature:.2f}: {how}.",
    ]
    fullest = int(np.argmax(before.counts))
    if before.counts[fullest] >= FULLEST:
        lower, upper = before.edges[fullest], before.edges[fullest + 1]
        sentences.append(
            f"Most of them ({before.counts[fullest]:,}) had a confidence of {percent(lower, 0)} to "
            f"{percent(upper, 0)}; {percent(before.accuracy[fullest], 0)} of these were right."
        )
    return [*sentences, "An export carries this confidence beside the model's own, in confidence.csv."]


def chart(calibration: Calibration) -> tuple[go.Figure, pd.DataFrame]:
    """The share right against mean confidence, a point a bin, its size by the decisions in it."""
    figure = go.Figure()
    diagonal = np.array([0, 100])
    line = {"color": charts.QUIET, "dash": "dot", "width": 1.5}
    figure.add_scatter(x=diagonal, y=diagonal, mode="lines", name="perfectly calibrated", line=line, hoverinfo="skip")
    frames = []
    for name, result, colour in (("before", calibration.before, charts.QUIET), ("after", calibration.after, ACCENT)):
        filled = result.counts > 0
        sizes = 6 + 14 * np.sqrt(result.counts[filled] / calibration.decisions)
        figure.add_scatter(
            x=result.confidence[filled] * 100,
            y=result.accuracy[filled] * 100,
            customdata=result.counts[filled],
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 2},
            marker={"size": sizes, "color": colour},
            cliponaxis=False,  # a full bin lies on the very edge
            hovertemplate="%{x:.0f} % sure, %{y:.0f} % of %{customdata} right",
        )
        frames.append(_table(name, result))
    charts.dress(figure, "Right by confidence, on the decided examples", "mean confidence, %", "share right, %")
    figure.update_layout(hovermode="closest")
    figure.update_xaxes(range=[-2, 103], dtick=20)
    figure.update_yaxes(range=[-4, 106], dtick=20)
    return figure, pd.concat(frames, ignore_index=True)


def _table(name: str, result: ReliabilityDiagram) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "calibration": name,
            "confidence_from": result.edges[:-1],
            "confidence_to": result.edges[1:],
            "decided": result.counts,
            "mean_confidence": result.confidence,
            "share_right": result.accuracy,
        }
    )

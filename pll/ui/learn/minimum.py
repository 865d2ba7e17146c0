"""Idea 2: of a set of candidates only the best one counts (paper, Eq. loss-pll)."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.analysis.theory.risk import OneExample, loss_curves, one_example
from pll.colors import percent
from pll.ui import charts
from pll.ui.learn.layout import INK, beside, formula, heading, line, marker

OUTSIDE = 0.1
NAMES = ("3", "5")


@st.fragment
def draw() -> None:
    heading("minimum")
    words, figure = beside()
    with words:
        st.markdown(
            "An example may be a **3** or a **5**. How wrong is a model about it? Averaging over the candidates "
            "punishes a model that found the true one. So the paper counts only **the best candidate**:"
        )
        p = st.slider(
            "What the model gives to “3”",
            0.01,
            0.89,
            0.6,
            0.01,
            key="learn-minimum-p",
            bind="query-params",
            persist_state="session",
        )
        found = one_example(p, OUTSIDE)
        formula(numbers(found))
        st.markdown(explanation(found))
    with figure:
        chart, table = curves(found)
        charts.show(
            chart,
            table,
            "learn-minimum",
            "Loss of one example over what the model gives to 3: the minimum over the candidates is "
            f"{found.least:.2f} at {p:.2f}, their average {found.mean:.2f}",
        )
        st.caption(f"The model gives {percent(OUTSIDE, 0)} to classes that are no candidates, and the rest to “5”.")


def numbers(found: OneExample) -> str:
    """Eq. (loss-pll) with the reader's numbers."""
    a, b = found.losses
    return (
        r"\begin{aligned} \min_{i \in S} \ell(g, e^i) &= "
        rf"\min(-\log {found.g[0]:.2f},\; -\log {found.g[1]:.2f}) \\ "
        rf"&= \min({a:.2f},\; {b:.2f}) = \mathbf{{{found.least:.2f}}} \end{{aligned}}"
    )


def explanation(found: OneExample) -> str:
    """What the position of the slider shows."""
    best = NAMES[int(found.losses.argmin())]
    return (
        f"Here the best guess is **{best}**. The minimum has *two* valleys: being sure of 3 is as good as being sure "
        f"of 5. The average has one, in between, where the model stays undecided (here {found.mean:.2f}). What decides "
        "between the valleys are *other* examples that look alike and have other wrong labels."
    )


def curves(found: OneExample) -> tuple[go.Figure, pd.DataFrame]:
    """Average and minimum over all that the model may say, and where it is."""
    at, readings = loss_curves(OUTSIDE)
    figure = go.Figure()
    line(figure, at, readings["mean"], "average over the candidates", INK["mean"], dash="dash")
    line(figure, at, readings["min"], "the best candidate", INK["min"])
    marker(figure, float(found.g[0]), found.least, "you are here", colour=INK["min"])
    charts.dress(figure, "Loss of one example", "what the model gives to “3”", "cross-entropy")
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(range=[0, 3])
    return figure, pd.DataFrame({"g of 3": at, "average": readings["mean"], "minimum": readings["min"]})

"""Idea 9: Jin & Ghahramani's objective is Eq. (softmin) with cross-entropy, up to a constant (paper, supplement)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.analysis.theory.risk import TwoObjectives, two_objectives
from pll.colors import ACCENT
from pll.ui import charts
from pll.ui.learn.guess import guess
from pll.ui.learn.layout import INK, beside, formula, heading, line, marker
from pll.ui.routes import link

ANSWERS = ("At the same model", "At different models")


@st.fragment
def draw() -> None:
    heading("jin")
    words, figure = beside()
    with words:
        st.markdown(
            "In 2003 Jin and Ghahramani fitted the model to a *prior* $z_i$ over the candidates by KL divergence, and "
            "estimated the prior again after each fit (an EM algorithm). Here the weights are in the loss."
        )
        z = st.slider(
            "Weight of the first of two candidates, z = w",
            0.0,
            1.0,
            0.7,
            0.05,
            key="learn-jin-z",
            bind="query-params",
            persist_state="session",
        )
        found = two_objectives(z)
        shown = guess("jin", "Where is each of the two curves at its least?", ANSWERS, lambda: int(apart(found) > 0))
        formula(
            r"\begin{gathered} \text{theirs: } \tfrac1n \textstyle\sum_i \mathrm{KL}[z_i \,\|\, g(x_i)] \\ "
            r"\text{here: } \tfrac1n \textstyle\sum_i \sum_j w_{ij}\, \ell(g(x_i), e^j) \\ "
            r"\textstyle\sum_j z_j (-\log g_j) = \mathrm{KL}[z \,\|\, g] + H(z) \\ "
            rf"H({z:.2f},\; {1 - z:.2f}) = {found.entropy:.3f} \end{{gathered}}"
        )
        if shown:
            st.markdown(
                f"Both at g = {least(found):.3g}: the curves are {found.entropy:.3f} apart *everywhere*, and a "
                "constant has no slope. So with cross-entropy PRODEN's objective contains the older one. New are other "
                "decomposable losses, and weights that follow at every step. *PRODEN-itera* is the variant that waits."
            )
            link("compare", "Compare PRODEN with PRODEN-itera")
    with figure:
        chart, table = curves(found, shown)
        charts.show(
            chart, table, "learn-jin",
            f"Cross-entropy and KL divergence of one example with weights {z:.2f} and {1 - z:.2f}: "
            f"{found.entropy:.3f} apart",
        )  # fmt: skip


def least(found: TwoObjectives) -> float:
    """Where the cross-entropy is least, among the models drawn."""
    return float(found.p[found.cross_entropy.argmin()])


def apart(found: TwoObjectives) -> int:
    """How many places of the curves lie between their two minima."""
    return abs(int(found.cross_entropy.argmin()) - int(found.divergence.argmin()))


def curves(found: TwoObjectives, marked: bool) -> tuple[go.Figure, pd.DataFrame]:
    """Both objectives; their minima once the reader has guessed."""
    figure = go.Figure()
    line(figure, found.p, found.cross_entropy, "Σ w ℓ (cross-entropy)", ACCENT)
    line(figure, found.p, found.divergence, "KL[z ‖ g] (Jin & Ghahramani)", INK["min"], dash="dash")
    if marked:
        for values, colour in ((found.cross_entropy, ACCENT), (found.divergence, INK["min"])):
            k = int(np.argmin(values))
            marker(figure, float(found.p[k]), float(values[k]), "least", colour=colour)
    charts.dress(figure, "Two objectives of one example", "what the model gives to the first candidate", "value")
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(range=[-0.1, 3])  # the marker of a minimum of 0 is seen whole
    table = pd.DataFrame({"g": found.p, "cross-entropy": found.cross_entropy, "KL": found.divergence})
    return figure, table

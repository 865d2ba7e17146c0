"""Idea 4: weights that follow the model make the same hill smooth first, and the minimum in the end (Eq. norm)."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pll.analysis.theory.risk import Carousel
from pll.ui import charts
from pll.ui.learn import landscape
from pll.ui.learn.guess import guess
from pll.ui.learn.layout import beside, formula, heading
from pll.ui.learn.stuck import ENDS, START, Q


@st.fragment
def draw() -> None:
    heading("weights")
    words, figure = beside()
    with words:
        st.markdown(
            "Do not choose yet. Give every candidate a **weight**, equal at first, that follows the model's "
            "probabilities."
        )
        q, start = landscape.sliders("weights", Q, START)
        sure = st.slider(
            "How sure the model is of itself", 0.5, 8.0, 1.0, 0.5, key="learn-weights-sure",
            bind="query-params", persist_state="session",
            help="The length of its three directions. Training makes it grow.",
        )  # fmt: skip
        drawn = landscape.scene(q)
        formula(
            numbers(drawn, start, sure),
            r"The blue curve: $-\log \sum_{j \in S} g_j$. Its slope is that of $\sum_j w_{ij} \ell_j$ with fixed "
            "weights, as in a training step (for cross-entropy; our remark, not the paper's).",
        )
        shown = guess(
            "weights",
            f"The same ball, let go at {landscape.degrees(start)}, now with weights. Where does it come to rest?",
            ENDS,
            lambda: int(not landscape.is_home(float(landscape.way_down(q, start, sure, "weights")[-1]))),
        )
        way = landscape.way_down(q, start, sure, "weights") if shown else None
        theta = start if way is None else float(way[-1])
        if shown:
            st.markdown(outcome(drawn, sure, theta))
    with figure:
        chart, table = landscape.hills(drawn, sure, ["min", "weights"], "weights", start, way)
        charts.show(
            chart,
            table,
            "learn-weights",
            f"Risk over the angle: with weights {landscape.format_valleys(drawn, sure, 'weights')}; the minimum has "
            f"{landscape.format_valleys(drawn, sure, 'min')}. Ball at {theta:.0f} degrees",
        )


def numbers(drawn: Carousel, theta: float, sure: float) -> str:
    """Eq. (norm) with the numbers of one point at the start: the first one that has just two candidates."""
    some = np.flatnonzero(drawn.candidates.sizes == 2)
    i = int(some[0]) if len(some) else 0
    logits = drawn.logits(theta, sure)[0, i]
    g = np.exp(logits - logits.max())
    g /= g.sum()
    inside = drawn.candidates[i]
    j = int(inside[0])
    terms = " + ".join(f"{g[k]:.2f}" for k in inside)
    return (
        r"\begin{aligned} w_{ij} &= \frac{g_j(x_i)}{\sum_{k \in S_i} g_k(x_i)} \\[10pt] "
        rf"\text{{one point: }} w_{{\text{{{landscape.CLASSES[j]}}}}} &= \frac{{{g[j]:.2f}}}{{{terms}}} = "
        rf"{g[j] / g[inside].sum():.2f} \end{{aligned}}"
    )


def outcome(drawn: Carousel, sure: float, end: float) -> str:
    """What happened, and what to try."""
    smooth = landscape.format_valleys(drawn, sure, "weights")
    rough = landscape.format_valleys(drawn, sure, "min")
    found = "with the true labels" if landscape.is_home(end) else "in a wrong valley"
    return (
        f"It ends at **{landscape.degrees(end)}**, {found}. The weighted curve has {smooth}; the minimum has "
        f"{rough}.\n\n"
        "Now make the model surer. The weights become one-hot, the blue curve becomes the orange one, and the wrong "
        "valleys come back. So identification must be *progressive*: when the model becomes sure, the ball must "
        "already be in the right valley."
    )

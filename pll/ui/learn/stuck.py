"""Idea 3: the minimum has the right answer for its deepest valley, and others to get stuck in."""

from __future__ import annotations

import streamlit as st

from pll.analysis.theory.risk import Carousel
from pll.colors import percent
from pll.ui import charts
from pll.ui.learn import landscape
from pll.ui.learn.guess import guess
from pll.ui.learn.layout import beside, heading

Q, START = 0.9, 110.0
"""What the sliders say at first."""
SHARPNESS = 1.0
"""As unsure as a model is before it has learnt much."""
ENDS = ("In the valley of the true labels", "In another valley")


@st.fragment
def draw() -> None:
    heading("stuck")
    words, figure = beside()
    with words:
        st.markdown(
            "A small classifier: three directions, one for each class, that turn together by θ. At θ = 0 each points "
            "at its own class, at ±120° at the next one. Its risk (the minimum over the candidates, averaged over all "
            "points) is a curve. Training is a ball that rolls down."
        )
        q, start = landscape.sliders("stuck", Q, START)
        drawn = landscape.scene(q)
        shown = guess(
            "stuck",
            f"The ball is let go at {landscape.degrees(start)}. Where does it come to rest?",
            ENDS,
            lambda: int(not landscape.is_home(float(landscape.way_down(q, start, SHARPNESS, "min")[-1]))),
        )
        way = landscape.way_down(q, start, SHARPNESS, "min") if shown else None
        theta = start if way is None else float(way[-1])
        if shown:
            st.markdown(outcome(drawn, q, theta))
    with figure:
        chart, table = landscape.hills(drawn, SHARPNESS, ["min"], "min", start, way)
        charts.show(
            chart,
            table,
            "learn-stuck",
            f"Minimum risk over the angle: {landscape.format_valleys(drawn, SHARPNESS, 'min')}. Ball at "
            f"{theta:.0f} degrees",
        )
        landscape.show_dial(drawn, theta)
        st.caption(
            f"The classifier, turned by {landscape.degrees(theta)}. Points have the colours of their true classes."
        )


def outcome(drawn: Carousel, q: float, end: float) -> str:
    """What happened, with its numbers."""
    risk = drawn.risk([end, 0.0], SHARPNESS, "min")
    happened = (
        f"It rests at **{landscape.degrees(end)}** with a risk of {risk[0]:.2f}; its best guesses are right for "
        f"{percent(drawn.right(end, SHARPNESS), 0)} of the points."
    )
    if landscape.is_home(end):
        lesson = "From here it finds the true labels. Try another start."
    else:
        lesson = (
            f"At θ = 0 the risk would be {risk[1]:.2f}. But every step fits the current guesses "
            "and makes the model surer of them: *“if a wrong label is "
            "selected in the beginning, the optimization will focus on the wrong label till the end”* (paper, §4)."
        )
    all_ = f"This landscape has {landscape.format_valleys(drawn, SHARPNESS, 'min')}."
    if q >= 1:
        all_ += (
            " With q = 1 every label is always a candidate, and all valleys are equally deep: nothing in the data "
            "prefers the true one (see idea 7)."
        )
    return f"{happened} {lesson}\n\n{all_}"

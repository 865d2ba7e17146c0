"""Idea 6: PRODEN and the bare minimum on the same points, from the same start."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.analysis.theory.toy import EPOCHS, LEARNING_RATES, LR, Toy, from_many_starts
from pll.colors import percent
from pll.runs.process import PerProcess
from pll.ui import charts
from pll.ui.learn.algorithm import show_toy
from pll.ui.learn.guess import guess
from pll.ui.learn.layout import INK, heading
from pll.ui.learn.playground import Playground, playground
from pll.ui.learn.toy import TITLES
from pll.ui.routes import link

METHODS = ("proden", "proden-sudden", "proden-naive")
COLOURS = dict(zip(METHODS, (INK["weights"], INK["min"], INK["mean"]), strict=True))
STARTS = 10
ANSWERS = ("As many as PRODEN, or at most five fewer", "Fewer, but more than two thirds", "Two thirds or fewer")


@st.fragment
def draw() -> None:
    heading("together")
    ground = playground()
    n = len(ground.toy)
    ours, bare = (ground.history(method).right[-1] for method in METHODS[:2])
    st.markdown(
        f"The same {n} points, initial parameters and {EPOCHS} epochs. One method keeps weights; the other puts all "
        "weight on its best guess at every step, which is descent on the minimum. "
        f"With weights, {round(ours * n)} of {n} points get their true label."
    )
    shown = guess("together", "How many will the minimum alone identify?", ANSWERS, lambda: answer(ours, bare, n))
    if not shown:
        return
    prefetch()
    other = st.segmented_control(
        "Beside PRODEN",
        METHODS[1:],
        format_func=TITLES.__getitem__,
        default=METHODS[1],
        required=True,
        key="learn-together-other",
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
    )
    show_toy(ground, ["proden", str(other)], "learn-toys")
    st.markdown(verdict(ground, str(other)))
    many_starts(ground)


def answer(ours: float, bare: float, n: int) -> int:
    """Which of `ANSWERS` is right."""
    if round((ours - bare) * n) <= 5:
        return 0
    return 1 if bare > 2 / 3 else 2


def verdict(ground: Playground, other: str) -> str:
    """How both end, in words."""
    n = len(ground.toy)
    ours, theirs = ground.history("proden"), ground.history(other)
    said = (
        f"After {EPOCHS} epochs: PRODEN {round(ours.right[-1] * n)} of {n}, {TITLES[other].lower()} "
        f"{round(theirs.right[-1] * n)} of {n}. "
    )
    if theirs.right[-1] >= ours.right[-1]:
        return said + "Here the weights gain nothing. Try another start, or a larger q (idea 5)."
    if other == "proden-sudden":
        return said + (
            f"Its mean confidence is {percent(float(theirs.confidence[-1]), 0)} all the same: sure is not right. Look "
            "for a class that has lost its part of the plane; its points follow wrong candidates."
        )
    return said + "It never chooses: wrong candidates move the boundary as much as true ones, to the end."


def many_starts(ground: Playground) -> None:
    """Is that luck? The same from ten starts, where somebody asks for it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):

        def slow_down() -> None:
            ground.lr = st.session_state["learn-toy-lr"]

        st.segmented_control(
            "Learning rate",
            LEARNING_RATES,
            default=LR,
            required=True,
            key="learn-toy-lr",
            on_change=slow_down,
            format_func="{:g}".format,
            bind="query-params",
            persist_state="session",
        )
        now = (ground.toy.key, ground.lr)
        st.button(
            f"Is that luck? Try {STARTS} starts",
            key="learn-together-many",
            on_click=lambda: st.session_state.update({"learn-many": now}),
        )
    if st.session_state.get("learn-many") != now:
        return
    with st.spinner("Training from other starts…"):
        found = _many(ground.toy.key, ground.lr, ground.toy)
    chart, table = starts_chart(found)
    charts.show(chart, table, "learn-starts", f"Share identified right from {STARTS} starts. {format_means(found)}")
    st.markdown(format_means(found))
    st.caption(
        f"With a small learning rate, {EPOCHS} steps are too few for methods that find their own targets; then the "
        "average may win."
    )
    link("compare", "Compare them on real data")


def format_means(found: dict[str, np.ndarray]) -> str:
    """The mean of each method over the starts."""
    means = ", ".join(
        f"{TITLES[method].lower()} {percent(float(shares.mean()), 0)}" for method, shares in found.items()
    )
    return f"On average over {STARTS} starts: {means}."


def starts_chart(found: dict[str, np.ndarray]) -> tuple[go.Figure, pd.DataFrame]:
    """A dot a start and method."""
    figure = go.Figure()
    for method, shares in found.items():
        figure.add_scatter(
            x=shares * 100,
            y=np.array([TITLES[method]] * len(shares)),
            mode="markers",
            name=TITLES[method],
            marker={"size": 12, "color": COLOURS[method], "opacity": 0.55},
            hovertemplate="%{x:.0f} %<extra></extra>",
        )
    charts.dress(figure, f"Identified right, from {STARTS} starts", "identified right, %", "", height=220)
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_xaxes(range=[0, 103])
    figure.update_yaxes(autorange="reversed", rangemode="normal")
    table = pd.DataFrame({TITLES[method]: shares for method, shares in found.items()})
    table.insert(0, "start", np.arange(len(table)))
    return figure, table


_prefetching = PerProcess(list[threading.Thread])


def prefetch() -> None:
    """Train the points of the beginning from other starts, in the background and once: it takes seconds."""
    if not _prefetching():
        toy = Playground().toy
        _prefetching().append(threading.Thread(target=_many, args=(toy.key, LR, toy), daemon=True))
        _prefetching()[0].start()


@st.cache_resource(max_entries=8, show_spinner=False)
def _many(key: tuple[bytes, ...], lr: float, _toy: Toy) -> dict[str, np.ndarray]:
    return from_many_starts(_toy, METHODS, STARTS, lr=lr)

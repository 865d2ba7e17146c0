"""Risk landscape of ideas 3 and 4: chart and dial."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from pll.analysis.theory.risk import Carousel, Reading, carousel, valleys
from pll.colors import class_colours
from pll.ui import charts
from pll.ui.learn.layout import INK, line, marker

ANGLES = np.arange(-180.0, 180.5, 1.5)
READINGS: dict[Reading, str] = {"mean": "average", "min": "minimum", "weights": "weights"}
CLASSES = ("A", "B", "C")
HOME = 60.0
"""Degrees from the true directions within which an end counts as right: nearer to them than to the next class."""


@st.cache_resource(max_entries=16, show_spinner=False)
def scene(q: float) -> Carousel:
    """The same points for every q; their candidate sets by binomial flipping."""
    return carousel("binomial", q)


@lru_cache(maxsize=256)
def way_down(q: float, start: float, sharpness: float, reading: Reading) -> npt.NDArray[np.float64]:
    """The angles on the way down from `start`; kept, since a page asks for it again at every touch."""
    return scene(q).descend(start, sharpness, reading)


def is_home(theta: float) -> bool:
    """Whether the classifier points the right way round.

    Examples
    --------
    >>> is_home(-30.0), is_home(118.0)
    (True, False)
    """
    return abs(theta) < HOME


def hills(
    drawn: Carousel,
    sharpness: float,
    readings: Sequence[Reading],
    ball: Reading,
    start: float,
    way: npt.NDArray[np.float64] | None,
) -> tuple[go.Figure, pd.DataFrame]:
    """The risk over the angle, and the ball on it: where it starts and, if it may be shown, its way to its end."""
    figure = go.Figure()
    table = pd.DataFrame({"angle": ANGLES})
    for reading in readings:
        risk = drawn.risk(ANGLES, sharpness, reading)
        table[READINGS[reading]] = risk
        other = reading != ball
        line(
            figure,
            ANGLES,
            risk,
            READINGS[reading],
            INK[reading],
            width=1.5 if other else 2.5,
            dash="dot" if other else None,
        )
    if way is None:
        marker(figure, start, float(drawn.risk(start, sharpness, ball)[0]), "the ball", colour=INK[ball])
    else:
        # Turning over the back (±180°) would draw a line across the chart.
        cut = np.flatnonzero(np.abs(np.diff(way)) > 180) + 1
        x = np.insert(way, cut, np.nan)
        y = np.insert(drawn.risk(way, sharpness, ball), cut, np.nan)
        line(figure, x, y, "its way", INK[ball], width=7)
        figure.data[-1].opacity = 0.35
        marker(
            figure, start, float(drawn.risk(start, sharpness, ball)[0]), "start", symbol="circle-open", colour=INK[ball]
        )
        marker(figure, float(way[-1]), float(y[-1]), "end", colour=INK[ball])
    charts.dress(figure, "Risk of the whole data set", "angle θ by which the classifier is turned", "risk")
    figure.update_layout(hovermode="closest")
    figure.update_yaxes(rangemode="normal")  # what matters here is where the valleys are, not how high all of it lies
    figure.update_xaxes(range=[-182, 182], tickvals=np.array([-180, -120, -60, 0, 60, 120, 180]), ticksuffix="°")
    return figure, table


def dial(drawn: Carousel, theta: float) -> str:
    """An SVG: the points on their circle in the colours of their true classes, and the three directions."""
    colours = class_colours(3)
    parts = []
    for i, (angle, label) in enumerate(zip(drawn.angles, drawn.y, strict=True)):
        radius = 100 + 7 * (i // 3 % 3 - 1)  # three rings: points at one angle would hide one another
        x, y = radius * np.sin(angle), -radius * np.cos(angle)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colours[label]}" fill-opacity="0.75"/>')
    for j, name in enumerate(CLASSES):
        angle = 2 * np.pi * j / 3 + np.deg2rad(theta)
        x, y = np.sin(angle), -np.cos(angle)
        parts.append(
            f'<line x2="{70 * x:.1f}" y2="{70 * y:.1f}" stroke="{colours[j]}" stroke-width="5" stroke-linecap="round"/>'
            f'<text x="{83 * x:.1f}" y="{83 * y:.1f}" fill="{colours[j]}" font-family="sans-serif" font-weight="700" '
            f'font-size="15" text-anchor="middle" dominant-baseline="central">{name}</text>'
        )
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-120 -115 240 230">{"".join(parts)}</svg>'


def sliders(figure: str, q: float, start: float) -> tuple[float, float]:
    """The sliders of a figure: q, and where the ball starts in degrees; both at first as given."""
    chosen = st.slider(
        "A wrong label joins with probability q",
        *(0.1, 1.0, q, 0.1),
        key=f"learn-{figure}-q",
        bind="query-params",
        persist_state="session",
    )
    place = st.slider(
        "Start the ball at",
        *(-175, 175, round(start), 5),
        format="%d°",
        key=f"learn-{figure}-start",
        bind="query-params",
        persist_state="session",
    )
    return chosen, float(place)


def show_dial(drawn: Carousel, theta: float) -> None:
    """The dial, which is only looked at: a picture, since it is much quicker there than a chart."""
    uri = "data:image/svg+xml;base64," + base64.b64encode(dial(drawn, theta).encode()).decode()
    alt = f"Points of three classes around a circle and a classifier turned by {theta:.0f} degrees"
    st.html(f'<img src="{uri}" alt="{alt}" style="display:block;margin:auto;width:240px;max-width:100%">')


def format_valleys(drawn: Carousel, sharpness: float, reading: Reading) -> str:
    """The valleys of a landscape, in words.

    Examples
    --------
    >>> format_valleys(carousel("binomial", 0.7), 1.0, "weights")
    'one valley, at 8°'
    """
    risk = drawn.risk(ANGLES[:-1], sharpness, reading)
    found = valleys(risk)
    if not len(found):
        return "no valley at all"
    places = [degrees(ANGLES[k]) for k in found]
    if len(places) == 1:
        return f"one valley, at {places[0]}"
    deepest = degrees(ANGLES[found[risk[found].argmin()]])
    return f"{len(places)} valleys, at {', '.join(places[:-1])} and {places[-1]}, the deepest at {deepest}"


def degrees(theta: float) -> str:
    """An angle as people write it.

    Examples
    --------
    >>> degrees(-121.5), degrees(0.0)
    ('−122°', '0°')
    """
    return f"{theta:.0f}°".replace("-", "−")

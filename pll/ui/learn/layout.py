"""Layout of the Learn page: chapters, formulas and chart elements."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pll.colors import ACCENT

CHAPTERS = {
    "partial": "A partial label",
    "minimum": "The loss of the best candidate",
    "stuck": "Why the minimum alone gets stuck",
    "weights": "Weights instead of a choice",
    "algorithm": "Algorithm 1, step by step",
    "together": "The same points, with and without weights",
    "sure": "Sharp is not sure",
    "ambiguity": "How ambiguous is too ambiguous?",
    "bound": "How many examples does the theory ask for?",
    "jin": "An older method inside this one",
    "own": "Your own points",
}
"""The ideas, in order: the name of each in the page's address, and its title; a screen each."""
ON_OWN_DATA = ("ambiguity", "bound")
"""Those that speak of the reader's own data, and so need Python; the others run in the browser."""

IN_ADDRESS: Any = {"bind": "query-params", "persist_state": "session"}
"""Options of a widget whose value is part of a shared link, and stays from screen to screen."""
IDEA = "idea"
"""The part of the address that holds the idea in view."""


def formula(tex: str) -> None:
    """A formula that nobody need read to follow the idea."""
    with st.expander("Show the formula"):
        st.latex(tex)


def marker(figure: go.Figure, x: float, y: float, name: str) -> None:
    """A mark on a line, with what it is in the legend."""
    edge = {"width": 1.5, "color": "rgba(255,255,255,0.9)"}
    figure.add_scatter(x=[x], y=[y], name=name, mode="markers", marker={"size": 13, "color": ACCENT, "line": edge})


def line(
    figure: go.Figure, x: Any, y: Any, name: str, colour: str, *, width: float = 2.5, dash: str | None = None
) -> None:
    """A curve."""
    figure.add_scatter(x=x, y=y, name=name, mode="lines", line={"color": colour, "width": width, "dash": dash})

"""What the screens of the Learn page are made of: chapters, formulas, questions and chart elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pll.colors import ACCENT
from pll.ui.widgets import button

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


def guess(name: str, question: str, options: Sequence[str], answer: Callable[[], int]) -> bool:
    """Asks; returns whether the figure may show the outcome: somebody has guessed, or asked to be shown.

    What is right is computed at the moment of the guess, so that the verdict is about what the reader had before them;
    moving a slider afterwards does not judge a second time: what was asked stays, and is said to be of before.

    Parameters
    ----------
    name
        Of the question, for what is kept of it.
    question
        What is asked, in Markdown.
    options
        The answers to choose from.
    answer
        Returns the number of the right option.
    """
    key = f"learn-guess-{name}"

    def judge() -> None:
        st.session_state[key] = (question, st.session_state[f"{key}-choice"], options[answer()])

    guessed = st.session_state.get(key)
    asked, choice, right = guessed or (question, None, None)
    with st.container(border=True, gap="small"):
        st.markdown(f":material/help: **{asked}**")
        if guessed is None:
            st.radio(
                "Your guess",
                list(options),
                index=None,
                key=f"{key}-choice",
                on_change=judge,
                label_visibility="collapsed",
            )
            button("Show the answer", st.session_state.__setitem__, key, (), key=f"{key}-show", kind="tertiary")
            return False
        if choice is not None:
            before = "" if (asked, right) == (question, options[answer()]) else " That was before the settings changed."
            wrong = f":material/lightbulb: You guessed “{choice}”. It is: {right}."
            st.markdown((":material/check_circle: Right." if choice == right else wrong) + before)
        button("Ask again", st.session_state.pop, key, None, icon="replay", key=f"{key}-again", kind="tertiary")
    return True


def marker(figure: go.Figure, x: float, y: float, name: str) -> None:
    """A mark on a line, with what it is in the legend.

    Parameters
    ----------
    figure
        The chart.
    x, y
        Where on it.
    name
        In the legend.
    """
    edge = {"width": 1.5, "color": "rgba(255,255,255,0.9)"}
    figure.add_scatter(x=[x], y=[y], name=name, mode="markers", marker={"size": 13, "color": ACCENT, "line": edge})


def line(
    figure: go.Figure, x: Any, y: Any, name: str, colour: str, *, width: float = 2.5, dash: str | None = None
) -> None:
    """A curve.

    Parameters
    ----------
    figure
        The chart.
    x, y
        (m,) its points.
    name
        In the legend.
    colour
        As Plotly takes it.
    width
        In pixels.
    dash
        As Plotly names it; None for a solid line.
    """
    figure.add_scatter(x=x, y=y, name=name, mode="lines", line={"color": colour, "width": width, "dash": dash})

"""A strip of figures: name, number, and what the number is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st


class ShownFigure(NamedTuple):
    """One figure.

    Attributes
    ----------
    name
        Above the number.
    value
        The number as people read it.
    hint
        What it is, where the pointer rests; "" for nothing.
    below
        A few words below it; "" for none.
    """

    name: str
    value: str
    hint: str = ""
    below: str = ""


def strip(figures: Sequence[ShownFigure], *, width: int = 140) -> None:
    """Show figures beside each other, in as many lines as the screen needs.

    Parameters
    ----------
    figures
        From left to right.
    width
        Pixels of each, at least.
    """
    cells = st.grid(len(figures), min_column_width=width, gap="small")
    for name, value, hint, below in figures:
        with cells.cell(), st.container(gap=None):
            st.metric(name, value, help=hint or None)
            if below:
                st.caption(below)

"""Fields of forms for what describes a run: title, limits, steps and words are those of `pll.runs.description`."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pll.runs.description import FIELDS


def number(name: str, value: float | None, *, key: str, most: float | None = None, **more: Any) -> Any:
    """Show a field for a number; None where it is empty, as it may be where it begins so.

    Parameters
    ----------
    name
        Of a field of a run.
    value
        What it begins with.
    key
        Of the widget.
    most
        A limit below that of the field.
    more
        Further options of `st.number_input`.
    """
    one = FIELDS[name]
    kind = int if one.kind == "whole" else float
    limits = kind(one.least), kind(one.most if most is None else most)
    begin = None if value is None else kind(value)
    return st.number_input(one.title, *limits, begin, kind(one.step), key=key, **{"help": one.sentence, **more})


def share(name: str, value: float, *, key: str, most: float | None = None, title: str = "", **more: Any) -> float:
    """Show a slider for a number of a run that is always given: a probability or a share.

    Parameters
    ----------
    name
        Of a field of a run.
    value
        What it begins with.
    key
        Of the widget.
    most
        A limit below that of the field.
    title
        Where it is another one than that of the field.
    more
        Further options of `st.slider`.
    """
    one = FIELDS[name]
    limits = float(one.least), float(one.most if most is None else most)
    words = {"help": one.sentence, **more}
    chosen: float = st.slider(title or one.title, *limits, float(value), one.step, key=key, **words)
    return round(chosen, 6)

"""How far voters agree, and two of them who do not, to be chosen: on Data, Review and Train."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from pll.annotations import Annotations
from pll.annotations.agreement import (
    ENOUGH_ROWS,
    Agreement,
    Figure,
    Pair,
    agreement,
    confusion_of_two,
    disagreeing_pairs,
    sentence_of_two,
)
from pll.ui.format import plain
from pll.ui.widgets import ShownFigure, show_figures

MOST_PAIRS = 50
"""Pairs to choose from, those who differ most."""
MOST_SHOWN_WHOLE = 12
"""Classes up to which all of the confusion table is shown; of more, its largest cells."""
LARGEST_CELLS = 20


@st.cache_resource(max_entries=8, show_spinner=False)
def of_data(key: str, _annotations: Annotations) -> Agreement:
    """Agreement of the annotations of data with this key, computed once."""
    return agreement(_annotations)


def show_agreement(agreed: Agreement) -> None:
    """Show how far they agree, in three figures."""
    figures = {
        "Agreement of two": (agreed.percent, "{:.1%}", "How often two of them give an example the same label."),
        "Fleiss' kappa": (agreed.kappa, "{:.2f}", "Agreement beyond chance: 1 is full, 0 is none."),
        "Krippendorff's alpha": (agreed.alpha, "{:.2f}", "The same for answers of several labels (MASI distance)."),
    }
    shown = []
    for label, (figure, form, hint) in figures.items():
        if agreed.rows < ENOUGH_ROWS and figure is not agreed.percent:
            hint = f"{hint} Shown from {ENOUGH_ROWS} examples with two answers."
            figure = Figure(None)
        value = "–" if figure.value is None else form.format(figure.value).replace("%", " %")
        shown.append(ShownFigure(label, value, f"{hint} {plain(figure.reason or '')}".strip()))
    show_figures(shown, width=160)


@st.cache_resource(max_entries=8, show_spinner=False)
def pairs_of(key: str, _annotations: Annotations | None) -> tuple[Pair, ...]:
    """The pairs of voters of data with this key who differ somewhere; none where nobody knows who voted."""
    if _annotations is None or _annotations.anonymous:
        return ()
    return tuple(disagreeing_pairs(_annotations)[:MOST_PAIRS])


def choose_pair(
    annotations: Annotations,
    pairs: tuple[Pair, ...],
    *,
    label: str,
    key: str,
    optional: bool = False,
    collapsed: bool = False,
    on_change: Callable[[], None] | None = None,
) -> Pair | None:
    """Let one of the pairs be chosen; with `optional`, or none of them; `collapsed` hides the label.

    Parameters
    ----------
    annotations
        Everybody's answers.
    pairs
        To choose from.
    label
        Above the field.
    key
        Of the widget.
    optional
        Whether none of them may be chosen.
    collapsed
        Whether the label is hidden.
    on_change
        Called when another one is chosen, before the page runs.
    """
    return st.selectbox(
        label,
        pairs,
        index=None if optional else 0,
        placeholder="Choose two" if optional else None,
        format_func=lambda pair: f"{_named(annotations, pair)} ({pair.differing:,})",
        key=key,
        on_change=on_change,
        width=320 if collapsed else 420,
        label_visibility="collapsed" if collapsed else "visible",
    )


def _named(annotations: Annotations, pair: Pair) -> str:
    """Both names."""
    return f"{annotations.annotator_names[pair.first]} ↔ {annotations.annotator_names[pair.second]}"


def show_two(key: str, annotations: Annotations) -> None:
    """Let two voters who disagree be chosen, and show how they differ: the confusion table of data with this key.

    Parameters
    ----------
    key
        The same for the same data: what is computed is kept by it.
    annotations
        Everybody's answers.
    """
    pairs = pairs_of(key, annotations)
    if not pairs:
        return
    st.markdown("**Where two of them disagree**")
    pair = choose_pair(annotations, pairs, label="Two voters", key=f"pair-{key}")
    if pair is not None:
        st.text(sentence_of_two(annotations, pair.first, pair.second))
        st.dataframe(
            confusion_frame(annotations, pair),
            hide_index=True,
            key="confusion",
            alt="How often the first of the two gave each label where the second gave another",
        )


def confusion_frame(annotations: Annotations, pair: Pair) -> pd.DataFrame:
    """The confusion table of two voters: a column for each label of the second; of many classes the largest cells.

    Parameters
    ----------
    annotations
        Everybody's answers.
    pair
        The two.
    """
    table = confusion_of_two(annotations, pair.first, pair.second)
    first, second = (annotations.annotator_names[who] for who in (pair.first, pair.second))
    names = np.array(annotations.class_names)
    if len(names) <= MOST_SHOWN_WHOLE:
        frame = pd.DataFrame(np.round(table, 2), columns=list(names))
        frame.insert(0, f"{first} ↓ {second} →", names)
        return frame
    np.fill_diagonal(table, 0.0)
    k, j = np.divmod(np.argsort(-table, axis=None, kind="stable")[:LARGEST_CELLS], len(names))
    cells = table[k, j] > 0
    said = {f"{first} said": names[k], f"{second} said": names[j], "examples": table[k, j]}
    return pd.DataFrame(said)[cells]

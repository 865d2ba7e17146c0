"""Choosing two voters who disagree: on Data, Review and Train."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pll.annotations import Annotations
from pll.annotations.agreement import Pair, disagreeing_pairs

MOST_PAIRS = 50
"""Pairs to choose from, those who differ most."""


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
    """Let one of the pairs be chosen; with `optional`, or none of them; `collapsed` hides the label."""
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

"""Which classes the pictures of a run show, where there are more than can be told apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from pll.candidates import CandidateSets
from pll.ui.view_state import Scene
from pll.ui.widgets import popover

MOST_AT_ONCE = 20
"""Classes that a picture shows all of."""
SHOWN_AT_FIRST = 12
"""Classes shown of more, unless others are chosen."""


def shown_classes(now: Scene) -> tuple[int, ...] | None:
    """The chosen classes, else the largest; None for all, where there are few."""
    if now.sets.n_classes <= MOST_AT_ONCE:
        return None
    return now.looking.classes or _largest(now.sets)


def _largest(sets: CandidateSets) -> tuple[int, ...]:
    """The classes with the most examples, each shared out over its candidates: the same at every epoch.

    Examples
    --------
    >>> _largest(CandidateSets.from_lists([[0, 1], [1], [2]], n_classes=3))
    (0, 1, 2)
    """
    examples = np.bincount(sets.indices, weights=np.repeat(1 / sets.sizes, sets.sizes), minlength=sets.n_classes)
    return tuple(sorted(np.argsort(-examples, kind="stable")[:SHOWN_AT_FIRST].tolist()))


def choose_classes(now: Scene) -> None:
    """Say how many classes are shown, and let others be searched and chosen."""
    shown = shown_classes(now)
    if shown is None:
        return
    which = "chosen" if now.looking.classes else "largest"
    label = f"{len(shown)} {which} of {now.sets.n_classes:,} classes"
    popover(label, _search, now, shown, key=f"classes-{now.run.id}-box")


def _search(now: Scene, shown: Sequence[int]) -> None:
    key = f"classes-{now.run.id}"

    def choose() -> None:
        now.looking.classes = tuple(sorted(st.session_state[key]))

    st.multiselect(
        "Classes in the pictures",
        range(now.sets.n_classes),
        default=list(shown),
        format_func=now.sets.class_names.__getitem__,
        max_selections=MOST_AT_ONCE,
        key=key,
        on_change=choose,
        help="Type a part of a name. None: the largest.",
        width=420,
    )

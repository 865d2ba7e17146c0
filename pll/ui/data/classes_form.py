"""Classes of the data page: what is read as one class, or as no answer, and what a person changes of it.

Spellings of one class are joined and marks of missing answers dropped by themselves; the page says so, and one click
undoes it. Corrections of single classes are stored for the visit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import notes_of
from pll.formats.checks import listing
from pll.formats.classes import class_counts
from pll.ui.data import loader
from pll.ui.format import count, plain
from pll.ui.widgets import beside, button, edit_column, undo_all

VISIBLE_ROWS = 12
"""Classes that show without scrolling."""
MOST_SPELLINGS = 4
"""Spellings that are named; the rest are counted."""

Edits = Mapping[str, str | None]


def _is_apart(source: Source) -> bool:
    """Whether a person chose that spellings stay classes of their own."""
    return bool(st.session_state.get(f"apart-{_key(source)}"))


def with_spellings(source: Source) -> Source:
    """Return the source, whose spellings are joined when it is read unless a person chose otherwise."""
    apart = {"merge": False, "keep": ("*",)}
    return replace(source, options={**source.options, **apart}) if _is_apart(source) else source


def put_in_order(source: Source, data: PartialLabelDataset) -> tuple[Source, PartialLabelDataset]:
    """Join spellings and drop what is no answer, as far as a person did not choose otherwise; say so.

    Parameters
    ----------
    source
        Where the data comes from.
    data
        As it was read, before any correction by hand.
    """
    counts = class_counts(data)
    edits = _edits(source, counts)
    joined = {name: to for note in notes_of(data.notes, "spellings") for name, to in note.cells.items()}
    joined |= {name: target for name, target in edits.items() if target in counts}
    merged = listing([f"{name} → {target}" for name, target in joined.items()], MOST_SPELLINGS)
    silent = {cell: n for note in notes_of(data.notes, "no answer") for cell, n in note.cells.items()}
    drops = [f"{cell} ({count(int(n), 'time')})" if isinstance(n, int) else cell for cell, n in silent.items()]
    drops += [name for name, target in edits.items() if target is None]
    words = [f"Read as one class: {merged}."] if merged else []
    words += [f"Read as no answer: {listing(drops, MOST_SPELLINGS)}."] if drops else []
    if words or _is_apart(source):
        with beside():
            st.caption(plain(" ".join(words) or "Every spelling is a class of its own."), width="content")
            button(
                "Join spellings" if _is_apart(source) else "Undo",
                st.session_state.__setitem__,
                f"apart-{_key(source)}",
                not _is_apart(source),
                key=f"apart-button-{_key(source)}",
                kind="tertiary",
            )
    if not edits:
        return source, data
    edited = replace(source, classes=edits)
    return edited, loader.dataset(edited)


def _key(source: Source) -> str:
    return f"classes-{source.sha256 or source.path or source.name}"


def edit(source: Source, edits: Edits) -> None:
    """Merge or drop some classes, until a person undoes it.

    Parameters
    ----------
    source
        Whose classes they are.
    edits
        Class → what it becomes: another class, a new name, or None for no answer.
    """
    st.session_state[_key(source)] = st.session_state.get(_key(source), {}) | dict(edits)


def _edits(source: Source, counts: Mapping[str, int]) -> dict[str, str | None]:
    """What becomes of the classes there are; corrections of classes that are read otherwise now are left out."""
    edited: Edits = st.session_state.get(_key(source), {})
    targets: dict[str, str | None] = {}
    targets |= {name: becomes for name, becomes in edited.items() if name in counts}
    changes = {name: becomes for name, becomes in targets.items() if becomes != name}
    return changes if any(changes.get(name, name) is not None for name in counts) else {}


def edit_classes(source: Source, data: PartialLabelDataset) -> None:
    """Show how often each class of the data as it was read occurs and what it becomes, and take corrections.

    Parameters
    ----------
    source
        Where the data comes from.
    data
        As it was read, before any correction by hand.
    """
    counts = class_counts(data)
    edits = _edits(source, counts)
    st.caption(
        "Under *becomes*, type the name of another class to merge the two, a new name to rename, or nothing to drop: a "
        "dropped label counts as no answer. The file itself stays as it is."
    )
    names = list(counts)

    def save(cells: dict[int, str | None]) -> None:
        edited = {names[row]: (cell or "").strip() or None for row, cell in cells.items()}
        st.session_state[_key(source)] = st.session_state.get(_key(source), {}) | edited

    becomes = [edits.get(name, name) or "" for name in names]
    edit_column(
        pd.DataFrame({"class": names, "given": [counts[name] for name in names], "becomes": becomes}),
        "becomes",
        save,
        key=f"{_key(source)}-table",
        config={
            "given": st.column_config.NumberColumn("given", help="How often it was given.", width="small"),
            "becomes": st.column_config.TextColumn("becomes", help="Another class merges; empty drops."),
        },
        visible_rows=VISIBLE_ROWS,
    )
    undo_all(_key(source))

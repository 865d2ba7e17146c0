"""Answers of models on the data page: the classes they may name, and those that name none, to map by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, notes_of
from pll.formats.tabular.answer_cells import FEW_CLASSES
from pll.ui.data import columns_form
from pll.ui.data.columns_form import Columns
from pll.ui.format import count
from pll.ui.widgets import edit_column, undo_all

VISIBLE_ROWS, MOST_MAPPED = 8, 500
"""Rows of the table that show without scrolling, and how many there are at most."""
MOST_CHIPS = 20
"""Classes that are shown as chips; of more, the answers stand as they are."""
MEANS_NOTHING, NEW_CLASS = "(no answer)", "(a class of its own)"


def mapped_votes(table: Columns) -> Source | None:
    """Show the classes and the answers that name none, take corrections; return the source with them.

    None while files are read, or while there are no classes. Raises UserError where files cannot be read or joined.
    """
    source = replace(table.source, answers=dict(st.session_state.get(_key(table.source), {})))
    try:
        data = columns_form.read(table, source)
    except UserError as error:
        if error.kind != FEW_CLASSES:
            raise
        return None if len(chosen := _chips(source, ())) < 2 else _of_classes(source, chosen)
    if data is not None and notes_of(data.notes, "proposed") and data.n_classes <= MOST_CHIPS:
        chosen = _chips(source, data.class_names)
        if len(chosen) < 2:
            return None
        if set(chosen) != set(data.class_names):
            source = _of_classes(source, chosen)
            data = columns_form.read(table, source)
    if data is None:
        return None
    problems = notes_of(data.notes, "lost")
    if problems:
        st.caption(f":material/info: {' '.join(problems)}")
    _map_by_hand(source, data)
    return source


def _of_classes(source: Source, names: Sequence[str]) -> Source:
    return replace(source, options={**source.options, "class_names": names})


def _chips(source: Source, proposed: Sequence[str]) -> Sequence[str]:
    """The classes as a person corrected them."""
    return st.multiselect(
        "Classes that the answers name",
        list(proposed),
        default=list(proposed),
        placeholder="Type a class, then Enter",
        accept_new_options=True,
        key=f"{_key(source)}-classes",
        persist_state="session",
    )


def _key(source: Source) -> str:
    return "answers-" + "-".join((file.sha256 or str(file.path))[:16] for file in source.vote_files or (source,))


def _map_by_hand(source: Source, data: PartialLabelDataset) -> None:
    """Answers that are no class, with their counts, and what they are taken for."""
    by_hand: Mapping[str, str] = source.answers
    unmapped = () if data.annotations is None else data.annotations.unmapped
    rows = [(text, by_hand[text], None) for text in by_hand] + [(text, "", n) for text, n in unmapped]
    if not rows:
        return
    left = sum(number for _, number in unmapped)
    with st.expander(f"{count(left, 'answer names', 'answers name')} no class", icon=":material/rule:"):
        st.caption(
            "They are left out. Where one means a class, say so under *means*; it is stored with the run."
            + (f" The first {MOST_MAPPED:,} of {len(rows):,} are shown." if len(rows) > MOST_MAPPED else "")
        )
        listed = rows[:MOST_MAPPED]
        means = [(MEANS_NOTHING if target == "" and text in by_hand else target) for text, target, _ in listed]

        def save(cells: dict[int, str | None]) -> None:
            edited = dict(by_hand)
            for row, target in cells.items():
                text = listed[row][0]
                edited.pop(text, None)
                if target:
                    edited[text] = {MEANS_NOTHING: "", NEW_CLASS: text.strip()}.get(target, target)
            st.session_state[_key(source)] = edited

        edit_column(
            pd.DataFrame(
                {
                    "answer": [text for text, _, _ in listed],
                    "times": pd.array([number for _, _, number in listed], dtype="Int64"),
                    "means": means,
                }
            ),
            "means",
            save,
            key=f"{_key(source)}-table",
            config={
                "answer": st.column_config.TextColumn("answer", width="large"),
                "times": st.column_config.NumberColumn("times", width="small", help="Empty once it is mapped."),
                "means": st.column_config.SelectboxColumn(
                    "means", options=[*data.class_names, MEANS_NOTHING, NEW_CLASS], width="medium"
                ),
            },
            visible_rows=VISIBLE_ROWS,
        )
        undo_all(_key(source))

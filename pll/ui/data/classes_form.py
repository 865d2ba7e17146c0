"""Classes of the data page: how often each was given; merge, rename, drop, and undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.classes import class_counts, no_answers, proposed_merges
from pll.formats.tabular.builder import JOINED
from pll.ui import session
from pll.ui.format import count, plain

ROW, ROWS_SHOWN = 35, 12
"""Pixels of a row of a table, and how many classes show without scrolling."""
NAMED = 4
"""Proposals that are named; the rest are counted."""


def edited_classes(source: Source, data: PartialLabelDataset) -> tuple[Source, PartialLabelDataset]:
    """Show the classes and take corrections; return the source and its data with them.

    Args:
        source: as it was read.
        data: its data, classes as in the file.
    """
    if not data.n_classes:
        return source, data
    _joined(source, data)
    counts = class_counts(data)
    edits = _edits(source, counts)
    unnamed = {name: number for name, number in counts.items() if name not in edits}
    merges, drops = proposed_merges(unnamed), no_answers(list(unnamed))
    _propose(source, merges, drops)
    changed = f", {len(edits):,} changed" if edits else ""
    left = len({edits.get(name, name) for name in counts} - {None})
    with st.expander(f"Classes: {left:,}{changed}", icon=":material/label:", expanded=False):
        st.caption(
            "Under *becomes*, type the name of another class to merge the two, a new name to rename, or nothing to "
            "drop: a dropped label counts as no answer. The file itself stays as it is."
        )
        _table(source, counts, edits)
        st.button(
            "Undo all",
            icon=":material/undo:",
            disabled=not edits,
            key=f"classes-undo-{_key(source)}",
            on_click=_keep,
            args=(source, {}),
        )
    if not edits:
        return source, data
    edited = replace(source, classes=dict(edits))
    try:
        return edited, session.dataset(edited)
    except UserError as error:
        st.error(str(error), icon=":material/error:")
        return source, data


def _joined(source: Source, data: PartialLabelDataset) -> None:
    """Which spellings are read as one class, with a button that tells them apart, and back."""
    apart = not source.options.get("merge", True)
    joined = next((note for note in data.notes if note.startswith(JOINED)), "")
    if not joined and not apart:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        words = "Classes that are spelled alike are kept apart." if apart else joined
        st.markdown(f":material/spellcheck: {plain(words)}", width="stretch")
        st.button(
            "Join them" if apart else "Keep apart",
            key=f"spelling-{_key(source)}",
            on_click=st.session_state.__setitem__,
            args=(apart_key(source), not apart),
        )


def apart_key(source: Source) -> str:
    """Where a visit keeps whether classes of one spelling stay classes of their own."""
    return f"apart-{source.sha256 or source.path or source.name}"


def _key(source: Source) -> str:
    return f"classes-{source.sha256 or source.path or source.name}"


def _edits(source: Source, counts: Mapping[str, int]) -> dict[str, str | None]:
    """What was said of the classes there are; what was said of others (read otherwise before) waits."""
    said: dict[str, str | None] = st.session_state.get(_key(source), {})
    return {name: new for name, new in said.items() if name in counts and new != name}


def _keep(source: Source, edits: Mapping[str, str | None]) -> None:
    """Remember the edits; the table begins anew with them."""
    st.session_state[_key(source)] = dict(edits)
    st.session_state[f"{_key(source)}-version"] = st.session_state.get(f"{_key(source)}-version", 0) + 1


def _add(source: Source, more: Mapping[str, str | None]) -> None:
    _keep(source, st.session_state.get(_key(source), {}) | dict(more))


def _propose(source: Source, merges: Mapping[str, str], drops: list[str]) -> None:
    """Say which classes look like others or like no answer, each with a button."""
    if not merges and not drops:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        words = []
        if merges:
            pairs = [f"{name} → {target}" for name, target in merges.items()]
            look = "class looks like another" if len(merges) == 1 else "classes look like others"
            words.append(f"{len(merges):,} {look}: {listing(pairs, NAMED)}.")
        if drops:
            mean = "seems to mean no answer" if len(drops) == 1 else "seem to mean no answer"
            words.append(f"{listing(drops, NAMED)} {mean}.")
        st.markdown(f":material/rule: {plain(' '.join(words))}", width="stretch")
        with st.container(horizontal=True, width="content"):
            if merges:
                st.button(
                    f"Merge {count(len(merges), 'class', 'classes')}",
                    icon=":material/merge:",
                    key=f"classes-merge-{_key(source)}",
                    on_click=_add,
                    args=(source, merges),
                )
            if drops:
                st.button(
                    f"Drop {count(len(drops), 'class', 'classes')}",
                    icon=":material/label_off:",
                    key=f"classes-drop-{_key(source)}",
                    on_click=_add,
                    args=(source, dict.fromkeys(drops)),
                )


def _table(source: Source, counts: Mapping[str, int], edits: Mapping[str, str | None]) -> None:
    names = list(counts)
    table = pd.DataFrame(
        {
            "class": names,
            "given": [counts[name] for name in names],
            "becomes": [edits.get(name, name) or "" for name in names],
        }
    )
    key = f"{_key(source)}-table-{st.session_state.get(f'{_key(source)}-version', 0)}"

    def changed() -> None:
        said = {
            names[int(row)]: (str(cells.get("becomes") or "").strip() or None)
            for row, cells in st.session_state[key]["edited_rows"].items()
            if "becomes" in cells
        }
        _add(source, said)

    st.data_editor(
        table,
        hide_index=True,
        disabled=["class", "given"],
        column_config={
            "given": st.column_config.NumberColumn("given", help="How often it was given.", width="small"),
            "becomes": st.column_config.TextColumn("becomes", help="Another class merges; empty drops."),
        },
        height=ROW * (min(len(names), ROWS_SHOWN) + 1) + 2,
        key=key,
        on_change=changed,
    )

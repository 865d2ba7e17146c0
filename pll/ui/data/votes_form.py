"""Votes of the data page: what became of the answers in files of votes, and those to map by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import streamlit as st

from pll.catalog.sources import Source
from pll.formats.votes import Mapped
from pll.ui import background, session
from pll.ui.data import loader
from pll.ui.format import count

ROW, ROWS_SHOWN, MOST_ROWS = 35, 8, 500
"""Pixels of a row of the table, how many show without scrolling, and how many there are at most."""
NO_ANSWER, NEW_CLASS = "(no answer)", "(a class of its own)"


def mapped_votes(source: Source) -> Source | None:
    """Show what became of the answers, take corrections; return the source with them, None while files are read.

    Raises:
        UserError: files that cannot be read or joined.
    """
    if not source.vote_files:
        return source
    source = replace(source, answers=dict(st.session_state.get(_key(source), {})))
    found = _read(source)
    if found is None:
        return None
    said = found.dataset.annotations
    voters = 0 if said is None else said.n_annotators
    parts = [f"{count(found.mapped, 'vote')} of {count(voters, 'voter')}"]
    if found.errors:
        parts.append(f"{count(found.errors, 'request')} failed")
    if found.others:
        parts.append(f"{count(found.others, 'answer')} of examples that are not in the data")
    st.caption(f":material/how_to_vote: {', '.join(parts)}.")
    _table(source, found)
    return source


def _read(source: Source) -> Mapped | None:
    """The votes; large files are read in the background."""
    known = session.mapped_if_read(source)
    if known is not None:
        return known
    if loader.size_of(source) < loader.LARGE:
        with st.spinner("Reading votes…"):
            return session.mapped(source)
    key = f"votes {session.data_key(source)}"
    found = background.result_of(key, f"Reading {source.name}", source.with_votes, slot="reading")
    return None if found is None else session.keep_mapped(source, found)


def _key(source: Source) -> str:
    return "answers-" + "-".join((file.sha256 or str(file.path))[:16] for file in source.vote_files)


def _keep(source: Source, answers: Mapping[str, str]) -> None:
    """Remember what was mapped by hand; the table begins anew with it."""
    st.session_state[_key(source)] = dict(answers)
    st.session_state[f"{_key(source)}-version"] = st.session_state.get(f"{_key(source)}-version", 0) + 1


def _table(source: Source, found: Mapped) -> None:
    """Answers that are no class, with their counts, and what they are taken for."""
    by_hand = source.answers
    rows = [(text, by_hand[text], None) for text in by_hand] + [(text, "", n) for text, n in found.unmapped]
    if not rows:
        return
    left = sum(number for _, number in found.unmapped)
    title = f"Answers that are no class: {left:,}" if left else "Answers that are no class: none left"
    if by_hand:
        title += f"; {len(by_hand):,} mapped by hand"
    with st.expander(title, icon=":material/rule:", expanded=True):
        st.caption(
            "They are left out. Where one means a class, say so under *means*; it is kept with the run."
            + (f" The first {MOST_ROWS:,} of {len(rows):,} are shown." if len(rows) > MOST_ROWS else "")
        )
        shown = rows[:MOST_ROWS]
        key = f"{_key(source)}-table-{st.session_state.get(f'{_key(source)}-version', 0)}"
        table = pd.DataFrame(
            {
                "answer": [text for text, _, _ in shown],
                "times": pd.array([number for _, _, number in shown], dtype="Int64"),
                "means": [(NO_ANSWER if target == "" and text in by_hand else target) for text, target, _ in shown],
            }
        )

        def changed() -> None:
            said = dict(by_hand)
            for row, cells in st.session_state[key]["edited_rows"].items():
                if "means" in cells:
                    text, target = shown[int(row)][0], cells["means"]
                    said.pop(text, None)
                    if target:
                        said[text] = {NO_ANSWER: "", NEW_CLASS: text.strip()}.get(target, target)
            _keep(source, said)

        st.data_editor(
            table,
            hide_index=True,
            disabled=["answer", "times"],
            column_config={
                "answer": st.column_config.TextColumn("answer", width="large"),
                "times": st.column_config.NumberColumn("times", width="small", help="Empty once it is mapped."),
                "means": st.column_config.SelectboxColumn(
                    "means", options=[*found.dataset.class_names, NO_ANSWER, NEW_CLASS], width="medium"
                ),
            },
            height=ROW * (min(len(shown), ROWS_SHOWN) + 1) + 2,
            key=key,
            on_change=changed,
        )
        st.button(
            "Undo all",
            icon=":material/undo:",
            disabled=not by_hand,
            key=f"{_key(source)}-undo",
            on_click=_keep,
            args=(source, {}),
        )

"""Editor for the roles of a table's columns, filled with a guess from the first rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import streamlit as st

from pll import formats
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, has_duplicate_ids
from pll.formats.checks import listing
from pll.formats.tabular.cells import has_fractions
from pll.formats.tabular.columns import ROLES, Column, notes_on, question
from pll.formats.votes import VOTES
from pll.ui.data import classes_form, loader
from pll.ui.format import plain

ROW, ROWS_SHOWN = 35, 14
"""Pixels of a row of a table, and how many columns show without scrolling."""
MOST_SHOWN = 8
"""Columns whose first cells are shown beside a question."""
MOST_COLUMNS = 300
"""A person does not go through more; the guess stands then."""
CANDIDATES = "candidates"
"""The role of what holds the labels."""

TITLES = {
    "id": "Name of the example",
    "text": "Text",
    "image": "Picture",
    "feature": "Feature: a number",
    "vector": "Feature: a list of numbers",
    "category": "Feature: words",
    "candidates": "Candidate labels",
    "candidate": "One of the candidate labels",
    "true_label": "True label",
    "split": "Train or test",
    "annotator": "One annotator's labels",
    "score": "How sure an annotator was",
    "class": "A class: 1 where it is a candidate",
    "probability": "How likely a class is",
    "task": "Example a line is about",
    "worker": "Who annotated",
    "vote": "Label that was given",
    "keep": "Keep, do not learn from it",
    "ignore": "Leave out",
}
assert set(TITLES) == set(ROLES)


def edited_columns(source: Source) -> Source | None:
    """The source with what a person said of its columns; None where a question waits for its answer.

    Shows the question, the roles that were guessed, and takes corrections.

    Raises:
        UserError: the file cannot be read at all.
    """
    if source.path is None or source.format == VOTES or not _is_quick(source):
        return source
    source = _of_question(_of_sheet(source))
    if st.session_state.get(classes_form.apart_key(source)):
        source = replace(source, options={**source.options, "merge": False})
    assert source.path is not None
    found = formats.columns(source.path, name=source.name, options=formats.ReadOptions(**source.options))
    st.session_state[_notes_key(source)] = notes_on(found)
    if not found or len(found) > MOST_COLUMNS:
        return source
    answered = _answered(found, _key(source))
    if answered is None:
        return None
    if answered:
        found = formats.columns(
            source.path, name=source.name, options=formats.ReadOptions(**source.options | {"columns": dict(answered)})
        )
    roles = _roles_shown(source, found)
    unsure = any(column.guessed for column in found) or loader.size_of(source) >= loader.HUGE
    with st.expander("What each column is", icon=":material/view_column:", expanded=unsure):
        st.caption(
            "Guessed from names and first cells. Double-click what is wrong under *is*; everything below follows."
        )
        said = _edited(found, roles, _key(source))
    edits = {column.name: role for column, role in zip(found, said, strict=True) if role != column.role}
    st.session_state[_edits_key(source)] = edits
    for sentence in describe_unused_columns(found, said):
        st.caption(f":material/info: {plain(sentence)}")
    if not edits and not answered:
        return source
    # A role that is told changes what is guessed of the other columns: what is shown is told whole.
    shown = {column.name: role for column, role in zip(found, said, strict=True)}
    return replace(source, options={**source.options, "columns": shown})


def _of_sheet(source: Source) -> Source:
    """The source with the sheet that a person chose, where a workbook has several tables."""
    names = _sheets(str(source.path), source.name, source.sha256 or "")
    if len(names) < 2:
        return source
    chosen = st.selectbox("Sheet", names, key=f"sheet-{source.sha256 or source.path}", persist_state="session")
    return replace(source, options={**source.options, "sheet": chosen}) if chosen != names[0] else source


@st.cache_data(max_entries=64, show_spinner=False)
def _sheets(path: str, name: str, sha256: str) -> list[str]:
    return formats.sheets(path, name=name)


def _of_question(source: Source) -> Source:
    """The source with the question that a person chose, where an annotation tool asked several."""
    names = _questions(str(source.path), source.name, source.sha256 or "")
    if len(names) < 2:
        return source
    chosen = st.selectbox(
        "Labels are the answers to",
        names,
        help="The file has answers to several questions; the one answered most often comes first.",
        key=f"question-{source.sha256 or source.path}",
        persist_state="session",
    )
    return (
        source if chosen == names[0] else replace(source, options={**source.options, "columns": {chosen: CANDIDATES}})
    )


@st.cache_data(max_entries=64, show_spinner=False)
def _questions(path: str, name: str, sha256: str) -> list[str]:
    return formats.questions(path, name=name)


def shown_notes(source: Source) -> Sequence[str]:
    """Notes of a reader that the table of columns shows already."""
    found: Sequence[str] = st.session_state.get(_notes_key(source), ())
    return found


def _notes_key(source: Source) -> str:
    return f"told-{source.sha256 or source.path}"


def read_or_number(source: Source) -> PartialLabelDataset | None:
    """The data, as `loader.read`; where two rows have the same id, offer to number the examples instead.

    Raises:
        UserError: a small file cannot be read for another reason.
    """
    try:
        return loader.read(source)
    except UserError as error:
        if not has_duplicate_ids(error) or source.path is None:
            raise
        st.error(plain(str(error)), icon=":material/error:")
        found = formats.columns(source.path, name=source.name, options=formats.ReadOptions(**source.options))
        names = [column.name for column in found if column.role == "id"]
        if names:
            st.button(
                "Number the examples instead",
                icon=":material/format_list_numbered:",
                type="primary",
                help=f"The column {plain(names[0])} is kept and exported, and every row gets a number.",
                on_click=_keep_as,
                args=(source, names[0], "keep"),
            )
        return None


def ask_for_labels(source: Source) -> bool:
    """Ask which column holds the labels, where no column is known to; return whether there is one to choose."""
    if source.path is None:
        return False
    found = formats.columns(source.path, name=source.name, options=formats.ReadOptions(**source.options))
    names = [column.name for column in found if column.role == "category"]
    names += [column.name for column in found if column.role == "feature" and not has_fractions(column.first)]
    if not names or len(found) > MOST_COLUMNS:
        return False
    key = f"labels-{_key(source)}"

    def chosen() -> None:
        _keep_as(source, st.session_state[key], "annotator")

    st.selectbox(
        "Which column holds the labels?",
        names,
        index=None,
        placeholder="Choose a column",
        key=key,
        on_change=chosen,
        help="Several columns, sets of labels or true labels: say so above, under What each column is.",
    )
    return True


def _keep_as(source: Source, name: str, role: str) -> None:
    """Say what a column is; the table of columns begins anew with it."""
    key = _key(source)
    st.session_state[_edits_key(source)] = st.session_state.get(_edits_key(source), {}) | {name: role}
    st.session_state.pop(f"start-{key}", None)
    st.session_state.pop(key, None)


def _answered(found: Sequence[Column], key: str) -> Mapping[str, str] | None:
    """The roles that a person answered where names and types leave two open; None until then, {} without a question."""
    asked = question(found)
    if asked is None:
        return {}
    first = {column.name: [_beginning([cell]) for cell in column.first] for column in found}
    names = [*asked.answers[0][1], *(name for name in first if name not in asked.answers[0][1])]
    st.dataframe(pd.DataFrame({name: first[name] for name in names[:MOST_SHOWN]}), hide_index=True)
    answer = st.radio(
        plain(asked.text),
        range(len(asked.answers)),
        index=None,
        format_func=lambda at: asked.answers[at][0].capitalize(),
        key=f"question-{asked.text}-{key}",
        persist_state="session",
    )
    return None if answer is None else asked.answers[answer][1]


def _key(source: Source) -> str:
    sheet = source.options.get("sheet")
    return f"columns-{source.sha256 or source.path}" + (f"-{sheet}" if sheet else "")


def _edits_key(source: Source) -> str:
    return f"edits-{_key(source)}"


def _roles_shown(source: Source, found: Sequence[Column]) -> list[str]:
    """The roles the table of this visit begins with: the guess, and what was corrected before the page was left.

    They stay for as long as the table is on the page, since an editor that is given other rows forgets its edits.
    """
    start = f"start-{_key(source)}"
    if _key(source) not in st.session_state or start not in st.session_state:
        st.session_state[start] = dict(st.session_state.get(_edits_key(source), {}))
    before = st.session_state[start]
    return [before.get(column.name, column.role) for column in found]


def _is_quick(source: Source) -> bool:
    """Whether columns show without reading the whole file, or it is small: fields of JSON are known at its end."""
    assert source.path is not None
    if loader.size_of(source) < loader.LARGE:
        return True
    with Path(source.path).open("rb") as file:
        return file.read(64).lstrip()[:1] not in (b"{", b"[")


def describe_unused_columns(found: Sequence[Column], roles: Sequence[str]) -> list[str]:
    """Which columns are left out or only kept, and how many, in words; nothing where there are none.

    >>> columns = [Column(0, "width", "feature", "width"), Column(1, "note", "keep", "note")]
    >>> (
    ...     describe_unused_columns(columns, ["feature", "ignore"]),
    ...     describe_unused_columns(columns, ["feature", "feature"]),
    ... )
    (['1 of 2 columns is left out: note.'], [])
    """
    sentences = []
    for role, words in (("ignore", "left out"), ("keep", "kept, and not learnt from")):
        names = [column.name for column, said in zip(found, roles, strict=True) if said == role]
        if names:
            be = "is" if len(names) == 1 else "are"
            columns = f"{len(found)} column{'s' * (len(found) != 1)}"
            sentences.append(f"{len(names)} of {columns} {be} {words}: {listing(names)}.")
    return sentences


def _edited(found: Sequence[Column], roles: Sequence[str], key: str) -> list[str]:
    """The role of each column, as a person corrected it."""
    table = pd.DataFrame(
        {
            "column": [column.name for column in found],
            "is": [TITLES[role] for role in roles],
            "first cells": [_beginning(column.first) for column in found],
        }
    )
    edited = st.data_editor(
        table,
        hide_index=True,
        disabled=["column", "first cells"],
        column_config={
            "is": st.column_config.SelectboxColumn("is", width="medium", options=list(TITLES.values()), required=True)
        },
        height=ROW * (min(len(found), ROWS_SHOWN) + 1) + 2,
        key=key,
    )
    role_of = {title: role for role, title in TITLES.items()}
    return [role_of[title] for title in edited["is"]]


def _beginning(cells: Sequence[str | None]) -> str:
    shown = [(cell or "")[:40] for cell in cells]
    return " · ".join(cell or "–" for cell in shown) if any(shown) else "(empty)"

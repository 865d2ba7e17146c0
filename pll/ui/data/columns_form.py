"""What the columns of a file are: what is proposed, at most one question, and every role.

A person's choices are stored as explicit roles (`_explicit_roles`); the widgets show them, and the proposal for the
rest.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import streamlit as st

from pll import formats
from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import DuplicateIds, MissingPictures, UserError, WordsInFeatures
from pll.formats.checks import capital, listing
from pll.formats.forms import ROLE_DATA
from pll.formats.images import MISSING_PICTURES
from pll.formats.odd import MOST_CELLS_IN_FINDING, Oddity, OddReading
from pll.formats.reading import LABELLED, SINGLE, Column, Question, Reading, question, signature
from pll.formats.votes import VOTES_FORMAT
from pll.io import write_text
from pll.ui import login
from pll.ui.data import loader, understood, upload
from pll.ui.format import plain
from pll.ui.widgets import beside, bound, button, choose, choose_several, correct, show_error
from pll.wording import count

MOST_EDITED = 300
"""Columns that a person goes through in a table; of more what was proposed stands."""

ROLE_TITLES = {name: role["title"] for name, role in ROLE_DATA.items()}
"""What a column is, in as few words as there is room for above it; what most are first."""


@dataclass(frozen=True)
class Columns:
    """The columns of a file."""

    source: Source  # the file, with the roles that were chosen
    # with their roles; empty where the file has none, or they are not known before it is read
    columns: Sequence[Column] = ()
    guessed: Sequence[Column] = field(default=(), repr=False)  # the same before anything was chosen
    waits: bool = False  # whether a question waits for its answer, or the columns are still being read

    @property
    def asked(self) -> frozenset[str]:
        """The columns that the question which waits is about."""
        waiting = question(self.columns) if self.waits else None
        return frozenset() if waiting is None else waiting.columns


def resolved(source: Source) -> Columns:
    """The columns of a file; asks which sheet or which of two roles, where that is open."""
    if source.path is None or source.format == VOTES_FORMAT:
        return Columns(source)
    if accepted := st.session_state.get(_accepted_key(source)):
        source = replace(source, options={**source.options, "accept": accepted})
    if _is_quick(source):  # else all of it would have to be read for this
        source = _of_sheet(source)
    guessed = columns = _columns(source)
    explicit = _explicit_roles(source)
    if columns is not None and explicit:  # which go before every guess, and every question
        source = _with_roles(source, explicit)
        columns = _columns(source)
    while columns is not None and (open_question := question(columns)):
        roles = _answer(source, open_question)
        if roles is None:
            return Columns(source, columns, guessed or (), waits=True)
        source = _with_roles(source, roles)
        columns = _columns(source)
    if columns is None or guessed is None:
        return Columns(source, waits=True)
    return Columns(source, columns, guessed)


def _columns(source: Source) -> list[Column] | None:
    """The columns with their roles; None while they are not known, as the page says then."""
    assert source.path is not None
    read_columns = partial(
        formats.columns, source.path, name=source.name, options=formats.ReadOptions(**source.options)
    )
    if _is_quick(source):
        return read_columns()
    if not loader.may_read(source):
        return None
    title = f"Reading the columns of {source.name}"
    return loader.in_background("columns", loader.data_key(source), title, lambda _: read_columns())


def _with_roles(source: Source, roles: Mapping[str, str]) -> Source:
    return replace(source, options={**source.options, "columns": {**source.options.get("columns", {}), **roles}})


def taken_for_true(source: Source, table: Columns) -> Source:
    """The file with the labels of its one annotator taken for the true ones.

    Parameters
    ----------
    source
        The file.
    table
        Its columns.
    """
    return _with_roles(source, {column.name: "true_label" for column in table.columns if column.role == "annotator"})


def _is_quick(source: Source) -> bool:
    """Whether columns show without reading the whole file, or it is small: fields of JSON are known at its end."""
    assert source.path is not None
    if loader.size_of(source) < loader.LARGE_FILE:
        return True
    with Path(source.path).open("rb") as file:
        return file.read(64).lstrip()[:1] not in (b"{", b"[")


def _of_sheet(source: Source) -> Source:
    """The source with the sheet that was chosen of a workbook with several tables; the first is read by itself."""
    names = _sheets(str(source.path), source.name, source.sha256 or "")
    if len(names) < 2:
        return source
    titles = {name: name or "Every sheet: a person each" for name in names}
    chosen = choose("Sheet", titles, key=f"Sheet-{source.sha256 or source.path}", persist_state="session")
    return source if chosen == names[0] else replace(source, options={**source.options, "sheet": chosen})


@st.cache_data(max_entries=64, show_spinner=False)
def _sheets(path: str, name: str, sha256: str) -> list[str]:
    return formats.sheets(path, name=name)


def _answer(source: Source, open_question: Question) -> Mapping[str, str] | None:
    """The roles that a person chose where names and types leave several open; None until then."""
    key = f"asked-{open_question.text}-{_key(source)}"
    known: Mapping[str, str] = source.options.get("columns", {})

    def keep() -> None:  # for a reload, which asks no more
        if not open_question.columns.isdisjoint(_explicit_roles(source)):  # stored with the answer before
            _keep_roles(source, {})
        answered = open_question.answers[st.session_state[key]][1]
        _write(_file(_key(source)), Reading(roles={**known, **answered}, file=source.name))

    answer = st.radio(
        plain(open_question.text),
        range(len(open_question.answers)),
        index=None,
        format_func=lambda at: capital(open_question.answers[at][0]),
        key=key,
        on_change=keep,
        persist_state="session",
    )
    return None if answer is None else open_question.answers[answer][1]


# ---- explicit roles --------------------------------------------------------------------------------------------------


def _key(source: Source) -> str:
    """Key of the session state for the explicit roles of a table."""
    return f"columns-{source.sha256 or source.path}-{source.options.get('sheet', '')}"


def _explicit_roles(source: Source) -> Mapping[str, str]:
    key = _key(source)
    if key not in st.session_state and source.sha256 in st.session_state.get(upload.REOPENED, ()):
        with suppress(UserError):  # none were kept
            st.session_state[key] = Reading.in_file(_file(key)).roles
    roles: Mapping[str, str] = st.session_state.get(key, {})
    return roles


def _keep_roles(source: Source, roles: Mapping[str, str]) -> None:
    """Store the roles of a table, also for a reload."""
    st.session_state[_key(source)] = roles
    _write(_file(_key(source)), Reading(roles=roles, file=source.name))


def _set_roles(table: Columns, roles: Mapping[str, str]) -> None:
    """Store the roles of some columns, and of all others with them: one may change what is guessed of another.

    Where only one column can have a role, the other that had it is kept and not learnt from. A question that waits
    is not answered by that.
    """
    single = {role for role in roles.values() if role in SINGLE}
    others = {c.name: "keep" if c.role in single else c.role for c in table.columns if c.name not in table.asked}
    _keep_roles(table.source, others | dict(roles))


def classes_key(source: Source) -> str:
    """Key of the session state for what a person changed of the classes of some data."""
    return f"classes-{source.sha256 or source.path or source.name}"


def edit_classes(source: Source, edits: Mapping[str, str | None]) -> None:
    """Merge or drop some classes, until a person undoes it.

    Parameters
    ----------
    source
        Whose classes they are.
    edits
        Class → what it becomes: another class, a new name, or None for no answer.
    """
    st.session_state[classes_key(source)] = st.session_state.get(classes_key(source), {}) | dict(edits)


def _set_accepted(source: Source, kind: str) -> None:
    """Read the file although something of this kind is odd about it (`ReadOptions.accept`)."""
    key = _accepted_key(source)
    st.session_state[key] = [*st.session_state.get(key, ()), kind]


def _accepted_key(source: Source) -> str:
    return f"accepted-{source.sha256}-{source.name}"


# ---- above the first rows --------------------------------------------------------------------------------------------

SHOWN_AT_ONCE = 6
"""Columns that are shown with their first cells; all are in the table of roles."""
COLUMN_WIDTH = 168
"""Pixels of a column: all in one row of a small screen, and two columns on a phone."""
PLENTY = {role: role in LABELLED for role in ("feature", "keep", "class", "probability", "count", "item", "ignore")}
"""Roles that many columns may have, of which a person looks for one first; whether they are about labels."""


def show_rows(table: Columns, data: PartialLabelDataset | None) -> None:
    """Show the first cells of the columns that a person looks for; above each, what it is taken for, to be changed.

    Parameters
    ----------
    table
        The columns of the file; none where it has none.
    data
        What was read of it, for the rows of a file without columns; None before it is read.
    """
    # A column stays where it is when it is changed; one of many is seen as soon as it is made something of its own.
    before = {column.name: column.role for column in table.guessed if column.role not in PLENTY}
    roles = {column.name: before.get(column.name, column.role) for column in table.columns}
    first_of = {role: name for name, role in reversed(roles.items())}

    def rank(column: Column) -> tuple[bool, ...]:
        role = roles[column.name]
        is_further = role in PLENTY and first_of[role] != column.name
        return column.name not in table.asked, role in PLENTY, is_further, is_further and not PLENTY[role]

    visible = sorted(table.columns, key=rank)[:SHOWN_AT_ONCE]
    if not visible or (data is not None and "pictures" in data.contents):
        understood.show_rows(data)
        if title := signature(table.columns):
            st.caption(f"Read as {plain(title)}.", width="content")
        return
    with st.container(horizontal=True, key="first-rows"):
        for column in sorted(visible, key=lambda column: column.at):
            with st.container(width=COLUMN_WIDTH, gap="xsmall"):
                _role_above(table, column)
                st.html("".join(_cell(cell) for cell in column.first) or _cell(None))
    with beside():
        if title := signature(table.columns):
            st.caption(f"Read as {plain(title)}.", width="content")
        if more := len(table.columns) - len(visible):
            st.caption(f"{count(more, 'more column')} under *Details*.", width="content")
        if _explicit_roles(table.source):
            button(
                "As proposed",
                _keep_roles,
                table.source,
                {},
                icon="undo",
                kind="tertiary",
                help="Take every column for what was proposed.",
            )
        elif last := _otherwise(table):
            button(
                f"As last time ({plain(last.file)})",
                _read_as,
                table,
                last,
                icon="history",
                kind="tertiary",
                help="Take every column and every class for what it was in that file, which has the same columns.",
            )


def _role_above(table: Columns, column: Column) -> None:
    """What a column is taken for, and the choice of something else."""
    is_asked = column.name in table.asked

    bound(
        st.selectbox,
        plain(column.name),
        ROLE_TITLES,
        key=f"role-{column.at}-{_key(table.source)}",
        now=None if is_asked else column.role,
        change=lambda role: _set_roles(table, {column.name: role}),
        index=None if is_asked else 0,
        placeholder="asked below",
        help=plain(column.why) or None,
    )


def _cell(cell: str | None) -> str:
    """A cell in one line, whole where the pointer rests."""
    text = html.escape(cell or "–")
    style = "white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-size: 0.875rem; line-height: 1.6"
    return f'<div style="{style}" title="{text}">{text}</div>'


# ---- every column ----------------------------------------------------------------------------------------------------


def edit_roles(table: Columns) -> None:
    """Show what every column is, and take corrections."""
    if not 0 < len(table.columns) <= MOST_EDITED:
        return
    role_of = {column.name: column.role for column in table.columns}
    st.caption("What each column is was proposed from names and first cells. Choose here what is something else.")
    cells = {
        "column": list(role_of),
        "is": [ROLE_TITLES[role] for role in role_of.values()],
        "first cells": [_beginning(column.first) for column in table.columns],
    }

    def save(names: list[str], role: str) -> None:
        _set_roles(table, dict.fromkeys(names, role))

    what, key = ("Columns", "Taken for"), f"roles-{_key(table.source)}"
    correct(cells, role_of, ROLE_TITLES, save, what=what, key=key, only_alone=SINGLE)


def _beginning(cells: Sequence[str | None]) -> str:
    shortened = [(cell or "")[:40] for cell in cells]
    return " · ".join(cell or "–" for cell in shortened) if any(shortened) else "(empty)"


# ---- what cannot be used as it is -----------------------------------------------------------------------------------


def read(table: Columns, source: Source) -> PartialLabelDataset | None:
    """The data, as `loader.read`; where ids stand twice or pictures are missing, the answer is offered.

    Parameters
    ----------
    table
        The columns of the file, whose roles an answer changes.
    source
        The file with all that was chosen so far.
    """
    try:
        return loader.read(source)
    except UserError as error:
        answer = _answer_to(error, table, source)
        if answer is None:
            raise
        show_error(error)
        label, icon, about, act = answer
        button(label, act, icon=icon, kind="primary", help=about)
    return None


def checked(source: Source) -> PartialLabelDataset | None:
    """The data as it is to be used; None where something about it is odd, which is asked: one thing at a time.

    Parameters
    ----------
    source
        The file with all that was chosen, its classes too.
    """
    try:
        return loader.dataset(source)
    except OddReading as error:
        kind = error.findings[0].kind
        _show_odd(source, kind, [finding for finding in error.findings if finding.kind == kind])
    return None


def _show_odd(source: Source, kind: str, findings: Sequence[Oddity]) -> None:
    def accept(edits: Mapping[str, str | None]) -> None:
        edit_classes(source, edits)
        _set_accepted(source, kind)

    for finding in findings:
        st.warning(plain(str(finding)), icon=":material/help:")
    edits = {name: becomes for finding in findings for name, becomes in finding.edits.items()}
    merged = {name: plain(f"{name} → {becomes}") for name, becomes in edits.items() if becomes is not None}
    if len(merged) > 1:
        taken = choose_several("The same class", merged, default=list(merged), key="-".join(("same", *merged)))
        edits = {name: becomes for name, becomes in edits.items() if becomes is None or name in taken}
    with st.container(horizontal=True):
        if edits:
            button(
                "Merge them" if merged else f"Drop {plain(listing(list(edits), MOST_CELLS_IN_FINDING))}",
                accept,
                edits,
                icon="merge" if merged else "backspace",
                help=listing(list(merged.values()), 20) if merged else "Where it stands, there is no answer.",
            )
        button(
            "It is meant so",
            accept,
            {},
            icon="check",
            help="Go on with this reading. What a column is can be changed above it.",
        )


def _answer_to(error: UserError, table: Columns, source: Source) -> tuple[str, str, str, Callable[[], None]] | None:
    """The button by which one goes on after an error: label, icon, help and what it does; None where there is none."""
    match error:
        case MissingPictures():
            about = "Their rows are left out, and the export says so."
            return "Go on without them", "image_not_supported", about, partial(_set_accepted, source, MISSING_PICTURES)
        case WordsInFeatures():
            label = f"Carry {'them' if len(error.columns) > 1 else 'it'} along"
            about = f"Kept and exported, but not learnt from: {plain(listing(error.columns))}."
            roles = dict.fromkeys(error.columns, "keep")
            return label, "do_not_disturb_on", about, partial(_set_roles, table, roles)
        case DuplicateIds() if names := [column.name for column in table.columns if column.role == "id"]:
            about = f"The column {plain(names[0])} is kept and exported, and every row gets a number."
            act = partial(_set_roles, table, {names[0]: "keep"})
            return "Number the examples instead", "format_list_numbered", about, act
    return None


# ---- as last time ----------------------------------------------------------------------------------------------------


def remember(table: Columns) -> None:
    """Keep what the columns and classes of a file were taken for, for the next with the same; what cannot be is not."""
    if not table.columns:
        return
    reading = replace(formats.ReadOptions(**table.source.options), name=table.source.name).reading(table.columns)
    _write(_file_of(table.columns), replace(reading, classes=_edited_classes(table.source)))


def _write(file: Path, reading: Reading) -> None:
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, reading.to_json() + "\n")


def _edited_classes(source: Source) -> dict[str, str | None]:
    """What a person made of the classes of some data."""
    return dict(st.session_state.get(classes_key(source), {}))


def _otherwise(table: Columns) -> Reading | None:
    """How a file with these columns was read the last time; None where there was none, or it was read as now."""
    if not table.columns or not _file_of(table.columns).exists():
        return None
    with suppress(UserError):
        reading = Reading.in_file(_file_of(table.columns))
        now = {column.name: column.role for column in table.columns}
        is_other = dict(reading.roles) != now or not reading.classes.items() <= _edited_classes(table.source).items()
        return reading if reading.roles.keys() == now.keys() and is_other else None
    return None


def _read_as(table: Columns, reading: Reading) -> None:
    """Take the columns and the classes for what they were in another file."""
    _set_roles(table, reading.roles)
    edit_classes(table.source, reading.classes)


def _file_of(columns: Sequence[Column]) -> Path:
    """Where the reading of files with these columns is kept."""
    return _file(json.dumps(sorted(column.name for column in columns)))


def _file(about: str) -> Path:
    """Where the reading of what has this name is kept."""
    return login.own_folder("readings") / f"{hashlib.sha256(about.encode()).hexdigest()[:24]}.json"

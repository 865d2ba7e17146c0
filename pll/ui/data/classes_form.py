"""Classes and answers of the data page: what is read as one class, or as no answer, and what a person changes of it.

Spellings of one class are joined and marks of missing answers dropped by themselves; the page says so, and one click
undoes it. Corrections of single classes are stored for the visit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, notes_of
from pll.formats.checks import listing
from pll.formats.classes import class_counts
from pll.formats.tabular.answer_cells import FEW_CLASSES
from pll.formats.tabular.cells import is_no_answer
from pll.ui.data import columns_form
from pll.ui.data.columns_form import Columns, classes_key
from pll.ui.format import plain
from pll.ui.widgets import beside, button, correct, undo_all
from pll.wording import count

MOST_SPELLINGS = 4
"""Spellings that are named; the rest are counted."""
MEANS_NOTHING = "(no answer)"

Edits = Mapping[str, str | None]


def _is_apart(source: Source) -> bool:
    """Whether a person chose that spellings stay classes of their own."""
    return bool(st.session_state.get(f"apart-{classes_key(source)}"))


def with_spellings(source: Source) -> Source:
    """Return the source, whose spellings are joined when it is read unless a person chose otherwise."""
    apart = {"merge": False, "keep": ("*",)}
    return replace(source, options={**source.options, **apart}) if _is_apart(source) else source


def put_in_order(source: Source, data: PartialLabelDataset) -> Source:
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
            st.caption(plain(" ".join(words) or "Every answer stays as it is written."), width="content")
            apart = (st.session_state.__setitem__, f"apart-{classes_key(source)}", not _is_apart(source))
            button(
                "As proposed" if _is_apart(source) and not edits else "Undo",
                *((st.session_state.pop, classes_key(source), None) if edits else apart),
                key=f"apart-button-{classes_key(source)}",
                kind="tertiary",
            )
    return replace(source, classes=edits)


def _edits(source: Source, counts: Mapping[str, int]) -> dict[str, str | None]:
    """What becomes of the classes there are; corrections of classes that are read otherwise now are left out."""
    edited: Edits = st.session_state.get(classes_key(source), {})
    changes = {name: becomes for name, becomes in edited.items() if name in counts and becomes != name}
    return changes if any(changes.get(name, name) is not None for name in counts) else {}


def show_classes(source: Source, data: PartialLabelDataset) -> None:
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
        "Choose classes and what they become: another class merges them, a new name renames, no answer drops them. The "
        "file itself stays as it is."
    )
    becomes = {name: edits.get(name, name) for name in counts}

    def save(names: list[str], typed: str) -> None:
        target = typed.strip()
        is_none = target not in counts and (target == MEANS_NOTHING or is_no_answer(target, among_votes=True))
        columns_form.edit_classes(source, dict.fromkeys(names, None if is_none else target))

    cells = {
        "class": list(counts),
        "given": list(counts.values()),
        "becomes": [target or MEANS_NOTHING for target in becomes.values()],
    }
    correct(
        cells,
        {name: target or MEANS_NOTHING for name, target in becomes.items()},
        list(dict.fromkeys([*counts, *filter(None, becomes.values()), MEANS_NOTHING])),
        save,
        what=("Classes", "Become"),
        key=f"{classes_key(source)}-chosen",
        config={"given": st.column_config.NumberColumn(help="How often it was given.", width="small")},
        accept_new_options=True,
    )
    undo_all(classes_key(source))


# ---- answers of models -----------------------------------------------------------------------------------------------


MOST_MAPPED = 500
"""Rows of the table of answers, at most."""
MOST_CHIPS = 20
"""Classes that are shown as chips; of more, the answers stand as they are."""
NEW_CLASS = "(a class of its own)"


def mapped_votes(table: Columns) -> Source | None:
    """Show the classes and the answers that name none, take corrections; return the source with them.

    None while files are read, or while there are no classes. Raises UserError where files cannot be read or joined.
    """
    source = replace(table.source, answers=dict(st.session_state.get(_answers_key(table.source), {})))
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
    """The classes as a person corrected them; folded away where there are some, which the sentence names."""
    label = "Classes that the answers name"
    with st.expander(label, icon=":material/label:") if proposed else st.container():
        return st.multiselect(
            label,
            list(proposed),
            default=list(proposed),
            placeholder="Type a class, then Enter",
            accept_new_options=True,
            key=f"{_answers_key(source)}-classes",
            label_visibility="collapsed" if proposed else "visible",
            persist_state="session",
        )


def _answers_key(source: Source) -> str:
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
            "They are left out. Where one means a class, choose it and what it means; it is stored with the run."
            + (f" The first {MOST_MAPPED:,} of {len(rows):,} are shown." if len(rows) > MOST_MAPPED else "")
        )
        listed = rows[:MOST_MAPPED]
        means = {text: MEANS_NOTHING if target == "" and text in by_hand else target for text, target, _ in listed}

        def save(texts: list[str], target: str) -> None:
            targets = {text: {MEANS_NOTHING: "", NEW_CLASS: text.strip()}.get(target, target) for text in texts}
            st.session_state[_answers_key(source)] = {**by_hand, **targets}

        cells = {
            "answer": list(means),
            "times": pd.array([number for _, _, number in listed], dtype="Int64"),
            "means": list(means.values()),
        }
        correct(
            cells,
            {text: target or None for text, target in means.items()},
            [*data.class_names, MEANS_NOTHING, NEW_CLASS],
            save,
            what=("Answers", "Mean"),
            key=f"{_answers_key(source)}-chosen",
            config={
                "answer": st.column_config.TextColumn(width="large"),
                "times": st.column_config.NumberColumn(width="small", help="Empty once it is mapped."),
            },
        )
        undo_all(_answers_key(source))

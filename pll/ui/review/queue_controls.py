"""Controls of the queue: filters, and display of the desk."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pll.review.queue import UNFILTERED, QueueFilter, Rows
from pll.ui.format import count
from pll.ui.review import promise_panel
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.keys import action_keys
from pll.ui.review.review_tab import ReviewTab
from pll.ui.routes import link


def display_options(tab: ReviewTab) -> None:
    """The model's view shown or hidden, candidates by weight or in fixed order."""
    key = f"review-blind-{tab.manager.review.id}"

    def blind() -> None:
        tab.blind = bool(st.session_state[key])

    def fixed() -> None:
        tab.fixed = bool(st.session_state[f"{key}-fixed"])

    with st.popover("View", icon=":material/visibility:", type="tertiary"):
        st.toggle(
            "Hide the model's view",
            value=tab.blind,
            key=key,
            on_change=blind,
            help="No weights, candidates in fixed order. Your answers are then independent of the model.",
        )
        st.toggle(
            "Candidates in the order of the classes",
            value=tab.fixed or tab.blind,
            key=f"{key}-fixed",
            on_change=fixed,
            disabled=tab.blind,
            help="On: classes in the order of the file, each with a fixed key. Off: the likeliest first.",
        )


def popover(tab: ReviewTab) -> None:
    """The filters."""
    key = f"review-queue-{tab.manager.review.id}"
    with st.popover("Queue", icon=":material/sort:", type="tertiary", key=key, on_change="rerun") as opened:
        pass
    if opened.open:  # closed, it costs nothing
        with opened:
            filters(tab, key)


def filters(tab: ReviewTab, key: str) -> None:
    """What is left out of the queue; for this reviewer alone."""
    data = tab.manager.data
    names = list(range(data.n_classes))
    kept = tab.filter
    st.multiselect(
        "Only where the label is",
        names,
        default=list(kept.classes),
        format_func=lambda label: data.class_names[label],
        key=f"{key}-classes",
        placeholder="any class",
    )
    st.multiselect(
        "Only what is confused: two classes",
        names,
        default=list(kept.pair or ()),
        format_func=lambda label: data.class_names[label],
        key=f"{key}-pair",
        placeholder="any pair",
        max_selections=2,
    )
    said = data.annotations
    if said is not None and not said.anonymous:
        people = [None, *range(len(said.annotator_names))]
        st.selectbox(
            "Only against the annotator",
            people,
            index=people.index(kept.annotator),
            format_func=lambda who: "anybody" if who is None else said.annotator_names[who],
            key=f"{key}-annotator",
            help="Examples that this annotator gave another label than the model.",
        )
    st.button("Apply", key=f"{key}-apply", on_click=apply, args=(tab, key))


@toast_errors
def apply(tab: ReviewTab, key: str) -> None:
    """Put the filters in force."""
    pair = st.session_state[f"{key}-pair"]
    annotator = st.session_state.get(f"{key}-annotator")
    wanted = QueueFilter(
        classes=tuple(st.session_state[f"{key}-classes"]),
        pair=(pair[0], pair[1]) if len(pair) == 2 else None,
        annotator=annotator,
        against=annotator is not None,
        undecided=False,
        rows=tab.filter.rows,
        chosen=tab.filter.chosen,
    )
    restrict(tab, wanted)


@toast_errors
def restrict(tab: ReviewTab, wanted: QueueFilter) -> None:
    """Hand out what the filter lets through; an empty one lifts it."""
    mask = wanted.mask(tab.manager.signals, None, tab.manager.data.annotations)
    tab.filter = UNFILTERED if mask.all() else wanted
    tab.desk.restrict(None if mask.all() else mask)
    tab.again()


DISPUTED = "on which the voters disagree, the most telling first"
CHOSEN = "review-chosen"
"""Examples chosen elsewhere for the next opening of a review: run, rows, and what they are."""


def choose_rows(run: str, rows: Rows, how: str = "chosen on the map") -> None:
    """Have the review of this run, when this tab opens it next, assign these examples only, in their order.

    Parameters
    ----------
    how
        What they are, for a caption: "the 12 examples chosen on the map".
    """
    st.session_state[CHOSEN] = (run, rows, how)


def chosen_rows(tab: ReviewTab, run: str) -> None:
    """Take over what was chosen, and show that it is in force."""
    chosen = st.session_state.pop(CHOSEN, None)
    if chosen is not None and chosen[0] == run:
        restrict(tab, QueueFilter(undecided=False, rows=chosen[1], chosen=chosen[2]))
        if chosen[2] == DISPUTED:
            tab.desk.look_at(chosen[1], "disputed")
            tab.again()
    rows = tab.filter.rows
    if rows is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Only the {count(len(rows), 'example')} {tab.filter.chosen}.", width="content")
        st.button("All examples", key="review-all", type="tertiary", on_click=restrict, args=(tab, UNFILTERED))


def nothing_left(tab: ReviewTab) -> None:
    """The queue is empty for this reviewer."""
    state = tab.manager.review.state
    unsure = state.rows_with("unsure")
    certified = promise_panel.nothing_left(tab)
    if certified:
        pass
    elif tab.filter is not UNFILTERED:
        st.info("No example left matches your filters.", icon=":material/filter_alt_off:")
        st.button("Clear filters", on_click=restrict, args=(tab, UNFILTERED), type="primary")
    elif not bool(np.all(state.answers >= tab.manager.review.asked)):
        st.info("Other reviewers are working on the examples left. Refresh in a moment.", icon=":material/group:")
        st.button("Refresh", on_click=toast_errors(tab.again), type="primary")
    else:
        left = f" {len(unsure):,} stayed unsure." if len(unsure) else ""
        st.success(f"Every example has been decided.{left}", icon=":material/check_circle:")
    if tab.desk.history(1):
        st.button("Undo last decision", icon=":material/undo:", on_click=undo, args=(tab,), shortcut=_undo_key(tab))
    if not certified:
        link("export", "Export the labels", run=tab.manager.review.current.run)


def _undo_key(tab: ReviewTab) -> str | None:
    key = action_keys(tab.manager.data.class_names)["undo"].lower()
    return key if key.isalnum() else None  # Streamlit knows no others


@toast_errors
def undo(tab: ReviewTab) -> None:
    """Take back the last decision."""
    tab.given = tab.desk.undo().next

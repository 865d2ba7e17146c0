"""Display of the desk, examples chosen elsewhere for a review, and the end of the queue."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.ui.format import count
from pll.ui.review import promise_panel
from pll.ui.review.error_messages import toast_errors
from pll.ui.review.keys import action_keys
from pll.ui.review.review_tab import Chosen, ReviewTab
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


DISPUTED = "on which the voters disagree, the most telling first"
CHOSEN = "review-chosen"
"""Examples chosen elsewhere for the next opening of a review: run, rows, and what they are."""


def choose_rows(run: str, rows: npt.NDArray[np.int64], how: str = "chosen on the map") -> None:
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
        restrict(tab, chosen[1:])
        if chosen[2] == DISPUTED:
            tab.desk.look_at(chosen[1], "disputed")
            tab.again()
    if tab.only is None:
        return
    rows, how = tab.only
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"Only the {count(len(rows), 'example')} {how}.", width="content")
        st.button("All examples", key="review-all", type="tertiary", on_click=restrict, args=(tab, None))


@toast_errors
def restrict(tab: ReviewTab, only: Chosen | None) -> None:
    """Hand out these examples only; None for all."""
    tab.only = only
    mask = None
    if only is not None:
        mask = np.zeros(tab.manager.review.state.answers.shape, dtype=np.bool_)
        mask[only[0]] = True
    tab.desk.restrict(mask)
    tab.again()


def nothing_left(tab: ReviewTab) -> None:
    """The queue is empty for this reviewer."""
    state = tab.manager.review.state
    unsure = state.rows_with("unsure")
    certified = promise_panel.nothing_left(tab)
    if certified:
        pass
    elif tab.only is not None:
        st.info("None of the chosen examples is left.", icon=":material/check_circle:")
    elif not bool(np.all(state.answers >= tab.manager.review.required)):
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

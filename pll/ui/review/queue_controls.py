"""Display of the desk, examples chosen elsewhere for a review, and the end of the queue."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from pll.annotations.agreement import Pair, rows_of_disagreement
from pll.ui.format import plain
from pll.ui.review import certify_panel
from pll.ui.review.keys import action_keys, stand_for_classes
from pll.ui.review.review_tab import DISAGREEMENTS, PAIR, ReviewTab
from pll.ui.routes import link
from pll.ui.voters import pairs_of
from pll.ui.widgets import Kind, beside, bound, button, kept_in
from pll.wording import count


def display_options(tab: ReviewTab) -> None:
    """The model's view shown or hidden, candidates by weight or in fixed order."""
    key = f"review-blind-{tab.review.id}"
    with st.popover("View", icon=":material/visibility:", type="tertiary"):
        hint = "No weights, candidates in fixed order. Your answers are then independent of the model."
        bound(st.toggle, "Hide the model's view", key=key, help=hint, **kept_in(tab, "blind"))
        _only_disagreements(tab)
        if not stand_for_classes(tab.queue.data.class_names):  # else they are in the order of the classes anyway
            hint, state = "On: in the order of the file. Off: the likeliest first.", kept_in(tab, "fixed")
            state["now"] = tab.fixed or tab.blind
            label = "Candidates in the order of the classes"
            bound(st.toggle, label, key=f"{key}-fixed", disabled=tab.blind, help=hint, **state)


def _only_disagreements(tab: ReviewTab) -> None:
    """Choose two voters, to see only examples on which they disagree."""
    annotations, run = tab.queue.data.annotations, tab.queue.run.id
    pairs = pairs_of(f"review-{run}", annotations)
    if annotations is None or not pairs:
        return
    by_name = {f"{run}-{pair.first}-{pair.second}": pair for pair in pairs}
    now = by_name.get(st.query_params.get(PAIR, ""))

    def chosen(pair: Pair) -> None:
        names = " and ".join(annotations.annotator_names[who] for who in (pair.first, pair.second))
        rows = rows_of_disagreement(annotations, pair.first, pair.second)
        tab.restrict((rows, f"on which {plain(names)} disagree"))
        st.query_params[PAIR] = f"{run}-{pair.first}-{pair.second}"

    if now is not None and tab.only is None:  # after a reload
        chosen(now)
    words: dict[str, Any] = {"index": None, "placeholder": "Choose two", "width": 420}
    bound(st.selectbox, "Only where two disagree", pairs, key=f"review-pair-{run}", now=now, change=chosen, **words)


DISPUTED = "on which the voters disagree, the most telling first"
CHOSEN_KEY = "review-chosen"
"""Examples chosen elsewhere for the next opening of a review: run, rows, and what they are."""


def choose_rows(run: str, rows: npt.NDArray[np.int64], how: str = "chosen on the map") -> None:
    """Have this tab's next review of the run assign these examples only, in their order: "the 12 examples <how>".

    Parameters
    ----------
    run
        Id of the run.
    rows
        (m,) its examples, in the order in which they are assigned.
    how
        What they are, behind "the 12 examples".
    """
    st.session_state[CHOSEN_KEY] = (run, rows, how)


def chosen_rows(tab: ReviewTab, run: str) -> None:
    """Use what was chosen, and show that it is in force.

    Parameters
    ----------
    tab
        The reviewer's tab.
    run
        Id of the run in view; what was chosen for another one is dropped.
    """
    chosen = st.session_state.pop(CHOSEN_KEY, None)
    if chosen is not None and chosen[0] == run:
        _, rows, how = chosen
        tab.restrict((rows, how))
        if how == DISPUTED:
            tab.look_at(rows, "disputed")
    if tab.only is None:
        return
    rows, how = tab.only
    with beside():
        st.caption(f"Only the {count(len(rows), 'example')} {how}.", width="content")
        button("All examples", tab.restrict, None, key="review-all", kind="tertiary")


def settle(tab: ReviewTab, kind: Kind = "secondary") -> None:
    """The way to the disagreements.

    Parameters
    ----------
    tab
        The reviewer's tab.
    kind
        How much the button stands out.
    """
    to = (st.session_state.__setitem__, tab.view_key, DISAGREEMENTS)
    button("Settle disagreements", *to, icon="balance", key="review-settle", kind=kind)


def nothing_left(tab: ReviewTab) -> None:
    """The queue is empty for this reviewer, or holds nothing that is worth a look."""
    review = tab.review
    if (certification := review.certification) is not None and review.is_certified:
        certify_panel.certified(tab, certification)
    elif tab.only is not None:
        st.info("None of the chosen examples is left.", icon=":material/check_circle:")
    elif len(left := review.to_answer()) and tab.is_enough:
        others = f"the other {count(len(left), 'label')} {'is' if len(left) == 1 else 'are'} certain"
        st.success(f"Nothing is left that is worth a look: {others}.", icon=":material/check_circle:")
        button("Go on with these", setattr, tab, "goes_on", True, icon="rate_review", key="review-certain-ones")
    elif len(left):
        mine = int(review.state.answered_by(tab.desk.reviewer)[left].sum())
        waiting = f"{count(mine, 'example')} you answered wait for another reviewer." if mine else ""
        others = f"{count(len(left) - mine, 'example')} are open at another desk." if mine < len(left) else ""
        st.info(" ".join(filter(None, (waiting, others))), icon=":material/group:")
        button("Refresh", tab.reassign, kind="primary")
    else:
        unsure = tab.queue.status().unsure
        stayed = f" {unsure:,} stayed unsure." if unsure else ""
        st.success(f"Every example has been decided.{stayed}", icon=":material/check_circle:")
    if review.conflicts():
        settle(tab)
    if tab.desk.history(1):
        key = action_keys(tab.queue.data.class_names)["undo"].lower()
        button("Undo last decision", tab.undo, icon="undo", shortcut=key if key.isalnum() else None)
    if not review.is_certified:
        link("export", "Export the labels", run=review.current.run)

"""What comes next: the order of the queue, what is left out of it, and how the desk shows it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pll.review.filters import QueueFilter
from pll.review.orders import ORDERS
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import told
from pll.ui.routes import link


def looks(sitting: Sitting) -> None:
    """The model's view shown or hidden, candidates by weight or in fixed order."""
    key = f"review-blind-{sitting.guide.reviewing.id}"

    def blind() -> None:
        sitting.blind = bool(st.session_state[key])

    def fixed() -> None:
        sitting.fixed = bool(st.session_state[f"{key}-fixed"])

    with st.popover("View", icon=":material/visibility:", type="tertiary"):
        st.toggle(
            "Hide the model's view",
            value=sitting.blind,
            key=key,
            on_change=blind,
            help="No weights, candidates in fixed order. The model cannot sway your answers then.",
        )
        st.toggle(
            "Candidates in fixed order",
            value=sitting.fixed or sitting.blind,
            key=f"{key}-fixed",
            on_change=fixed,
            disabled=sitting.blind,
            help="The same label is then mostly under the same key. Otherwise the likeliest is 1.",
        )


def popover(sitting: Sitting) -> None:
    """The order and the filters."""
    key = f"review-queue-{sitting.guide.reviewing.id}"
    with st.popover("Queue", icon=":material/sort:", type="tertiary", key=key, on_change="rerun") as opened:
        pass
    if opened.open:  # closed, it costs nothing
        with opened:
            order(sitting, key)
            filters(sitting, key)


def order(sitting: Sitting, key: str) -> None:
    """Which examples come first."""
    guide = sitting.guide
    names = [one.name for one in guide.orders]

    @told
    def choose() -> None:
        guide.choose(st.session_state[f"{key}-order"])
        sitting.again()

    chosen = guide.order if guide.order in names else names[0]
    st.selectbox(
        "First come",
        names,
        index=names.index(chosen),
        format_func=lambda name: ORDERS[name].title,
        key=f"{key}-order",
        on_change=choose,
    )
    st.caption(ORDERS[chosen].explanation + " For everybody who reviews this run. Random controls are mixed in.")


def filters(sitting: Sitting, key: str) -> None:
    """What is left out of the queue; for this reviewer alone."""
    data = sitting.guide.data
    names = list(range(data.n_classes))
    kept = sitting.filter
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
    st.button("Apply", key=f"{key}-apply", on_click=apply, args=(sitting, key))
    st.caption("Random controls come all the same: the certificate is about all examples.")


@told
def apply(sitting: Sitting, key: str) -> None:
    """Put the filters in force."""
    pair = st.session_state[f"{key}-pair"]
    annotator = st.session_state.get(f"{key}-annotator")
    wanted = QueueFilter(
        classes=tuple(st.session_state[f"{key}-classes"]),
        pair=(pair[0], pair[1]) if len(pair) == 2 else None,
        annotator=annotator,
        against=annotator is not None,
        undecided=False,
    )
    restrict(sitting, wanted)


@told
def restrict(sitting: Sitting, wanted: QueueFilter) -> None:
    """Hand out what the filter lets through; an empty one lifts it."""
    mask = wanted.mask(sitting.guide.signals, None, sitting.guide.data.annotations)
    sitting.filter = wanted
    sitting.desk.only(None if mask.all() else mask)
    sitting.again()


def nothing_left(sitting: Sitting) -> None:
    """The queue is empty for this reviewer."""
    state = sitting.guide.reviewing.state
    unsure = state.rows_with("unsure")
    if sitting.filter != UNFILTERED:
        st.info("Nothing that your filters let through is left.", icon=":material/filter_alt_off:")
        st.button("Lift the filters", on_click=restrict, args=(sitting, UNFILTERED), type="primary")
    elif not bool(np.all(state.answers >= sitting.guide.reviewing.asked)):
        st.info("Others have in hand what is left. Look again in a moment.", icon=":material/group:")
        st.button("Look again", on_click=told(sitting.again), type="primary")
    else:
        left = f" {len(unsure):,} stayed unsure." if len(unsure) else ""
        st.success(f"Every example has been decided.{left}", icon=":material/check_circle:")
    if sitting.desk.history(1):
        st.button("Undo the last decision", icon=":material/undo:", on_click=undo, args=(sitting,), shortcut="u")
    link("export", "Export the labels", run=sitting.guide.reviewing.current.run)


@told
def undo(sitting: Sitting) -> None:
    """Take back the last decision."""
    sitting.given = sitting.desk.undo().next


UNFILTERED = QueueFilter(undecided=False)

"""Star plot and heatmap of a run, with their options."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.elements.lib.mutable_popover_container import PopoverContainer

from pll.formats.label_frame import labels_frame
from pll.methods import METHODS
from pll.ui.charts import csv_button
from pll.ui.components.canvas import Presentation, mount
from pll.ui.components.component import Payload
from pll.ui.components.heatmap import HEATMAP, By, heatmap_payload
from pll.ui.components.star import STAR, star_payload
from pll.ui.train.shown_classes import shown_classes
from pll.ui.view_state import Scene

HEIGHT, WHOLE = 430, 10_000
"""Pixels of the two pictures, at most; in presenter mode the window is the limit."""
ABOVE, BESIDE = 440, 230
"""Pixels of the window that heading, timeline and figures take; in presenter mode the strip of the transport."""
CACHED_PICTURES = 24
"""Pictures in the cache for others who look at the same moment."""
ORDERS = {"confidence": "sharpest first", "label": "by label"}
CORNERS = (
    "Every class is a corner. An example starts in the middle of its candidates and moves to the corner of its "
    "identified label."
)
STAR_HELP = f"{CORNERS} Rings mark labels that changed. Click an example to see its history."
HEATMAP_HELP = (
    "A row is an example, a column a class. Darker: larger label weight. Blank: not a "
    "candidate. Click a row to see its history."
)


def draw(now: Scene) -> None:
    """The star plot left, the heatmap right."""
    drawn = [draw_one for name, draw_one in (("star", star), ("heatmap", heatmap)) if name not in now.looking.hidden]
    if not drawn:
        return
    for place, draw_one in zip(st.columns(len(drawn), gap="medium"), drawn, strict=True):
        with place, st.container(gap=None):
            draw_one(now)


def star(now: Scene) -> None:
    """Where each example is heading."""
    looking = now.looking
    options = _head("star", "Where each example is heading", STAR_HELP, now)
    truth = looking.truth and now.data.y is not None
    payload = _star(now.stamp, truth, looking.selected, looking.presenting, shown_classes(now), now)
    mount(STAR, payload, f"star-{now.run.id}", len(now.data), looking.select)
    if options.open:  # closed ones cost nothing
        with options:
            star_options(now)


@st.cache_resource(max_entries=CACHED_PICTURES, show_spinner=False)
def _star(
    stamp: tuple[object, ...],
    truth: bool,
    selected: int | None,
    presenting: bool,
    classes: tuple[int, ...] | None,
    _now: Scene,
) -> Payload:
    """The picture of this moment, computed once for all who look at it."""
    return star_payload(
        _now.frame.weights,
        _now.sets,
        _presentation(_now, selected, presenting),
        truth=_now.truth if truth else None,
        before=_now.before(),
        classes=classes,
    )


def star_options(now: Scene) -> None:
    """What the colours mean."""
    key = f"star-truth-{now.run.id}"

    def colour() -> None:
        now.looking.truth = st.session_state[key]

    st.toggle(
        "Colour by true label",
        value=now.looking.truth,
        key=key,
        on_change=colour,
        disabled=now.data.y is None,
        help="Off: by identified label. On: wrong examples have another colour than their corner.",
    )
    csv_button(
        lambda: labels_of(now),
        f"candid-labels-epoch-{now.frame.epoch}.csv",
        key=f"labels-csv-{now.run.id}",
        label="These labels as CSV",
    )


def heatmap(now: Scene) -> None:
    """The label weights of each example."""
    looking = now.looking
    options = _head("heatmap", "Label weights", HEATMAP_HELP, now)
    by: By = "label" if looking.order == "label" else "confidence"
    payload = _heatmap(now.stamp, by, looking.selected, looking.presenting, shown_classes(now), now)
    mount(HEATMAP, payload, f"heatmap-{now.run.id}", len(now.data), looking.select)
    if options.open:
        with options:
            heatmap_options(now)


@st.cache_resource(max_entries=CACHED_PICTURES, show_spinner=False)
def _heatmap(
    stamp: tuple[object, ...],
    by: By,
    selected: int | None,
    presenting: bool,
    classes: tuple[int, ...] | None,
    _now: Scene,
) -> Payload:
    """The picture of this moment, computed once for all who look at it."""
    frame, presentation = _now.frame, _presentation(_now, selected, presenting)
    return heatmap_payload(frame.weights, _now.sets, presentation, by=by, sharp=frame.sharp, classes=classes)


def _presentation(now: Scene, selected: int | None, presenting: bool) -> Presentation:
    return Presentation(
        now.frame.when,
        selected,
        now.data.row_ids,
        now.data.texts,
        height=WHOLE if presenting else HEIGHT,
        fill=BESIDE if presenting else ABOVE,
    )


def heatmap_options(now: Scene) -> None:
    """How the rows stand."""
    looking = now.looking
    order_key = f"order-{now.run.id}"

    def sort() -> None:
        looking.order = st.session_state[order_key] or looking.order

    st.segmented_control(
        "Rows",
        list(ORDERS),
        default=looking.order,
        required=True,
        format_func=lambda name: ORDERS[name].capitalize(),
        key=order_key,
        on_change=sort,
    )
    csv_button(
        lambda: weights_frame(now),
        f"candid-label-weights-epoch-{now.frame.epoch}.csv",
        key=f"weights-csv-{now.run.id}",
        label="Label weights as CSV",
    )


def labels_of(now: Scene) -> pd.DataFrame:
    """The labels of the epoch in view, with the columns of labels.csv."""
    data = now.data
    alone = not METHODS[now.snapshot.method].needs_features
    return labels_frame(
        now.sets,
        now.frame.weights,
        data.row_ids,
        y=data.y,
        votes_alone=alone,
        tied_votes=data.tied_votes,
        given=data.given_sets,
    )


def weights_frame(now: Scene) -> pd.DataFrame:
    """Every label weight of the epoch in view: id, candidate, label_weight."""
    names = np.array(now.sets.class_names, dtype=object)
    return pd.DataFrame(
        {
            "id": now.data.row_ids[now.sets.rows],
            "candidate": names[now.sets.indices],
            "label_weight": now.frame.weights,
        }
    )


def _head(name: str, title: str, help_: str, now: Scene) -> PopoverContainer:
    """The line above a picture, which presenter mode puts away by its key; return the place of the options."""
    with st.container(
        key=f"picture-head-{name}", horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.markdown(f"**{title}**", help=help_, width="content")
        key = f"{name}-options-{now.run.id}"
        return st.popover("Options", icon=":material/tune:", type="tertiary", key=key, on_change="rerun")

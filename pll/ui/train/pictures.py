"""Star plot and heatmap of a run, with their options."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from pll.candidates import CandidateSets
from pll.formats.label_frame import labels_frame
from pll.ui.charts import csv_button
from pll.ui.components.canvas import Presentation, mount
from pll.ui.components.component import Component, Payload
from pll.ui.components.heatmap import HEATMAP, heatmap_payload
from pll.ui.components.star import STAR, star_payload
from pll.ui.run_view import RunView
from pll.ui.scenes import Scene
from pll.ui.widgets import bound, kept_in, popover

PICTURES_HEIGHT, WHOLE_WINDOW = 430, 10_000
"""Pixels of the two pictures, at most; in presenter mode the window is the limit."""
ABOVE_PICTURES, ABOVE_WHEN_PRESENTING = 440, 230
"""Pixels of the window that heading, timeline and figures take; in presenter mode the strip of the transport."""
CACHED_PICTURES = 24
"""Pictures in the cache for others who look at the same moment."""
ORDERS = {"confidence": "Sharpest first", "label": "By label"}
STAR_TITLE = "Where each example is heading"
CORNERS = (
    "Every class is a corner. An example starts in the middle of its candidates and moves to the corner of its "
    "identified label."
)


def draw(now: Scene) -> None:
    """The star plot left, the heatmap right."""
    drawn = [picture for name, picture in PICTURES.items() if name not in now.looking.hidden]
    for place, picture in zip(st.columns(len(drawn), gap="medium") if drawn else (), drawn, strict=True):
        with place, st.container(gap=None):
            picture(now)


def _star(now: Scene) -> None:
    hint = f"{CORNERS} Rings mark labels that changed. Click an example to see its history."
    truth = now.truth if now.looking.truth and now.data.y is not None else None

    def payload(presentation: Presentation) -> Payload:
        weights, before, classes = now.frame.weights, now.before(), shown_classes(now)
        return star_payload(weights, now.sets, presentation, truth=truth, before=before, classes=classes)

    _head("star", STAR_TITLE, hint, _star_options, now)
    _show("star", STAR, truth is not None, payload, now)


def _heatmap(now: Scene) -> None:
    hint = (
        "A row is an example, a column a class. Darker: larger label weight. Blank: not a candidate. Click a row to "
        "see its history."
    )
    by = now.looking.order

    def payload(presentation: Presentation) -> Payload:
        frame, classes = now.frame, shown_classes(now)
        return heatmap_payload(frame.weights, now.sets, presentation, by=by, sharp=frame.sharp, classes=classes)

    _head("heatmap", "Label weights", hint, _heatmap_options, now)
    _show("heatmap", HEATMAP, by, payload, now)


PICTURES: dict[str, Callable[[Scene], None]] = {"star": _star, "heatmap": _heatmap}
"""The pictures of a run, from left to right."""


def _head(name: str, title: str, hint: str, options: Callable[[Scene], None], now: Scene) -> None:
    """The line above a picture, which presenter mode puts away by its key."""
    with st.container(
        key=f"picture-head-{name}", horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.markdown(f"**{title}**", help=hint, width="content")
        popover("Options", options, now, key=f"{name}-options-{now.run.id}", icon="tune")


def _show(
    name: str, component: Component, choice: object, payload: Callable[[Presentation], Payload], now: Scene
) -> None:
    """A picture of the moment in view, made anew where this or the choice of its options is another."""
    looking, fill = now.looking, ABOVE_WHEN_PRESENTING if now.looking.presenting else ABOVE_PICTURES
    height = WHOLE_WINDOW if looking.presenting else PICTURES_HEIGHT
    ids, texts = now.data.row_ids, now.data.texts
    presentation = Presentation(now.frame.when, looking.selected, ids, texts, height=height, fill=fill)
    moment = (name, now.stamp, choice, looking.selected, looking.presenting, shown_classes(now))
    made = once(moment, lambda: payload(presentation))
    mount(component, made, f"{name}-{now.run.id}", len(now.data), looking.select)


@st.cache_resource(max_entries=2 * CACHED_PICTURES, show_spinner=False)
def once(moment: tuple[object, ...], _make: Callable[[], Payload]) -> Payload:
    """The picture of this moment, computed once for all who look at it."""
    return _make()


def choose_colours(looking: RunView, *, disabled: bool = False) -> None:
    """Show what the colours of star plots mean, to be changed.

    Parameters
    ----------
    looking
        What this tab shows of the run.
    disabled
        Whether no true label is known.
    """
    bound(
        st.toggle,
        "Colour by true label",
        key=f"star-truth-{looking.run_id}",
        **kept_in(looking, "truth"),
        disabled=disabled,
        help="Off: by identified label. On: wrong examples have another colour than their corner.",
    )


def _star_options(now: Scene) -> None:
    """What the colours mean, and the labels as a file."""
    choose_colours(now.looking, disabled=now.data.y is None)
    name, key = f"candid-labels-epoch-{now.frame.epoch}.csv", f"labels-csv-{now.run.id}"
    csv_button(lambda: labels_of(now), name, key=key, label="These labels as CSV")


def _heatmap_options(now: Scene) -> None:
    """How the rows stand."""
    options = {"required": True, **kept_in(now.looking, "order")}
    bound(st.segmented_control, "Rows", ORDERS, key=f"order-{now.run.id}", **options)
    name, key = f"candid-label-weights-epoch-{now.frame.epoch}.csv", f"weights-csv-{now.run.id}"
    csv_button(lambda: _weights_frame(now), name, key=key, label="Label weights as CSV")


def labels_of(now: Scene) -> pd.DataFrame:
    """The labels of the epoch in view, with the columns of labels.csv."""
    data = now.data
    return labels_frame(
        now.sets,
        now.frame.weights,
        data.row_ids,
        y=data.y,
        votes_alone=now.votes_alone,
        tied_votes=data.tied_votes,
        given=data.given_sets,
    )


def _weights_frame(now: Scene) -> pd.DataFrame:
    """Every label weight of the epoch in view: id, candidate, label_weight."""
    names = np.array(now.sets.class_names, dtype=object)
    return pd.DataFrame(
        {
            "id": now.data.row_ids[now.sets.rows],
            "candidate": names[now.sets.indices],
            "label_weight": now.frame.weights,
        }
    )


# ---- which classes they show -----------------------------------------------------------------------------------------


MOST_AT_ONCE = 20
"""Classes that a picture shows all of."""
SHOWN_AT_FIRST = 12
"""Classes shown of more, unless others are chosen."""


def shown_classes(now: Scene) -> tuple[int, ...] | None:
    """The chosen classes, else the largest; None for all, where there are few."""
    if now.sets.n_classes <= MOST_AT_ONCE:
        return None
    return now.looking.classes or _largest(now.sets)


def _largest(sets: CandidateSets) -> tuple[int, ...]:
    """The classes with the most examples, each shared out over its candidates: the same at every epoch.

    Examples
    --------
    >>> _largest(CandidateSets.from_lists([[0, 1], [1], [2]], n_classes=3))
    (0, 1, 2)
    """
    examples = np.bincount(sets.indices, weights=np.repeat(1 / sets.sizes, sets.sizes), minlength=sets.n_classes)
    return tuple(sorted(np.argsort(-examples, kind="stable")[:SHOWN_AT_FIRST].tolist()))


def choose_classes(now: Scene) -> None:
    """Say how many classes are shown, and let others be searched and chosen."""
    shown = shown_classes(now)
    if shown is None:
        return
    which = "chosen" if now.looking.classes else "largest"
    label = f"{len(shown)} {which} of {now.sets.n_classes:,} classes"
    popover(label, _search, now, shown, key=f"classes-{now.run.id}-box")


def _search(now: Scene, shown: Sequence[int]) -> None:
    bound(
        st.multiselect,
        "Classes in the pictures",
        dict(enumerate(now.sets.class_names)),
        key=f"classes-{now.run.id}",
        now=list(shown),
        change=lambda chosen: setattr(now.looking, "classes", tuple(sorted(chosen))),
        max_selections=MOST_AT_ONCE,
        help="Type a part of a name. None: the largest.",
        width=420,
    )

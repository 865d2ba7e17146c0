"""Map view: which examples lie together; those in an outline can be reviewed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pll.analysis.projection import Places, inside, project
from pll.dataset import PartialLabelDataset
from pll.ui.charts import csv_button
from pll.ui.choose_run import has_labels
from pll.ui.components.canvas import Presentation, format_counts, mount, raw
from pll.ui.components.component import Payload
from pll.ui.components.scatter import SCATTER, checked_outline, map_payload
from pll.ui.review.queue_controls import choose_rows
from pll.ui.routes import go
from pll.ui.scenes import Scene
from pll.ui.train.pictures import once, shown_classes
from pll.ui.widgets import button
from pll.weights import Ints
from pll.wording import count

MOST_LIVE = 20_000
"""Examples drawn while the run trains, so that a refresh stays small; afterwards all are."""
CACHED_MAPS = 4


def draw(scene: Scene) -> None:
    if not scene.data.X.size:
        st.info(
            "There is no map of answers alone: nothing says which examples are alike.", icon=":material/scatter_plot:"
        )
        return
    looking = scene.looking
    places = _places(scene.run.id, scene.data)
    outline = None if looking.outline is None else tuple(looking.outline)
    classes = shown_classes(scene)
    moment = ("map", scene.stamp, scene.snapshot.is_active, looking.selected, outline, classes)
    payload = once(moment, lambda: _payload(scene, places, classes))
    key = f"map-{scene.run.id}"

    def drawn() -> None:
        looking.outline = checked_outline(st.session_state[key].get("outline")) or looking.outline

    mount(SCATTER, payload, key, len(scene.data), looking.select, on_outline_change=drawn)
    if looking.outline is None:
        st.caption(
            "Neighbours are alike in what varies most, and may differ in the rest. Pale: small label weight. Draw "
            "around points to choose them; click one to see its history."
        )
    else:
        _chosen(scene, inside(places, looking.outline))
    csv_button(
        lambda: _map_frame(scene, places), f"candid-map-epoch-{scene.frame.epoch}.csv", key=f"map-csv-{scene.run.id}"
    )


def _chosen(scene: Scene, rows: Ints) -> None:
    """What lies in the outline, and what can be done with it."""
    labels = np.bincount(scene.frame.sharp.identified[rows], minlength=scene.sets.n_classes)
    summary = format_counts(dict(zip(scene.sets.class_names, labels.tolist(), strict=True)))
    st.text(f"{count(len(rows), 'example')} in the outline: {summary}".rstrip(": "))
    over = not scene.snapshot.is_active and has_labels(scene.run)
    with st.container(horizontal=True):
        if st.button(
            f"Review these {len(rows):,}",
            type="primary",
            icon=":material/rate_review:",
            key=f"map-review-{scene.run.id}",
            disabled=not (over and len(rows)),
            help=None if over else "When the run has ended.",
        ):
            choose_rows(scene.run.id, rows)
            go("review", run=scene.run.id)
        button("Clear", setattr, scene.looking, "outline", None, key=f"map-clear-{scene.run.id}")


def _map_frame(scene: Scene, places: Places) -> pd.DataFrame:
    """What is drawn, as a table: id, x and y (0 … 65,535), identified label and its weight; whether in the outline."""
    sharp, names = scene.frame.sharp, np.array(scene.sets.class_names, dtype=object)
    table = pd.DataFrame(
        {
            "id": scene.data.row_ids,
            "x": places[:, 0],
            "y": places[:, 1],
            "identified_label": names[sharp.identified],
            "label_weight": sharp.top,
        }
    )
    if scene.looking.outline is not None:
        table["in_outline"] = np.isin(np.arange(len(table)), inside(places, scene.looking.outline))
    return table


def _payload(scene: Scene, places: Places, classes: tuple[int, ...] | None) -> Payload:
    n, looking = len(scene.data), scene.looking
    n_points = MOST_LIVE if scene.snapshot.is_active and n > MOST_LIVE else n
    rows = np.linspace(0, n - 1, n_points).astype(np.int64) if n_points < n else np.arange(n)
    presentation = Presentation(scene.frame.when, looking.selected, scene.data.row_ids, scene.data.texts)
    return map_payload(raw(places[rows]), scene.frame.sharp, scene.sets, rows, presentation, looking.outline, classes)


@st.cache_resource(max_entries=CACHED_MAPS, show_spinner="Drawing the map…")
def _places(run_id: str, _data: PartialLabelDataset) -> Places:
    return project(_data.X)

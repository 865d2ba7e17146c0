"""How do the weights of three candidates move? The corners: the true label, its strongest rival, the others.

The same picture as the star plot, with parts for anchors: an example starts in the middle and ends in a corner.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import streamlit as st

from pll.candidates import CandidateSets
from pll.colors import RIGHT, WRONG
from pll.ui.charts import QUIET, csv_button
from pll.ui.components.canvas import mount
from pll.ui.components.star import MOST_POINTS, STAR, star_payload, star_sample
from pll.ui.format import count
from pll.ui.view_state import Scene, stored_frame
from pll.weights import Weights

FEW = 20
"""Fewer sets of three than this show nothing; all sets are drawn then, until somebody wishes otherwise."""
ALL, THREE = "All examples", "Sets of three"

Rows = npt.NDArray[np.int64]


def draw(scene: Scene) -> None:
    sets = scene.sets
    threes = np.flatnonzero(sets.sizes == 3)
    choice, picture = st.columns([2, 5], gap="large")
    with choice:
        which = st.segmented_control(
            "Examples",
            [THREE, ALL],
            default=THREE if len(threes) >= FEW else ALL,
            required=True,
            key="ternary",
            label_visibility="collapsed",
        )
        rows = threes if which == THREE else np.flatnonzero(sets.sizes > 1)
        rows = rows[star_sample(len(rows), MOST_POINTS)]
        first, role = home(scene)
        st.markdown(
            f"Every point an example, between its {role} at the top and "
            f"{'its two other candidates' if which == THREE else 'its strongest rival and all the others'} below. "
            "Each starts where its candidates weigh the same."
        )
        st.caption(f"{count(len(threes), 'example')} of {len(sets):,} have exactly three candidates.")
    with picture:
        if not len(rows):
            st.info("No example has three candidates.", icon=":material/change_history:")
            return
        others = ("one other", "the other") if which == THREE else ("strongest rival", "all others")
        final = stored_frame(scene.history, scene.epochs[-1], sets).weights
        shares = three_parts(scene.frame.weights, sets, rows, first[rows], final, together=which == ALL)
        payload = star_payload(
            shares.ravel(),
            CandidateSets.from_mask(np.ones((len(rows), 3)), (role, *others)),
            when=scene.frame.when,
            selected=scene.looking.selected,
            pins=scene.looking.pins,
            examples=rows,
            ids=scene.data.row_ids,
            texts=scene.data.texts,
            height=360,
            colours=(RIGHT, WRONG, QUIET),
            outline="polygon",
        )
        mount(STAR, payload, f"ternary-{scene.run.id}", rows, scene.looking.select)
        csv_button(
            lambda: parts_frame(scene.data.row_ids[rows], shares, (role, *others)),
            f"candid-triangle-epoch-{scene.frame.epoch}.csv",
            key=f"ternary-csv-{scene.run.id}",
        )


def parts_frame(ids: npt.NDArray[np.str_], shares: Weights, parts: tuple[str, ...]) -> pd.DataFrame:
    """What is drawn, as a table: id and a column a corner."""
    table = pd.DataFrame(shares, columns=list(parts))
    table.insert(0, "id", ids)
    return table


def home(scene: Scene) -> tuple[Rows, str]:
    """The label each example should end at, and what to call it: the true one, or else the last one identified."""
    last = stored_frame(scene.history, scene.epochs[-1], scene.sets).sharp.identified
    if scene.data.y is None:
        return last, "final label"
    inside = scene.sets.contains(scene.data.y)
    return np.where(inside, scene.data.y, last), "true label"


def three_parts(
    weights: Weights, sets: CandidateSets, rows: Rows, first: Rows, final: Weights, *, together: bool
) -> Weights:
    """(m, 3) label weights by part: of the label in `first`, of a second candidate, of the third (or all others).

    Args:
        weights: (nnz,) label weights to divide up.
        sets: all candidate sets.
        rows: (m,) examples; of exactly three candidates each, unless `together`.
        first: (m,) a candidate of each.
        final: (nnz,) label weights that say who the strongest rival is; it stays the same over the epochs.
        together: the second part is the strongest rival, the third all others together; otherwise second and third
            are the two other candidates in the order of their labels.
    """
    mine = sets.take(rows)
    at = sets.positions(rows)
    now, end = weights[at], final[at].astype(np.float64)
    is_first = mine.indices == first[mine.rows]
    starts = mine.indptr[:-1]
    if together:
        end[is_first] = -1.0
        best = np.maximum.reduceat(end, starts)
        candidates_of_second = np.flatnonzero((end == best[mine.rows]) & ~is_first)
    else:
        candidates_of_second = np.flatnonzero(~is_first)
    _, once = np.unique(mine.rows[candidates_of_second], return_index=True)  # the first of equals
    second = candidates_of_second[once]
    parts = np.zeros((len(rows), 3), dtype=np.float32)
    parts[:, 0] = now[is_first]
    parts[mine.rows[second], 1] = now[second]
    parts[:, 2] = np.clip(1 - parts[:, 0] - parts[:, 1], 0, 1)
    return parts

"""Examples view: a gallery of twelve examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st

from pll.annotations.agreement import Pair, rows_of_disagreement
from pll.ui.components.canvas import mount
from pll.ui.components.gallery import GALLERY, gallery_payload
from pll.ui.components.star import star_sample
from pll.ui.format import plain
from pll.ui.scenes import Scene
from pll.ui.voters import pairs_of
from pll.ui.widgets import beside, bound, choose, kept_in
from pll.weights import Ints

LIST_KEY = "gallery-list"
CARDS = 12
"""Cards at once: two to three rows on a wide screen."""

DISAGREE = "Two disagree"
OF_MODEL_ALONE = " The label is that of the trained model alone; the export asks models of parts of the data, too."
LISTS: dict[str, tuple[Callable[[Scene], Ints], str]] = {
    "A fixed sample": (
        lambda scene: star_sample(len(scene.data), CARDS),
        "The same examples each time, chosen at random.",
    ),
    "Least sharp": (
        lambda scene: np.argsort(scene.frame.sharp.top, kind="stable")[:CARDS],
        "The examples with the smallest label weights.",
    ),
    "Changed last": (
        lambda scene: scene.lately_changed(CARDS),
        "The examples whose identified label changed most recently.",
    ),
    "Sharp and wrong": (
        lambda scene: scene.frame.sharp.wrong(scene.truth)[:CARDS],
        "The examples that are wrong with the largest label weights.",
    ),
}


def draw(scene: Scene) -> None:
    unfit = {"Sharp and wrong"} if scene.data.y is None else set()
    pairs = pairs_of(f"train-{scene.run.id}-{scene.place}", scene.data.annotations)
    lists = [*(name for name in LISTS if name not in unfit), *([DISAGREE] if pairs else [])]
    looking = scene.looking
    # While it trains, cards that stay are calmer than cards that come and go.
    suits = "A fixed sample" if scene.snapshot.is_active else "Least sharp"
    selected = looking.listed if looking.listed in lists else suits
    with beside():
        options = {"required": True, "label_visibility": "collapsed", **kept_in(looking, "listed"), "now": selected}
        bound(st.segmented_control, "Examples", lists, key=LIST_KEY, **options)
        if selected == DISAGREE:
            rows, meaning = _where_two_disagree(scene, pairs), "The least sharp of them."
        else:
            choose, meaning = LISTS[selected]
            rows = choose(scene)
        _find(scene)
    click = "Click one to see its history." if len(rows) else "There are none now."
    st.caption(f"{meaning} {click}{'' if scene.snapshot.is_active else OF_MODEL_ALONE}")
    payload = gallery_payload(scene.data, rows, scene.frame.weights, looking.selected, scene.decided)
    mount(GALLERY, payload, f"gallery-{scene.run.id}", len(scene.data), looking.select)


def _find(scene: Scene) -> None:
    """Select an example by its id."""
    key = f"find-{scene.run.id}"

    def selected() -> None:
        rows = np.flatnonzero(scene.data.row_ids == st.session_state[key].strip())
        if len(rows):
            scene.looking.select(int(rows[0]))
        elif st.session_state[key]:
            st.toast(f"No example has the id {plain(repr(st.session_state[key].strip()))}.", icon=":material/search:")

    st.text_input("Id", key=key, placeholder="Find an id", label_visibility="collapsed", on_change=selected, width=160)


def _where_two_disagree(scene: Scene, pairs: Mapping[Pair, str]) -> Ints:
    """(≤ CARDS,) the least sharp examples on which two voters, to be chosen, disagree."""
    annotations = scene.data.annotations
    assert annotations is not None
    key = f"examples-pair-{scene.run.id}"
    pair = choose("Two voters", pairs, key=key, label_visibility="collapsed", width=320)
    rows = rows_of_disagreement(annotations, pair.first, pair.second)
    return rows[np.argsort(scene.frame.sharp.top[rows], kind="stable")][:CARDS]

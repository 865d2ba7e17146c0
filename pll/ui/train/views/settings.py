"""Settings view: how the run was set up, what a recipe tried, and what is to be known of it."""

from __future__ import annotations

import streamlit as st

from pll.ui.format import plain
from pll.ui.train import chosen, setup
from pll.ui.view_state import Scene


def draw(scene: Scene) -> None:
    sentences = chosen.sentences(scene.run)
    for note in (note for note in scene.snapshot.notes if note not in sentences):
        st.caption(f":material/info: {plain(note)}")
    setup.overview(scene.lane.config, chosen.settings_of(scene.run))
    chosen.panel(scene.run)

"""Settings view: how the run was set up, what a recipe tried, and what is to be known of it."""

from __future__ import annotations

import streamlit as st

from pll.errors import UserError
from pll.methods.recipe import Recipe
from pll.runs.run import Run
from pll.ui.format import plain
from pll.ui.train import setup
from pll.ui.view_state import Scene


def recipe_of(run: Run) -> Recipe | None:
    """Return the recipe of a run; None where there is none, or where it is damaged, as the page says elsewhere."""
    try:
        return run.folder.recipe()
    except UserError:
        return None


def draw(scene: Scene) -> None:
    recipe = recipe_of(scene.run)
    trials = () if recipe is None else recipe.trials
    messages = recipe.messages() if recipe is not None and trials else ()
    for note in (note for note in scene.snapshot.notes if note not in messages):
        st.caption(f":material/info: {plain(note)}")
    setup.overview(scene.lane.config, {} if recipe is None else recipe.settings)
    if recipe is None or not trials:
        return
    with st.expander("How it was chosen", icon=":material/rule:"):
        for message in messages:
            st.markdown(plain(message))
        st.caption(
            f"{len(trials):,} settings were tried on {recipe.examples:,} examples in {recipe.folds} parts; "
            "recipe.json in the export has them."
        )

"""How the settings of a run were chosen: what was compared and tried, and what came of it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pll.errors import UserError
from pll.methods.recipe import Recipe
from pll.runs.run import Run
from pll.ui.format import plain


def recipe_of(run: Run) -> Recipe | None:
    """Return the recipe of a run; None where there is none, or where it is damaged, as the page says elsewhere."""
    try:
        return run.folder.recipe()
    except UserError:
        return None


def settings_of(run: Run) -> dict[str, Any]:
    """Return the settings that the recipe of a run has found; none before it has, or where there is none."""
    recipe = recipe_of(run)
    return {} if recipe is None else dict(recipe.settings)


def sentences(run: Run) -> list[str]:
    """Return the sentences that the panel has; none where there is no panel."""
    recipe = recipe_of(run)
    return [] if recipe is None or not recipe.trials else list(recipe.messages())


def warnings_of(run: Run) -> tuple[str, ...]:
    """Return warnings where the features of a run say nothing that is measurable."""
    recipe = recipe_of(run)
    return () if recipe is None else tuple(recipe.warnings)


def panel(run: Run) -> None:
    """Show what a recipe tried and chose for a run; nothing where there was no search."""
    recipe = recipe_of(run)
    if recipe is None or not recipe.trials:
        return
    with st.expander("How it was chosen", icon=":material/rule:"):
        for sentence in recipe.messages():
            st.markdown(plain(sentence))
        st.caption(
            f"{len(recipe.trials):,} settings were tried on {recipe.examples:,} examples in {recipe.folds} parts; "
            "recipe.json in the export has them."
        )

"""Settings view: how the run was set up, what a recipe tried, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from pll.errors import UserError
from pll.methods import METHODS, method_title
from pll.methods.chosen import Recipe
from pll.runs.config import RunConfig
from pll.runs.description import in_words
from pll.ui.format import plain
from pll.ui.scenes import Scene
from pll.ui.widgets import show_table
from pll.wording import percent


def draw(scene: Scene) -> None:
    recipe: Recipe | None = None
    with suppress(UserError):  # it is damaged, as the page says elsewhere
        recipe = scene.run.folder.recipe()
    trials = () if recipe is None else recipe.trials
    messages = recipe.messages() if recipe is not None and trials else ()
    for note in (note for note in scene.snapshot.notes if note not in messages):
        st.caption(f":material/info: {plain(note)}")
    _overview(scene.lane.config, scene.lane.folder.about().get("parameters", {}))
    if recipe is None or not trials:
        return
    with st.expander("How it was chosen", icon=":material/rule:"):
        for message in messages:
            st.markdown(plain(message))
        st.caption(
            f"{len(trials):,} settings were tried on {recipe.examples:,} examples in {recipe.folds} parts; "
            "recipe.json in the export has them."
        )


def _overview(config: RunConfig, trained_with: Mapping[str, Any]) -> None:
    """Every setting of a run, with its value: what it trained with, once that is known."""
    source = config.source.name + (f" ({config.source.format})" if config.source.format else "")
    every = METHODS[config.method]().get_params() | config.params | dict(trained_with)
    facts = [
        ("Data", source),
        ("Candidates", config.candidates),
        ("Held out", percent(config.holdout, 0) if config.holdout else "nothing"),
        ("Method", method_title(config.method)),
        *(in_words(name, value) for name, value in ({"seed": config.seed} | every).items()),
    ]
    table = pd.DataFrame(facts, columns=["setting", "value"])
    show_table(table, "Settings of this run", height="content", key="overview")

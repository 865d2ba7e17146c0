"""How the settings of a run were chosen: what was compared and tried, and what came of it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from pll.errors import UserError
from pll.methods.recipe import Recipe, Trial
from pll.runs.run import Run
from pll.ui.format import plain

SHOWN = 12
"""Number of configurations in the table, the best first."""
SHARE = "predictions among the candidates"


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


def told(run: Run) -> list[str]:
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
            f"Settings of PRODEN tried on {recipe.examples:,} examples in {recipe.folds} parts: the best of each "
            f"representation and model, {SHOWN} at most. recipe.json in the export has all {len(recipe.trials):,}."
        )
        table(trials_of(recipe), "chosen-trials", "Settings tried")


def table(frame: pd.DataFrame, key: str, alt: str) -> None:
    """A table of shares and likelihoods."""
    st.dataframe(
        frame,
        hide_index=True,
        height="content",
        key=key,
        alt=alt,
        column_config={
            SHARE: st.column_config.NumberColumn(format="%.1f %%"),
            "log-likelihood": st.column_config.NumberColumn(format="%.3f"),
        },
    )


def trials_of(recipe: Recipe) -> pd.DataFrame:
    """Return one configuration of every representation and model, that with the highest rate; the chosen one first."""
    chosen = recipe.given | recipe.settings

    def rank(trial: Trial) -> tuple[bool, float, float]:
        differs = any(trial.settings[name] != value for name, value in chosen.items() if name in trial.settings)
        return differs, -trial.covering_rate, -trial.log_likelihood

    ranked = sorted(recipe.trials, key=rank)
    best = list({(t.settings["scale"], t.settings["model"]): t for t in reversed(ranked)}.values())
    best = sorted(best, key=ranked.index)[:SHOWN]
    names = ("scale", "model", "optimiser", "lr", "weight_decay", "epochs")
    return pd.DataFrame(
        {
            **{name.replace("_", " "): [trial.settings[name] for trial in best] for name in names},
            SHARE: [100 * trial.covering_rate for trial in best],
            "log-likelihood": [trial.log_likelihood for trial in best],
            "training loss": [trial.loss for trial in best],
        }
    )

"""Setup of a new run: its method, model, recipe and settings."""

from __future__ import annotations

from math import prod
from typing import Any

import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.methods import METHODS, get_method, method_title
from pll.methods.names import RECIPES
from pll.runs.data import method_of_votes
from pll.ui.session import ChosenData
from pll.ui.train.settings_form import Settings, choose_model, choose_settings


def settings(choice: ChosenData, data: PartialLabelDataset) -> Settings:
    """Show the settings of a run, all but method, model and recipe in an expander.

    Parameters
    ----------
    choice
        The data, and how its candidate sets are made.
    data
        The same, read.
    """
    left, middle, right = st.columns(3, gap="large")
    with left:
        method = _choose_method(data)
    defaults = get_method(method)().get_params()
    params: dict[str, Any] = {}
    with right:
        if "recipe" in defaults:
            params["recipe"] = st.selectbox(
                "Recipe",
                list(RECIPES),
                format_func=lambda name: RECIPES[name][0],
                help="How settings are chosen. What you change below stays in every recipe.",
                key="setup-recipe",
                persist_state="session",
            )
            st.caption(RECIPES[params["recipe"]][1])
    with middle:
        if "model" in defaults:
            model = choose_model(data, "setup", is_searched=params.get("recipe") == "auto")
            params |= {} if model is None else {"model": model}
    with st.expander("Settings", icon=":material/tune:"):
        return choose_settings([method], choice, data, params, key="setup")


def _choose_method(data: PartialLabelDataset) -> str:
    """One of the methods that fit the data; where there are votes alone, the best of them first."""
    names = [name for name, method in METHODS.items() if data.y is not None or not method.needs_truth]
    best = "" if prod(data.input_shape) else method_of_votes(data)
    if best:
        names = sorted((n for n in names if not METHODS[n].needs_features), key=lambda name: name != best)
    method = st.selectbox(
        "Method",
        names,
        format_func=method_title,
        key="setup-method-votes" if best else "setup-method",
        persist_state="session",
    )
    st.caption(get_method(method).summary)
    return method

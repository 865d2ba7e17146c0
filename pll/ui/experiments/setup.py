"""Setting up an experiment: a preset with fewer data sets, methods or epochs, or a text to edit."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pll import catalog
from pll.errors import UserError
from pll.experiments import background
from pll.experiments.experiment import Experiment, changed, parse_experiment
from pll.experiments.presets import PRESETS, preset
from pll.methods import get_method, method_title
from pll.methods.deep import DeepEstimator
from pll.ui.format import count, plain

FOLDS, HOLDOUT, PUBLISHED = "Five folds", "90/10, five samplings", "Published test part"
PROTOCOLS: dict[str, dict[str, Any]] = {
    FOLDS: {"folds": 5, "holdout": None, "seeds": [0]},
    HOLDOUT: {"folds": None, "holdout": 0.1, "seeds": [0, 1, 2, 3, 4]},
    PUBLISHED: {"folds": None, "holdout": None, "seeds": [0, 1, 2, 3, 4]},
}


def experiment() -> Experiment:
    """Return what is chosen.

    Raises:
        UserError: nothing is chosen, or the text is not an experiment.
    """
    name = st.selectbox(
        "Experiment", list(PRESETS), format_func=lambda name: preset(name).title, key="experiment-preset"
    )
    if st.toggle("Edit as text", key="experiment-as-text", help="The TOML file that the command line takes too."):
        text = st.text_area("Definition (TOML)", PRESETS[name], height=360, key=f"experiment-text-{name}")
        return parse_experiment(text, "The definition")
    return _with_choices(preset(name), name)


def _with_choices(found: Experiment, name: str) -> Experiment:
    """Return the preset with what the fields change."""
    every = list(found.datasets)
    here = [dataset for dataset in every if catalog.available(catalog.find(dataset))]
    datasets = st.pills(
        "Datasets",
        every,
        selection_mode="multi",
        default=here or every,
        format_func=lambda dataset: catalog.find(dataset).title + ("" if dataset in here else " (not here)"),
        key=f"experiment-datasets-{name}",
    )
    methods = st.pills(
        "Methods",
        found.methods,
        selection_mode="multi",
        default=found.methods,
        format_func=method_title,
        key=f"experiment-methods-{name}",
        help="The first is the one that others are compared with.",
    )
    if not datasets or not methods:
        raise UserError("Choose at least one dataset and one method.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        usual = FOLDS if found.folds else PUBLISHED
        offered = [FOLDS, HOLDOUT] if found.folds else [PUBLISHED, HOLDOUT]
        protocol = st.selectbox(
            "Tested on", offered, index=offered.index(usual), key=f"experiment-protocol-{name}", width=260
        )
        epochs = st.number_input(
            "Epochs", 1, 10_000, 500, key=f"experiment-epochs-{name}", width=160, help="The paper trains for 500."
        )
    deep = [method for method in methods if issubclass(get_method(method), DeepEstimator)]
    settings = [*found.settings]
    if epochs != 500 and deep:
        settings.append({"method": deep, "epochs": int(epochs)})
    in_order = {
        "datasets": [one for one in every if one in datasets],
        "methods": [m for m in found.methods if m in methods],
    }
    return changed(found, **in_order, **PROTOCOLS[protocol], settings=settings)


def size(wanted: Experiment) -> int:
    """Say how many fits it has, and which data sets are missing and where to get them; the number of fits.

    Raises:
        UserError: a file of its data is not in a folder that the server may read.
    """
    background.check_paths(wanted)  # before any of its files is touched
    plan = wanted.plan()
    if plan.cells:
        st.caption(f"{count(len(plan.cells), 'fit')}, each written to disk when it ends.")
    else:
        st.info(
            "None of these datasets is on this server. Get one as described below, or choose other datasets.",
            icon=":material/info:",
        )
    if plan.missing:
        fits = sum(one.cells for one in plan.missing)
        title = f"{count(len(plan.missing), 'dataset')} not on this server ({count(fits, 'fit')})"
        with st.expander(title, icon=":material/info:", expanded=not plan.cells):
            for one in plan.missing:
                st.markdown(f"**{plain(one.dataset)}**: {plain(one.reason)}")
    return len(plan.cells)


def name(wanted: Experiment) -> str:
    """Return what to call it."""
    return wanted.title or "experiment"

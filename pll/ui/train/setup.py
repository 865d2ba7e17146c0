"""The settings of a new run."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import pandas as pd
import streamlit as st

from pll.colors import percent
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS, get_method
from pll.methods.advice import advise
from pll.runs.config import RunConfig
from pll.runs.fit_loop import most_processes, new_estimator
from pll.runs.settings import setting
from pll.training.augment import AUGMENTATIONS
from pll.training.devices import default_threads
from pll.training.losses import LOSSES
from pll.training.models import MODEL_INFO
from pll.ui.format import about_seconds, plain
from pll.ui.session import ChosenData

HELP = {
    "epochs": "How often the method goes through all examples.",
    "lr": "Size of each step. Too large: training diverges. Too small: training is slow. Empty: chosen for the data "
    "and the model.",
    "batch_size": "Examples a step. Empty: chosen for the number of examples.",
    "weight_decay": "Keeps the parameters small. Use more for few examples and many features.",
    "momentum": "Share of the last steps in the next one.",
    "update_every": "Epochs between two updates of the weights; 0 takes a fifth of all epochs.",
    "loss": "The loss of one label. Cross-entropy suits most data.",
    "holdout": "Examples kept apart, to test the model on what it has not seen. Needs true labels. They are not learnt "
    "from; their labels are predicted and exported too.",
    "seed": "The same seed gives the same result, to the last digit.",
    "augment": "crop shifts each image by up to 4 pixels at random, flip mirrors half of them. Helps large networks.",
    "device": "Where to compute.",
    "processes": "Each trains its part of every mini-batch, and the result is the same but for rounding. Pays for "
    "large data: each process takes seconds to start and memory of its own.",
    "recipe": "How settings are chosen. What you change below stays in every recipe.",
}
RECIPE_TITLES = {"auto": "Auto", "default": "Default", "paper": "Paper"}
RECIPE_ABOUT = {
    "auto": "Tries representations, models and settings first, without true labels; about a minute for most data. "
    "What is changed by hand stays.",
    "default": "The settings shown below.",
    "paper": "The paper's published settings, where there are some for this data.",
}
BY_DATA = "by the data"
"""Shown for a learning rate or batch size that is not given."""
LABELS = {
    "epochs": "Epochs",
    "lr": "Learning rate",
    "batch_size": "Batch size",
    "weight_decay": "Weight decay",
    "momentum": "Momentum",
}
TORCHVISION_MODELS = ("torchvision:resnet18", "torchvision:mobilenet_v3_small")
"""Some of torchvision's, to choose from; any other can be typed."""
FOR_VOTES = "dawid-skene"
"""The method that is proposed where there are votes and no features, as in the shell."""
_RANGES: dict[str, dict[str, Any]] = {
    "epochs": {"step": 10},
    "lr": {"step": 0.01, "format": "%g"},
    "batch_size": {"step": 32},
    "weight_decay": {"step": 0.0001, "format": "%g"},
    "momentum": {"step": 0.05, "format": "%g"},
}
"""Without limits: a field that refuses a number keeps the old one silently. `advice` says what is wrong."""


def settings(choice: ChosenData, data: PartialLabelDataset) -> RunConfig:
    """Show the settings of a run and return its config; all but method and model in an expander."""
    has_truth = data.y is not None
    names = [name for name, method in METHODS.items() if has_truth or not method.needs_truth]
    votes_alone = not prod(data.input_shape) and (data.annotations is not None or data.prior is not None)
    if votes_alone:  # what needs no features, the best first
        names = sorted((n for n in names if not METHODS[n].needs_features), key=lambda n: n != FOR_VOTES)
    left, middle, right = st.columns(3, gap="large")
    with left:
        method = st.selectbox(
            "Method",
            names,
            format_func=lambda name: get_method(name).title,
            key="setup_method_votes" if votes_alone else "setup_method",
            persist_state="session",
        )
        st.caption(get_method(method).summary)
    defaults = get_method(method)().get_params()
    params: dict[str, Any] = {}
    with middle:
        if "model" in defaults:
            params["model"] = st.selectbox(
                "Model",
                [*MODEL_INFO, *(TORCHVISION_MODELS if data.is_image else ())],
                format_func=model_title,
                help="Or type the name of any classifier of torchvision, such as torchvision:resnet50.",
                accept_new_options=data.is_image,
                key=f"setup_model_{data.is_image}",
                persist_state="session",
            )
            model_info = MODEL_INFO.get(params["model"])
            st.caption(model_info.summary if model_info else "A classifier of torchvision, its weights not yet learnt.")
    with right:
        if "recipe" in defaults:
            params["recipe"] = st.selectbox(
                "Recipe",
                list(RECIPE_TITLES),
                format_func=RECIPE_TITLES.__getitem__,
                help=HELP["recipe"],
                key="setup_recipe",
                persist_state="session",
            )
            st.caption(RECIPE_ABOUT[params["recipe"]])
    with st.expander("Settings", icon=":material/tune:"):
        columns = st.columns(3, gap="large")
        for place, name in enumerate(name for name in LABELS if name in defaults):
            with columns[place % 3]:
                params[name] = st.number_input(
                    LABELS[name],
                    value=defaults[name],
                    placeholder=BY_DATA,
                    help=HELP[name],
                    key=f"setup_{name}_{method}",  # every method has defaults of its own
                    persist_state="session",
                    **_RANGES[name],
                )
        if "loss" in defaults:
            with columns[2]:
                params["loss"] = st.selectbox("Loss", list(LOSSES), help=HELP["loss"], key="setup_loss")
        if "augment" in defaults and data.is_image:
            with columns[2]:
                params["augment"] = st.selectbox(
                    "Vary images while training", list(AUGMENTATIONS), help=HELP["augment"], key="setup_augment"
                )
        if "update_every" in defaults:
            with columns[0]:
                every = st.number_input("Update weights every", 0, 10_000, 0, help=HELP["update_every"])
                params["update_every"] = every or None
        with columns[0]:
            seed = st.number_input("Seed", 0, 2**31 - 1, choice.seed, help=HELP["seed"], key="setup_seed")
        with columns[1]:
            threads = st.number_input(
                "CPU threads",
                1,
                64,
                default_threads(),
                help="One less than there are cores keeps these pages quick.",
                key="setup_threads",
            )
            if "threads" in defaults:
                params["threads"] = threads
        processes, most = 1, most_processes()
        if most > 1 and METHODS[method].in_ranks:
            with columns[1]:
                processes = st.number_input(
                    "Processes",
                    1,
                    most,
                    min(setting("PLL_RANKS"), most),
                    help=HELP["processes"],
                    key="setup_processes",
                )
        holdout = None
        if has_truth and (data.is_test is None or not data.is_test.any()):
            with columns[2]:
                own = choice.source.path is not None  # every row of a user's own file gets a label by default
                share = st.slider(
                    "Held out to test on, %",
                    *(0, 50, 0 if own else 20, 5),
                    help=HELP["holdout"],
                    key=f"setup_holdout_{own}",
                )
                holdout = share / 100 or None
    return RunConfig(
        source=choice.source,
        method=method,
        params={name: value for name, value in params.items() if value != defaults[name]},
        flip=choice.flip,
        noisy=choice.noisy,
        features=choice.features,
        holdout=holdout,
        seed=int(seed),
        name=data.name,
        processes=int(processes),
    )


def model_title(name: str) -> str:
    """What a model is called; one of torchvision's by its own name."""
    return MODEL_INFO[name].title if name in MODEL_INFO else name


def advice(config: RunConfig, data: PartialLabelDataset) -> bool:
    """Show estimated cost and obstacles; return whether the run can start."""
    try:
        advised = advise(new_estimator(config), data)
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        return False
    for obstacle in advised.obstacles:
        st.error(obstacle, icon=":material/error:")
    for note in advised.notes:
        st.warning(note, icon=":material/info:")
    if not advised.obstacles and advised.seconds:
        memory = advised.memory_bytes / 1e6
        memory_text = f" and {memory:,.0f} MB of memory" if memory >= 1 else ""
        st.caption(f"{about_seconds(advised.seconds).capitalize()}{memory_text}.")
    return not advised.obstacles


def overview(config: RunConfig, found: Mapping[str, Any]) -> None:
    """Every setting of a run, with its value.

    Parameters
    ----------
    found
        What its recipe has found.
    """
    source = config.source.name + (f" ({config.source.format})" if config.source.format else "")
    every = get_method(config.method)().get_params() | config.params | dict(found)
    facts = {
        "data": source,
        "candidates": config.candidates,
        "held out": percent(config.holdout, 0) if config.holdout else "nothing",
        "method": config.method,
        "seed": config.seed,
    } | {
        name: BY_DATA if name in ("lr", "batch_size") and value is None else value
        for name, value in every.items()
        if name != "seed"
    }
    table = pd.DataFrame({"setting": list(facts), "value": [str(value) for value in facts.values()]})
    st.dataframe(table, hide_index=True, height="content", key="overview", alt="Settings of this run")

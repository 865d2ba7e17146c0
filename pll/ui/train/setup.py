"""The settings of a new run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import pandas as pd
import streamlit as st

from pll.colors import percent
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS, get_method, method_title
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

NUMBERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "epochs": ("Epochs", "How often the method goes through all examples.", {"step": 10}),
    "lr": (
        "Learning rate",
        "Size of each step. Too large: training diverges. Too small: training is slow. Empty: chosen for the data and "
        "the model.",
        {"step": 0.01, "format": "%g"},
    ),
    "batch_size": ("Batch size", "Examples a step. Empty: chosen for the number of examples.", {"step": 32}),
    "weight_decay": (
        "Weight decay",
        "Keeps the parameters small. Use more for few examples and many features.",
        {"step": 0.0001, "format": "%g"},
    ),
    "momentum": ("Momentum", "Share of the last steps in the next one.", {"step": 0.05, "format": "%g"}),
}
"""Title, help and field of a setting. Without limits: a field that refuses a number keeps the old one silently.
`advice` says what is wrong."""
RECIPES = {
    "auto": (
        "Auto",
        "Tries representations, models and settings first, without true labels; about a minute for most data. "
        "What is changed by hand stays.",
    ),
    "default": ("Default", "The settings shown below."),
    "paper": ("Paper", "The paper's published settings, where there are some for this data."),
}
BY_DATA = "by the data"
"""Shown for a learning rate or batch size that is not given."""
TORCHVISION_MODELS = ("torchvision:resnet18", "torchvision:mobilenet_v3_small")
"""Some of torchvision's, to choose from; any other can be typed."""
FOR_VOTES = "dawid-skene"
"""The method that is proposed where there are votes and no features, as in the shell."""


def settings(choice: ChosenData, data: PartialLabelDataset) -> RunConfig:
    """Show the settings of a run and return its config; all but method and model in an expander."""
    left, middle, right = st.columns(3, gap="large")
    with left:
        method = choose_method(data)
    defaults = get_method(method)().get_params()
    params: dict[str, Any] = {}
    with middle:
        if "model" in defaults:
            params["model"] = choose_model(data)
    with right:
        if "recipe" in defaults:
            params["recipe"] = st.selectbox(
                "Recipe",
                list(RECIPES),
                format_func=lambda name: RECIPES[name][0],
                help="How settings are chosen. What you change below stays in every recipe.",
                key="setup_recipe",
                persist_state="session",
            )
            st.caption(RECIPES[params["recipe"]][1])
    with st.expander("Settings", icon=":material/tune:"):
        columns = st.columns(3, gap="large")
        for place, name in enumerate(name for name in NUMBERS if name in defaults):
            with columns[place % 3]:  # every method has defaults of its own
                params[name] = number(name, defaults[name], f"setup_{name}_{method}")
        with columns[0]:
            if "update_every" in defaults:
                every = st.number_input(
                    *("Update weights every", 0, 10_000, 0),
                    help="Epochs between two updates of the weights; 0 takes a fifth of all epochs.",
                )
                params["update_every"] = every or None
            seed = seed_of(choice, "setup_seed")
        with columns[1]:
            threads = st.number_input(
                *("CPU threads", 1, 64, default_threads()),
                help="One less than there are cores keeps these pages quick.",
                key="setup_threads",
            )
            if "threads" in defaults:
                params["threads"] = threads
            processes, most = 1, most_processes()
            if most > 1 and METHODS[method].in_ranks:
                processes = st.number_input(
                    *("Processes", 1, most, min(setting("PLL_RANKS"), most)),
                    help="Each trains its part of every mini-batch, and the result is the same but for rounding. Pays "
                    "for large data: each process takes seconds to start and memory of its own.",
                    key="setup_processes",
                )
        with columns[2]:
            if "loss" in defaults:
                params["loss"] = st.selectbox(
                    "Loss", list(LOSSES), help="The loss of one label. Cross-entropy suits most data.", key="setup_loss"
                )
            if "augment" in defaults and data.is_image:
                params["augment"] = st.selectbox(
                    "Vary images while training",
                    list(AUGMENTATIONS),
                    help="crop shifts each image by up to 4 pixels at random, flip mirrors half of them. Helps large "
                    "networks.",
                    key="setup_augment",
                )
            holdout = holdout_of(choice, data, "setup_holdout")
    changed = {name: value for name, value in params.items() if value != defaults[name]}
    config = run_config(choice, data, changed, seed=seed, holdout=holdout)
    return replace(config, method=method, processes=int(processes))


def choose_method(data: PartialLabelDataset) -> str:
    """One of the methods that fit the data; where there are votes alone, the best of them first."""
    names = [name for name, method in METHODS.items() if data.y is not None or not method.needs_truth]
    votes_alone = not prod(data.input_shape) and (data.annotations is not None or data.prior is not None)
    if votes_alone:
        names = sorted((n for n in names if not METHODS[n].needs_features), key=lambda n: n != FOR_VOTES)
    method = st.selectbox(
        "Method",
        names,
        format_func=method_title,
        key="setup_method_votes" if votes_alone else "setup_method",
        persist_state="session",
    )
    st.caption(get_method(method).summary)
    return method


def choose_model(data: PartialLabelDataset) -> str:
    """One of the models, or for pictures the name of any classifier of torchvision."""
    model = st.selectbox(
        "Model",
        [*MODEL_INFO, *(TORCHVISION_MODELS if data.is_image else ())],
        format_func=model_title,
        help="Or type the name of any classifier of torchvision, such as torchvision:resnet50.",
        accept_new_options=data.is_image,
        key=f"setup_model_{data.is_image}",
        persist_state="session",
    )
    info = MODEL_INFO.get(str(model))
    st.caption(info.summary if info else "A classifier of torchvision, its weights not yet learnt.")
    return str(model)


# ---- what one run and lanes have in common ---------------------------------------------------------------------------


def number(name: str, default: float | None, key: str) -> float | None:
    """A field of `NUMBERS`; empty where it is left to the data."""
    title, help_, options = NUMBERS[name]
    return st.number_input(
        title, value=default, placeholder=BY_DATA, help=help_, key=key, persist_state="session", **options
    )


def seed_of(choice: ChosenData, key: str) -> int:
    """The field of the seed."""
    help_ = "The same seed gives the same result, to the last digit."
    return int(st.number_input("Seed", 0, 2**31 - 1, choice.seed, help=help_, key=key))


def holdout_of(choice: ChosenData, data: PartialLabelDataset, key: str) -> float | None:
    """The share that is held out; None where nothing is, as where there is no truth or a test part already."""
    if data.y is None or (data.is_test is not None and data.is_test.any()):
        return None
    usual = 20 if choice.source.path is None else 0  # every row of a user's own file gets a label
    percentage = st.slider(
        *("Held out to test on, %", 0, 50, usual, 5),
        help="Examples kept apart, to test the model on what it has not seen. Needs true labels. They are not learnt "
        "from; their labels are predicted and exported too.",
        key=f"{key}_{usual}",
    )
    return percentage / 100 or None


def run_config(
    choice: ChosenData, data: PartialLabelDataset, params: dict[str, Any], *, seed: int, holdout: float | None
) -> RunConfig:
    """The config of a run on the chosen data."""
    return RunConfig(
        source=choice.source,
        params=params,
        flip=choice.flip,
        noisy=choice.noisy,
        features=choice.features,
        holdout=holdout,
        seed=seed,
        name=data.name,
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
    """Every setting of a run, with its value; some of them its recipe has found."""
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

"""The form of settings of a new run of one or more lanes, and what it will cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS, get_method, method_title
from pll.methods.advice import advise
from pll.runs.config import RunConfig, new_estimator
from pll.runs.ranks import most_processes
from pll.training.augment import AUGMENTATIONS
from pll.training.devices import default_threads
from pll.training.losses import LOSSES
from pll.training.models import MODEL_INFO
from pll.ui.format import about_seconds, plain
from pll.ui.server_settings import setting
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
BY_DATA = "by the data"
"""Shown for a learning rate or batch size that is not given."""
TORCHVISION_MODELS = ("torchvision:resnet18", "torchvision:mobilenet_v3_small")
"""Some of torchvision's, to choose from; any other can be typed."""


def choose_model(data: PartialLabelDataset, key: str) -> str:
    """One of the models, or for pictures the name of any classifier of torchvision."""
    model = st.selectbox(
        "Model",
        [*MODEL_INFO, *(TORCHVISION_MODELS if data.is_image else ())],
        format_func=lambda name: MODEL_INFO[name].title if name in MODEL_INFO else name,
        help="Or type the name of any classifier of torchvision, such as torchvision:resnet50.",
        accept_new_options=data.is_image,
        key=f"{key}_model_{data.is_image}",
        persist_state="session",
    )
    info = MODEL_INFO.get(str(model))
    st.caption(info.summary if info else "A classifier of torchvision, its weights not yet learnt.")
    return str(model)


def choose_settings(
    methods: Sequence[str], choice: ChosenData, data: PartialLabelDataset, params: dict[str, Any], *, key: str
) -> RunConfig:
    """Show the settings that one or more methods have; return the config of the first of them.

    `params` are settings chosen elsewhere. What is not changed stays each method's own default.
    """
    defaults: dict[str, Any] = {}
    for method in reversed(methods):
        defaults |= get_method(method)().get_params()
    params, processes = dict(params), 1
    columns = st.columns(3, gap="large")
    for place, name in enumerate(name for name in NUMBERS if name in defaults):
        title, help_, options = NUMBERS[name]
        with columns[place % 3]:  # another default has a field of its own
            params[name] = st.number_input(
                title,
                value=defaults[name],
                placeholder=BY_DATA,
                help=help_,
                key=f"{key}_{name}_{defaults[name]}",
                persist_state="session",
                **options,
            )
    with columns[0]:
        if "update_every" in defaults:
            every = st.number_input(
                *("Update weights every", 0, 10_000, 0),
                help="Epochs between two updates of the weights; 0 takes a fifth of all epochs.",
                key=f"{key}_update_every",
            )
            params["update_every"] = every or None
        help_ = "The same seed gives the same result, to the last digit."
        seed = st.number_input("Seed", 0, 2**31 - 1, choice.seed, help=help_, key=f"{key}_seed")
    with columns[1]:
        if "threads" in defaults:
            params["threads"] = st.number_input(
                *("CPU threads", 1, 64, default_threads()),
                help="One less than there are cores keeps these pages quick.",
                key=f"{key}_threads",
            )
        most = most_processes()
        if most > 1 and len(methods) == 1 and METHODS[methods[0]].in_ranks:
            processes = st.number_input(
                *("Processes", 1, most, min(setting("PLL_RANKS"), most)),
                help="Each trains its part of every mini-batch, and the result is the same but for rounding. Pays for "
                "large data: each process takes seconds to start and memory of its own.",
                key=f"{key}_processes",
            )
    with columns[2]:
        if "loss" in defaults:
            params["loss"] = st.selectbox(
                "Loss", list(LOSSES), help="The loss of one label. Cross-entropy suits most data.", key=f"{key}_loss"
            )
        if "augment" in defaults and data.is_image:
            params["augment"] = st.selectbox(
                "Vary images while training",
                list(AUGMENTATIONS),
                help="crop shifts each image by up to 4 pixels at random, flip mirrors half of them. Helps large "
                "networks.",
                key=f"{key}_augment",
            )
        holdout = _choose_holdout(choice, data, key)
    return choice.config(
        method=methods[0],
        params={name: value for name, value in params.items() if value != defaults[name]},
        holdout=holdout,
        seed=int(seed),
        name=data.name,
        processes=int(processes),
    )


def _choose_holdout(choice: ChosenData, data: PartialLabelDataset, key: str) -> float | None:
    """The share that is held out; None where nothing is, as where there is no truth or a test part already."""
    if data.y is None or (data.is_test is not None and data.is_test.any()):
        return None
    usual = 20 if choice.source.path is None else 0  # every row of a user's own file gets a label
    percentage = st.slider(
        *("Held out to test on, %", 0, 50, usual, 5),
        help="Examples kept apart, to test the model on what it has not seen. Needs true labels. They are not learnt "
        "from; their labels are predicted and exported too.",
        key=f"{key}_holdout_{usual}",
    )
    return percentage / 100 or None


def advice(configs: Sequence[RunConfig], data: PartialLabelDataset) -> float | None:
    """Show estimated cost and obstacles; return the estimated seconds, None where the training cannot start."""
    seconds, memory, can_start = 0.0, 0.0, True
    for config in configs:
        lane = f"{method_title(config.method)}: " if len(configs) > 1 else ""
        try:
            advised = advise(new_estimator(config), data)
        except UserError as error:
            st.error(f"{lane}{plain(error)}", icon=":material/error:")
            can_start = False
            continue
        for obstacle in advised.obstacles:
            st.error(f"{lane}{plain(obstacle)}", icon=":material/error:")
            can_start = False
        for note in advised.notes:
            st.warning(f"{lane}{plain(note)}", icon=":material/info:")
        seconds, memory = seconds + advised.seconds, memory + advised.memory_bytes / 1e6
    if can_start and seconds:
        words = f" and {memory:,.0f} MB of memory" if memory >= 1 else ""
        st.caption(f"{about_seconds(seconds).capitalize()}{words}{' for all lanes' * (len(configs) > 1)}.")
    return seconds if can_start else None

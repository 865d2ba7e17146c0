"""The form of settings of a new run of one or more lanes, and what it will cost.

The fields hold what the recipe will use. A field that was touched is given by hand, whatever it holds, and no recipe
changes it; what is wrong with it stands below it, and training waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.methods import METHODS, method_title
from pll.methods.advice import advise, expected_settings
from pll.methods.names import RECIPES
from pll.methods.proden import update_interval
from pll.runs.config import DataConfig, RunConfig, new_estimator
from pll.runs.data import method_of_votes
from pll.runs.description import RUN_FIELDS
from pll.training.devices import default_threads, device_in_words, devices
from pll.training.names import MODELS
from pll.ui.data import loader
from pll.ui.data.candidates import usual_holdout
from pll.ui.format import plain
from pll.ui.widgets import beside, bound, button, choose, share_slider
from pll.wording import duration

NUMBER_SETTINGS = ("epochs", "lr", "batch_size", "weight_decay", "momentum", "lr_decay", "lr_decay_every")
"""Settings that are numbers, in the order of the form."""
NAMED_SETTINGS = ("optimiser", "loss", "augment")
"""Settings that are one of several names."""
BY_SEARCH = "chosen by the search"
"""Shown in a field for a setting that is not given."""
TORCHVISION_MODELS = ("torchvision:resnet18", "torchvision:mobilenet_v3_small")
"""Some of torchvision's, to choose from; any other can be typed."""


def choose_model(data: PartialLabelDataset, key: str, *, is_searched: bool = False) -> str | None:
    """One of the models, or for pictures the name of any classifier of torchvision; None where the search chooses.

    Parameters
    ----------
    data
        The data: pictures have models of their own.
    key
        Beginning of the widget's key.
    is_searched
        Whether the recipe may choose; it does unless a person does.
    """
    model = st.selectbox(
        "Model",
        [*([""] if is_searched else []), *MODELS, *(TORCHVISION_MODELS if data.is_image else ())],
        format_func=lambda name: MODELS[name].title if name in MODELS else name or BY_SEARCH.capitalize(),
        help="Or type the name of any classifier of torchvision, such as torchvision:resnet50.",
        accept_new_options=data.is_image,
        key=f"{key}-model-{data.is_image}-{is_searched}",
        persist_state="session",
    )
    if not model:
        return None
    info = MODELS.get(str(model))
    st.caption(info.summary if info else "A classifier of torchvision, its weights not yet learnt.")
    return str(model)


def choose_settings(
    methods: Sequence[str], choice: DataConfig, data: PartialLabelDataset, params: dict[str, Any], *, key: str
) -> tuple[RunConfig, list[str]]:
    """Show the settings that one or more methods have; return what was chosen, and what is wrong with single fields.

    Training waits until there is nothing wrong.

    Parameters
    ----------
    methods
        Names of methods, the first of which decides what is expected; one at least.
    choice
        The data, and how its candidate sets are made.
    data
        The same, read.
    params
        Settings chosen elsewhere. Of the others those that were touched are given, the rest is each method's own.
    key
        Beginning of the keys of the widgets.
    """
    form = SettingsForm(key)
    defaults: dict[str, Any] = {}
    for method in reversed(methods):
        defaults |= METHODS[method]().get_params()
    used = defaults | _expected(methods[0], params | form.given(defaults), choice, data)
    numbers = {name: used[name] for name in NUMBER_SETTINGS if name in defaults}
    if "update_every" in defaults:
        numbers["update_every"] = update_interval(used["epochs"] or defaults["epochs"], None)
    if "threads" in defaults:
        numbers["threads"] = default_threads()
    cells = st.grid(3, min_column_width=200, gap="small")
    for name, value in (numbers | {"seed": choice.seed}).items():
        with cells.cell():
            form.number(name, value)
    for name in NAMED_SETTINGS:
        if name in defaults and (name != "augment" or data.is_image):
            with cells.cell():
                form.choice(name, used[name])
    with cells.cell():
        holdout = _choose_holdout(choice, data, f"{key}-holdout")
    device = {}
    if "device" in defaults:
        with cells.cell():
            device = _choose_device(key)
    form.offer_reset()
    touched = form.given(defaults | {"seed": 0})
    seed = touched.pop("seed", choice.seed)
    config = RunConfig.on(
        choice,
        method=methods[0],
        params=params | touched | device,
        holdout=holdout,
        seed=int(seed),
        name=data.name,
    )
    return config, form.wrong


class SettingsForm:
    """The fields of a form that were touched: they keep what they hold, whatever the recipe becomes.

    Attributes
    ----------
    touched
        Setting → what a person has put in.
    wrong
        What is wrong with the fields shown so far.
    """

    def __init__(self, key: str) -> None:
        self._key = key
        self.touched: dict[str, Any] = st.session_state.setdefault(f"{key}-touched", {})
        self.wrong: list[str] = []

    def given(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """Those of `names` that were touched and can be used, as the methods take them."""
        return {
            name: int(value) if RUN_FIELDS[name].kind == "whole" else value
            for name, value in self.touched.items()
            if name in names and not RUN_FIELDS[name].problem(value)
        }

    def number(self, name: str, used: float | None) -> None:
        """A field that holds what was put in, else what is used; empty where that is searched.

        It has no limits itself: a field that refuses a number keeps the old one silently.

        Parameters
        ----------
        name
            Of a field of a run.
        used
            What is used where nothing is put in; None where that is searched.
        """
        field = RUN_FIELDS[name]
        value = self.touched.get(name, used)
        bound(
            st.number_input,
            field.title,
            key=f"{self._key}-{name}",
            now=None if value is None else float(value),
            change=partial(self._touch, name),
            value=None,
            step=float(field.step),
            format="%.10g",
            placeholder=BY_SEARCH,
            help=field.sentence,
        )
        problem = "" if name not in self.touched else field.problem(self.touched[name])
        if problem:
            st.caption(f":red[{problem}]")
            self.wrong.append(problem)

    def choice(self, name: str, used: str | None) -> None:
        """A choice, as `number`.

        Parameters
        ----------
        name
            Of a field of a run that has choices.
        used
            What is used where nothing is chosen; None where that is searched.
        """
        field = RUN_FIELDS[name]
        titles = ({"": BY_SEARCH.capitalize()} if used is None else {}) | dict(field.choices or {})
        now, change = self.touched.get(name, used) or "", partial(self._touch, name)
        key = f"{self._key}-{name}"
        bound(st.selectbox, field.title, titles, key=key, now=now, change=change, help=field.sentence)

    def offer_reset(self) -> None:
        """A button that takes back all that was put in by hand."""
        if self.touched:
            titles = [RUN_FIELDS[name].title for name in self.touched]
            with beside():
                st.caption(f"Set by hand: {', '.join(titles)}.", width="content")
                button("Reset", self.touched.clear, kind="tertiary", key=f"reset-{self._key}")

    def _touch(self, name: str, value: float | str | None) -> None:
        if value in (None, ""):  # emptied: as if it had never been touched
            self.touched.pop(name, None)
        else:
            self.touched[name] = value


def _expected(method: str, params: dict[str, Any], choice: DataConfig, data: PartialLabelDataset) -> dict[str, Any]:
    """What a run with these settings will use; None for what is searched."""
    config = RunConfig.on(choice, method=method, params={name: params[name] for name in sorted(params)})
    return _expected_of(f"{config.method} {config.params}", loader.choice_key(choice), config, data)


@st.cache_data(max_entries=32, show_spinner=False)
def _expected_of(settings: str, key: str, _config: RunConfig, _data: PartialLabelDataset) -> dict[str, Any]:
    try:
        return expected_settings(new_estimator(_config), _data)
    except UserError:  # of data that this method cannot learn from, as is said below
        return {}


def _choose_device(key: str) -> dict[str, str]:
    """Where there is a GPU: the device, of those there are; nothing for the one that is taken by itself."""
    there = devices()
    if len(there) == 1:
        return {}
    names = {name: {"auto": "Automatic", "cpu": "CPU"}.get(name) or device_in_words(name) for name in there}
    hint = "Automatic takes the GPU with the most free memory."
    device = choose("Device", names, help=hint, key=f"{key}-device")
    return {} if device == "auto" else {"device": device}


def _choose_holdout(choice: DataConfig, data: PartialLabelDataset, key: str) -> float | None:
    """The share that is held out; None where nothing is, as where there is no truth or a test part already."""
    usual = usual_holdout(choice.source, data)
    if usual is None:
        return None
    return (
        share_slider(
            "holdout",
            usual,
            key=f"{key}-{usual}",
            most=0.5,
            format="percent",
            help="Examples kept apart, to test the model on what it has not seen. Needs true labels. They are not "
            "learnt from; their labels are predicted and exported too.",
        )
        or None
    )


def advice(configs: Sequence[RunConfig], data: PartialLabelDataset, wrong: Sequence[str] = ()) -> float | None:
    """Show estimated cost and obstacles; return the estimated seconds, None where the training cannot start.

    Parameters
    ----------
    configs
        Of the lanes.
    data
        What they train on.
    wrong
        What is wrong with single fields.
    """
    if wrong:
        st.error("  \n".join(map(plain, wrong)), icon=":material/error:")
        return None
    seconds, memory, obstacles = 0.0, 0.0, list[str]()
    for config in configs:
        lane = f"{method_title(config.method)}: " if len(configs) > 1 else ""
        try:
            advised = advise(new_estimator(config), data)
        except UserError as error:
            obstacles.append(f"{lane}{plain(error)}")
            continue
        obstacles += [f"{lane}{plain(one)}" for one in advised.obstacles]
        for note in advised.notes:
            st.warning(f"{lane}{plain(note)}", icon=":material/info:")
        seconds, memory = seconds + advised.seconds, memory + advised.memory_bytes / 1e6
    for obstacle in obstacles:
        st.error(obstacle, icon=":material/error:")
    if seconds and not obstacles:
        words = f" and {memory:,.0f} MB of memory" if memory >= 1 else ""
        st.caption(f"About {duration(seconds)}{words}{' for all lanes' * (len(configs) > 1)}.")
    return None if obstacles else seconds


# ---- a run of one lane -----------------------------------------------------------------------------------------------


def choose_run_settings(choice: DataConfig, data: PartialLabelDataset) -> tuple[RunConfig, list[str]]:
    """Show the settings of a run, all but method, model and recipe in an expander.

    Parameters
    ----------
    choice
        The data, and how its candidate sets are made.
    data
        The same, read.
    """
    left, middle, right = st.columns(3, gap="medium")
    with left:
        method = _choose_method(data)
    defaults = METHODS[method]().get_params()
    params: dict[str, Any] = {}
    with right:
        if "recipe" in defaults:
            titles = {name: title for name, (title, _) in RECIPES.items()}
            hint = "How settings are chosen. What you change below stays in every recipe."
            params["recipe"] = choose("Recipe", titles, help=hint, key="setup-recipe", persist_state="session")
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
    titles, key = {name: method_title(name) for name in names}, "setup-method-votes" if best else "setup-method"
    method: str = choose("Method", titles, key=key, persist_state="session")
    st.caption(METHODS[method].summary)
    return method

"""Setup of a comparison: data, lanes and settings; or finished runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.methods import METHODS, method_title
from pll.methods.classical import ClassicalEstimator
from pll.methods.voting import VoteEstimator
from pll.runs.config import DataConfig, RunConfig
from pll.runs.description import RUN_FIELDS
from pll.runs.lanes import lane_configs, why_not
from pll.runs.run import MOST_LANES, Run
from pll.synthesis import Flip
from pll.ui import session
from pll.ui.data import loader
from pll.ui.format import plain
from pll.ui.routes import link
from pll.ui.train.settings_form import choose_model, choose_settings
from pll.ui.widgets import beside, choose_several, share_slider
from pll.wording import count

TRAIN_TOGETHER, RUNS = "Train together", "Your runs"
"""Ways to compare: new lanes, or finished runs."""
OPENING_DATA = DataConfig(Source("digits"), flip=Flip("binomial", 0.7))
"""What is compared where nothing else was chosen."""
LANE_SETTINGS = ("epochs", "lr", "weight_decay")
"""Settings in which lanes may differ."""
PACE = 8.0
"""Epochs a second at which eyes can follow; one of the speeds of the transport bar."""
LONGEST_WATCHED = 15.0
"""Seconds: what would take longer by itself, or at that pace, goes at full speed."""


def choose_data() -> tuple[DataConfig, PartialLabelDataset | None]:
    """The data of this tab, the digits where it has none; how ambiguous, where its candidates are made.

    None in place of the data while it is being made, as the page says then.
    """
    above = beside(gap="medium")
    choice = _as_ambiguous_as_wished(session.chosen() or OPENING_DATA)
    data = loader.prepared(choice)
    if data is not None:
        with above:
            what = f"{count(len(data), 'example')}, {count(data.n_classes, 'class', 'classes')}"
            st.markdown(f"**{plain(data.name)}** — {what}", width="content")
            link("data", "Choose other data")
    return choice, data


def _as_ambiguous_as_wished(choice: DataConfig) -> DataConfig:
    """With the flipping probability of the slider, where the sets are made with one."""
    flip = choice.flip
    if flip is None or "q" not in flip.way.needs:
        return choice
    q = share_slider(
        "q",
        flip.q or 0.0,
        key=f"compare-q-{choice.source.name}-{choice.source.sha256}",
        title=f"How ambiguous: flipping probability q ({flip.way.title.lower()})",
        help=flip.way.help,
        persist_state="session",
    )
    return replace(choice, flip=replace(flip, q=q))


def choose_lanes(data: PartialLabelDataset) -> list[str]:
    """Up to five methods, of those that fit the data: three that tell much, and all others by family."""
    voted = data.annotations is not None
    able = [
        method
        for method, kind in METHODS.items()
        if (voted or not issubclass(kind, VoteEstimator)) and why_not(method, data) is None
    ]
    nameless = data.annotations is not None and data.annotations.anonymous
    first = _opening(able, has_votes=voted, nameless=nameless)
    key = f"compare-lanes-{','.join(able)}"
    titles = {method: method_title(method) for method in able}
    hint = "They start from the same parameters and see the same batches in the same order."
    opening, stays = {method: titles[method] for method in first}, {"persist_state": "session"}
    chosen = choose_several(f"Methods, up to {MOST_LANES}", opening, default=first, key=key, help=hint, **stays)
    with st.expander("More methods", icon=":material/add:"):
        families: dict[str, dict[str, str]] = defaultdict(dict)
        for method in able:
            if method not in first:
                families[_family_of(method)][method] = titles[method]
        for family, members in families.items():
            chosen += choose_several(family, members, key=f"{key}-{family}", **stays)
    return [method for method in METHODS if method in chosen]


def _opening(able: Sequence[str], *, has_votes: bool, nameless: bool = False) -> list[str]:
    """PRODEN and two others: without weights and with the truth; where people voted, what needs no features.

    Of counts of votes without names Dawid-Skene is the majority.

    Examples
    --------
    >>> _opening(["plknn", "pn-oracle", "proden", "proden-naive"], has_votes=False)
    ['proden', 'proden-naive', 'pn-oracle']
    >>> _opening(["dawid-skene", "majority", "proden"], has_votes=True, nameless=True)
    ['proden', 'majority']
    """
    of_votes = ("proden", "majority") if nameless else ("proden", "majority", "dawid-skene")
    wished = of_votes if has_votes else ("proden", "proden-naive", "pn-oracle", "plknn")
    return [method for method in wished if method in able][:3]


def _family_of(method: str) -> str:
    """What a method has in common with others, as a line on the page."""
    kind = METHODS[method]
    if issubclass(kind, VoteEstimator):
        return "From votes alone, without features"
    if issubclass(kind, ClassicalEstimator):
        return "Classical methods: neighbours, margins, codes"
    if kind.needs_truth:
        return "Supervised: it learns from the true labels, and shows what is possible"
    if method.startswith("pro"):
        return "PRODEN with weights that are renewed less often, all at once, or never"
    return "Other losses for the same networks"


def settings(
    choice: DataConfig, data: PartialLabelDataset, methods: Sequence[str]
) -> tuple[list[RunConfig], list[str]]:
    """Settings for all lanes, below them those in which a lane differs; and what is wrong with them.

    Parameters
    ----------
    choice
        The data, and how its candidate sets are made.
    data
        The same, read.
    methods
        Names of methods, a lane each.
    """
    defaults = {method: METHODS[method]().get_params() for method in methods}
    with st.expander("Settings", icon=":material/tune:"):
        model = {"model": choose_model(data, "compare")} if any("model" in one for one in defaults.values()) else {}
        shared, wrong = choose_settings(methods, choice, data, model, key="compare")
        own = _own_settings(defaults, shared.params)
    problems = ((method, RUN_FIELDS[name].problem(value)) for method, one in own.items() for name, value in one.items())
    wrong += [f"{method_title(method)}: {problem}" for method, problem in problems if problem]
    return lane_configs(shared, methods, own), wrong


def _own_settings(defaults: Mapping[str, dict[str, Any]], shared: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A table with a row a lane; what is changed in it holds for that lane alone."""
    usual = {
        method: {name: (params | shared)[name] for name in LANE_SETTINGS if name in params}
        for method, params in defaults.items()
    }
    table = pd.DataFrame(
        [{"lane": method_title(method)} | usual[method] for method in usual], columns=["lane", *LANE_SETTINGS]
    )
    table[list(LANE_SETTINGS)] = table[list(LANE_SETTINGS)].astype(float)
    st.caption("Change a cell to set it for that lane only. Empty: chosen by the data, or no such setting.")
    edited = st.data_editor(
        table,
        hide_index=True,
        disabled=["lane"],
        key=f"compare-own-{list(usual)}-{shared}",
        placeholder="",
        column_config={"lane": "Lane"}
        | {name: st.column_config.NumberColumn(RUN_FIELDS[name].title, format="%g") for name in LANE_SETTINGS},
        alt="Settings of single lanes",
    )
    changed: dict[str, dict[str, Any]] = {}
    for k, (method, own) in enumerate(usual.items()):
        for name in own:
            value = edited[name].iloc[k]
            if pd.notna(value) and value != table[name].iloc[k]:
                changed.setdefault(method, {})[name] = RUN_FIELDS[name].number(value)
    return changed


def begin(configs: Sequence[RunConfig], seconds: float) -> Run:
    """Create lanes; slowed down where they would end before one could watch them.

    Parameters
    ----------
    configs
        Of the lanes.
    seconds
        That all of them together will take at full speed.
    """
    run = session.registry().start(*configs)
    longest = max(int(config.params.get("epochs", 100)) for config in configs)
    if seconds < LONGEST_WATCHED and longest <= LONGEST_WATCHED * PACE:
        run.set_pace(PACE)
    return run

"""Setup of a comparison: data, lanes and settings; or finished runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.methods import METHODS, get_method, method_title
from pll.methods.advice import advise
from pll.methods.classical import ClassicalEstimator
from pll.methods.voting import VoteEstimator
from pll.runs.config import RunConfig
from pll.runs.fit_loop import new_estimator
from pll.runs.lanes import lane_configs, why_not
from pll.runs.run import MOST_LANES, Run
from pll.synthesis import FLIPS, Flip
from pll.training.models import MODEL_INFO
from pll.ui import session
from pll.ui.format import about_seconds, count, plain
from pll.ui.routes import link
from pll.ui.session import ChosenData
from pll.ui.train.setup import NUMBERS, holdout_of, model_title, number, run_config, seed_of

TOGETHER, RUNS = "Train together", "Your runs"
"""Ways to compare: new lanes, or finished runs."""
DIGITS = ChosenData(Source("digits"), Flip("binomial", 0.7))
"""What is compared where nothing else was chosen."""
OWN = {"epochs": 1, "lr": 0.0, "weight_decay": 0.0}
"""Settings in which lanes may differ, and their smallest values."""
Q_HELP = "Probability that a wrong label becomes a candidate. Increase it to see where a method fails."
PACE = 8.0
"""Epochs a second at which eyes can follow; one of the speeds of the transport bar."""
FOR_EYES = 15.0
"""Seconds: what would take longer by itself, or at that pace, goes at full speed."""
Make = Callable[[], Run]
VARIANTS = "PRODEN with weights that are renewed less often, all at once, or never"
SUPERVISED = "Supervised: it learns from the true labels, and shows what is possible"
LOSSES = "Other losses for the same networks"
CLASSICAL = "Classical methods: neighbours, margins, codes"
VOTES = "From votes alone, without features"
FAMILIES = (VARIANTS, SUPERVISED, LOSSES, CLASSICAL, VOTES)
"""What methods have in common, a line each."""


def choose_data() -> tuple[ChosenData, PartialLabelDataset]:
    """The data of this tab, the digits where it has none; how ambiguous, where its candidates are made."""
    above = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    choice = _as_ambiguous_as_wished(session.chosen() or DIGITS)
    data = session.dataset_with_candidates(choice)
    with above:
        what = f"{count(len(data), 'example')}, {count(data.n_classes, 'class', 'classes')}"
        st.markdown(f"**{plain(data.name)}** — {what}", width="content")
        link("data", "Choose other data")
    return choice, data


def _as_ambiguous_as_wished(choice: ChosenData) -> ChosenData:
    """With the flipping probability of the slider, where the sets are made with one."""
    flip = choice.flip
    if flip is None or flip.how not in ("binomial", "pair"):
        return choice
    q = st.slider(
        f"How ambiguous: flipping probability q ({FLIPS[flip.how].title.lower()})",
        0.0,
        0.95,
        min(float(flip.q or 0.0), 0.95),
        0.05,
        key=f"compare_q-{choice.source.name}-{choice.source.sha256}",
        help=Q_HELP,
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
    first = opening(able, has_votes=voted)
    key = f"compare_lanes-{','.join(able)}"
    chosen = _pills(f"Methods, up to {MOST_LANES}", first, key, default=first)
    with st.expander("More methods", icon=":material/add:"):
        for family in FAMILIES:
            members = [method for method in able if method not in first and family_of(method) == family]
            if members:
                chosen += _pills(family, members, f"{key}-{family}")
    return [method for method in METHODS if method in chosen]


def opening(able: Sequence[str], *, has_votes: bool) -> list[str]:
    """PRODEN and two others: without weights and with the truth; where people voted, what needs no features.

    Examples
    --------
    >>> opening(["plknn", "pn-oracle", "proden", "proden-naive"], has_votes=False)
    ['proden', 'proden-naive', 'pn-oracle']
    """
    wished = ("proden", "majority", "dawid-skene") if has_votes else ("proden", "proden-naive", "pn-oracle", "plknn")
    return [method for method in wished if method in able][:3]


def family_of(method: str) -> str:
    """Which of `FAMILIES` a method is of."""
    kind = METHODS[method]
    if issubclass(kind, VoteEstimator):
        return VOTES
    if issubclass(kind, ClassicalEstimator):
        return CLASSICAL
    return VARIANTS if method.startswith("pro") else SUPERVISED if kind.needs_truth else LOSSES


def _pills(title: str, methods: Sequence[str], key: str, default: Sequence[str] = ()) -> list[str]:
    return st.pills(
        title,
        methods,
        selection_mode="multi",
        default=default,
        format_func=method_title,
        key=key,
        help="They start from the same parameters and see the same batches in the same order." if default else None,
    )


def settings(choice: ChosenData, data: PartialLabelDataset, methods: Sequence[str]) -> list[RunConfig]:
    """Settings for all lanes, and below them those in which a lane differs."""
    with st.expander("Settings", icon=":material/tune:"):
        usual = get_method("proden")().get_params()
        chosen: dict[str, Any] = {}
        left, middle, right = st.columns(3, gap="large")
        with left:
            chosen["model"] = st.selectbox("Model", list(MODEL_INFO), format_func=model_title, key="compare_model")
            chosen["epochs"] = number("epochs", usual["epochs"], "compare_epochs")
        with middle:
            chosen["lr"] = number("lr", usual["lr"], "compare_lr")
            chosen["batch_size"] = number("batch_size", usual["batch_size"], "compare_batch")
        with right:
            seed = seed_of(choice, "compare_seed")
            holdout = holdout_of(choice, data, "compare_holdout")
        # Settings that were not changed stay each method's own default.
        shared = {name: value for name, value in chosen.items() if value != usual[name]}
        own = _own_settings(methods, shared)
    return lane_configs(run_config(choice, data, shared, seed=seed, holdout=holdout), methods, own)


def _own_settings(methods: Sequence[str], shared: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A table with a row a lane; what is changed in it holds for that lane alone."""
    params = {method: get_method(method)().get_params() for method in methods}
    usual = {
        method: {name: (defaults | shared)[name] for name in OWN if name in defaults}
        for method, defaults in params.items()
    }
    table = pd.DataFrame([{"lane": method_title(method)} | usual[method] for method in methods], columns=["lane", *OWN])
    table[list(OWN)] = table[list(OWN)].astype(float)
    st.caption("Change a cell to set it for that lane only. Empty: chosen by the data, or no such setting.")
    edited = st.data_editor(
        table,
        hide_index=True,
        disabled=["lane"],
        key=f"compare_own-{methods}-{shared}",
        column_config={"lane": "Lane"}
        | {
            name: st.column_config.NumberColumn(NUMBERS[name][0], min_value=least, format="%g")
            for name, least in OWN.items()
        },
        alt="Settings of single lanes",
    )
    changed: dict[str, dict[str, Any]] = {}
    for k, method in enumerate(methods):
        for name in usual[method]:
            value = edited[name].iloc[k]
            if pd.notna(value) and value != table[name].iloc[k]:
                changed.setdefault(method, {})[name] = int(value) if name == "epochs" else float(value)
    return changed


def cost(configs: Sequence[RunConfig], data: PartialLabelDataset) -> float | None:
    """What it will cost, and what does not fit; returns the estimated seconds, None where it cannot start."""
    seconds, can_start = 0.0, True
    for config in configs:
        advised = advise(new_estimator(config), data)
        seconds += advised.seconds
        for obstacle in advised.obstacles:
            st.error(f"{method_title(config.method)}: {plain(obstacle)}", icon=":material/error:")
            can_start = False
        for note in advised.notes:
            st.warning(f"{method_title(config.method)}: {plain(note)}", icon=":material/info:")
    if can_start:
        st.caption(f"{about_seconds(seconds).capitalize()} for all lanes.")
    return seconds if can_start else None


def begin(configs: Sequence[RunConfig], seconds: float) -> Run:
    """Create lanes; slowed down where they would end before one could watch them."""
    run = session.registry().start(*configs)
    longest = max(int(config.params.get("epochs", 100)) for config in configs)
    if seconds < FOR_EYES and longest <= FOR_EYES * PACE:
        run.set_pace(PACE)
    return run

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
from pll.runs.config import RunConfig
from pll.runs.fit_loop import new_estimator
from pll.runs.lanes import USUAL, lane_configs, why_not
from pll.runs.run import MOST_LANES, Run
from pll.synthesis import FLIPS, Flip
from pll.training.models import MODEL_INFO
from pll.ui import charts, session
from pll.ui.format import count, duration, plain
from pll.ui.routes import link
from pll.ui.session import ChosenData
from pll.ui.train.setup import BY_DATA, HELP, model_title

TOGETHER, REPEATED, RUNS = "Train together", "Repeat over seeds and q", "Your runs"
"""Ways to compare: lanes side by side; mean and deviation; runs of the past."""
DIGITS = ChosenData(Source("digits"), Flip("binomial", 0.7))
"""What is compared where nothing else was chosen."""
OWN = {"epochs": "Epochs", "lr": "Learning rate", "weight_decay": "Weight decay"}
"""Settings in which lanes may differ."""
Q_HELP = "Probability that a wrong label becomes a candidate. Increase it to see where a method fails."
PACE = 8.0
"""Epochs a second at which eyes can follow; one of the speeds of the transport bar."""
FOR_EYES = 15.0
"""Seconds: what would take longer by itself, or at that pace, goes at full speed."""
Make = Callable[[], Run]


def choose_data(*, with_q: bool = True) -> tuple[ChosenData, PartialLabelDataset]:
    """The data of this tab, the digits where it has none; how ambiguous, where its candidates are made.

    Args:
        with_q: whether q is chosen here.

    Raises:
        UserError: it cannot be read, or nothing can be learnt from it.
    """
    choice = session.chosen() or DIGITS
    if not with_q:
        data = session.dataset_with_candidates(choice)
        _describe(data)
        return choice, data
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        choice = _as_ambiguous_as_wished(choice)
        data = session.dataset_with_candidates(choice)
        _describe(data)
    with right:
        figure, _ = charts.sizes_chart(data.sets().sizes)
        figure.update_layout(height=200)
        st.plotly_chart(figure, key="compare-sizes", alt="Candidates an example", config={"displayModeBar": False})
    return choice, data


def _describe(data: PartialLabelDataset) -> None:
    sets = data.sets()
    st.markdown(
        f"**{plain(data.name)}** — {count(len(data), 'example')}, {count(sets.n_classes, 'class', 'classes')}, "
        f"{sets.nnz / len(sets):.2f} candidates on average"
    )
    link("data", "Choose other data")


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
    """Up to five methods, of those that fit the data; for the others, why not."""
    fitting = {method: why_not(method, data) for method in METHODS}
    able = [method for method, reason in fitting.items() if reason is None]
    key = f"compare_lanes-{','.join(able)}"
    chosen = st.pills(
        f"Lanes, up to {MOST_LANES}",
        able,
        selection_mode="multi",
        default=[method for method in USUAL if method in able],
        format_func=method_title,
        key=key,
        help="They start from the same parameters and see the same batches in the same order.",
    )
    for method, reason in fitting.items():
        if reason is not None:
            st.caption(f":material/block: {method_title(method)}: {plain(reason)}")
    return in_order(chosen)


def in_order(chosen: Sequence[str]) -> list[str]:
    """The usual lanes first, then the others as the methods are listed.

    >>> in_order(["ipal", "proden-naive", "proden"])
    ['proden', 'proden-naive', 'ipal']
    """
    rest = [method for method in METHODS if method not in USUAL]
    return [method for method in [*USUAL, *rest] if method in chosen]


def settings(choice: ChosenData, data: PartialLabelDataset, methods: Sequence[str]) -> list[RunConfig]:
    """Settings for all lanes, and below them those in which a lane differs.

    Raises:
        UserError: lanes that cannot be compared, or a setting that does not exist.
    """
    shared, seed, holdout = {}, choice.seed, None
    with st.expander("Settings", icon=":material/tune:"):
        usual = get_method("proden")().get_params()
        left, middle, right = st.columns(3, gap="large")
        with left:
            model = st.selectbox("Model", list(MODEL_INFO), format_func=model_title, key="compare_model")
            epochs = st.number_input("Epochs", 1, 100_000, usual["epochs"], 10, key="compare_epochs")
        with middle:
            lr = st.number_input(
                *("Learning rate", 0.0, 100.0, usual["lr"], 0.01, "%g"),
                placeholder=BY_DATA,
                key="compare_lr",
                help=HELP["lr"],
            )
            batch = st.number_input(
                *("Batch size", 1, 65_536, usual["batch_size"], 32),
                placeholder=BY_DATA,
                key="compare_batch",
                help=HELP["batch_size"],
            )
        with right:
            seed = st.number_input("Seed", 0, 2**31 - 1, choice.seed, key="compare_seed", help=HELP["seed"])
            if data.y is not None and (data.is_test is None or not data.is_test.any()):
                share = st.slider("Held out to test on, %", 0, 50, 20, 5, key="compare_holdout", help=HELP["holdout"])
                holdout = share / 100 or None
        chosen = {"model": model, "epochs": int(epochs), "lr": lr, "batch_size": batch}
        # Settings that were not changed stay each method's own default.
        shared = {name: value for name, value in chosen.items() if value != usual[name]}
        own = _own_settings(methods, shared)
    config = RunConfig(
        source=choice.source,
        params=shared,
        flip=choice.flip,
        noisy=choice.noisy,
        features=choice.features,
        holdout=holdout,
        seed=int(seed),
        name=data.name,
    )
    return lane_configs(config, methods, own)


def _own_settings(methods: Sequence[str], shared: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A table with a row a lane; what is changed in it holds for that lane alone."""
    base = {method: get_method(method)().get_params() | shared for method in methods}
    table = pd.DataFrame(
        [{"lane": method_title(method)} | {name: _own(method, name, base) for name in OWN} for method in methods],
        columns=["lane", *OWN],
    )
    st.caption("Change a cell to set it for that lane only. Empty: chosen by the data, or no such setting.")
    edited = st.data_editor(
        table,
        hide_index=True,
        disabled=["lane"],
        key=f"compare_own-{methods}-{shared}",
        column_config={"lane": "Lane"}
        | {
            name: st.column_config.NumberColumn(title, min_value=1 if name == "epochs" else 0.0, format="%g")
            for name, title in OWN.items()
        },
        alt="Settings of single lanes",
    )
    found: dict[str, dict[str, Any]] = {}
    for method, (_, row), (_, before) in zip(methods, edited.iterrows(), table.iterrows(), strict=True):
        for name in OWN:
            if name in get_method(method)().get_params() and pd.notna(row[name]) and row[name] != before[name]:
                value = int(row[name]) if name == "epochs" else float(row[name])
                found.setdefault(method, {})[name] = value
    return found


def _own(method: str, name: str, base: dict[str, dict[str, Any]]) -> float | None:
    value = base[method].get(name) if name in get_method(method)().get_params() else None
    return None if value is None else float(value)


def cost(configs: Sequence[RunConfig], data: PartialLabelDataset, repeats: int | None = None) -> float | None:
    """What it will cost, and what does not fit; returns the estimated seconds, None where it cannot start.

    Args:
        repeats: how often all lanes are fitted, in the background; None where they are trained together once.
    """
    seconds, can_start = 0.0, True
    for config in configs:
        advised = advise(new_estimator(config), data)
        seconds += advised.seconds
        for obstacle in advised.obstacles:
            st.error(f"{method_title(config.method)}: {plain(obstacle)}", icon=":material/error:")
            can_start = False
        for note in advised.notes:
            st.warning(f"{method_title(config.method)}: {plain(note)}", icon=":material/info:")
    if can_start and repeats is not None:
        fits = count(repeats * len(configs), "fit")
        st.caption(f"{fits}, about {duration(max(1.0, repeats * seconds))}, in the background.")
    elif can_start:
        st.caption(f"About {duration(max(1.0, seconds))} for all lanes.")
    return seconds if can_start else None


def begin(configs: Sequence[RunConfig], seconds: float) -> Run:
    """Create lanes; slowed down where they would end before one could watch them.

    Raises:
        UserError: see `RunRegistry.start`.
    """
    run = session.registry().start(*configs)
    longest = max(int(config.params.get("epochs", 100)) for config in configs)
    if seconds < FOR_EYES and longest <= FOR_EYES * PACE:
        run.set_pace(PACE)
    return run

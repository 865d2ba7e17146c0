"""Lanes repeated over seeds and values of q: what to repeat, start, and progress."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.experiments import background
from pll.experiments.execution import ExperimentFolder
from pll.experiments.sweep import MOST_SEEDS, sweep
from pll.runs.config import RunConfig
from pll.runs.registry import GONE
from pll.ui import session
from pll.ui.experiments import live
from pll.ui.format import plain

PREFIX = "compare-"
"""How the folders of repeated comparisons are called, among all experiments."""
QS = [round(0.1 * k, 1) for k in range(1, 10)]
DEFAULT_QS = [0.1, 0.5, 0.9]


def choose_repeats(configs: Sequence[RunConfig], data: PartialLabelDataset) -> tuple[int, list[float]]:
    """How many seeds, and which values of q; none where the candidate sets have no q.

    Raises
    ------
    UserError
        Nothing can be averaged.
    """
    if data.y is None or not (data.y >= 0).any():
        raise UserError("No true labels are known here, so there is no accuracy to average over seeds.")
    flip = configs[0].flip
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        seeds = st.number_input(
            "Seeds",
            1,
            MOST_SEEDS,
            5,
            key="sweep-seeds",
            width=120,
            help="Each seed draws another split, other candidate sets and another start, the same for all lanes.",
        )
        if flip is None or flip.q is None:
            return int(seeds), []
        qs = st.pills(
            "Flipping probabilities q", QS, selection_mode="multi", default=DEFAULT_QS, format_func="{:g}".format,
            key="sweep-qs",
        )  # fmt: skip
    if not qs:
        raise UserError("Choose at least one value of q.")
    return int(seeds), sorted(qs)


def begin(configs: Sequence[RunConfig], seeds: int, qs: Sequence[float]) -> None:
    """Start the fits in the background, and look at them.

    Raises
    ------
    UserError
        They cannot be started; another experiment is running, say.
    """
    wanted = sweep(configs, seeds=seeds, qs=qs)
    folder = background.begin(f"{PREFIX}{configs[0].name or configs[0].source.name}", wanted, own_files=True)
    session.registry().claim(folder.path)
    look_at(folder)


def look_at(folder: ExperimentFolder) -> None:
    """Make this the one in view, in the address too."""
    session.view(None, "comparison")
    st.query_params["experiment"] = folder.path.name
    st.rerun()


def follow(name: str) -> None:
    """One at work, or ended."""
    try:
        folder = background.find(name)
        if not session.registry().owns(folder.path):
            raise UserError(GONE.format("experiment"))
        live.heading(folder, "New comparison")
        live.watch(folder)
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        if st.button("New comparison", icon=":material/arrow_back:"):
            del st.query_params["experiment"]
            st.rerun()


def past_experiments() -> list[ExperimentFolder]:
    """Those of this person, the latest first."""
    registry = session.registry()
    mine = (folder for folder in background.experiments() if folder.path.name.startswith(PREFIX))
    return [folder for folder in mine if registry.owns(folder.path)]

"""Experiments page: a grid of datasets and methods, fitted in the background, with the paper's tables."""

import streamlit as st

from pll.errors import UserError
from pll.experiments.execution import ExperimentFolder
from pll.experiments.registry import begin, experiments, find
from pll.runs.registry import GONE
from pll.ui import session
from pll.ui.data.upload import uploads_folder
from pll.ui.experiments import live, setup
from pll.ui.widgets import button, openable, show_error

RECENT = 5
"""Earlier experiments that are listed."""


def choose() -> None:
    """Choose or edit an experiment; list those of the past."""
    st.title("Experiments")
    st.markdown("Many methods on many datasets, with the same splits and candidate sets.")
    experiment, can_start = None, False
    try:
        experiment = setup.experiment()
        can_start = experiment is not None and setup.size(experiment) > 0
    except UserError as error:
        show_error(error)
    if st.button("Start", type="primary", icon=":material/play_arrow:", disabled=not can_start, key="experiment-start"):
        assert experiment is not None  # the button is disabled without one
        try:
            begun = begin(experiment.title or "experiment", experiment, uploads_folder())
            session.registry().claim(begun.path)
            open_(begun)
            st.rerun()
        except UserError as error:
            show_error(error)
    earlier()


def earlier() -> None:
    """Experiments of the past, the latest first."""
    registry = session.registry()
    past = [folder for folder in experiments() if registry.owns(folder.path)][:RECENT]
    if past:
        st.subheader("Earlier experiments")
    for folder in past:
        openable(*live.in_short(folder), open_, folder, key=f"open-{folder.path.name}")


def open_(folder: ExperimentFolder) -> None:
    """Look at an experiment."""
    st.query_params["experiment"] = folder.path.name


def follow(name: str) -> None:
    """An experiment at work, or ended."""
    try:
        folder = find(name)
        if not session.registry().owns(folder.path):
            raise UserError(GONE.format("experiment"))
        live.head(folder)
        live.watch(folder)
    except UserError as error:
        show_error(error)
        button("All experiments", live.leave, icon="arrow_back")


in_view = st.query_params.get("experiment")
choose() if in_view is None else follow(in_view)

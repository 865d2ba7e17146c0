"""Train page: settings of a run, then its live view."""

from functools import partial

import streamlit as st

from pll.errors import UserError
from pll.runs.run import Run
from pll.ui import health_notice, links, session
from pll.ui.format import count, plain
from pll.ui.routes import go, link
from pll.ui.train import chosen, live, presenter, run_controls, setup, sharing
from pll.ui.view_state import run_view


def prepare() -> None:
    """Settings of a new run, for the data that was chosen."""
    st.title("Train")
    choice = session.chosen()
    if choice is None:
        st.info("Nothing to train on yet. Upload your data or choose a dataset.", icon=":material/table_view:")
        if st.button("Choose data", type="primary"):
            go("data")
        return
    try:
        data = session.dataset_with_candidates(choice)
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        link("data", "Choose other data")
        return
    sets = data.sets()
    st.markdown(
        f"**{plain(data.name)}** — {count(len(data), 'example')}, {count(sets.n_classes, 'class', 'classes')}, "
        f"{sets.nnz / len(sets):.2f} candidates on average"
    )
    config = setup.settings(choice, data)
    can_start = setup.advice(config, data)
    if st.button("Start training", type="primary", icon=":material/play_arrow:", disabled=not can_start):
        try:
            run = session.registry().start(config)
        except UserError as error:
            st.error(plain(error), icon=":material/error:")
            return
        session.view(run)
        st.rerun()


def follow(run: Run) -> None:
    """A run, at work or ended."""
    snapshot = run.snapshot()
    if run_view(run).presenting:
        presenter.strip(run, snapshot)
        live.watch(run, snapshot.state)
        return
    with st.container(gap="xsmall"):
        run_controls.heading(run, snapshot, partial(sharing.popover, run, snapshot))
        run_controls.bar(run, snapshot.state)
        with st.container(gap="xsmall"):  # always there: pictures that change places are made anew
            if snapshot.error:
                st.error(plain(snapshot.error), icon=":material/error:")
            health_notice.show(snapshot.health, more=chosen.warnings_of(run))
        live.watch(run, snapshot.state)
        chosen.panel(run)
        links.end_of_lesson(run_view(run))
    run_controls.begin(run)


links.page(sharing.opened, session.run_in_view, follow, prepare)

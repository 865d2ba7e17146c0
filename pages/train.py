"""Train page: settings of a run, then its live view."""

import streamlit as st

from pll.errors import UserError
from pll.runs.run import Run
from pll.ui import controls, links, live_page, session
from pll.ui.data import loader
from pll.ui.format import count, plain
from pll.ui.routes import go, link
from pll.ui.train import delayed_start, live, presenter, setup
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
        data = loader.prepared(choice, session.dataset(choice.source))
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        link("data", "Choose other data")
        return
    if data is None:  # it is being made, as the page says
        return
    st.markdown(f"**{plain(data.name)}** — {count(len(data), 'example')}, {count(data.n_classes, 'class', 'classes')}")
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
    snapshot, looking = run.snapshot(), run_view(run)
    if looking.presenting:
        presenter.strip(run, snapshot)
        live_page.watch(run, snapshot.state, live.draw, live.PLACEHOLDER)
        return
    with st.container(gap="xsmall"):
        beside_state, right = live_page.heading(snapshot)
        with beside_state:
            controls.restart_finished(run, snapshot.state)
        with right:
            if not looking.hidden:  # a lesson is shared by its author
                links.popover(run, snapshot)
            if "next" not in looking.hidden:
                presenter.button(looking)
                if st.button("New run", icon=":material/add:", key="new"):
                    session.view(None)
                    st.rerun()
        controls.bar(run, snapshot.state)
        with st.container(gap="xsmall"):  # always there: pictures that change places are made anew
            if snapshot.error:
                st.error(plain(snapshot.error), icon=":material/error:")
        live_page.watch(run, snapshot.state, live.draw, live.PLACEHOLDER)
        links.end_of_lesson(looking)
    delayed_start.begin(run)


links.page("run", follow, prepare)

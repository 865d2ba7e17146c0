"""Train page: settings of a new run, then the run."""

import streamlit as st

from pll.errors import UserError
from pll.ui import controls, links, run_page, session
from pll.ui.data import loader
from pll.ui.format import plain
from pll.ui.routes import link, nothing_yet
from pll.ui.train.settings_form import advice, choose_run_settings
from pll.ui.widgets import show_error
from pll.wording import count


def prepare() -> None:
    """Settings of a new run, for the data that was chosen."""
    st.title("Train")
    choice = session.chosen()
    if choice is None:
        sentence = "Nothing to train on yet. Upload your data or choose a dataset."
        nothing_yet(sentence, "table_view", "data", "Choose data")
        return
    try:
        data = loader.prepared(choice)
    except UserError as error:
        show_error(error)
        link("data", "Choose other data")
        return
    if data is None:  # it is being made, as the page says
        return
    st.markdown(f"**{plain(data.name)}** — {count(len(data), 'example')}, {count(data.n_classes, 'class', 'classes')}")
    config, wrong = choose_run_settings(choice, data)
    cannot = advice([config], data, wrong) is None
    if st.button("Start training", type="primary", icon=":material/play_arrow:", disabled=cannot):
        run = session.registry().start(config)
        controls.slow_until_seen(run)
        session.view(run)
        st.rerun()


links.page("run", run_page.follow, prepare)

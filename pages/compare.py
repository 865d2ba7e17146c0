"""Compare page: several methods on the same candidate sets, side by side."""

import streamlit as st

from pll.errors import UserError
from pll.methods import method_title
from pll.runs.run import MOST_LANES, readable
from pll.ui import links, run_page, session
from pll.ui.choose_run import begun
from pll.ui.compare import live, setup
from pll.ui.format import plain, state_icon
from pll.ui.routes import link, nothing_yet
from pll.ui.train.settings_form import advice
from pll.ui.widgets import choose, choose_one, openable, show_error
from pll.wording import count

RECENT = 3


def prepare() -> None:
    """Choose data and lanes, or runs of the past."""
    st.title("Compare")
    ways = [setup.TRAIN_TOGETHER, setup.RUNS]
    if choose_one("How", ways, setup.TRAIN_TOGETHER, key="compare-way", label_visibility="collapsed") == setup.RUNS:
        compare_runs()
    else:
        train()
        list_earlier()


def train() -> None:
    """New lanes, trained as one."""
    try:
        choice, data = setup.choose_data()
        if data is None:
            return
        methods = setup.choose_lanes(data)
        if not 2 <= len(methods) <= MOST_LANES:
            hint = f"{count(len(methods), 'lane')} chosen. Choose two to {MOST_LANES}."
            st.info(hint, icon=":material/touch_app:")
            return
        configs, wrong = setup.settings(choice, data, methods)
        seconds = advice(configs, data, wrong)
    except UserError as error:
        show_error(error)
        link("data", "Choose other data")
        return
    cannot = seconds is None
    if st.button("Start", type="primary", icon=":material/play_arrow:", disabled=cannot, key="compare-start"):
        session.view(setup.begin(configs, seconds or 0.0))
        st.rerun()


def compare_runs() -> None:
    """Runs of the past."""
    runs = {run.id: run for run in readable(session.registry().all()) if run.snapshot().lane.rows}
    if len(runs) < 2:
        nothing_yet("Two runs that have learnt are needed; you have fewer.", "compare", "data", "Upload or choose data")
        return
    titles = {one: f"{run.name} · {method_title(run.config.method)} · {begun(run)}" for one, run in runs.items()}
    words = {"max_selections": MOST_LANES, "key": "compare-runs"}
    chosen = choose(f"Two to {MOST_LANES} runs", titles, widget=st.multiselect, **words)
    if st.button("Compare", type="primary", icon=":material/compare:", disabled=len(chosen) < 2):
        session.view(session.registry().compare(chosen))
        st.rerun()


def list_earlier() -> None:
    """Comparisons of the past, the newest first."""
    past = session.registry().comparisons()[:RECENT]
    if past:
        st.subheader("Earlier comparisons")
    for comparison in past:
        try:
            snapshot = comparison.snapshot()
        except UserError as error:  # one of its runs is damaged
            st.text(f"{comparison.id}: {error}")
            continue
        lanes = ", ".join(method_title(lane.method) for lane in snapshot.lanes)
        what, about = f"{state_icon(snapshot)} **{plain(snapshot.name)}** — {lanes}", live.format_shared(comparison)
        openable(what, about, session.view, comparison, key=f"open-{comparison.id}")


links.page("comparison", run_page.follow, prepare)

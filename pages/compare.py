"""Compare page: several methods on the same candidate sets, side by side."""

import streamlit as st

from pll.errors import UserError
from pll.methods import method_title
from pll.runs.run import MOST_LANES, Run, readable
from pll.ui import controls, links, live_page, session
from pll.ui.compare import live, setup
from pll.ui.format import count, plain, state_icon
from pll.ui.routes import link
from pll.ui.view_state import run_view

RECENT = 3


def prepare() -> None:
    """Choose data and lanes, or runs of the past."""
    st.title("Compare")
    way = st.segmented_control(
        "How",
        [setup.TOGETHER, setup.RUNS],
        default=setup.TOGETHER,
        required=True,
        key="compare_way",
        label_visibility="collapsed",
    )
    if way == setup.RUNS:
        compare_runs()
    else:
        train()
        list_earlier()


def train() -> None:
    """New lanes, trained as one."""
    try:
        choice, data = setup.choose_data()
        methods = setup.choose_lanes(data)
        if not 2 <= len(methods) <= MOST_LANES:
            hint = f"{count(len(methods), 'lane')} chosen. Choose two to {MOST_LANES}."
            st.info(hint, icon=":material/touch_app:")
            return
        configs = setup.settings(choice, data, methods)
        seconds = setup.cost(configs, data)
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        link("data", "Choose other data")
        return
    cannot = seconds is None
    if st.button("Start", type="primary", icon=":material/play_arrow:", disabled=cannot, key="compare-start"):
        begin(lambda: setup.begin(configs, seconds or 0.0))


def compare_runs() -> None:
    """Runs of the past."""
    runs = {run.id: run for run in readable(session.registry().all()) if run.snapshot().rows}
    chosen = st.multiselect(
        f"Two to {MOST_LANES} runs",
        list(runs),
        format_func=lambda one: f"{runs[one].config.name} · {method_title(runs[one].config.method)}",
        max_selections=MOST_LANES,
        key="compare_runs",
    )
    if st.button("Compare", type="primary", icon=":material/compare:", disabled=len(chosen) < 2):
        begin(lambda: session.registry().compare(chosen))


def begin(make: setup.Make) -> None:
    """Make a comparison and look at it."""
    try:
        session.view(make())
        st.rerun()
    except UserError as error:
        st.error(plain(error), icon=":material/error:")


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
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            lanes = ", ".join(method_title(lane.method) for lane in snapshot.lanes)
            what = f"{state_icon(snapshot)} **{plain(snapshot.name)}** — {lanes}"
            st.markdown(f"{what}  \n:gray[:small[{live.format_shared(comparison)}]]", width="stretch")
            st.button("Open", key=f"open-{comparison.id}", on_click=session.view, args=(comparison,))


def follow(run: Run) -> None:
    """Lanes at work, or ended."""
    snapshot, looking = run.snapshot(), run_view(run)
    with st.container(gap="xsmall"):
        beside_state, right = live_page.heading(snapshot)
        with beside_state:
            if "settings" not in looking.hidden:
                with st.popover("Settings", icon=":material/tune:", type="tertiary"):
                    live.settings(run)
            controls.restart_finished(run, snapshot.state)
        with right:
            if not looking.hidden:  # a lesson is shared by its author
                links.popover(run, snapshot)
            if "next" not in looking.hidden and st.button("New comparison", icon=":material/add:", key="compare-new"):
                session.view(None, "comparison")
                st.rerun()
        if "settings" not in looking.hidden:
            st.caption(plain(live.format_shared(run)))
        controls.bar(run, snapshot.state)
        if snapshot.error:
            st.error(plain(snapshot.error), icon=":material/error:")
        live_page.watch(run, snapshot.state, live.draw, live.PLACEHOLDER)
        links.end_of_lesson(looking)


links.page("comparison", follow, prepare)

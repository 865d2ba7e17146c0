"""Compare page: several methods on the same candidate sets, side by side."""

from functools import partial

import streamlit as st

from pll.errors import UserError
from pll.runs.comparison import MOST_LANES, Comparison
from pll.ui import links, session
from pll.ui.compare import controls, live, setup, sharing
from pll.ui.compare.view_state import comparison_view
from pll.ui.format import ICONS, count, method_title, plain
from pll.ui.routes import link

RECENT = 5


def prepare() -> None:
    """Choose data and lanes, or runs of the past."""
    st.title("Compare")
    st.markdown("Train several methods on the same candidate sets from the same start, and compare them.")
    way = st.segmented_control(
        "How",
        [setup.TOGETHER, setup.BESIDE],
        default=setup.TOGETHER,
        required=True,
        key="compare_way",
        label_visibility="collapsed",
    )
    train_together() if way == setup.TOGETHER else compare_finished()
    list_earlier()


def train_together() -> None:
    """New lanes, trained as one."""
    try:
        choice, data = setup.choose_data()
        methods = setup.choose_lanes(data)
        if not 2 <= len(methods) <= MOST_LANES:
            said = f"{count(len(methods), 'lane')} chosen. Choose two to {MOST_LANES}."
            st.info(said, icon=":material/touch_app:")
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


def compare_finished() -> None:
    """Runs of the past."""
    chosen = setup.choose_runs()
    if st.button("Compare", type="primary", icon=":material/compare:", disabled=len(chosen) < 2, key="compare-beside"):
        begin(lambda: session.registry().lay_beside(chosen))


def begin(make: setup.Make) -> None:
    """Make a comparison and look at it."""
    try:
        session.view_comparison(make())
    except UserError as error:
        st.error(plain(error), icon=":material/error:")
        return
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
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            lanes = ", ".join(method_title(lane.method) for lane in snapshot.lanes)
            what = f"{ICONS[snapshot.state]} **{plain(snapshot.name)}** — {lanes}"
            st.markdown(f"{what}  \n:gray[:small[{live.format_shared(comparison)}]]", width="stretch")
            st.button("Open", key=f"open-{comparison.id}", on_click=session.view_comparison, args=(comparison,))


def follow(comparison: Comparison) -> None:
    """Lanes at work, or ended."""
    snapshot = comparison.snapshot()
    with st.container(gap="xsmall"):
        live.heading(comparison, snapshot, partial(sharing.popover, comparison, snapshot))
        controls.bar(comparison, snapshot)
        live.watch(comparison, snapshot.state)
        links.end_of_lesson(comparison_view(comparison))


links.page(sharing.opened, session.comparison_in_view, follow, prepare)

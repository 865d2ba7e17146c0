"""List of recent runs and comparisons: state, result, actions."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from pll.errors import UserError
from pll.runs.comparison import Comparison
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.ui import session
from pll.ui.format import ICONS, count, format_comparison_state, format_state, headline, method_title, percent
from pll.ui.routes import go

RECENT = 8


def runs() -> None:
    """The runs of the past, the newest first."""
    past = of_the_past()
    st.subheader("Recent runs")
    if not past:
        st.caption("None yet. Your runs are listed here with their labels and models until you delete them.")
    for one in past[:RECENT]:
        try:
            lanes_row(one) if isinstance(one, Comparison) else row(one, one.snapshot())
        except UserError as error:
            st.caption(f"{one.id}: {error}")
    if len(past) > RECENT:
        st.caption(f"The last {RECENT} of {count(len(past), 'run')}; the export page offers every one with a result.")


def of_the_past() -> list[Run | Comparison]:
    """Runs and comparisons, the newest first; lanes that were trained together are one."""
    comparisons = session.registry().comparisons()
    lanes = {run.id for one in comparisons if one.lanes.together for run in one.runs}
    made: list[tuple[str, Run | Comparison]] = [(one.lanes.created, one) for one in comparisons]
    for run in session.registry().all():
        if run.id not in lanes:
            with suppress(UserError):  # damaged, or deleted meanwhile
                made.append((str(run.folder.about().get("created", "")), run))
    return [one for _, one in sorted(made, key=lambda pair: pair[0], reverse=True)]


def lanes_row(comparison: Comparison) -> None:
    """One comparison: its lanes, where it stands, the best of them, and the way to it."""
    snapshot = comparison.snapshot()
    name, progress, figure, actions = st.columns([3, 4, 2, 3], vertical_alignment="center")
    methods = ", ".join(method_title(lane.method) for lane in snapshot.lanes)
    name.markdown(f"{ICONS[snapshot.state]} **{snapshot.name}**  \nComparison: {methods}")
    progress.caption(format_comparison_state(snapshot))
    figure.markdown(f"{len(snapshot.lanes)}  \n:gray[:small[lanes]]")
    with actions.container(horizontal=True):
        if st.button("Open", key=f"open-{comparison.id}"):
            go("compare", comparison=comparison.id)
        if not snapshot.is_active:
            with st.popover("", icon=":material/delete:", type="tertiary", help="Delete this comparison"):
                together = " and the runs of its lanes" if comparison.lanes.together else "; its runs stay"
                st.write(f"Delete this comparison{together} permanently?")
                st.button("Delete", key=f"delete-{comparison.id}", on_click=delete_comparison, args=(comparison.id,))


def row(run: Run, snapshot: Snapshot) -> None:
    """One run: what, where it stands, how well, and the way to it."""
    name, progress, figure, actions = st.columns([3, 4, 2, 3], vertical_alignment="center")
    name.markdown(f"{ICONS[snapshot.state]} **{snapshot.name}**  \n{method_title(snapshot.method)}")
    progress.caption(snapshot.error if snapshot.state == "failed" and snapshot.error else format_state(snapshot))
    latest = snapshot.metrics or (snapshot.rows[-1] if snapshot.rows else {})
    share, of_what = headline(latest)
    figure.markdown(f"{percent(share)}  \n:gray[:small[{of_what}]]")
    with actions.container(horizontal=True):
        if st.button("Open", key=f"open-{run.id}"):
            go("train", run=run.id)
        if snapshot.state in ("stopped", "interrupted"):
            st.button("Resume", key=f"resume-{run.id}", icon=":material/play_arrow:", on_click=resume, args=(run,))
        if not snapshot.is_active:
            with st.popover("", icon=":material/delete:", type="tertiary", help="Delete this run"):
                st.write(f"Delete **{snapshot.name}** with its labels and model permanently?")
                st.button("Delete", key=f"delete-{run.id}", on_click=delete, args=(run.id,))


def resume(run: Run) -> None:
    """Resume a run; show the message of a UserError."""
    try:
        run.resume()
    except UserError as error:
        st.toast(str(error), icon=":material/error:")


def delete(run_id: str) -> None:
    """Delete a run; show the message of a UserError."""
    try:
        session.registry().delete(run_id)
    except UserError as error:
        st.toast(str(error), icon=":material/error:")
    if st.session_state.get("run") == run_id:
        session.view(None)


def delete_comparison(comparison_id: str) -> None:
    """Delete a comparison; show the message of a UserError."""
    try:
        session.registry().delete_comparison(comparison_id)
    except UserError as error:
        st.toast(str(error), icon=":material/error:")

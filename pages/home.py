"""Home: what Candid does, one button to see it, the ways in, the runs of the past."""

import streamlit as st

from pll.errors import UserError
from pll.protocol import Flip
from pll.rundir import RunConfig
from pll.runs import Run
from pll.snapshots import Snapshot
from pll.sources import Source
from pll.ui import bring, session
from pll.ui.routes import go
from pll.ui.words import ICONS, count, headline, method_title, percent, standing

DEMO = RunConfig(Source("digits"), flip=Flip("binomial", 0.7), holdout=0.2, seed=0, name="digits demo")
DEMO_PACE = 8.0
"""Epochs a second: at full speed it would be over before the eye had found it."""
RECENT = 8


def hero() -> None:
    """One sentence and one button."""
    st.title("Labels that are ambiguous, settled.")
    st.markdown(
        "Give Candid examples that may be *this or that or that*. It finds the one true label of each, shows you how, "
        "and says how sure it is."
    )
    if st.button("Watch it work", type="primary", icon=":material/play_arrow:"):
        start_demo()
    st.caption("1,797 handwritten digits, each with about seven possible labels of ten. Takes a quarter of a minute.")


def start_demo() -> None:
    """The embedded digits, at a pace that eyes can follow."""
    try:
        run = session.registry().start(DEMO)
    except UserError as error:
        st.error(str(error), icon=":material/error:")
        return
    run.set_pace(DEMO_PACE)
    session.view(run)
    go("train", run=run.id)


def doors() -> None:
    """The ways in."""
    own, known = st.columns(2, gap="medium")
    with own.container(border=True, height="stretch"):
        st.markdown("**My annotators disagree**")
        st.caption("Bring a table, pictures or an export of your annotation tool, and get one label for each example.")
        if st.button("Bring my data", icon=":material/upload_file:"):
            bring.begin_with(bring.UPLOAD)
            go("data")
    with known.container(border=True, height="stretch"):
        st.markdown("**I want to try it on known data**")
        st.caption("Choose a dataset whose true labels are known, hide them among wrong ones, and see what is found.")
        if st.button("Choose a dataset", icon=":material/dataset:"):
            bring.begin_with(bring.CATALOGUE)
            go("data")


def runs() -> None:
    """The runs of the past, the newest first."""
    past = session.registry().all()
    st.subheader("Recent runs")
    if not past:
        st.caption("None yet. What you train stays here, with its labels and its model, until you delete it.")
    for run in past[:RECENT]:
        try:
            row(run, run.snapshot())
        except UserError as error:
            st.caption(f"{run.id}: {error}")
    if len(past) > RECENT:
        st.caption(f"The last {RECENT} of {count(len(past), 'run')}; the export page offers every one with a result.")


def row(run: Run, snapshot: Snapshot) -> None:
    """One run: what, where it stands, how well, and the way to it."""
    name, progress, figure, actions = st.columns([3, 4, 2, 3], vertical_alignment="center")
    name.markdown(f"{ICONS[snapshot.state]} **{snapshot.name}**  \n{method_title(snapshot.method)}")
    progress.caption(snapshot.error if snapshot.state == "failed" and snapshot.error else standing(snapshot))
    latest = snapshot.metrics or (snapshot.rows[-1] if snapshot.rows else {})
    share, of_what = headline(latest)
    figure.markdown(f"{percent(share)}  \n:gray[:small[{of_what}]]")
    with actions.container(horizontal=True):
        if st.button("Open", key=f"open-{run.id}"):
            go("train", run=run.id)
        if snapshot.state in ("stopped", "interrupted"):
            st.button("Go on", key=f"resume-{run.id}", icon=":material/play_arrow:", on_click=resume, args=(run,))
        if not snapshot.is_active:
            with st.popover("", icon=":material/delete:", type="tertiary", help="Delete this run"):
                st.write(f"Delete **{snapshot.name}** with its labels and model for good?")
                st.button("Delete", key=f"delete-{run.id}", on_click=delete, args=(run.id,))


def resume(run: Run) -> None:
    """Go on with a run, or say why not."""
    try:
        run.resume()
    except UserError as error:
        st.toast(str(error), icon=":material/error:")


def delete(run_id: str) -> None:
    """Delete a run, or say why not."""
    try:
        session.registry().delete(run_id)
    except UserError as error:
        st.toast(str(error), icon=":material/error:")
    if st.session_state.get("run") == run_id:
        session.view(None)


hero()
doors()
runs()

"""A run of one or more lanes while it may change: heading, timeline, and a part that refreshes itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pll.runs.run import Run
from pll.runs.snapshots import HOW_SURE, Snapshot, StepProgress
from pll.ui import controls, session, voters
from pll.ui.components.timeline import mount_timeline, timeline_payload
from pll.ui.data import understood
from pll.ui.format import format_state, plain, state_icon
from pll.ui.pace import pace
from pll.ui.scenes import Scene, scenes
from pll.ui.widgets import beside, button, show_error, show_errors

RUN_REFRESH = 0.4
"""Seconds between two looks at a run that moves."""
IDLE_REFRESH = 3.0
"""Seconds between refreshes while paused: another tab may resume it."""
READY_SECONDS = 0.5
"""Seconds to wait for the data before a placeholder is shown."""

Draw = Callable[[list[Scene], Snapshot], None]
"""Draws what is to be seen of the lanes."""


def heading(snapshot: Snapshot) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Show name and state; return the places beside the state, and at the right."""
    with st.container(
        key="run-heading", horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"
    ):
        left, right = (beside(width="content") for _ in range(2))
    with left:
        st.title(plain(snapshot.name), width="content", anchor=False)
        state = {"queued": "waiting", "running": "training"}.get(snapshot.state, snapshot.state)
        st.markdown(f"{state_icon(snapshot)} {state}", width="content")
    return left, right


def watch(run: Run, state: str, draw: Draw, height: int) -> None:
    """Draw everything about a run that changes, and refresh it while it may change.

    The rest of the page was made for `state`: once it is another one, all of the page is made anew.

    Parameters
    ----------
    run
        The run.
    state
        Its state, for which the rest of the page was made.
    draw
        Draws what changes.
    height
        Of the placeholder until the data is ready, in pixels.
    """
    idle = dict.fromkeys(("paused", "stopped", "interrupted"), IDLE_REFRESH)  # another tab may go on with it
    shortest = {"running": RUN_REFRESH, "queued": RUN_REFRESH, **idle}.get(state)
    interval = None if shortest is None else pace().interval(shortest)

    @show_errors
    def draw_now() -> None:
        session.settle_address()
        if session.has_left(run) or not session.registry().has(run.id):
            st.rerun()  # the page shows the one in view now, or says that this one is no longer there, or shared
        if shortest is None or interval is None:
            _live(run, state, draw, height)
            return
        with pace().counted(session.tab_id()):
            _live(run, state, draw, height)
        if pace().has_changed(interval, shortest):
            st.rerun()  # the browser keeps the interval until all of the page is made anew

    st.fragment(draw_now, run_every=interval)()


def _live(run: Run, state_of_page: str, draw: Draw, height: int) -> None:
    snapshot = run.snapshot()
    if snapshot.state != state_of_page:
        st.rerun()  # the buttons above belong to another state
    if not run.wait_until_ready(READY_SECONDS):  # it waits for its turn, or reads a large file: not a second time, here
        st.caption(format_state(snapshot))
        step = snapshot.step
        st.progress(0.0 if step is None else min(1.0, step.share))
        with st.container(height=height, border=False):
            _known(run)
        return
    draw(scenes(run, snapshot), snapshot)


def _known(run: Run) -> None:
    """What is known of the data before it has features and candidate sets."""
    data = run.lanes[0].read
    if data is None:
        return
    key = f"read-{run.id}"
    agreed = None if data.annotations is None else voters.of_data(key, data.annotations)
    st.markdown(plain(understood.sentence(data, agreed)))
    understood.show_rows(data)


def progress(now: Sequence[Scene], snapshot: Snapshot) -> None:
    """Where the run stands, and which epoch is in view.

    Parameters
    ----------
    now
        What is to be seen, by lane.
    snapshot
        Where the run stands.
    """
    looking = now[0].looking
    when = max(now, key=lambda scene: scene.frame.epoch).frame.when.lower()
    back = "" if looking.follow or all(scene.is_latest for scene in now) else f" · **in view: {when}**"
    with st.container():  # always there: a timeline that changes places is made anew
        if back or snapshot.state != "finished" or len(now) > 1:  # the result of one lane says that it has ended
            st.caption(format_state(snapshot) + back)
    if (step := snapshot.step) is not None and step.what == HOW_SURE:
        _skip(now[0].run, step)
    elif step is not None:
        st.progress(min(1.0, step.share))
    draw_timeline(now, snapshot)
    for scene in now if len(now) > 1 else ():
        if scene.snapshot.state == "failed":
            show_error(f"{scene.title}: {scene.snapshot.error}")


def _skip(run: Run, step: StepProgress) -> None:
    """How far the last step of a run is, and the button that leaves it out."""
    with beside():
        st.progress(min(1.0, step.share), width=320)
        if session.registry().may(run, "owner"):
            button(
                "Skip",
                controls.skip,
                run,
                icon="skip_next",
                key=f"skip-{run.id}",
                help="End without it: no label is then called certain.",
            )


def draw_timeline(now: Sequence[Scene], snapshot: Snapshot) -> None:
    """The epochs, with the one in view: one timeline for all lanes.

    Parameters
    ----------
    now
        What is to be seen, by lane.
    snapshot
        Where the run stands.
    """
    looking = now[0].looking
    if "timeline" in looking.hidden:
        return
    longest = max(now, key=lambda scene: scene.epochs[-1])
    payload = timeline_payload(
        longest.epochs,
        done=max(scene.snapshot.epoch for scene in now),
        total=snapshot.total or 1,
        viewed=max(scene.frame.epoch for scene in now),
        follow=looking.follow,
        live=snapshot.is_active,
        requested=looking.requested,
        changed=_changed(now),
    )
    mount_timeline(payload, key=f"timeline-{now[0].run.id}", on_look=looking.look)


def _changed(now: Sequence[Scene]) -> npt.NDArray[np.float32]:
    """(epochs,) mean share, over the lanes, of the labels that changed."""
    most = max(len(scene.snapshot.rows) for scene in now)
    shares = np.zeros((len(now), most), dtype=np.float32)
    for line, scene in zip(shares, now, strict=True):
        n = max(len(scene.data), 1)
        line[: len(scene.snapshot.rows)] = [(row["changed_labels"] or 0) / n for row in scene.snapshot.rows]
    return np.asarray(shares.mean(axis=0))

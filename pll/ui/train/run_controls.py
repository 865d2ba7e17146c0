"""Control bar of a run: restart, step, resume, pause, speed and stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Literal

import streamlit as st

from pll.errors import UserError
from pll.runs.config import format_settings
from pll.runs.ranks import most_processes
from pll.runs.run import Run
from pll.runs.snapshots import Snapshot
from pll.ui import control_widgets, live_page, session
from pll.ui.format import count, plain
from pll.ui.routes import go
from pll.ui.train import chosen, presenter, setup
from pll.ui.view_state import RunView, run_view

SHOWN_BEFORE = 1.2
"""Seconds that the demo shows its state before training."""
NEVER = 0
QUIETS = (NEVER, 5, 10, 25, 50)
"""Epochs without any change of an identified label after which a run is settled, and stops."""


def heading(run: Run, snapshot: Snapshot, share: Callable[[], None]) -> None:
    """Show name, state and settings of a run; at the right, sharing and next steps."""
    live_page.heading(
        snapshot,
        format_settings(run.config, chosen.settings_of(run)),
        run_view(run).hidden,
        settings=partial(setup.overview, run.config, chosen.settings_of(run)),
        share=share,
        onward=partial(what_next, run, snapshot),
        beside=partial(_beside, run, snapshot),
    )


def _beside(run: Run, snapshot: Snapshot) -> None:
    """Show what stands beside the settings: what is to be known of the run, and how a finished one begins again."""
    if snapshot.state == "finished" and _is_ours(run):
        restart(run)
    told = chosen.told(run)
    notes = [note for note in snapshot.notes if note not in told]
    if notes:
        with st.popover(count(len(notes), "note"), icon=":material/info:", type="tertiary", key="notes"):
            for note in notes:
                st.markdown(plain(note))


def begin_when_shown(run: Run) -> None:
    """Let a run that waits before its first epoch begin once its page has shown that."""
    st.session_state["begins"] = run.id


def begin(run: Run) -> None:
    """At the end of a page that has shown a run before its first epoch: let it begin, where that was asked for."""
    if st.session_state.get("begins") != run.id:
        return
    del st.session_state["begins"]
    time.sleep(SHOWN_BEFORE)  # of this page alone; what stands on it has been sent
    control_widgets.play(run, run_view(run))
    st.rerun()


def what_next(run: Run, snapshot: Snapshot) -> None:
    """Show next steps: review, export, new run; the export stands out where the run is healthy."""
    state = snapshot.state
    labels = {"finished": "Export labels and model", "stopped": "Export labels so far"}
    if state in labels:
        if st.button("Review uncertain labels", icon=":material/rate_review:", key="review"):
            go("review", run=run.id)
        is_healthy = snapshot.health is not None and snapshot.health.is_healthy
        kind: Literal["primary", "secondary"] = "primary" if is_healthy else "secondary"
        if st.button(labels[state], type=kind, icon=":material/download:", key="export"):
            go("export", run=run.id)
    presenter.button(run_view(run))
    if st.button("New run", icon=":material/add:", key="new"):
        session.view(None)
        st.rerun()


def bar(run: Run, state: str) -> None:
    """Show the control bar; its buttons keep their places while there is something to train.

    In the main script and not in the fragment that refreshes, so that they answer at once.
    """
    if not session.registry().may(run, "owner"):
        control_widgets.show_role(run)
        return
    holder = run.holder()
    elsewhere = run.is_elsewhere()
    can_move = state in control_widgets.MOVABLE and (not elsewhere or holder is not None)
    hidden = run_view(run).hidden
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if "transport" not in hidden and state != "finished":  # then there is nothing to pause or to step
            move(run, state, can_move=can_move, can_step=holder is None or "step" in holder.takes)
        if can_move and not elsewhere and "speed" not in hidden:
            control_widgets.speed(run)
            settle(run)
        if state in ("stopped", "interrupted") and not elsewhere and run.config.processes > 1:
            processes(run)
    control_widgets.show_role(run)
    if elsewhere:
        control_widgets.show_holder(run, holder)


def move(run: Run, state: str, *, can_move: bool, can_step: bool = True) -> None:
    """Show restart, resume or pause, steps and stop."""
    looking, disabled = run_view(run), not can_move
    restart(run)
    control_widgets.play_or_pause(run, looking, moving=state in ("running", "queued"), disabled=disabled)
    control_widgets.steps(run, looking, whose="", disabled=disabled or not can_step)
    st.button(
        "Next batch",
        key="step-batch",
        on_click=control_widgets.step,
        args=(run, looking, None, 1),
        shortcut="b",
        help="Run one mini-batch, then pause.",
        disabled=disabled or not can_step,
    )
    control_widgets.stop_button(run, disabled=disabled or state not in ("running", "queued", "paused"))


def restart(run: Run) -> None:
    """Show the button that begins again; of a run that has ended it stands beside the settings."""
    st.button(
        "Restart",
        icon=":material/replay:",
        key="reset",
        type="tertiary" if run.snapshot().state == "finished" else "secondary",
        on_click=reset,
        args=(run,),
        help="Starts a new run with the same settings, paused before its first epoch. This run is kept.",
    )


def _is_ours(run: Run) -> bool:
    return session.registry().may(run, "owner") and "transport" not in run_view(run).hidden


def settle(run: Run) -> None:
    """Show the selector of the stop condition."""
    now = run.settle_after or NEVER
    control_widgets.setting(
        "Stop when settled",
        sorted({*QUIETS, now}),
        now,
        key=f"settle-{run.id}",
        format_value=format_settle,
        change=lambda quiet: control_widgets.control(run, lambda: run.set_settle(quiet or None)),
        width=245,
        help="Settled: no identified label has changed for this many epochs. You can resume the run later.",
    )


def processes(run: Run) -> None:
    """Show the selector of how many processes the run is resumed with."""
    now = run.config.processes
    control_widgets.setting(
        "Processes",
        sorted({*range(1, most_processes() + 1), now}),
        now,
        key=f"processes-{run.id}",
        format_value=lambda number: count(number, "process", "processes"),
        change=lambda number: control_widgets.control(run, lambda: run.set_processes(number)),
        width=150,
        help="How many processes train the run once it is resumed.",
    )


def format_settle(epochs: int) -> str:
    """When a run stops by itself.

    >>> format_settle(NEVER), format_settle(10)
    ('Train to the end', 'Stop when settled: 10 epochs')
    """
    return f"Stop when settled: {count(epochs, 'epoch')}" if epochs else "Train to the end"


def reset(run: Run) -> None:
    """A new run with the same settings, paused before its first batch; the example in view stays in view."""
    try:
        session.registry().control(run, "stopped", run.stop)
        new = session.registry().start(run.config, paused=True)
    except UserError as error:
        st.toast(plain(error), icon=":material/error:")
        return
    control_widgets.keep_pace(new, run)
    before = run_view(run)
    st.session_state[f"run-view-{new.id}"] = RunView(
        new.id,
        selected=before.selected,
        truth=before.truth,
        order=before.order,
        pins=list(before.pins),
        hidden=before.hidden,
    )
    session.view(new)

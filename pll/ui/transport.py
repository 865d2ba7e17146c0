"""The transport bar: begin again, step, play, pause, how fast, and stop. It moves the run; looking back does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import streamlit as st

from pll.describe import in_words
from pll.errors import UserError
from pll.runs import Run
from pll.snapshots import Snapshot
from pll.ui import session, setup
from pll.ui.compare.standing import trained_elsewhere
from pll.ui.routes import go
from pll.ui.viewing import Viewing, viewing
from pll.ui.words import ICONS, STATES, count

FULL_SPEED = math.inf
SPEEDS = (FULL_SPEED, 8.0, 3.0, 1.0)
"""Epochs a second."""
PATIENCE = 0.4
"""Seconds that a press waits for its effect, so that the page that follows shows it."""
STEPS = (1, 5, 25)
"""Epochs a step."""
NEVER = 0
QUIETS = (NEVER, 5, 10, 25, 50)
"""Epochs without any change of an identified label after which a run is settled, and stops."""


def heading(run: Run, snapshot: Snapshot, share: Callable[[], None]) -> None:
    """Which run, how it was set up, where it stands; at the right, what `share` offers, and where to go from it."""
    hidden = viewing(run).hidden
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            st.title(snapshot.name, width="content", anchor=False)
            st.markdown(f"{ICONS[snapshot.state]} {STATES[snapshot.state]}", width="content")
            if "settings" not in hidden:
                with st.popover("Settings", icon=":material/tune:", type="tertiary"):
                    setup.overview(run.config)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
            if not hidden:  # a lesson is shared by whoever prepared it
                share()
            if "next" not in hidden:
                what_next(run, snapshot.state)
    if "settings" not in hidden:
        st.caption(in_words(run.config))


def what_next(run: Run, state: str) -> None:
    """Take the labels away, or begin something else."""
    labels = {"finished": "Export labels and model", "stopped": "Export what there is"}
    if state in labels:
        if st.button("Review the unsure ones", icon=":material/rate_review:", key="review"):
            go("review", run=run.id)
        kind: Literal["primary", "secondary"] = "primary" if state == "finished" else "secondary"
        if st.button(labels[state], type=kind, icon=":material/download:", key="export"):
            go("export", run=run.id)
    if st.button("New run", icon=":material/add:", key="new"):
        session.view(None)
        st.rerun()


def bar(run: Run, state: str) -> None:
    """The buttons of a run: always the same ones in the same places, so that none moves away under the pointer.

    In the main script and not in the fragment that refreshes, so that they answer at once.
    """
    elsewhere = run.is_elsewhere()
    can_move = state in ("running", "queued", "paused", "stopped", "interrupted") and not elsewhere
    hidden = viewing(run).hidden
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if "transport" not in hidden:
            move(run, state, can_move=can_move)
        if can_move and "speed" not in hidden:
            speed(run)
    if elsewhere:
        trained_elsewhere(run)


def move(run: Run, state: str, *, can_move: bool) -> None:
    """Begin again, play or pause, step, stop."""
    st.button(
        "Begin again",
        icon=":material/replay:",
        key="reset",
        on_click=reset,
        args=(run,),
        help="A new run with the same settings, paused before its first epoch. This one is kept.",
    )
    play_or_pause(run, moving=state in ("running", "queued"), disabled=not can_move)
    steps(run, disabled=not can_move)
    st.button(
        "Stop training",
        icon=":material/stop:",
        key="stop",
        on_click=stop,
        args=(run,),
        disabled=not can_move or state not in ("running", "queued", "paused"),
    )


def play_or_pause(run: Run, *, moving: bool, disabled: bool) -> None:
    """One button in one place and of one width, whichever it is: its neighbours must not move under the pointer."""
    name, icon, action = ("Pause", "pause", pause) if moving else ("Go on", "play_arrow", play)
    st.button(
        name,
        icon=f":material/{icon}:",
        key=icon,
        on_click=action,
        args=(run,),
        shortcut="p",
        type="secondary" if moving or disabled else "primary",
        disabled=disabled,
        width=125,
    )


def steps(run: Run, *, disabled: bool) -> None:
    """So many epochs, or one mini-batch, and then a pause."""
    for epochs in STEPS:
        st.button(
            "+1 epoch" if epochs == 1 else f"+{epochs}",
            key=f"step-{epochs}",
            on_click=step,
            args=(run, epochs),
            shortcut="e" if epochs == 1 else None,
            help=f"{count(epochs, 'epoch')}, then a pause.",
            disabled=disabled,
        )
    st.button(
        "+ mini-batch",
        key="step-batch",
        on_click=step,
        args=(run, None, 1),
        shortcut="b",
        help="One mini-batch, then a pause.",
        disabled=disabled,
    )


def speed(run: Run) -> None:
    """How fast it goes, and whether it ends by itself."""
    pace, settle = f"speed-{run.id}", f"settle-{run.id}"
    now, quiet = run.pace or FULL_SPEED, run.settle_after or NEVER  # a link may have brought ones of its own
    st.selectbox(
        "Speed",
        sorted({*SPEEDS, now}, reverse=True),
        index=sorted({*SPEEDS, now}, reverse=True).index(now),
        format_func=speed_in_words,
        key=pace,
        on_change=lambda: run.set_pace(None if st.session_state[pace] == FULL_SPEED else st.session_state[pace]),
        label_visibility="collapsed",
        width=185,
    )
    st.selectbox(
        "Stop when settled",
        sorted({*QUIETS, quiet}),
        index=sorted({*QUIETS, quiet}).index(quiet),
        format_func=settle_in_words,
        key=settle,
        on_change=lambda: run.set_settle(st.session_state[settle] or None),
        help="Settled: no identified label has changed for so many epochs. It can go on later.",
        label_visibility="collapsed",
        width=245,
    )


def speed_in_words(epochs_a_second: float) -> str:
    """A speed.

    >>> speed_in_words(FULL_SPEED), speed_in_words(1.0), speed_in_words(2.5)
    ('Full speed', '1 epoch a second', '2.5 epochs a second')
    """
    if epochs_a_second == FULL_SPEED:
        return "Full speed"
    return f"{epochs_a_second:g} epoch{'s' * (epochs_a_second != 1)} a second"


def settle_in_words(epochs: int) -> str:
    """When a run stops by itself.

    >>> settle_in_words(NEVER), settle_in_words(10)
    ('Go to the end', 'Stop when settled: 10 epochs')
    """
    return f"Stop when settled: {count(epochs, 'epoch')}" if epochs else "Go to the end"


# ---- what the buttons do -------------------------------------------------------------------------------------------


def pause(run: Run) -> None:
    """Stand still before the next mini-batch."""
    run.pause()
    run.wait_until_paused(PATIENCE)


def play(run: Run) -> None:
    """Go on, and look at what comes."""
    viewing(run).follow = True
    attempt(run.resume)


def step(run: Run, epochs: int | None = None, batches: int | None = None) -> None:
    """Go on for so long, and look at what comes."""
    viewing(run).follow = True
    attempt(lambda: run.step(epochs=epochs, batches=batches))
    run.wait_until_paused(PATIENCE)


def stop(run: Run) -> None:
    """End here; what was learnt is kept."""
    run.stop()
    run.join(PATIENCE)


def reset(run: Run) -> None:
    """A new run with the same settings, paused before its first batch; the example in view stays in view."""
    run.stop()
    try:
        new = session.registry().start(run.config, paused=True)
    except UserError as error:
        st.toast(str(error), icon=":material/error:")
        return
    new.set_pace(run.pace)
    new.set_settle(run.settle_after)
    before = viewing(run)
    st.session_state[f"viewing-{new.id}"] = Viewing(
        new.id,
        selected=before.selected,
        truth=before.truth,
        order=before.order,
        pins=list(before.pins),
        hidden=before.hidden,
    )
    new.wait_until_paused(PATIENCE)
    session.view(new)


def attempt(action: Callable[[], None]) -> None:
    """Do it, or say why not."""
    try:
        action()
    except UserError as error:
        st.toast(str(error), icon=":material/error:")

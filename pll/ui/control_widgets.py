"""Control buttons of a run or a comparison: resume, pause, step, stop, speed.

`mark` is the prefix of the widgets' keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import streamlit as st

from pll.errors import UserError
from pll.runs.control import Holder
from pll.runs.run import Run
from pll.runs.worker import Worker
from pll.ui import session
from pll.ui.format import count, plain
from pll.ui.routes import link

T = TypeVar("T")
FULL_SPEED = math.inf
SPEEDS = (FULL_SPEED, 8.0, 3.0, 1.0)
"""Epochs a second."""
PATIENCE = 0.4
"""Seconds that a press waits for its effect, so that the page that follows shows it."""
STEPS = (1, 5, 25)
"""Epochs a step."""
MOVABLE = ("running", "queued", "paused", "stopped", "interrupted")
"""States in which training can go on."""


class Follower(Protocol):
    """A view that can follow the latest epoch."""

    follow: bool


def play_or_pause(worker: Worker, looking: Follower, *, moving: bool, disabled: bool, mark: str = "") -> None:
    """Show Pause or Resume, in the same width, so that the buttons beside it do not move."""
    name, icon = ("Pause", "pause") if moving else ("Resume", "play_arrow")
    st.button(
        name,
        icon=f":material/{icon}:",
        key=f"{mark}{icon}",
        on_click=pause if moving else play,
        args=(worker,) if moving else (worker, looking),
        shortcut="p",
        type="secondary" if moving or disabled else "primary",
        disabled=disabled,
        width=125,
    )


def steps(worker: Worker, looking: Follower, *, whose: str, disabled: bool, mark: str = "") -> None:
    """Show the buttons that run some epochs, then pause.

    Args:
        whose: " of every lane", say.
    """
    for epochs in STEPS:
        st.button(
            "Run 1 epoch" if epochs == 1 else f"Run {epochs}",
            key=f"{mark}step-{epochs}",
            on_click=step,
            args=(worker, looking, epochs),
            shortcut="e" if epochs == 1 else None,
            help=f"Run {count(epochs, 'more epoch')}{whose}, then pause.",
            disabled=disabled,
        )


def stop_button(worker: Worker, *, disabled: bool, mark: str = "") -> None:
    """Show the stop button."""
    st.button("Stop", icon=":material/stop:", key=f"{mark}stop", on_click=stop, args=(worker,), disabled=disabled)


def speed(worker: Worker, mark: str = "") -> None:
    """Show the speed selector."""
    now = worker.pace or FULL_SPEED
    setting(
        "Speed",
        sorted({*SPEEDS, now}, reverse=True),
        now,
        key=f"{mark}speed-{worker.id}",
        format_value=format_speed,
        change=lambda pace: control(worker, lambda: worker.set_pace(None if pace == FULL_SPEED else pace)),
        width=185,
    )


def setting(
    title: str,
    values: Sequence[T],
    now: T,
    *,
    key: str,
    format_value: Callable[[T], str],
    change: Callable[[T], None],
    width: int,
    help: str | None = None,
) -> None:
    """Show a selector without a label that takes effect at once.

    Args:
        values: what there is; `now` among them, which a link may have brought.
    """
    st.selectbox(
        title,
        values,
        index=values.index(now),
        format_func=format_value,
        key=key,
        on_change=lambda: change(st.session_state[key]),
        help=help,
        label_visibility="collapsed",
        width=width,
    )


def format_speed(epochs_a_second: float) -> str:
    """A speed.

    >>> format_speed(FULL_SPEED), format_speed(1.0), format_speed(2.5)
    ('Full speed', '1 epoch a second', '2.5 epochs a second')
    """
    if epochs_a_second == FULL_SPEED:
        return "Full speed"
    return f"{epochs_a_second:g} epoch{'s' * (epochs_a_second != 1)} a second"


# ---- what the buttons do -------------------------------------------------------------------------------------------


def pause(worker: Worker) -> None:
    """Pause before the next mini-batch."""
    attempt(lambda: session.registry().control(worker, "paused", worker.pause))
    worker.wait_until_paused(PATIENCE)


def play(worker: Worker, looking: Follower) -> None:
    """Resume, and follow the latest epoch."""
    looking.follow = True
    attempt(lambda: session.registry().resume(worker, worker.resume))


def step(worker: Worker, looking: Follower, epochs: int | None = None, batches: int | None = None) -> None:
    """Run some epochs or mini-batches, and follow the latest epoch."""
    looking.follow = True
    attempt(lambda: session.registry().resume(worker, lambda: worker.step(epochs=epochs, batches=batches), ""))
    worker.wait_until_paused(PATIENCE)


def stop(worker: Worker) -> None:
    """Stop; labels and model are kept."""
    attempt(lambda: session.registry().control(worker, "stopped", worker.stop))
    worker.join(PATIENCE)


def control(worker: Worker, action: Callable[[], None]) -> None:
    """Change a setting of a worker; show the message of a UserError."""
    attempt(lambda: session.registry().control(worker, "", action))


def keep_pace(new: Worker, old: Worker) -> None:
    """Give a restarted worker the pace and the stop condition of the old one."""
    new.set_pace(old.pace)
    new.set_settle(old.settle_after)
    new.wait_until_paused(PATIENCE)


def attempt(action: Callable[[], None]) -> None:
    """Run `action`; show the message of a UserError."""
    try:
        action()
    except UserError as error:
        st.toast(plain(error), icon=":material/error:")


def show_role(worker: Worker) -> None:
    """Say whose run or comparison it is, where it is not one's own."""
    registry = session.registry()
    if registry.is_own(worker):
        return
    may = {"viewer": "look at it", "reviewer": "look at it and review it", "owner": "do everything with it"}
    role = registry.role(worker)
    owner = registry.owner(worker)
    whose = f"Belongs to {plain(owner)}" if owner else "Belongs to nobody"
    st.caption(f":material/group: {whose}; you may {may[role or 'viewer']}.")


def show_holder(run: Run, holder: Holder | None) -> None:
    """Explain which process or comparison trains this run."""
    comparison = run.folder.about().get("comparison")
    if comparison:
        said = "This run is a lane of a comparison, which pauses and stops all its lanes together."
        st.info(said, icon=":material/compare:")
        link("compare", "Open the comparison", comparison=str(comparison))
        return
    show_process(holder)


def show_process(holder: Holder | None) -> None:
    """Say that another process trains a run or a comparison, and whether it can be controlled from here."""
    if holder is None:
        said = "Another process trains this. You can watch it here, but not pause or stop it."
    else:
        said = f"Trained by another process ({holder.where}), which pauses and stops it when asked here."
    st.info(plain(said), icon=":material/visibility:")

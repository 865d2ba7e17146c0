"""Control bar of a run of one or more lanes: restart, resume, pause, step, stop, speed, stop condition."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from pll.runs.run import Run
from pll.ui import session
from pll.ui.format import plain
from pll.ui.routes import link
from pll.ui.run_view import RunView, run_view, show_as
from pll.ui.widgets import Kind, beside, bound, button, toast_errors
from pll.wording import count

SPEEDS = (8.0, 3.0, 1.0)
"""Epochs a second."""
PRESS_SECONDS = 0.4
"""Seconds that a press waits for its effect, so that the page that follows shows it."""
MOVABLE = ("running", "queued", "paused", "stopped", "interrupted")
"""States in which training can go on."""


LONGER = 3
"""Times as many epochs, and where labels go back and forth steps as many times smaller, of a run that trains again."""
PATIENCES = (5, 10, 25, 50)
"""Epochs without any change of an identified label after which training stops."""


def bar(run: Run, state: str) -> None:
    """Show the control bar of a run of one or more lanes; its buttons keep their places while there is work left.

    In the main script and not in the fragment that refreshes, so that they answer at once.

    Parameters
    ----------
    run
        The run.
    state
        Its state, for which the page was made.
    """
    show_role(run)
    if not may_steer(run):
        return
    elsewhere = run.is_elsewhere()
    can_move = state in MOVABLE and not elsewhere
    hidden, moving = run_view(run).hidden, state in ("running", "queued")
    has_all = run.is_comparison or not moving  # who only waits for labels need not see the rest
    with beside():
        if "transport" not in hidden and state != "finished":  # then there is nothing to pause or to step
            restart(run, state)
            play_or_pause(run, moving=moving, disabled=not can_move)
            can_stop = can_move and (moving or state == "paused")
            button("Stop", stop, run, icon="stop", key="stop", disabled=not can_stop)
            if has_all:
                steps(run, disabled=not can_move)
            if has_all and not run.is_comparison:
                hint, is_off = "Run one mini-batch, then pause.", not can_move
                button("Next step", step, run, None, 1, key="step-batch", shortcut="b", help=hint, disabled=is_off)
        if can_move and "speed" not in hidden:
            speed(run)
            if has_all:
                patience(run)
    if elsewhere:
        show_elsewhere(run)


def may_steer(run: Run) -> bool:
    """Whether whoever looks at this page may stop and resume a run, whose lanes train together."""
    return run.is_together and session.registry().may(run, "owner")


def play_or_pause(run: Run, *, moving: bool, disabled: bool) -> None:
    """Show Pause or Resume, in the same width, so that the buttons beside it do not move.

    Parameters
    ----------
    run
        The run.
    moving
        Whether it trains or waits to.
    disabled
        Whether it cannot be pressed now.
    """
    name, icon, act = ("Pause", "pause", pause) if moving else ("Resume", "play_arrow", play)
    kind: Kind = "secondary" if moving or disabled else "primary"
    button(name, act, run, icon=icon, key=icon, shortcut="p", kind=kind, disabled=disabled, width=125)


def steps(run: Run, *, disabled: bool) -> None:
    """Show the buttons that train a few epochs, then pause.

    Parameters
    ----------
    run
        The run.
    disabled
        Whether they cannot be pressed now.
    """
    whose = " of every lane" if run.is_comparison else ""
    for epochs in (1, 5, 25):
        key, shortcut = f"step-{epochs}", "e" if epochs == 1 else None
        hint = f"Run {count(epochs, 'more epoch')}{whose}, then pause."
        button(f"Run {epochs}", step, run, epochs, key=key, shortcut=shortcut, help=hint, disabled=disabled)


def restart(run: Run, state: str) -> None:
    """Show the button that begins again; of a run that has ended it stands beside the settings.

    Parameters
    ----------
    run
        The run.
    state
        Its state, for which the page was made.
    """
    what = "comparison with the same lanes" if run.is_comparison else "run with the same settings"
    hint = f"Starts a new {what}, paused before its first epoch. This one is kept."
    kind: Kind = "tertiary" if state == "finished" else "secondary"
    button("Restart", reset, run, icon="replay", key="reset", kind=kind, help=hint)


def restart_finished(run: Run, state: str) -> None:
    """Show Restart where a run has finished, and has no control bar.

    Parameters
    ----------
    run
        The run.
    state
        Its state, for which the page was made.
    """
    if state == "finished" and may_steer(run) and "transport" not in run_view(run).hidden:
        restart(run, state)


def speed(run: Run) -> None:
    """Show the speed selector."""
    speeds = sorted({*SPEEDS, run.pace or SPEEDS[0]}, reverse=True)  # a link may bring another one
    titles = {0.0: "Full speed"} | {one: f"{one:g} a second" for one in speeds}
    _steer(run, "Speed", titles, run.pace, run.set_pace, width=130)


def patience(run: Run) -> None:
    """Show the selector of the stop condition."""
    epochs = sorted({*PATIENCES, run.patience or PATIENCES[0]})
    titles = {0: "Train to the end"} | {one: f"Stop when settled: {one}" for one in epochs}
    hint = "Settled: no identified label has changed for this many epochs. You can resume the run later."
    _steer(run, "Stop when settled", titles, run.patience, run.set_patience, width=245, help=hint)


def _steer(
    run: Run, label: str, titles: Mapping[Any, str], now: float | None, change: Callable[[Any], None], **more: Any
) -> None:
    """A selector that changes a run at work; 0 stands for no limit."""

    def changed(value: float) -> None:
        session.registry().control(run, lambda: change(value or None))

    options = {"label_visibility": "collapsed", **more}
    bound(st.selectbox, label, titles, key=f"{label}-{run.id}", now=now or 0, change=changed, **options)


def resume(run: Run, state: str) -> None:
    """Offer to resume a run, where it is shown, that was stopped or interrupted.

    Parameters
    ----------
    run
        The run.
    state
        Its state, for which the page was made.
    """
    if state in ("stopped", "interrupted") and may_steer(run):
        button("Resume", play, run, icon="play_arrow", key=f"resume-{run.id}")


# ---- what the buttons do -------------------------------------------------------------------------------------------


def pause(run: Run) -> None:
    """Pause before the next mini-batch."""
    session.registry().control(run, run.pause, "paused")
    run.wait_until_paused(PRESS_SECONDS)


@toast_errors
def play(run: Run) -> None:
    """Resume, and follow the latest epoch."""
    run_view(run).follow = True
    session.registry().control(run, run.resume, "resumed", trains=True)


def step(run: Run, epochs: int | None = None, batches: int | None = None) -> None:
    """Run some epochs or mini-batches, and follow the latest epoch.

    Parameters
    ----------
    run
        The run.
    epochs, batches
        How many of them; None for none.
    """
    run_view(run).follow = True
    session.registry().control(run, lambda: run.resume(epochs=epochs, batches=batches), trains=True)
    run.wait_until_paused(PRESS_SECONDS)


def stop(run: Run) -> None:
    """Stop; labels and model are kept."""
    session.registry().control(run, run.stop, "stopped")
    run.join(PRESS_SECONDS)


def skip(run: Run) -> None:
    """Leave it open how sure the labels are; the run ends."""
    session.registry().control(run, run.skip)
    run.join(PRESS_SECONDS)


def find_out(run: Run) -> None:
    """Find out how sure the labels of a finished run are."""
    session.registry().control(run, run.find_out, trains=True)


def reset(run: Run) -> None:
    """A new run with the same settings, paused before its first batch; the example in view stays in view."""
    registry = session.registry()
    registry.control(run, run.stop, "stopped")
    name = "" if run.listed is None else run.listed.name
    new = registry.start(*(lane.config for lane in run.lanes), name=name, paused=True)
    new.set_pace(run.pace)
    new.set_patience(run.patience)
    new.wait_until_paused(PRESS_SECONDS)
    before = run_view(run)
    show_as(RunView(new.id, selected=before.selected, truth=before.truth, order=before.order, hidden=before.hidden))
    session.view(new)


def train_again(run: Run) -> None:
    """A new run of the same settings, also those chosen for it, which becomes the run in view.

    It has `LONGER` times the epochs, and steps as many times smaller where labels went back and forth.
    """
    (lane,), config = run.lanes, run.config
    done, recipe = lane.snapshot(), lane.folder.recipe()
    params = config.params | ({} if recipe is None else {**recipe.settings, "recipe": "default"})
    params |= {"epochs": LONGER * int(done.total or params.get("epochs", 100))}
    if done.health is not None and any(finding.again == "steps" for finding in done.health.findings):
        params["lr"] = lane.folder.about()["parameters"]["lr"] / LONGER
    session.view(session.registry().start(replace(config, params=params)))


def show_role(run: Run) -> None:
    """Say whose run it is, where it is not one's own."""
    registry = session.registry()
    if registry.is_own(run):
        return
    may = {"viewer": "look at it", "reviewer": "look at it and review it", "owner": "do everything with it"}
    role = registry.role(run)
    owner = registry.owner(run)
    whose = f"Belongs to {plain(owner)}" if owner else "Belongs to nobody"
    st.caption(f":material/group: {whose}; you may {may[role or 'viewer']}.")


def show_elsewhere(run: Run) -> None:
    """Say that a comparison or another process trains this run."""
    comparison = None if run.is_comparison else run.folder.about().get("comparison")
    if comparison:
        message = "This run is a lane of a comparison, which pauses and stops all its lanes together."
        st.info(message, icon=":material/compare:")
        link("compare", "Open the comparison", comparison=str(comparison))
        return
    message = "Another process trains this, perhaps in a shell: stop it there (Ctrl-C). Here you can watch it."
    st.info(message, icon=":material/visibility:")


# ---- a run that waits for eyes ---------------------------------------------------------------------------------------


START_DELAY = 1.2
"""Seconds that the demo shows its state before training."""
SEEN_PACE = 12.0
"""Epochs a second until then: what is slower by itself, as most is, is not slowed down."""
SEEN_SECONDS = 3.0
"""Seconds of training that its page shows at that pace."""
SHORT_RUN = 500
"""Epochs of a run that nobody minds at that pace, should its page be left before it was seen."""


def slow_until_seen(run: Run) -> None:
    """Let a run that has just been started, and may be over in a second, be seen."""
    if int(run.config.params.get("epochs", SHORT_RUN)) <= SHORT_RUN:
        run.set_pace(SEEN_PACE)
        st.session_state["unseen"] = (run.id, None)


def seen(run: Run, epoch: int) -> None:
    """Called whenever the page of a run has drawn an epoch: at full speed from `SEEN_SECONDS` after the first on.

    Parameters
    ----------
    run
        The run on the page.
    epoch
        That the page has drawn; 0 before the first.
    """
    unseen, since = st.session_state.get("unseen", (None, None))
    if unseen != run.id or not epoch:
        return
    if since is None:
        st.session_state["unseen"] = (run.id, time.monotonic())
    elif time.monotonic() - since > SEEN_SECONDS:
        del st.session_state["unseen"]
        if run.pace == SEEN_PACE:  # else somebody has chosen another
            run.set_pace(None)


def begin_when_shown(run: Run) -> None:
    """Let a run that waits before its first epoch begin once its page has shown that."""
    st.session_state["begins"] = run.id


def begin_once_shown(run: Run) -> None:
    """At the end of a page that has shown a run before its first epoch: let it begin, where that was asked for."""
    if st.session_state.get("begins") != run.id:
        return
    del st.session_state["begins"]
    time.sleep(START_DELAY)  # of this page alone; what stands on it has been sent
    play(run)
    st.rerun()

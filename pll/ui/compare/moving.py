"""The transport bar of a comparison: one for all lanes. It moves them; looking back does not."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pll.comparisons import Comparison
from pll.errors import UserError
from pll.snapshots import ComparisonSnapshot
from pll.ui import session
from pll.ui.compare.looking import Looking, looking_at
from pll.ui.transport import FULL_SPEED, SPEEDS, speed_in_words
from pll.ui.words import count

STEPS = (1, 5, 25)
"""Epochs a step."""
QUIET = 10
"""Epochs without any change of an identified label after which lanes are settled."""
PATIENCE = 0.4
"""Seconds that a press waits for its effect, so that the page that follows shows it."""


def bar(comparison: Comparison, snapshot: ComparisonSnapshot) -> None:
    """The same buttons in the same places, whatever the state, so that none moves away under the pointer.

    In the main script and not in the fragment that refreshes, so that they answer at once.
    """
    hidden = looking_at(comparison).hidden
    if not comparison.lanes.together:
        return
    elsewhere = snapshot.is_active and not comparison.is_alive()
    can_move = snapshot.state in ("running", "queued", "paused", "stopped", "interrupted") and not elsewhere
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if "transport" not in hidden:
            _buttons(comparison, snapshot, can_move=can_move, elsewhere=elsewhere)
        if can_move and "speed" not in hidden:
            _speed(comparison)
    if elsewhere:
        said = "Another process trains these lanes. They can be watched here, but not paused or stopped."
        st.info(said, icon=":material/visibility:")


def _buttons(comparison: Comparison, snapshot: ComparisonSnapshot, *, can_move: bool, elsewhere: bool) -> None:
    st.button(
        "Begin again",
        icon=":material/replay:",
        key="compare-reset",
        on_click=_again,
        args=(comparison,),
        disabled=elsewhere,
        help="A new comparison with the same lanes, paused before its first epoch. This one is kept.",
    )
    moving = snapshot.state in ("running", "queued")
    name, icon, action = ("Pause", "pause", _pause) if moving else ("Go on", "play_arrow", _play)
    st.button(
        name,
        icon=f":material/{icon}:",
        key=f"compare-{icon}",
        on_click=action,
        args=(comparison,),
        shortcut="p",
        type="secondary" if moving or not can_move else "primary",
        disabled=not can_move,
        width=125,
    )
    for epochs in STEPS:
        st.button(
            "+1 epoch" if epochs == 1 else f"+{epochs}",
            key=f"compare-step-{epochs}",
            on_click=_step,
            args=(comparison, epochs),
            shortcut="e" if epochs == 1 else None,
            help=f"{count(epochs, 'epoch')} of every lane, then a pause.",
            disabled=not can_move,
        )
    st.button(
        "Stop training",
        icon=":material/stop:",
        key="compare-stop",
        on_click=_stop,
        args=(comparison,),
        disabled=elsewhere or not snapshot.is_active,
    )


def _speed(comparison: Comparison) -> None:
    pace, settle = f"compare-speed-{comparison.id}", f"compare-settle-{comparison.id}"
    now = comparison.pace or FULL_SPEED
    speeds = sorted({*SPEEDS, now}, reverse=True)  # a link may have brought one of its own
    st.selectbox(
        "Speed",
        speeds,
        index=speeds.index(now),
        format_func=speed_in_words,
        key=pace,
        on_change=lambda: comparison.set_pace(None if st.session_state[pace] == FULL_SPEED else st.session_state[pace]),
        label_visibility="collapsed",
        width=185,
    )
    st.toggle(
        "Stop when settled",
        value=comparison.settle_after is not None,
        key=settle,
        on_change=lambda: comparison.set_settle(QUIET if st.session_state[settle] else None),
        help=f"Stops by itself once no identified label of any lane has changed for {QUIET} epochs.",
    )


def _pause(comparison: Comparison) -> None:
    comparison.pause()
    comparison.wait_until_paused(PATIENCE)


def _play(comparison: Comparison) -> None:
    looking_at(comparison).follow = True
    _attempt(comparison.resume)


def _step(comparison: Comparison, epochs: int) -> None:
    looking_at(comparison).follow = True
    _attempt(lambda: comparison.step(epochs=epochs))
    comparison.wait_until_paused(PATIENCE)


def _stop(comparison: Comparison) -> None:
    comparison.stop()
    comparison.join(PATIENCE)


def _again(comparison: Comparison) -> None:
    comparison.stop()

    def begin() -> None:
        configs = [run.config for run in comparison.runs]
        new = session.registry().compare(configs, name=comparison.lanes.name, paused=True)
        new.set_pace(comparison.pace)
        new.set_settle(comparison.settle_after)
        new.wait_until_paused(PATIENCE)
        before = looking_at(comparison)
        st.session_state[f"comparing-{new.id}"] = Looking(truth=before.truth, hidden=before.hidden)
        view(new)

    _attempt(begin)


def _attempt(action: Callable[[], None]) -> None:
    """Do it, or say why not."""
    try:
        action()
    except UserError as error:
        st.toast(str(error), icon=":material/error:")


def view(comparison: Comparison | None) -> None:
    """Make this the comparison in view, in this tab and in its link."""
    if comparison is None:
        st.session_state.pop("comparison", None)
        st.query_params.clear()  # a share link too: it would begin once more
        return
    st.session_state["comparison"] = comparison.id
    if st.query_params.get("comparison") != comparison.id:
        st.query_params["comparison"] = comparison.id


def in_view() -> Comparison | None:
    """The comparison of `?comparison=…`, or the one this tab looked at last; None where there is neither.

    Raises:
        UserError: the link leads to none.
    """
    comparison_id = st.query_params.get("comparison") or st.session_state.get("comparison")
    if comparison_id is None:
        return None
    try:
        found = session.registry().comparison(comparison_id)
    except UserError:
        st.session_state.pop("comparison", None)
        raise
    view(found)
    return found

"""Control bar of a comparison: one for all lanes."""

from __future__ import annotations

import streamlit as st

from pll.runs.comparison import Comparison
from pll.runs.snapshots import ComparisonSnapshot
from pll.ui import control_widgets, session
from pll.ui.compare.view_state import ComparisonView, comparison_view

MARK = "compare-"
"""Before the keys of its widgets."""
QUIET = 10
"""Epochs without any change of an identified label after which lanes are settled."""


def bar(comparison: Comparison, snapshot: ComparisonSnapshot) -> None:
    """Show the control bar; its buttons keep their places in every state.

    In the main script and not in the fragment that refreshes, so that they answer at once.
    """
    hidden = comparison_view(comparison).hidden
    control_widgets.show_role(comparison)
    if not comparison.lanes.together or not session.registry().may(comparison, "owner"):
        return
    elsewhere = snapshot.is_active and not comparison.is_alive()
    holder = comparison.holder()
    can_move = snapshot.state in control_widgets.MOVABLE and (not elsewhere or holder is not None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if "transport" not in hidden:
            _buttons(comparison, snapshot, can_move=can_move, elsewhere=elsewhere and holder is None)
        if can_move and not elsewhere and "speed" not in hidden:
            control_widgets.speed(comparison, mark=MARK)
            _settle(comparison)
    if elsewhere:
        control_widgets.show_process(holder)


def _buttons(comparison: Comparison, snapshot: ComparisonSnapshot, *, can_move: bool, elsewhere: bool) -> None:
    st.button(
        "Restart",
        icon=":material/replay:",
        key="compare-reset",
        on_click=_again,
        args=(comparison,),
        disabled=elsewhere,
        help="Starts a new comparison with the same lanes, paused before its first epoch. This one is kept.",
    )
    if snapshot.state == "finished":  # nothing is left to pause or to step
        return
    looking, disabled = comparison_view(comparison), not can_move
    moving = snapshot.state in ("running", "queued")
    control_widgets.play_or_pause(comparison, looking, moving=moving, disabled=disabled, mark=MARK)
    control_widgets.steps(comparison, looking, whose=" of every lane", disabled=disabled, mark=MARK)
    control_widgets.stop_button(comparison, disabled=elsewhere or not snapshot.is_active, mark=MARK)


def _settle(comparison: Comparison) -> None:
    key = f"compare-settle-{comparison.id}"
    st.toggle(
        "Stop when settled",
        value=comparison.settle_after is not None,
        key=key,
        on_change=lambda: control_widgets.control(
            comparison, lambda: comparison.set_settle(QUIET if st.session_state[key] else None)
        ),
        help=f"Stops when no identified label of any lane has changed for {QUIET} epochs.",
    )


def _again(comparison: Comparison) -> None:
    def begin() -> None:
        session.registry().control(comparison, "stopped", comparison.stop)
        configs = [run.config for run in comparison.runs]
        new = session.registry().compare(configs, name=comparison.lanes.name, paused=True)
        control_widgets.keep_pace(new, comparison)
        before = comparison_view(comparison)
        st.session_state[f"comparison-view-{new.id}"] = ComparisonView(truth=before.truth, hidden=before.hidden)
        session.view_comparison(new)

    control_widgets.attempt(begin)

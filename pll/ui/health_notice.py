"""Whether the labels of a run can be used, in words: on the Train and the Export page."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pll.analysis.health import Health
from pll.ui.format import plain

ICONS = {"healthy": ":material/verified:", "unchecked": ":material/help:", "unhealthy": ":material/warning:"}


IN_SHORT = {
    "diverging": "Training diverged.",
    "changing": "Labels still change.",
    "collapsed": "One class takes nearly all examples.",
    "flat": "Nothing was learnt.",
    "unsupported": "They are not clearly better than chance.",
}


def show(health: Health | None, *, more: Sequence[str] = ()) -> None:
    """Show the verdict on a run that has ended in one line; one that is not good opens to what was found.

    Parameters
    ----------
    health
        of the run; None where there is none yet.
    more
        what else speaks against the labels; beside a verdict that is not good, it is among what was found.
    """
    if health is None or health.verdict != "unhealthy":
        for warning in more:
            st.warning(plain(warning), icon=ICONS["unhealthy"])
        if health is not None:
            evidence = "" if health.evidence is None else health.evidence.sentence
            st.caption(f"{ICONS[health.verdict]} {health.headline}", help=evidence or None)
        return
    lines = [f"{plain(finding.sentence)} {finding.remedy}" for finding in health.findings]
    if health.evidence is not None and all(finding.name != "unsupported" for finding in health.findings):
        lines.append(health.evidence.sentence)
    in_short = f"**Do not trust these labels yet.** {IN_SHORT[health.findings[0].name]}"
    with st.container(key="health-notice"), st.expander(in_short, icon=ICONS["unhealthy"]):
        st.markdown("  \n".join([*lines, *map(plain, more)]))

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


def show(health: Health | None, *, folded: bool = False, more: Sequence[str] = ()) -> None:
    """Show the verdict on a run that has ended; nothing of a run of an earlier version.

    Args:
        health: of the run.
        folded: a verdict that is not good takes one line, which opens to what was found: pictures stand below it.
        more: what else speaks against the labels; beside a verdict that is not good, it is among what was found.
    """
    for warning in more if health is None or health.verdict != "unhealthy" else ():
        st.warning(plain(warning), icon=ICONS["unhealthy"])
    if health is None:
        return
    icon = ICONS[health.verdict]
    evidence = "" if health.evidence is None else health.evidence.sentence
    if health.verdict != "unhealthy":
        st.caption(f"{icon} {health.headline} {evidence}".rstrip())
        return
    first = health.findings[0]
    lines = [f"{plain(finding.sentence)} {finding.remedy}" for finding in health.findings]
    if evidence and all(finding.name != "unsupported" for finding in health.findings):
        lines.append(evidence)
    lines += map(plain, more)
    if not folded:
        st.warning("  \n".join([f"**Do not trust these labels yet.** {lines[0]}", *lines[1:]]), icon=icon)
        return
    in_short = f"**Do not trust these labels yet.** {IN_SHORT.get(first.name, plain(first.sentence))} {first.remedy}"
    with st.container(key="health-notice"), st.expander(in_short, icon=icon):
        st.markdown("  \n".join(lines))

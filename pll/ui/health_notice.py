"""Whether the labels of a run can be used, in words: on the Train and the Export page."""

from __future__ import annotations

import streamlit as st

from pll.analysis.health import Health
from pll.ui.format import plain

ICONS = {"healthy": ":material/verified:", "unchecked": ":material/help:", "unhealthy": ":material/warning:"}


def show(health: Health | None) -> None:
    """Show the verdict on a run that has ended; nothing of a run of an earlier version.

    Args:
        health: of the run.
    """
    if health is None:
        return
    icon = ICONS[health.verdict]
    evidence = "" if health.evidence is None else health.evidence.sentence
    if health.verdict != "unhealthy":
        st.caption(f"{icon} {health.headline} {evidence}".rstrip())
        return
    first, *others = health.findings
    lines = [f"**Do not trust these labels yet.** {plain(first.sentence)} {first.remedy}"]
    lines += [f"{plain(finding.sentence)} {finding.remedy}" for finding in others]
    if evidence and all(finding.name != "unsupported" for finding in health.findings):
        lines.append(evidence)
    st.warning("  \n".join(lines), icon=icon)

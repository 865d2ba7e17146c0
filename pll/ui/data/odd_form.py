"""What is odd about a reading, before anything is trained on it: one sentence, the cells that show it, what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pll.formats.checks import listing
from pll.formats.odd import MOST_SHOWN, Oddity
from pll.ui.format import plain


def show(
    findings: Sequence[Oddity], accept: Callable[[], None], edit: Callable[[Mapping[str, str | None]], None]
) -> None:
    """Show what is odd; `accept` is called where a person says that it is meant so, `edit` with edits of classes."""
    for finding in findings:
        cells = f": {listing(list(finding.cells), MOST_SHOWN)}" if finding.cells else ""
        st.warning(f"{plain(finding.text.rstrip('.') + cells)}. {plain(finding.remedy)}", icon=":material/help:")
    edits = {name: becomes for finding in findings for name, becomes in finding.edits.items()}
    merged = [f"{name} → {becomes}" for name, becomes in edits.items() if becomes is not None]
    with st.container(horizontal=True):
        if edits:
            st.button(
                "Merge them" if merged else f"Drop {plain(listing(list(edits), MOST_SHOWN))}",
                icon=":material/merge:" if merged else ":material/backspace:",
                help=plain(listing(merged, 20)) if merged else "Where it stands, there is no answer.",
                on_click=edit,
                args=(edits,),
            )
        st.button(
            "It is meant so",
            icon=":material/check:",
            help="Go on with this reading. What a column is can be changed above it.",
            on_click=accept,
        )

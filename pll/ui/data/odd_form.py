"""What is odd about a reading, before anything is trained on it: one sentence, the cells that show it, what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from pll.formats.checks import listing
from pll.formats.odd import MOST_SHOWN, Oddity
from pll.ui.format import plain


def show(findings: Sequence[Oddity], accept: Callable[[], None], drop: Callable[[Sequence[str]], None]) -> None:
    """Show what is odd; `accept` is called when a person says that it is meant so, `drop` with classes to drop."""
    for finding in findings:
        cells = f": {listing(list(finding.cells), MOST_SHOWN)}" if finding.cells else ""
        st.warning(f"{plain(finding.text.rstrip('.') + cells)}. {plain(finding.remedy)}", icon=":material/help:")
    names = [name for finding in findings for name in finding.drop]
    with st.container(horizontal=True):
        if names:
            st.button(
                f"Drop {plain(listing(names, MOST_SHOWN))}",
                icon=":material/backspace:",
                help="Where it stands, there is no answer.",
                on_click=drop,
                args=(names,),
            )
        st.button(
            "It is meant so",
            icon=":material/check:",
            help="Go on with this reading. What a column is can be changed above it.",
            on_click=accept,
        )

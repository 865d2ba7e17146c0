"""One-by-one view: mounts the desk component and passes its messages on.

One script run a key: the callback stores the decision and takes the next example assigned, and the run that follows
sends it. It is a fragment, so nothing else of the page is computed.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import streamlit as st

from pll.ui.components.component import Component, register
from pll.ui.review.error_messages import show_errors
from pll.ui.review.payload import Payload, payload
from pll.ui.review.progress import strip
from pll.ui.review.review_tab import ReviewTab, pressed
from pll.ui.review.reviewer import COOKIE

HERE = Path(__file__).parent
HTML = """
<div class="desk">
  <div class="strip"></div>
  <div class="board" tabindex="-1" role="region" aria-label="Desk"></div>
  <div class="spoken" role="status" aria-live="polite"></div>
</div>
"""


def component(name: str) -> Component:
    """Registers `<name>.js` behind what the desk and the batch share."""
    folders = ("common", name)
    return register(
        name, HTML, scripts=[HERE / f"{part}.js" for part in folders], styles=[HERE / f"{part}.css" for part in folders]
    )


_desk = component("desk")


@st.fragment
@show_errors
def desk(tab: ReviewTab) -> None:
    """The example assigned, its candidates as keys."""
    key = f"desk-{tab.manager.review.id}"
    _desk(key=key, data=desk_payload(tab), on_act_change=pressed(key, tab.act))
    if tab.given is None:
        st.rerun()  # the page says what is next


def desk_payload(tab: ReviewTab) -> Payload:
    """What the component is sent: the example, how far one has come, and what the browser is to remember."""
    name = "" if tab.desk.verified else tab.desk.reviewer
    return payload(tab) | {
        "strip": strip(tab),
        "cookie": f"{COOKIE}={quote(name)}" if name else "",
    }

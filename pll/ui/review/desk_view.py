"""One-by-one view: an example and its candidates as keys.

One script run a key: the callback stores the decision and takes the next example assigned, and the run that follows
sends it. It is a fragment, so nothing else of the page is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import streamlit as st

from pll.ui.components.canvas import SPOKEN
from pll.ui.components.component import Payload, register
from pll.ui.review.payload import payload
from pll.ui.review.progress import strip
from pll.ui.review.review_tab import Message, ReviewTab
from pll.ui.review.reviewer import COOKIE
from pll.ui.widgets import show_errors

HERE = Path(__file__).parent
DESK_HTML = """
<div class="desk">
  <div class="bar"></div>
  <div class="strip"></div>
  <div class="board" tabindex="-1" role="region" aria-label="Desk"></div>
  <div class="spoken" role="status" aria-live="polite"></div>
</div>
"""


def component(name: str) -> Callable[..., None]:
    """Register `<name>.js` behind what the desk and the look-alikes share; return the function that mounts it."""
    send = register(HERE / name, DESK_HTML, shared=[SPOKEN, SPOKEN.with_name("elements"), HERE / "common"])

    def mount(tab: ReviewTab, data: Payload, do: Callable[[Message, str], None] | None = None) -> None:
        key = f"{name}-{tab.review.id}"

        def pressed() -> None:
            sent = st.session_state.get(key)
            if sent is not None:  # after an error of the page the component is mounted again, and sends again
                tab.act(sent.get("act"), do)

        shared = {"ack": tab.ack, "message": tab.message, "problem": tab.problem, "strip": strip(tab)}
        send(key=key, data=shared | data, on_act_change=pressed)

    return mount


_desk = component("desk")


@st.fragment
@show_errors
def draw(tab: ReviewTab) -> None:
    """The example assigned, its candidates as keys, and what the browser is to remember."""
    name = "" if tab.desk.verified else tab.desk.reviewer
    _desk(tab, payload(tab) | {"cookie": f"{COOKIE}={quote(name)}" if name else ""})
    if tab.assignment is None:
        st.rerun()  # the page says what is next

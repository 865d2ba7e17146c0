"""The desk on the page: mounts the component, and passes on what is pressed there.

One script run a key: the callback stores the decision and takes the next example in hand, and the run that follows
sends it. It is a fragment, so nothing else of the page is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import streamlit as st

from pll.ui.components.component import Component, register
from pll.ui.review.payload import Payload, payload
from pll.ui.review.progress import strip
from pll.ui.review.reviewer import COOKIE
from pll.ui.review.sitting import Sitting
from pll.ui.review.troubles import shown

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
    parts = ("common", name)
    return register(
        name, HTML, scripts=[HERE / f"{part}.js" for part in parts], styles=[HERE / f"{part}.css" for part in parts]
    )


_desk = component("desk")


@st.fragment
@shown
def desk(sitting: Sitting) -> None:
    """The example in hand, its candidates as keys."""
    key = f"desk-{sitting.guide.reviewing.id}"
    _desk(key=key, data=desk_payload(sitting), on_act_change=pressed(key, sitting.act))
    if sitting.given is None:
        st.rerun()  # the page says what is next


def desk_payload(sitting: Sitting) -> Payload:
    """What the component is sent: the example, how far one has come, and the name that the browser is to remember."""
    name = "" if sitting.desk.verified else sitting.desk.reviewer
    return payload(sitting) | {"strip": strip(sitting), "cookie": f"{COOKIE}={quote(name)}" if name else ""}


def pressed(key: str, act: Callable[[Any], None]) -> Callable[[], None]:
    """What the component calls: passes the message on."""

    def callback() -> None:
        act(st.session_state[key].get("act"))

    return callback

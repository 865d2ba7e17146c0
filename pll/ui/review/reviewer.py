"""Who is reviewing: a verified name (OpenID Connect, where it is set up), or one that was typed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

import streamlit as st

from pll.ui.format import plain
from pll.ui.login import clean, person
from pll.ui.widgets import button

COOKIE = "candid_reviewer"
"""The browser remembers a typed name, so that a server that was away finds its reviewers again (by `desk.js`)."""
LONGEST_REVIEWER = 80


@dataclass(frozen=True)
class Reviewer:
    """A name, and whether it was verified by a login."""

    name: str
    verified: bool = False


def reviewer() -> Reviewer | None:
    """Who is reviewing in this tab; None before they have a name (`ask` then)."""
    user = person()
    if user is not None:
        return Reviewer(user.name, verified=True) if user.id else None
    if "review-name" not in st.session_state:  # the browser remembers it
        st.session_state["review-name"] = clean(unquote(st.context.cookies.get(COOKIE, "")), LONGEST_REVIEWER)
    name = str(st.session_state["review-name"])
    return Reviewer(name) if name else None


def sign(who: Reviewer) -> None:
    """Whose decisions these are, and the way to be somebody else."""
    with st.popover(plain(who.name), icon=":material/person:", type="tertiary"):
        if who.verified:
            st.caption("You are logged in; your decisions carry this name as verified.")
        else:
            st.caption("This name is not verified; decisions are marked as such.")
            button("Change name", st.session_state.__setitem__, "review-name", "", key="review-other-name")


def ask() -> None:
    """Ask for a name, where nobody logs in."""
    st.markdown("One example is shown at a time, the likeliest mistakes first. Your name is saved with your decisions.")
    with st.form("review-who", border=False, width=420):
        name = st.text_input("Your name", max_chars=LONGEST_REVIEWER, help="Goes with your decisions, as not verified.")
        pressed = st.form_submit_button("Start", type="primary")
        if pressed and not clean(name, LONGEST_REVIEWER):
            st.caption(":red[Type your name first.]")
        elif pressed:
            st.session_state["review-name"] = clean(name, LONGEST_REVIEWER)
            st.rerun()

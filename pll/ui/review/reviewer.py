"""Who is reviewing: a name that somebody vouches for (OpenID Connect, where it is set up), or one that was typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import streamlit as st

COOKIE = "candid_reviewer"
"""The browser remembers a typed name, so that a server that was away finds its reviewers again (by `desk.js`)."""
LONGEST = 80


@dataclass(frozen=True)
class Reviewer:
    """A name, and whether anybody vouches for it."""

    name: str
    verified: bool = False


def reviewer() -> Reviewer | None:
    """Who is reviewing in this tab; asks for it, and returns None, where that is not known yet."""
    return _logged_in() if login_is_set_up() else _typed()


def login_is_set_up() -> bool:
    """Whether `.streamlit/secrets.toml` has an `[auth]` part, as `st.login` reads it."""
    return bool(_auth())


def _auth() -> Mapping[str, Any]:
    try:
        part: Mapping[str, Any] = st.secrets["auth"] if st.secrets.load_if_toml_exists() else {}
    except (KeyError, FileNotFoundError, ValueError):
        return {}
    return part


def sign(who: Reviewer) -> None:
    """Whose decisions these are, and the way to be somebody else."""
    with st.popover(who.name, icon=":material/person:", type="tertiary"):
        if who.verified:
            st.caption("You are logged in; your decisions carry this name as verified.")
            st.button("Log out", on_click=st.logout, key="review-logout")
        else:
            st.caption("A typed name: nobody has checked it, and decisions are marked as such.")
            st.button("Somebody else", on_click=forget, key="review-other-name")


def forget() -> None:
    """The next decisions are somebody else's."""
    st.session_state["review-name"] = ""


def known_name() -> str:
    """The typed name of this tab, or the one that the browser remembers; "" for none."""
    if "review-name" in st.session_state:
        return str(st.session_state["review-name"])
    return clean(unquote(st.context.cookies.get(COOKIE, "")))


def clean(name: str) -> str:
    """A name as it is kept: one line of printable characters.

    >>> clean("  Ada\\tLovelace ")
    'Ada Lovelace'
    """
    return "".join(letter for letter in " ".join(name.split()) if letter.isprintable())[:LONGEST]


def _logged_in() -> Reviewer | None:
    if getattr(st.user, "is_logged_in", False):
        name = str(st.user.get("name") or st.user.get("email") or st.user.get("sub") or "")
        return Reviewer(clean(name), verified=True)
    st.info("Log in to review: decisions carry your name.", icon=":material/person:")
    for provider in providers():
        st.button(
            f"Log in with {provider}" if provider else "Log in",
            type="primary",
            key=f"review-login-{provider}",
            on_click=st.login,
            args=(provider,) if provider else (),
        )
    return None


def providers() -> list[str]:
    """The names of the identity providers that are set up; "" for one without a name."""
    auth = _auth()
    named = [name for name, part in auth.items() if isinstance(part, Mapping)]
    return named if named and "client_id" not in auth else ["", *named]


def _typed() -> Reviewer | None:
    name = known_name()
    if name:
        st.session_state["review-name"] = name
        return Reviewer(name)
    with st.form("review-who", border=False, width=420):
        given = st.text_input("Your name", max_chars=LONGEST, help="Goes with your decisions, as not verified.")
        if st.form_submit_button("Begin", type="primary") and clean(given):
            st.session_state["review-name"] = clean(given)
            st.rerun()
    return None

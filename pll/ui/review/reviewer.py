"""Who is reviewing: a verified name (OpenID Connect, where it is set up), or one that was typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import streamlit as st
from streamlit.errors import StreamlitAuthError

from pll.ui.review import login_return

COOKIE = "candid_reviewer"
"""The browser remembers a typed name, so that a server that was away finds its reviewers again (by `desk.js`)."""
LONGEST = 80


@dataclass(frozen=True)
class Reviewer:
    """A name, and whether it was verified by a login."""

    name: str
    verified: bool = False


def reviewer() -> Reviewer | None:
    """Who is reviewing in this tab; None where that is not known yet (`ask` then)."""
    return _logged_in() if login_is_set_up() else _typed()


def ask() -> None:
    """Ask who is reviewing: a login, or a name."""
    if login_is_set_up():
        _ask_to_log_in()
    else:
        _ask_for_name()


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
            st.caption("This name is not verified; decisions are marked as such.")
            st.button("Change name", on_click=forget, key="review-other-name")


def forget() -> None:
    """The next decisions are somebody else's."""
    st.session_state["review-name"] = ""


def known_name() -> str:
    """The typed name of this tab, or the one that the browser remembers; "" for none."""
    if "review-name" in st.session_state:
        return str(st.session_state["review-name"])
    return clean(unquote(st.context.cookies.get(COOKIE, "")))


def clean(name: str, longest: int = LONGEST) -> str:
    """A name as it is kept: one line of printable characters.

    >>> clean("  Ada\\tLovelace ")
    'Ada Lovelace'
    """
    return "".join(letter for letter in " ".join(name.split()) if letter.isprintable())[:longest]


def _logged_in() -> Reviewer | None:
    if not getattr(st.user, "is_logged_in", False):
        return None
    name = signature(st.user)
    return Reviewer(name, verified=True) if name else None


def signature(claims: Mapping[str, Any]) -> str:
    """A verified name: what people call themselves, and what tells two of the same name apart.

    The address does, unless the provider says that it is not the person's own; else the provider's own mark of them.

    >>> signature({"name": "Ada Lovelace", "email": "ada@example.org", "sub": "42"})
    'Ada Lovelace (ada@example.org)'
    >>> signature({"name": "Ada Lovelace", "email": "ada@example.org", "email_verified": False, "sub": "42"})
    'Ada Lovelace (42)'
    >>> signature({"email": "ada@example.org"})
    'ada@example.org'
    """
    address = claims.get("email") if claims.get("email_verified", True) in (True, "true") else None
    mark = clean(str(address or claims.get("sub") or ""), 120)
    name = clean(str(claims.get("name") or ""), 70)
    return f"{name} ({mark})" if name and mark and name != mark else name or mark


def _ask_to_log_in() -> None:
    st.info("Log in to review: decisions carry your name.", icon=":material/person:")
    for provider in providers():
        st.button(
            f"Log in with {provider}" if provider else "Log in",
            type="primary",
            key=f"review-login-{provider}",
            on_click=_log_in,
            args=(provider,),
        )
    login_return.remember()


def _log_in(provider: str) -> None:
    """Off to the provider; or what is wrong with the settings."""
    try:
        st.login(provider or None)
    except StreamlitAuthError as error:
        st.toast(f"Nobody can log in: {error}", icon=":material/error:")


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
    return None


def _ask_for_name() -> None:
    st.markdown("One example is shown at a time, the most uncertain first. Your name is saved with your decisions.")
    with st.form("review-who", border=False, width=420):
        given = st.text_input("Your name", max_chars=LONGEST, help="Goes with your decisions, as not verified.")
        if st.form_submit_button("Start", type="primary") and clean(given):
            st.session_state["review-name"] = clean(given)
            st.rerun()

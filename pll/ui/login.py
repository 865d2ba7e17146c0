"""Who looks at a page: somebody who has logged in, where `[auth]` is set up (OpenID Connect); else nobody is known.

Where a login is set up, every page needs it (`require`, at the beginning of every script run).
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAuthError

from pll.runs.access import Person, person_id
from pll.runs.registry import ANYBODY, Visitor
from pll.runs.settings import setting
from pll.ui.format import plain

KEPT = "candid-after-login"
REMEMBER = f"""
export default function () {{
  sessionStorage.setItem("{KEPT}", location.pathname + location.search);
}}
"""
GO_BACK = f"""
export default function () {{
  const link = sessionStorage.getItem("{KEPT}");
  sessionStorage.removeItem("{KEPT}");
  if (link && /^\\/[^\\/\\\\]/.test(link) && link !== location.pathname + location.search) location.replace(link);
}}
"""

# The identity provider sends everybody to the first page. The tab itself remembers the link (sessionStorage, so that no
# other tab and no server hears of it).
_remember = st.components.v2.component("candid_remember", js=REMEMBER)
_go_back = st.components.v2.component("candid_go_back", js=GO_BACK)


def login_is_set_up() -> bool:
    """Whether `.streamlit/secrets.toml` has an `[auth]` part, as `st.login` reads it."""
    return bool(_auth())


def _auth() -> Mapping[str, Any]:
    try:
        part: Mapping[str, Any] = st.secrets["auth"] if st.secrets.load_if_toml_exists() else {}
    except (KeyError, FileNotFoundError, ValueError):
        return {}
    return part


def providers() -> list[str]:
    """The names of the identity providers that are set up; "" for one without a name."""
    auth = _auth()
    named = [name for name, part in auth.items() if isinstance(part, Mapping)]
    return named if named and "client_id" not in auth else ["", *named]


# ---- who it is -------------------------------------------------------------------------------------------------------


def person() -> Person | None:
    """Who has logged in; None where no login is set up. Whoever has not logged in is a person without an id."""
    if not login_is_set_up():
        return None
    if not getattr(st.user, "is_logged_in", False):
        return Person("")
    known = mark(st.user)
    return Person(known, signature(st.user), is_admin=bool(known) and known in setting("PLL_ADMINS"))


def mark(claims: Mapping[str, Any]) -> str:
    """What tells people apart: their address, unless the provider says that it is not their own; else its own mark.

    >>> mark({"name": "Ada", "email": "Ada@example.org", "sub": "42"})
    'ada@example.org'
    >>> mark({"email": "ada@example.org", "email_verified": False, "sub": "42", "iss": "https://login.example.org"})
    'https://login.example.org#42'
    """
    address = _address(claims)
    if address:
        return person_id(clean(address, 254))
    name = str(claims.get("sub") or "")
    return clean(f"{claims.get('iss') or ''}#{name}", 254) if name else ""


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
    mark = clean(str(_address(claims) or claims.get("sub") or ""), 120)
    name = clean(str(claims.get("name") or ""), 70)
    return f"{name} ({mark})" if name and mark and name != mark else name or mark


def _address(claims: Mapping[str, Any]) -> str:
    is_own = claims.get("email_verified", True) in (True, "true")
    return str(claims.get("email") or "") if is_own else ""


def clean(name: str, longest: int) -> str:
    """A name as it is kept: one line of printable characters.

    >>> clean("  Ada\\tLovelace ", 80)
    'Ada Lovelace'
    """
    return "".join(letter for letter in " ".join(name.split()) if letter.isprintable())[:longest]


def visitor() -> Visitor:
    """Whose runs are counted: a person's, else those of an address; nobody's on this very machine."""
    known = person()
    name = known.id if known is not None else _remote_address()
    return Visitor(name, setting("PLL_RUNS_PER_PERSON")) if name else ANYBODY


def _remote_address() -> str:
    """The address on the network that a request came from; "" for this machine."""
    given = st.context.ip_address or ""
    try:
        return "" if ip_address(given).is_loopback else given
    except ValueError:
        return ""


# ---- on the page -----------------------------------------------------------------------------------------------------


def require() -> None:
    """Ask whoever has not logged in to do so, where a login is set up; the rest of the page does not run then."""
    known = person()
    if known is None or known.id:
        return
    st.title("Candid")
    if getattr(st.user, "is_logged_in", False):
        st.error(
            "Your login provider tells Candid neither an address nor another mark of you, so nothing can be yours. "
            "Ask whoever runs this server.",
            icon=":material/error:",
        )
        st.button("Log out", on_click=st.logout, key="login-logout")
        st.stop()
    st.info("Log in to see your runs and those shared with you.", icon=":material/person:")
    for provider in providers():
        st.button(
            f"Log in with {plain(provider)}" if provider else "Log in",
            type="primary",
            key=f"login-{provider}",
            on_click=_log_in,
            args=(provider,),
        )
    _remember(key="remember-after-login", height=0)
    st.stop()


def _log_in(provider: str) -> None:
    """Off to the provider; or what is wrong with the settings."""
    try:
        st.login(provider or None)
    except StreamlitAuthError as error:
        st.toast(f"Nobody can log in: {plain(str(error))}", icon=":material/error:")


def go_back() -> None:
    """Somebody has logged in: where this tab remembers a link, it opens that. To be called at the end of every page."""
    if getattr(st.user, "is_logged_in", False):
        _go_back(key="go-back-after-login", height=0)


def menu() -> None:
    """Who has logged in, and the way out; at the foot of a page."""
    known = person()
    if known is None:
        return
    with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center", gap="small"):
        role = " · administrator" if known.is_admin else ""
        st.caption(f":material/person: {plain(known.name)}{role}", width="content")
        st.button("Log out", type="tertiary", on_click=st.logout, key="logout")

"""The person at a page: who has logged in, where `[auth]` is set up (OpenID Connect); else unknown.

Where a login is set up, every page needs it (`require`, at the beginning of every script run).
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import streamlit as st
from starlette.requests import HTTPConnection
from streamlit.auth_util import get_origin_from_redirect_uri
from streamlit.errors import StreamlitAuthError
from streamlit.runtime import get_instance
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.media_file_storage import MediaFileStorage
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from pll.paths import candid_home
from pll.runs.access import Person, person_id
from pll.ui.format import plain
from pll.ui.server_settings import setting
from pll.ui.widgets import beside, button

STORAGE_KEY = "candid-after-login"
REMEMBER = f"""
export default function () {{
  sessionStorage.setItem("{STORAGE_KEY}", location.pathname + location.search);
}}
"""
GO_BACK = f"""
export default function () {{
  const link = sessionStorage.getItem("{STORAGE_KEY}");
  sessionStorage.removeItem("{STORAGE_KEY}");
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


AUTH_AGE = 2.0
"""Seconds for which what was read of the secrets is used: where there are none, Streamlit looks for the files anew each
time, and a page asks a dozen times."""


def _auth() -> Mapping[str, Any]:
    return _read_auth(tuple(st.config.get_option("secrets.files")))


@st.cache_resource(ttl=AUTH_AGE, show_spinner=False)
def _read_auth(files: tuple[str, ...]) -> Mapping[str, Any]:
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
    """The person who has logged in; None where no login is set up. Without having logged in: a person without an id."""
    if not login_is_set_up():
        return None
    if not getattr(st.user, "is_logged_in", False):
        return Person("")
    user = mark(st.user)
    return Person(user, signature(st.user), is_admin=bool(user) and user in setting("PLL_ADMINS"))


def own_folder(name: str) -> Path:
    """Return a folder of the home: of one person where people log in, else of all.

    Parameters
    ----------
    name
        What it holds.
    """
    user = person()
    return candid_home() / name / ("" if user is None else hashlib.sha256(user.id.encode()).hexdigest()[:24])


def mark(claims: Mapping[str, Any]) -> str:
    """Unique id of a person: their address, unless the provider says that it is not verified; else the provider's id.

    Examples
    --------
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
    """A verified name: the display name, with the id behind it.

    The address does, unless the provider says that it is not the person's own; else the provider's own mark of them.

    Examples
    --------
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

    Parameters
    ----------
    name
        As somebody gave it.
    longest
        Characters that it may have.

    Examples
    --------
    >>> clean("  Ada\\tLovelace ", 80)
    'Ada Lovelace'
    """
    return "".join(letter for letter in " ".join(name.split()) if letter.isprintable())[:longest]


def who_asks(connection: HTTPConnection) -> str:
    """Id of the person behind a request, by the signed cookie of the login; "" for none.

    Pages read it from `st.user`; a request for a file has no page.
    """
    claims: dict[str, Any] = {}
    cookie = starlette_websocket._get_signed_cookie_with_chunks(dict(connection.cookies), USER_COOKIE_NAME)
    if cookie:
        claims |= starlette_websocket._parse_decoded_user_cookie(cookie, get_origin_from_redirect_uri() or "")
    claims |= starlette_websocket.gather_user_info(connection.headers)
    return mark(claims) if claims.get("is_logged_in") is True else ""


def who_has_session(session_id: str) -> str | None:
    """Id of the person who opened a tab; "" without a login, None where there is no such tab."""
    info = get_instance()._session_mgr.get_session_info(session_id)
    if info is None:
        return None
    claims = info.session._user_info
    return mark(claims) if claims.get("is_logged_in") is True else ""


def who_sees_file(file_id: str) -> set[str | None]:
    """Ids of the people with a file of Streamlit's `/media/` on a page now; "" where it is on the page of the login.

    A file that a newer one has just replaced is on no page.
    """
    manager = get_instance().media_file_mgr
    tabs = list(manager._files_by_session_and_coord.items())
    readers = {who_has_session(session_id) for session_id, files in tabs if file_id in list(files.values())}
    return readers | (manager.made_for(file_id) if isinstance(manager, FilesOfPeople) else set())


def may_make_file(file_id: str, person: str) -> bool:
    """Whether a download that is made on request is on a page of this person; one that is on no page is not made.

    Parameters
    ----------
    file_id
        Of the download.
    person
        Id of who asks for it.
    """
    deferred = get_instance().media_file_mgr._deferred_callables.get(file_id)
    return deferred is None or who_has_session(deferred["session_id"]) == person


class FilesOfPeople(MediaFileManager):
    """Streamlit's files of pages, which also lists downloads that are made on request.

    It stores who requested one, and keeps such a file for a while: Streamlit removes it at the end of any script run,
    also of other people's, which may be before the browser has fetched it.
    """

    LIFETIME = 60.0
    """Seconds for which a file that was made on request stays at least."""
    MOST_FILES = 10_000
    """Files remembered."""

    def __init__(self, storage: MediaFileStorage) -> None:
        super().__init__(storage)
        self._made: OrderedDict[str, tuple[float, set[str | None]]] = OrderedDict()

    def execute_deferred(self, file_id: str) -> str:
        """Make the file, and return its address."""
        deferred = self._deferred_callables.get(file_id)
        url = super().execute_deferred(file_id)
        if deferred is not None:
            made = PurePosixPath(url).stem
            self._made[made] = (time.monotonic(), self.made_for(made) | {who_has_session(deferred["session_id"])})
            self._made.move_to_end(made)
            while len(self._made) > self.MOST_FILES:
                self._made.popitem(last=False)
        return url

    def made_for(self, file_id: str) -> set[str | None]:
        """Ids of the people who requested that file."""
        return set(self._made[file_id][1]) if file_id in self._made else set()

    def _get_inactive_file_ids(self) -> set[str]:
        since = time.monotonic() - self.LIFETIME
        return super()._get_inactive_file_ids() - {name for name, (at, _) in list(self._made.items()) if at > since}


def remember_downloads() -> None:
    """Have Streamlit use `FilesOfPeople`. Called once, before there is any tab."""
    runtime = get_instance()
    runtime._media_file_mgr = FilesOfPeople(runtime.media_file_mgr._storage)


# ---- on the page -----------------------------------------------------------------------------------------------------


def require() -> None:
    """Show the login to people who have not logged in, where one is set up; the rest of the page does not run then."""
    user = person()
    if user is None or user.id:
        return
    st.title("Candid")
    if getattr(st.user, "is_logged_in", False):
        st.error(
            "Your login provider tells Candid neither an address nor another mark of you, so nothing can be yours. "
            "Ask whoever runs this server.",
            icon=":material/error:",
        )
        button("Log out", st.logout, key="login-logout")
        st.stop()
    st.info("Log in to see your runs and those shared with you.", icon=":material/person:")
    for provider in providers():
        button(
            f"Log in with {plain(provider)}" if provider else "Log in",
            _log_in,
            provider,
            kind="primary",
            key=f"login-{provider}",
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
    """Open the link that this tab stored before the login. To be called at the end of every page."""
    if getattr(st.user, "is_logged_in", False):
        _go_back(key="go-back-after-login", height=0)


def menu() -> None:
    """Who has logged in, and the way out; at the foot of a page."""
    user = person()
    if user is None:
        return
    with beside(horizontal_alignment="right"):
        role = " · administrator" if user.is_admin else ""
        st.caption(f":material/person: {plain(user.name)}{role}", width="content")
        button("Log out", st.logout, kind="tertiary", key="logout")

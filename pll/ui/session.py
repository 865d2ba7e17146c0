"""State of one browser session: the run or comparison in view, and the chosen data."""

from __future__ import annotations

from copy import deepcopy
from secrets import token_urlsafe
from time import monotonic
from typing import Any, Literal, get_args

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pll.errors import UserError
from pll.runs.config import DataConfig
from pll.runs.registry import NOT_THERE, RunRegistry, default_registry
from pll.runs.run import Run
from pll.ui import login
from pll.ui.run_view import view_of


def registry() -> RunRegistry:
    """Return the runs of this process as the person at this page may use them."""
    return default_registry().for_person(login.person())


def tab_id() -> str:
    """Return the id of this browser session; "" outside a page."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def is_fragment_run() -> bool:
    """Whether only a part of the page is run again: everything else on it stays as it is."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


# ---- what is in view -------------------------------------------------------------------------------------------------

Kind = Literal["run", "comparison"]


def _replaced() -> dict[Kind, tuple[str, bool]]:
    """Ids that were taken out of the address, while the browser may still send them.

    With each, whether the script run that replaced it has ended, so that the browser has the new one.
    """
    replaced: dict[Kind, tuple[str, bool]] = st.session_state.setdefault("replaced", {})
    return replaced


def id_in_address(kind: Kind) -> str | None:
    """The id of the run or comparison in the address.

    Requests that were under way when the page replaced an id still carry the old one (a refresh of a fragment, a
    second press). They get the new one; otherwise the page would fall back to what the user has just left.
    """
    value = st.query_params.get(kind)
    is_old = kind in _replaced() and value == _replaced()[kind][0]
    return st.session_state.get(kind) if is_old else value


def settle_address() -> None:
    """Forget replaced ids as soon as a request carries another one: from then on a request with the old id is intended.

    Called at the beginning of every script run, and of every refresh of a fragment.
    """
    for kind, (replaced, is_sent) in list(_replaced().items()):
        if is_sent and st.query_params.get(kind) != replaced:
            del _replaced()[kind]


def address_is_sent(page: str) -> None:
    """Note that the address was sent to the browser. Called at the end of every script run.

    Parameters
    ----------
    page
        The path of the page.
    """
    named = [kind for kind in get_args(Kind) if kind in st.query_params]
    st.session_state["address-left"] = page, named, monotonic()
    for kind, (replaced, _) in _replaced().items():
        _replaced()[kind] = replaced, True


IN_TIME = 1.0
"""Seconds after which the browser has the address of a script run, and sends no other one by itself."""


def enter(page: str) -> None:
    """Leave the run or comparison in view where the browser went back on the same page, to an address without it.

    Called before the page is drawn.

    Parameters
    ----------
    page
        Its path.
    """
    left, named, at = st.session_state.get("address-left", (None, [], 0.0))
    if left == page and monotonic() - at > IN_TIME:
        for kind in named:
            if st.query_params.get(kind) is None:
                st.session_state.pop(kind, None)


def view(run: Run | None, kind: Kind = "run") -> None:
    """Make this the run in view, in this tab and in its address; without one, leave the run or comparison in view.

    Parameters
    ----------
    run
        The run; None to leave the one in view.
    kind
        Of what is left.
    """
    kind = kind if run is None else "comparison" if run.is_comparison else "run"
    before = st.query_params.get(kind)
    if before is not None and (run is None or before != run.id):
        _replaced()[kind] = before, False
    if run is None:
        st.session_state.pop(kind, None)
        st.query_params.clear()  # also a share link, which would start again
    else:
        st.session_state[kind] = run.id
        st.query_params.pop(FORM, None)
        if before != run.id:
            st.query_params[kind] = run.id


def run_in_view(kind: Kind = "run") -> Run | None:
    """Return the run of `?run=…` or `?comparison=…`, or the one this tab showed last; None where there is neither.

    Raises UserError where there is no such run.
    """
    name = id_in_address(kind) or st.session_state.get(kind)
    if name is None:
        return None
    try:
        run = find(kind, name)
    except UserError:
        st.session_state.pop(kind, None)
        raise
    view(run)
    return run


def has_left(run: Run) -> bool:
    """Whether another one is in view, as after a button in a part of the page that refreshes by itself."""
    return st.session_state.get("comparison" if run.is_comparison else "run") != run.id


def find(kind: Kind, run_id: str) -> Run:
    """Return the run of that id; UserError where there is none of this kind.

    Parameters
    ----------
    kind
        Whether it is a run or a comparison.
    run_id
        Its id.
    """
    run = registry().get(run_id)
    if run.is_comparison != (kind == "comparison"):
        raise UserError(NOT_THERE.format(kind))
    return run


def in_address() -> str:
    """Return the ids of the run, comparison or experiment that the address names."""
    return " ".join(st.query_params.get(name, "") for name in (*get_args(Kind), "experiment"))


def hides_navigation() -> bool:
    """Return whether lesson mode hides the navigation."""
    query = st.query_params
    if "lanes" in query or "comparison" in query:
        run_id = query.get("comparison")
    else:
        run_id = query.get("run") or st.session_state.get("run")
    looking = view_of(run_id)
    if looking is None:  # a link that is just being opened
        return "link" in query and "navigation" in query.get("hidden", "").split(",")
    return "navigation" in looking.hidden or looking.presenting


# ---- the data chosen -------------------------------------------------------------------------------------------------


FORM = "setup"
"""Name in the address of what was chosen for a new run; with it begin the keys of its fields."""
KEPT = ("choice", f"{FORM}-")
OWN, LENT = "forms-of-this-tab", "form-of-another-tab"
"""Keys of the names that this tab gave, and of what was chosen under a name of another tab, as it came."""
MOST_FORMS = 1000
"""Tabs whose choices are kept."""


@st.cache_resource(max_entries=MOST_FORMS, show_spinner=False)
def _chosen_as(person: str, name: str) -> dict[str, Any]:
    """What one person has chosen under this name, by its key in the session state."""
    return {}


def chosen() -> DataConfig | None:
    """The data of the last *Get labels* or *Settings* in this tab, or what its address names since a reload or Back."""
    person, named, lent = str(login.own_folder(FORM)), st.query_params.get(FORM, ""), st.session_state.pop(LENT, {})
    if named != st.session_state.get(FORM) and (kept := _chosen_as(person, named)):
        lent = {}
        for key in _fields():
            del st.session_state[key]
        st.session_state.update(deepcopy(kept) | {FORM: named})  # the same name: another would stand in the way of Back
    if "choice" in st.session_state:
        fields = _fields()
        if FORM not in st.session_state or any(fields.get(key, value) != value for key, value in lent.items()):
            st.session_state[FORM] = _new_name()
        name = st.query_params[FORM] = st.session_state[FORM]
        if _is_own(name):
            _chosen_as(person, name).update(fields)
    return st.session_state.get("choice")


def _fields() -> dict[str, Any]:
    """What was chosen in this tab, by its key in the session state."""
    return {str(key): value for key, value in st.session_state.items() if str(key).startswith(KEPT)}


def choose(choice: DataConfig) -> None:
    """Remember the data for the train page, under a name of its own: another tab may be at the one before."""
    st.session_state.update({"choice": choice, FORM: _new_name()})


def _new_name() -> str:
    """A name for what is chosen, of this tab."""
    name = token_urlsafe(9)
    st.session_state.setdefault(OWN, set()).add(name)
    return name


def _is_own(name: str) -> bool:
    """Whether this tab gave that name: only then it is to keep what is chosen here."""
    return name in st.session_state.get(OWN, ())


def note_lent() -> None:
    """Note what another tab's address, or this one's before a reload, brought: a change goes under a name of its own.

    Called at the end of every script run.
    """
    if not _is_own(st.session_state.get(FORM, "")):
        st.session_state[LENT] = deepcopy(_fields())

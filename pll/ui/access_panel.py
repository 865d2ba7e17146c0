"""Panel for the owner of a run or comparison: who else may open it, by name or by link. Only where people log in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pll.errors import UserError
from pll.runs.access import Access, Role, person_id
from pll.runs.worker import Worker
from pll.ui import links, session
from pll.ui.format import plain

TITLES: dict[Role, str] = {"viewer": "may look", "reviewer": "may review", "owner": "may do everything"}
BY_LINK: dict[Role | None, str] = {None: "Nobody else", "viewer": "may look", "reviewer": "may review"}


def panel(worker: Worker, page: str, kind: str) -> None:
    """Show who may open it, and change it.

    Args:
        page: on which it opens.
        kind: `run` or `comparison`, which is also the part of the address.
    """
    registry = session.registry()
    if registry.person is None or not registry.may(worker, "owner"):
        return
    access = registry.access(worker)
    st.markdown(f"**Who can open this {kind}**")
    owner = plain(access.owner) if access.owner else "no one; only administrators can open it"
    st.caption(f"Owner: {owner}")
    for place, (person, role) in enumerate(access.people.items()):
        _person(worker, place, person, role)
    _add(worker)
    st.selectbox(
        "Everybody who logs in and has the link",
        list(BY_LINK),
        index=list(BY_LINK).index(access.link),
        format_func=BY_LINK.__getitem__,
        key=f"access-link-{worker.id}",
        on_change=_set_link,
        args=(worker,),
    )
    if access.link or access.people:
        st.code(f"{links.address(page)}?{kind}={worker.id}", language=None, wrap_lines=True)
    st.divider()


def _person(worker: Worker, place: int, person: str, role: Role) -> None:
    key = f"access-{worker.id}-{place}-{person}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(plain(person), width="stretch")
        st.selectbox(
            "Role",
            list(TITLES),
            index=list(TITLES).index(role),
            format_func=TITLES.__getitem__,
            key=key,
            label_visibility="collapsed",
            width=180,
            on_change=lambda: _change(worker, {person: st.session_state[key]}),
        )
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            help="Remove",
            key=f"{key}-remove",
            on_click=_change,
            args=(worker, {person: None}),
        )


def _add(worker: Worker) -> None:
    name, role = f"access-name-{worker.id}", f"access-role-{worker.id}"
    with st.form(f"access-add-{worker.id}", border=False, clear_on_submit=True):
        address, title = st.columns([3, 2])
        address.text_input("Add a person", placeholder="address they log in with", max_chars=254, key=name)
        title.selectbox("Role", list(TITLES), format_func=TITLES.__getitem__, key=role)
        st.form_submit_button(
            "Add",
            key=f"access-send-{worker.id}",
            on_click=lambda: _change(worker, {person_id(st.session_state[name]): st.session_state[role]}),
        )


def _change(worker: Worker, wanted: dict[str, Role | None]) -> None:
    def change(access: Access) -> Access:
        people = {**access.people, **wanted}
        return replace(access, people={name: role for name, role in people.items() if role is not None})

    if any(wanted):  # an address was typed
        _save(worker, change)


def _set_link(worker: Worker) -> None:
    role: Role | None = st.session_state[f"access-link-{worker.id}"]
    _save(worker, lambda access: replace(access, link=role))


def _save(worker: Worker, change: Callable[[Access], Access]) -> None:
    registry = session.registry()
    try:
        registry.share(worker, change(registry.access(worker)))
    except UserError as error:
        st.toast(plain(error), icon=":material/error:")

"""Panel for the owner of a run: who else may open it, by name or by link. Only where people log in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from pll.runs.access import Access, Role, person_id
from pll.runs.run import Run
from pll.ui import session
from pll.ui.format import plain
from pll.ui.routes import address
from pll.ui.widgets import beside, bound, button, toast_errors

ACCESS_TITLES: dict[Role, str] = {"viewer": "may look", "reviewer": "may review", "owner": "may do everything"}
BY_LINK = {"": "Nobody else", "viewer": "may look", "reviewer": "may review"}


def panel(run: Run) -> None:
    """Show who may open it, and change it."""
    page, kind = ("compare", "comparison") if run.is_comparison else ("train", "run")
    registry = session.registry()
    if registry.person is None or not registry.may(run, "owner"):
        return
    access = registry.access(run)
    st.markdown(f"**Who can open this {kind}**")
    owner = plain(access.owner) if access.owner else "no one; only administrators can open it"
    st.caption(f"Owner: {owner}")
    for place, (person, role) in enumerate(access.people.items()):
        _person(run, place, person, role)
    _add(run)
    bound(
        st.selectbox,
        "Everybody who logs in and has the link",
        BY_LINK,
        key=f"access-link-{run.id}",
        now=access.link or "",  # a field that is None shows nothing
        change=lambda role: _save(run, lambda access: replace(access, link=role or None)),
    )
    if access.link or access.people:
        st.code(f"{address(page)}?{kind}={run.id}", language=None, wrap_lines=True)
    st.divider()


def _person(run: Run, place: int, person: str, role: Role) -> None:
    key = f"access-{run.id}-{place}-{person}"
    with beside():
        st.markdown(plain(person), width="stretch")
        bound(
            st.selectbox,
            "Role",
            ACCESS_TITLES,
            key=key,
            now=role,
            change=lambda role: _change(run, {person: role}),
            label_visibility="collapsed",
            width=180,
        )
        button("", _change, run, {person: None}, icon="close", kind="tertiary", help="Remove", key=f"{key}-remove")


def _add(run: Run) -> None:
    name, role = f"access-name-{run.id}", f"access-role-{run.id}"
    with st.form(f"access-add-{run.id}", border=False, clear_on_submit=True):
        left, right = st.columns([3, 2])
        left.text_input("Add a person", placeholder="address they log in with", max_chars=254, key=name)
        right.selectbox("Role", list(ACCESS_TITLES), format_func=ACCESS_TITLES.__getitem__, key=role)
        st.form_submit_button(
            "Add",
            key=f"access-send-{run.id}",
            on_click=lambda: _change(run, {person_id(st.session_state[name]): st.session_state[role]}),
        )


def _change(run: Run, roles: dict[str, Role | None]) -> None:
    def change(access: Access) -> Access:
        people = {**access.people, **roles}
        return replace(access, people={name: role for name, role in people.items() if role is not None})

    if any(roles):  # an address was typed
        _save(run, change)


@toast_errors
def _save(run: Run, change: Callable[[Access], Access]) -> None:
    registry = session.registry()
    registry.share(run, change(registry.access(run)))

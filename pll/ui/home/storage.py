"""Storage of one person on this server, its quota, and how to free space."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pll.errors import UserError
from pll.runs.cleanup import Waste
from pll.runs.quota import KINDS, ON_PAGES, WARN_FROM, Standing, format_bytes
from pll.ui import session
from pll.ui.format import count, plain

FREED = "storage-freed"
"""Where this tab notes that something was removed, until the page is drawn again."""


def warn(standings: Sequence[Standing]) -> None:
    """Show a warning for every quota that is nearly used up."""
    for one in standings:
        if one.share >= WARN_FROM:
            more = "Nothing new can be kept. " if one.share >= 1 else ""
            st.warning(f"{one} {more}{ON_PAGES}", icon=":material/hard_drive:")


def line(standings: Sequence[Standing]) -> None:
    """What is held, and the way to free space; nothing where no quota is set."""
    st.session_state.pop(FREED, None)
    if not standings:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("  \n".join(map(str, standings)), width="content")
        if st.button("Storage", icon=":material/hard_drive:", type="tertiary", help="Free space"):
            _free_space()


@st.dialog("Storage")
def _free_space() -> None:
    """What can be removed for good, at a press."""
    if st.session_state.pop(FREED, False):
        st.rerun()  # the page behind shows what is held now
    found = session.registry().disposable()
    kept = {source.path for source in session.last_uploads()}
    binned = [one for one in found if one.path.is_dir()]
    uploads = [one for one in found if not one.path.is_dir() and str(one.path) not in kept]
    st.write("This removes files for good. Runs that are not deleted stay; delete them in the list first.")
    _offer("Empty bin", "deleted run or comparison", "deleted runs and comparisons", binned)
    _offer("Remove uploads", "upload that no run reads", "uploads that no run reads", uploads)


def _offer(label: str, one: str, many: str, found: Sequence[Waste]) -> None:
    held = format_bytes(sum(waste.bytes for waste in found))
    st.caption(f"{count(len(found), one, many)}: {held}." if found else f"There are no {many}.")
    st.button(label, icon=":material/delete_forever:", disabled=not found, on_click=_dispose, args=(found,))


def _dispose(found: Sequence[Waste]) -> None:
    try:
        freed = session.registry().dispose(found)
        st.toast(f"{format_bytes(freed)} freed.", icon=":material/check:")
    except UserError as error:
        st.toast(plain(error), icon=":material/error:")
    st.session_state[FREED] = True


def of_everybody() -> None:
    """A table of what everybody holds, for an administrator."""
    held = session.registry().held_by_person()
    rows = [
        {"person": person if "@" in person or "#" in person else "no run of theirs" if person else "nobody"}
        | {f"{kind} (MB)": getattr(one, kind) / 1e6 for kind in KINDS}
        | {"all (MB)": one.total / 1e6}
        for person, one in sorted(held.items(), key=lambda pair: -pair[1].total)
    ]
    if rows:
        with st.expander("Storage by person", icon=":material/hard_drive:"):
            st.dataframe(rows, hide_index=True, column_config={name: _NUMBER for name in rows[0] if "(" in name})


_NUMBER = st.column_config.NumberColumn(format="%.1f")

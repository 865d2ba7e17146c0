"""Connect Label Studio: the address and secret of a run, and the last requests."""

from __future__ import annotations

from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from pll.export.connections import Credentials, connect, is_connected, revoke
from pll.runs.run import Run
from pll.ui import session
from pll.ui.labelstudio_routes import PREFIX, recent_requests
from pll.ui.review import service
from pll.ui.routes import address
from pll.ui.widgets import button, show_table


def panel(run: Run) -> None:
    """The connection of one run; for whoever owns it."""
    registry = session.registry()
    registry.require(registry.get(run.id), "owner")
    database, key = service.database(), f"labelstudio-{run.id}"
    st.caption(
        "Label Studio shows the labels of this run as predictions, unsure ones first, and every answer given there "
        "becomes a decision here."
    )
    connected = is_connected(database, run.id)

    def make() -> None:
        by = None if registry.person is None else registry.person.name
        st.session_state[key] = connect(database, run.id, by=by)

    def cut() -> None:
        revoke(database, run.id)
        st.session_state.pop(key, None)

    with st.container(horizontal=True):
        button("New secret" if connected else "Connect Label Studio", make, icon="link")
        if connected:
            button("Disconnect", cut, icon="link_off")
    if not connected:
        return
    made: Credentials | None = st.session_state.get(key)
    here = f"{address('export').removesuffix('/export')}{PREFIX}/{run.id}"
    inside = _from_a_container(here)
    st.markdown("In Label Studio: *Settings → Model → Connect Model*, with this address:")
    if made is None:
        st.code(here, language=None)
        st.caption("The secret in it was shown once. Make a new one if it is lost; the old one then stops working.")
    else:
        st.code(made.inside(here), language=None)
        if inside != here:
            st.caption("Where Label Studio runs in Docker on this machine:")
            st.code(made.inside(inside), language=None)
        st.caption(f"It holds the user {made.user} and the secret, which is not shown again.")
    latest = recent_requests(run.id)
    if latest:
        st.caption(f"The last {len(latest)} requests since the server started.")
        show_table(pd.DataFrame(latest), "Requests of Label Studio", key="labelstudio-requests")


def _from_a_container(address: str) -> str:
    """Return the address as a container on this machine sees the server.

    Examples
    --------
    >>> _from_a_container("http://localhost:8501/labelstudio/r")
    'http://host.docker.internal:8501/labelstudio/r'
    >>> _from_a_container("https://candid.example.org/labelstudio/r")
    'https://candid.example.org/labelstudio/r'
    """
    parts = urlsplit(address)
    if parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return address
    return parts._replace(netloc="host.docker.internal" + f":{parts.port}" * bool(parts.port)).geturl()

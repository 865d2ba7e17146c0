"""The entry of `streamlit run app.py`. The routes are in pll/ui/main.py.

`st.App` and not `st.navigation` here: beside a `pages/` folder, Streamlit would run a page alone, without the frame,
if the first request after the server starts is a deep link.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

import pll
from pll.runs.jobs import default_board
from pll.runs.registry import default_registry
from pll.ui.labelstudio_routes import LABEL_STUDIO_ROUTES
from pll.ui.login import remember_downloads
from pll.ui.middleware import DropMessages, LoginGate, SecurityHeaders, SessionLimit
from pll.ui.server_health import HEALTH_ROUTES
from pll.ui.startup import begin, get_ready_in_background

MIDDLEWARE = [Middleware(layer) for layer in (SecurityHeaders, SessionLimit, LoginGate, DropMessages)]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """While the server runs; when it ends, every run is stopped with a checkpoint."""
    begin()
    remember_downloads()
    get_ready_in_background()
    yield
    default_board().stop_all()
    default_registry().stop_all()


ROUTES = [*HEALTH_ROUTES, *LABEL_STUDIO_ROUTES]
app = st.App(Path(pll.__file__).parent / "ui" / "main.py", lifespan=lifespan, routes=ROUTES, middleware=MIDDLEWARE)

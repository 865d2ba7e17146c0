"""Pages run without a browser: Streamlit's AppTest, on a home folder of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pll.runs.process import PerProcess
from pll.runs.run import Run
from pll.ui import session
from tests.page_helpers import IRIS

ROOT = Path(__file__).parents[2]
OpenPage = Callable[..., Any]


def begin_anew() -> None:
    """Leave nothing of an earlier test in memory."""
    st.cache_resource.clear()
    PerProcess.forget_all()


@pytest.fixture
def open_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenPage]:
    """`open_page("data", run="…")` shows a page with that query; the app is new for every test."""
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    begin_anew()

    def show(name: str, /, **query: str) -> Any:
        app = AppTest.from_file(str(ROOT / "pll" / "ui" / "main.py"), default_timeout=60)
        for key, value in query.items():
            app.query_params[key] = value
        app.run()
        return app if name == "home" else app.switch_page(f"../../pages/{name}.py").run()

    yield show
    session.registry().stop_all()
    begin_anew()


@pytest.fixture
def finished(open_page: OpenPage) -> Run:
    """A run over the irises."""
    open_page("home")
    run = session.registry().start(IRIS)
    run.join(60)
    return run

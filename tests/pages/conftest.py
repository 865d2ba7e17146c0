"""Pages run without a browser: Streamlit's AppTest, on a home folder of their own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.secrets import Secrets
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from pll.review.signals import prepare_signals
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry
from pll.runs.run import Run
from pll.ui import session
from tests.page_helpers import IRIS
from tests.run_helpers import registry_in

ROOT = Path(__file__).parents[2]
OpenPage = Callable[..., Any]

# AppTest reads the metadata of all installed packages for every page it opens: half of what a page test costs. They
# stay the same for as long as the tests run.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
# Threads would look at the secrets of every test, several times a second, for as long as the tests run.
Secrets._maybe_install_file_watchers = lambda secrets: None
# It compiles the scripts anew each time a page runs: they stay the same, too.
app_test.ScriptCache = local_script_runner.ScriptCache = cache(ScriptCache)
_has_ended = local_script_runner.require_widgets_deltas


def _wait_for_the_end(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """AppTest asks a thousand times a second whether the page has run, beside the thread that runs it."""
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    _has_ended(runner, timeout=0.1)  # it says that a page takes too long


local_script_runner.require_widgets_deltas = _wait_for_the_end


def begin_anew() -> None:
    """Leave nothing of an earlier test in memory."""
    st.cache_resource.clear()
    PerProcess.forget_all()


@pytest.fixture
def open_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenPage]:
    """`open_page("data", run="…")` shows a page with that query; the app is new for every test.

    `user` holds the claims of whoever has logged in, where a login is set up.
    """
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "home"))
    begin_anew()

    def show(name: str, /, *, user: dict[str, Any] | None = None, **query: str) -> Any:
        app = AppTest.from_file(str(ROOT / "pll" / "ui" / "main.py"), default_timeout=60)
        if user is not None:
            app.user = user
        for key, value in query.items():
            app.query_params[key] = value
        return (app if name == "home" else app.switch_page(f"../../pages/{name}.py")).run()

    yield show
    default_registry().stop_all()
    begin_anew()


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A login is set up, and root@example.org is an administrator."""
    file = tmp_path / "secrets.toml"
    file.write_text('[auth]\nredirect_uri = "http://localhost/oauth2callback"\nclient_id = "candid"\n')
    monkeypatch.setenv("PLL_ADMINS", "Root@example.org")
    st.config.set_option("secrets.files", [str(file)])
    st.secrets._reset()  # what it has read before
    yield
    st.config.set_option("secrets.files", [])
    st.secrets._reset()


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run over the irises."""
    with registry_in(tmp_path_factory.mktemp("trained")) as registry:
        run = registry.start(IRIS)
        run.join(60)
        prepare_signals(run.folder, run.splits().train)  # what every review of a copy would find out anew
        return run.folder.path


@pytest.fixture
def finished(open_page: OpenPage, trained: Path) -> Run:
    """A run over the irises."""
    runs = session.registry()
    shutil.copytree(trained, runs.root / trained.name)
    return runs.get(trained.name)

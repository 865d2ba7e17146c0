"""What browser tests share: one server of the app, a Chromium, and a page whose console must show no error.

Starting a server costs seconds of CPU time, so all tests of a worker share one. Each test opens pages of its own (a
fresh browser context), and must not rely on there being no runs of other tests.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Serve = Callable[..., str]
NewPage = Callable[..., Any]
PATIENCE = 120_000
"""Milliseconds after which a test gives up. No test passes or fails by how long something takes within it."""


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """`serve(script)` runs a Streamlit script with the project's own settings and returns its address.

    Each server has a home directory of its own, so that it finds neither the developer's settings nor their runs.
    """
    servers: list[subprocess.Popen[bytes]] = []

    def start(script: Path, **environment: str) -> str:
        home = tmp_path_factory.mktemp("home")
        port = _free_port()
        options = [f"--server.port={port}", "--server.headless=true", "--server.fileWatcherType=none"]
        log = home / "server.log"
        with log.open("wb") as output:
            servers.append(
                subprocess.Popen(
                    [sys.executable, "-m", "streamlit", "run", str(script), *options],
                    cwd=ROOT,
                    env=os.environ | {"HOME": str(home), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            )
        url = f"http://localhost:{port}"
        _wait_until_healthy(url, servers[-1], log)
        return url

    yield start
    for server in servers:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@pytest.fixture(scope="session")
def app_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `PLL_HOME` of the app: its runs and decisions."""
    return tmp_path_factory.mktemp("candid")


@pytest.fixture(scope="session")
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server that the app's Data page may read."""
    return tmp_path_factory.mktemp("open")


@pytest.fixture(scope="session")
def app(serve: Serve, app_home: Path, open_folder: Path) -> str:
    """The address of the app, with its decisions in SQLite."""
    database = f"sqlite:///{app_home / 'reviews.sqlite3'}"
    return serve(ROOT / "app.py", PLL_HOME=str(app_home), PLL_DATA_PATH=str(open_folder), PLL_DATABASE_URL=database)


@pytest.fixture
def new_page(chromium: Any) -> Iterator[NewPage]:
    """`new_page(**settings of the browser context)` opens a fresh page; errors in its console fail the test.

    Pictures do not glide unless `reduced_motion="no-preference"` is given: Chromium draws every frame on the CPU here.
    """
    contexts: list[Any] = []
    complaints: list[str] = []

    def listen(message: Any) -> None:
        # Streamlit itself probes for its endpoints under every page and is told 404 there.
        if message.type == "error" and "_stcore" not in message.location.get("url", ""):
            complaints.append(message.text)

    def open_page(**settings: Any) -> Any:
        usual = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        contexts.append(chromium.new_context(**(usual | settings)))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", listen)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(url: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"Streamlit did not start:\n{log.read_text('utf-8', errors='replace')}")

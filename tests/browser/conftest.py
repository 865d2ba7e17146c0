"""What browser tests share: one server of the app, a Chromium, and a page whose console must show no error.

Starting a server costs seconds of CPU time, so all tests of a worker share one. Each test opens pages of its own (a
fresh browser context), and must not rely on there being no runs of other tests.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Serve = Callable[..., str]
NewPage = Callable[..., Any]
PATIENCE = 120_000
"""Milliseconds after which a test gives up. No test passes or fails by how long something takes within it."""
TOLD_AFTER = 60.0
"""Seconds after which a test logs what its pages failed to load, and what every thread of the servers is doing."""
SERVER = (
    "import faulthandler, signal; faulthandler.register(signal.SIGUSR1, all_threads=True); "
    "from streamlit.web.cli import main; main(prog_name='streamlit')"
)
"""Streamlit as `python -m streamlit`, which writes the stacks of all threads to its log when it gets SIGUSR1."""


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[bytes]
    log: Path

    def write_stacks(self) -> None:
        """Have the server write what every thread is doing to its log."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR1)


@pytest.fixture(scope="session")
def servers() -> list[Server]:
    """The servers of this worker."""
    return []


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory, servers: list[Server]) -> Iterator[Serve]:
    """`serve(script)` runs a Streamlit script with the project's own settings and returns its address.

    Each server has a home directory of its own, so that it finds neither the developer's settings nor their runs.
    """

    def start(script: Path, **environment: str) -> str:
        home = tmp_path_factory.mktemp("home")
        port = _free_port()
        options = [f"--server.port={port}", "--server.headless=true", "--server.fileWatcherType=none"]
        log = home / "server.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-c", SERVER, "run", str(script), *options],
                cwd=ROOT,
                env=os.environ | {"HOME": str(home), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"} | environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        servers.append(Server(process, log))
        url = f"http://localhost:{port}"
        _wait_until_healthy(url, process, log)
        return url

    yield start
    for server in servers:
        server.process.terminate()
        try:
            server.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.process.kill()
            server.process.wait()


@pytest.fixture(scope="session")
def app_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `PLL_HOME` of the app: its runs and decisions."""
    return tmp_path_factory.mktemp("candid")


@pytest.fixture(scope="session")
def open_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server that the app's Data page may read."""
    return tmp_path_factory.mktemp("open")


@pytest.fixture(scope="session")
def app(chromium_file: str, serve: Serve, app_home: Path, open_folder: Path) -> str:
    """The address of the app, with its decisions in SQLite; not started where no browser could look at it."""
    database = f"sqlite:///{app_home / 'reviews.sqlite3'}"
    return serve(ROOT / "app.py", PLL_HOME=str(app_home), PLL_DATA_PATH=str(open_folder), PLL_DATABASE_URL=database)


@pytest.fixture
def new_page(chromium: Any, servers: list[Server]) -> Iterator[NewPage]:
    """`new_page(**settings of the browser context)` opens a fresh page; errors in its console fail the test.

    After `TOLD_AFTER` the test prints what failed to load, the errors of its consoles and the ends of the servers' logs
    with the stacks of their threads: a page that is not shown leaves no other trace. pytest shows it where it fails.

    Pictures do not glide unless `reduced_motion="no-preference"` is given: Chromium draws every frame on the CPU here.
    """
    contexts: list[Any] = []
    complaints: list[str] = []
    trail: list[str] = []
    begun, is_late = time.monotonic(), threading.Event()

    def note(what: str) -> None:
        trail.append(f"{time.monotonic() - begun:6.1f} s  {what}")

    def tell() -> None:
        is_late.set()
        note(f"still waiting after {TOLD_AFTER:.0f} s; the servers write their stacks")
        for server in servers:
            server.write_stacks()

    def listen(message: Any) -> None:
        # Streamlit itself probes for its endpoints under every page and is told 404 there.
        if message.type == "error" and "_stcore" not in message.location.get("url", ""):
            complaints.append(message.text)
        if message.type == "error":
            note(f"console: {message.text}")

    def open_page(**settings: Any) -> Any:
        usual = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
        contexts.append(chromium.new_context(**(usual | settings)))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", listen)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: note(f"request failed: {request.failure}: {request.url}"))
        return page

    watch = threading.Timer(TOLD_AFTER, tell)
    watch.daemon = True
    watch.start()
    yield open_page
    watch.cancel()
    if is_late.is_set():
        print("\n".join(trail))
        for server in servers:
            print(f"---- {server.log}\n{server.log.read_text('utf-8', errors='replace')[-20_000:]}")
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

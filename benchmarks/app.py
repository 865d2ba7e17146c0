"""The real app for a measurement: a server of its own, and a Chromium to look at it with."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.registry import RunRegistry
from pll.synthesis import Flip

ROOT = Path(__file__).resolve().parents[1]


class Server:
    """The app on a port of its own, with further options of Streamlit; killed as hard as can be.

    Parameters
    ----------
    home
        An empty folder, which becomes its `PLL_HOME`.
    log
        Name of the file in it for what the server prints.
    database
        Its `PLL_DATABASE_URL`; None for SQLite in its home.
    """

    def __init__(self, home: Path, *options: str, log: str = "server.log", database: str | None = None) -> None:
        self.home = home
        self._options = options
        self._log = home / log
        self._database = {} if database is None else {"PLL_DATABASE_URL": database}
        with closing(socket.socket()) as probe:
            probe.bind(("localhost", 0))
            self.port = int(probe.getsockname()[1])
        self.url = f"http://localhost:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, patience: float = 240.0) -> None:
        """Start it, and wait until it answers, at most `patience` seconds (a machine that runs tests may be busy)."""
        options = [f"--server.port={self.port}", "--server.headless=true", "--server.fileWatcherType=none"]
        options += self._options
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), *options],
                cwd=ROOT,
                env=os.environ
                | {"PLL_HOME": str(self.home), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
                | self._database,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2):
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(self._log.read_text("utf-8", errors="replace"))

    @property
    def pid(self) -> int:
        """Its process id, once it was started."""
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def terminate(self, patience: float = 30.0) -> int:
        """SIGTERM, as Docker and systemd send it; the exit status."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait(patience)

    def kill(self) -> None:
        """SIGKILL: nothing is written."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None


def chromium(driver: Any) -> Any:
    """A browser of playwright's, without its window."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    return driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])


def prepared_run(home: Path, n: int = 900, name: str = "pictures") -> str:
    """A run to review in this home, of data of that name; its id."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, n)
    X = rng.normal(size=(n, 1, 8, 8)).astype(np.float32) + y[:, None, None, None]
    np.savez(home / f"{name}.npz", X=X, y=y, class_names=np.array(["ant", "bee", "cat", "dog"]))
    params = {"model": "linear", "epochs": 3, "threads": 1}
    config = RunConfig(Source(name, str(home / f"{name}.npz")), params=params, flip=Flip("binomial", 0.5))
    run = RunRegistry(home / "runs").start(config)
    run.join(120)
    return run.id

"""The real app for a measurement: a server of its own, and a Chromium to look at it with.

    python -m benchmarks.app [--examples 20000] [--classes 50]

prints the stages of *Get labels* on texts that three people answered, up to the first epoch, with seconds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.fit_loop import FitLoop
from pll.runs.folder import RunFolder
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


# ---- from the press to the first epoch ----------------------------------------------------------------------------


def answered_texts(folder: Path, n: int = 20_000, classes: int = 50, people: int = 3, seed: int = 0) -> Path:
    """A CSV file of texts about one of many classes, and what people who err now and then answered."""
    rng = np.random.default_rng(seed)
    names = [f"topic {k:02}" for k in range(classes)]
    words = [[f"{name.replace(' ', '')}word{j}" for j in range(12)] for name in names]
    filler = [f"filler{j}" for j in range(400)]
    y = rng.integers(0, classes, n)
    table: dict[str, list[str]] = {
        "text": [" ".join([*rng.choice(words[label], 4), *rng.choice(filler, 10)]) for label in y]
    }
    for person in range(people):
        wrong = rng.random(n) < (0.15, 0.25, 0.35)[person % 3]
        table[f"person {person + 1}"] = [names[k] for k in np.where(wrong, rng.integers(0, classes, n), y)]
    file = folder / "texts.csv"
    pd.DataFrame(table).to_csv(file, index=False)
    return file


def stages(n: int, classes: int) -> None:
    """Print each stage of *Get labels* on such texts up to the first epoch: seconds, and seconds of CPU."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        home = Path(place)
        os.environ["PLL_HOME"] = place
        file = answered_texts(home, n, classes)
        config = RunConfig(Source(file.name, str(file), rule="voters"), params={"recipe": "auto"})
        last, begun, at, cpu = "read", time.perf_counter(), time.perf_counter(), time.process_time()

        def stage(name: str) -> None:
            nonlocal last, at, cpu
            if name != last:
                print(f"{time.perf_counter() - at:8.1f} s {time.process_time() - cpu:8.1f} s CPU  {last}", flush=True)
                last, at, cpu = name, time.perf_counter(), time.process_time()

        folder = RunFolder(home / "run")
        folder.create(config)
        loop = FitLoop(
            folder, on_step=lambda what, done, total: stage(what), on_ready=lambda loop: stage("first epoch")
        )
        loop.advance()
        stage("")
        print(
            f"{time.perf_counter() - begun:8.1f} s {time.process_time():8.1f} s CPU  from the press to the first epoch"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Stages and seconds from Get labels to the first epoch, of texts.")
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--classes", type=int, default=50)
    options = parser.parse_args()
    stages(options.examples, options.classes)

"""The real server in a process of its own: what it says at the start, and how SIGTERM ends it."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.app import ROOT, Server
from benchmarks.load import LINK, Findings, begun_review, load, opened
from tests.review_helpers import on_disk

pytestmark = pytest.mark.slow


def test_sigterm_stops_runs_with_a_checkpoint(tmp_path: Path) -> None:
    async def begin() -> None:
        tab = await opened(server, "train", LINK, Findings())
        assert not list((tmp_path / "runs").glob("*/config.json"))  # a link sets up
        await tab.ask(id=tab.buttons["Start"])
        while not list((tmp_path / "runs").glob("*/metrics.csv")):
            await tab.listen(asyncio.get_running_loop().time() + 0.1)
        await tab.socket.close()

    with Server(tmp_path) as server:
        asyncio.run(asyncio.wait_for(begin(), 120))
        ended = server.terminate(60)
    assert ended in (0, -signal.SIGTERM)
    (folder,) = (file.parent for file in (tmp_path / "runs").glob("*/config.json"))
    assert json.loads((folder / "state.json").read_text())["state"] == "stopped"
    assert (folder / "checkpoint" / "checkpoint.pt").exists() and (folder / "labels.csv").exists()
    log = (tmp_path / "server.log").read_text()
    assert "Nobody has to log in" in log and "run started" in log


def test_reviewers_of_the_benchmark_decide(tmp_path: Path) -> None:
    """`benchmarks.load` speaks the desk's own messages: what it counts is in the database."""
    run_id = begun_review(tmp_path, 300)
    with Server(tmp_path) as server:
        result = asyncio.run(load(server, run_id, 2, minutes=0.2, arrival=1.0, thinking=0.2))
    assert result.errors == [] and result.decisions > 5
    assert len(on_disk(tmp_path, run_id)[0]) == result.decisions


def test_a_wrong_setting_ends_the_start_with_a_message(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless=true"]
    environment = {"PATH": "", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PLL_LOG": "xml"}
    done = subprocess.run(
        [*command, "--server.port=0"], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert "PLL_LOG is 'xml'; it must be one of text, json" in done.stderr and "Traceback" not in done.stderr

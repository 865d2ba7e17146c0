"""Reading and downloads on the command line: a bar on stderr, and Ctrl-C that leaves nothing behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pll.cli import output
from pll.cli.main import main
from pll.cli.output import Bars
from pll.runs import run_data
from pll.runs.folder import RunFolder
from tests.catalog.helpers import TOY, Server, toy_in_catalogue


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    with toy_in_catalogue(monkeypatch, tmp_path / "data") as running:
        running.answers["/toy.data"] = TOY
        yield running


def test_each_kind_of_thing_has_a_bar_with_rate_and_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "BAR_AFTER_SECONDS", 0)
    with Bars() as bars:
        for done in (0, 500_000, 1_000_000):
            bars.show("bytes", done, 1_000_000)
        bars.show("rows", 10, 20)
    said = capsys.readouterr()
    assert said.out == ""
    assert "/1.00M" in said.err and "B/s" in said.err, "bytes, and how fast"
    assert "/20 " in said.err and "rows" in said.err and "/s" in said.err


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_a_download_and_leaves_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        n = 0

        def __init__(self, **_: Any) -> None: ...

        def set_postfix_str(self, *_: Any, **__: Any) -> None: ...

        def update(self, done: int) -> None:
            os.kill(os.getpid(), signal.SIGINT)

        def close(self) -> None: ...

    monkeypatch.setattr(output, "tqdm", Interrupted)
    assert main(["synthesize", "toy", "--flip", "pair", "--q", "1", "--out", str(tmp_path / "a.npz")]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_stops_a_run_that_is_still_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = run_data.load_splits

    def interrupted(config: Any, progress: Any, **_: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        progress("rows", 1, 2)
        pytest.fail("it went on reading")

    monkeypatch.setattr(run_data, "load_splits", interrupted)
    words = ["fit", "iris", "--noisy", "topk:1", "--epochs", "2", "--threads", "1", "--out", str(tmp_path / "run")]
    assert main(words) == 130
    assert RunFolder(tmp_path / "run").state()["state"] == "interrupted"
    monkeypatch.setattr(run_data, "load_splits", read)
    assert main([*words, "--resume"]) == 0
    assert RunFolder(tmp_path / "run").state()["state"] == "finished"

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pll.cli.main import main
from pll.experiments import execution
from pll.experiments.execution import CellOutcome
from pll.experiments.experiment import Cell

ROOT = Path(__file__).parents[2]
TEXT = """
datasets = ["iris"]
methods = ["proden", "proden-naive", "plknn", "sure"]
flips = [{ how = "binomial", q = [0.1, 0.5] }]
folds = 4
[[settings]]
method = ["proden", "proden-naive"]
epochs = 25
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "small.toml").write_text(TEXT)
    return tmp_path / "small.toml"


def command(file: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pll", "experiment", str(file), "--out", str(out), "--jobs", "1"],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def cells(out: Path) -> int:
    return len(list((out / "cells").glob("*.json")))


def wait_for_cells(process: subprocess.Popen[str], out: Path, number: int) -> None:
    until = time.monotonic() + 400
    while process.poll() is None and time.monotonic() < until:
        if cells(out) >= number:
            return
        time.sleep(0.02)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["experiment", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    return err


def test_what_cannot_be_is_refused(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "uci-binomial" in refused(capsys, "uci-binomal")
    assert "nothing.toml" in refused(capsys, tmp_path / "nothing.toml")
    assert "--scheduler" in refused(capsys, file, "--backend", "dask")
    assert "lost" in refused(capsys, file, "--only", "dataset=lost")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    assert "thesis" not in refused(capsys, file, "--out", tmp_path / "full")


def test_a_preset_without_its_data_says_where_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLL_DATA", str(tmp_path))
    monkeypatch.delenv("PLL_DATA_PATH", raising=False)
    said = refused(capsys, "real-world", "--out", tmp_path / "out")
    assert "lost: 50 cells cannot run" in said and "lost.mat" in said


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit in this process."""

    class Here:
        width, words = 1, "here"

        def __init__(self, *_: object) -> None: ...

        def outcomes(self, cells: Sequence[Cell], _: object) -> Iterator[tuple[Cell, CellOutcome]]:
            for cell in cells:
                yield cell, execution.run_cell(cell)

    monkeypatch.setattr(execution, "_Processes", Here)


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_killed_and_continued_the_tables_are_the_same(
    how: signal.Signals, here: None, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    assert main(["experiment", str(file), "--out", str(whole)]) == 0
    process = command(file, pieces)
    wait_for_cells(process, pieces, 3)
    process.send_signal(how)
    said = process.communicate(timeout=120)[1]
    assert process.returncode != 0 and 3 <= cells(pieces) < 32
    if how == signal.SIGTERM:
        assert process.returncode == 130 and "goes on" in said and "Traceback" not in said
        assert (pieces / "tables.md").exists()
    assert main(["experiment", str(file), "--out", str(pieces)]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["done"] == 32
    for name in ("tables.md", "tables.csv"):
        assert (pieces / name).read_bytes() == (whole / name).read_bytes()

"""SIGTERM (Docker, Slurm) and SIGHUP (a lost connection) end `fit` with a checkpoint."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from pll.cli import fit as fit_module
from pll.cli.main import main
from pll.runs.folder import RunFolder
from pll.training.metrics import EpochRecord
from tests.run_helpers import result_of, write_data


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_with_a_checkpoint_and_resume_goes_on_to_the_same_bits(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    signal.signal(number, signal.SIG_DFL)  # a shell may have had it ignored (nohup)
    data = write_data(tmp_path / "small.npz")
    fit = [
        "fit",
        str(data),
        "--flip",
        "binomial",
        "--q",
        "0.4",
        "--epochs",
        "4",
        "--batch-size",
        "16",
        "--threads",
        "1",
    ]
    assert main([*fit, "--out", str(tmp_path / "whole")]) == 0
    before = signal.getsignal(number)

    def signal_after_two(bars: object, loop: object, record: EpochRecord) -> None:
        if record.epoch == 2:
            os.kill(os.getpid(), number)

    with monkeypatch.context() as patched:
        patched.setattr(fit_module, "_show", signal_after_two)
        assert main([*fit, "--out", str(tmp_path / "run")]) == 128 + number
    assert "--resume" in capsys.readouterr().err
    assert signal.getsignal(number) == before
    folder = RunFolder(tmp_path / "run")
    assert folder.state()["state"] == "stopped" and folder.checkpoint() is not None
    assert main([*fit, "--out", str(tmp_path / "run"), "--resume"]) == 0
    assert result_of(folder) == result_of(RunFolder(tmp_path / "whole"))

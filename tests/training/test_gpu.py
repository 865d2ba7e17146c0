"""Training on a simulated GPU, in a process of its own: torch learns of a device before its first backward pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = ("same", "waits", "memory", "streamed", "out-of-memory", "lost", "resumed", "run")


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_what_a_gpu_would_do(check: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu", "--cpu", "--check", check],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert " ok\n" in ended.stdout and "FAILED" not in ended.stdout

"""From `PRODEN.fit` to the change of the label weights: how many files one has to open."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pll
from pll import PRODEN, CandidateSets
from pll.training.layouts import _DenseBatch as Batch  # what three classes are laid out as

PACKAGE = Path(pll.__file__).parent
SETS = CandidateSets.from_lists([[0, 1], [1, 2], [0, 2]], n_classes=3)
X = [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


def own(filename: str) -> str | None:
    """The path within the package; None for files of other packages."""
    path = Path(filename)
    return str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else None


def test_the_way_from_fit_to_the_weight_update_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[list[str]] = []
    write = Batch.write

    def recorded(self: Batch, *arguments: Any) -> None:
        frames = (own(frame.filename) for frame in traceback.extract_stack())
        ways.append([name for name in frames if name])
        write(self, *arguments)

    monkeypatch.setattr(Batch, "write", recorded)
    PRODEN(epochs=1, device="cpu").fit(X, SETS)
    assert ways[0][-1] == "training/trainer.py"  # the step, which calls the layout's `write`
    assert len({*ways[0], "training/layouts.py", "methods/proden.py"}) <= 8, ways[0]


def test_fit_runs_code_of_few_files() -> None:
    files: set[str] = set()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        name = own(frame.f_code.co_filename)
        if event == "call" and name:
            files.add(name)

    PRODEN(epochs=1, device="cpu").fit(X, SETS)  # what is imported on first use is imported now
    sys.setprofile(profile)
    try:
        PRODEN(epochs=1, device="cpu").fit(X, SETS)
    finally:
        sys.setprofile(None)
    print(sorted(files))
    assert len(files) <= 17

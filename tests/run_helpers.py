"""What the tests of runs share: small data in a file, everything a run leaves behind, and patience."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from pll.catalog.sources import Source
from pll.runs.config import RunConfig
from pll.runs.folder import RunFolder
from pll.runs.registry import RunRegistry
from pll.synthesis import Flip

N, D, C = 120, 5, 4
BATCH = 16
BATCHES = 6  # an epoch over the 96 examples that are left after a fifth is held out
VARIANTS = ("proden", "proden-itera", "proden-naive", "proden-sudden", "pn-oracle")
TIMINGS = ("examples_per_second", "seconds")


def write_data(path: Path, *, n: int = N, d: int = D, c: int = C, images: bool = False, **arrays: Any) -> Path:
    """A labelled npz of c clouds of points; `arrays` replace or add to what is in it."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % c)
    X = (rng.normal(size=(n, d)) + 2 * rng.normal(size=(c, d))[y]).astype(np.float32)
    if images:
        X = rng.normal(size=(n, 1, 8, 8)).astype(np.float32) + y[:, None, None, None]
    np.savez(path, **({"X": X, "y": y, "class_names": np.array(["ant", "bee", "cat", "dog"][:c])} | arrays))
    return path


def config(data: Path, **options: Any) -> RunConfig:
    """A small run; `params` are added to its settings."""
    params = {"model": "linear", "epochs": 6, "batch_size": BATCH, "threads": 1} | options.pop("params", {})
    return RunConfig(
        **{"source": Source(data.name, str(data)), "flip": Flip("binomial", 0.4), "holdout": 0.2, "params": params}
        | options
    )


def result_of(folder: RunFolder) -> dict[str, Any]:
    """Everything a run left behind that must not depend on how often it was disturbed."""
    path = folder.path
    files = [file for file in (path / "history").rglob("*") if file.is_file()]
    model = load_file(path / "model.safetensors")
    return {
        "state": folder.state()["state"],
        "final": folder.state()["metrics"],
        "metrics": [{k: v for k, v in row.items() if k not in TIMINGS} for row in folder.metrics()],
        "held_out": (path / "held_out.npz").read_bytes() if (path / "held_out.npz").exists() else b"",
        "labels.csv": (path / "labels.csv").read_bytes(),
        "model": {name: (array.dtype, array.shape, array.tobytes()) for name, array in model.items()},
        "history": {str(file.relative_to(path)): file.read_bytes() for file in sorted(files)},
    }


@contextmanager
def registry_in(root: Path) -> Iterator[RunRegistry]:
    """A registry of runs that leaves no thread behind."""
    registry = RunRegistry(root)
    yield registry
    registry.stop_all(30)
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("candid-run")]
    assert left == [], "threads left behind"


def wait_for(condition: Callable[[], Any], what: str, seconds: float = 30.0) -> None:
    """Until it comes true; fails with `what` was waited for."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.005)

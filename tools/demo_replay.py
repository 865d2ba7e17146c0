"""Write assets/demo.npz, the recorded demo that the home page replays: `python -m tools.demo_replay`.

It holds the label weights of some of the digits over the first epochs of what *Watch it work* starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll import PRODEN
from pll.catalog import load
from pll.paths import app_root
from pll.runs.config import Preparation
from pll.runs.data import prepare
from pll.synthesis import Flip

PATH = app_root() / "assets" / "demo.npz"
EXAMPLES = 400
EPOCHS = (0, 1, 2, 3, 5, 7, 10, 13, 17, 22, 30, 45, 70, 100)


def record(epochs: tuple[int, ...] = EPOCHS) -> dict[str, npt.NDArray[Any]]:
    """Train, and return what the file holds.

    Parameters
    ----------
    epochs
        That are kept, rising, 0 the first.
    """
    splits = prepare(load("digits"), Preparation(flip=Flip("binomial", 0.7), holdout=0.2))
    train, sets = splits.train, splits.train.sets()
    assert train.y is not None
    rows = np.sort(np.random.default_rng(0).choice(len(train), EXAMPLES, replace=False))
    sample, at = sets.take(rows), sets.positions(rows)
    frames, right = [sets.uniform_weights()[at]], [np.nan]
    for one in PRODEN(model="linear", epochs=epochs[-1], seed=0).iter_fit(splits.task()):
        if one.epoch in epochs:
            frames.append(one.label_weights[at])
            right.append(one.transductive_accuracy or 0.0)
    return {
        "indptr": sample.indptr.astype(np.uint16),
        "indices": sample.indices.astype(np.uint8),
        "truth": train.y[rows].astype(np.uint8),
        "epochs": np.array(epochs, dtype=np.uint16),
        "weights": np.rint(np.array(frames) * 255).astype(np.uint8),  # (f, nnz)
        "right": np.array(right, dtype=np.float32),  # (f,) of all training examples
    }


def main() -> None:
    """Write the file."""
    np.savez_compressed(PATH, allow_pickle=False, **record())
    print(f"{Path(PATH).name}: {PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

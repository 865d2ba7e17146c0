"""Storage of accepted proposals: label weights in the folder of the run.

    review/labels-<fingerprint>.npy   (nnz,) float32, in the run's folder; never changed, never deleted

Accepting makes another `LabelSnapshot` of the same run. It is the labels under review from the moment its
round is open; the file is there before that. The model stays what it is, and `source` of these labels stays `model`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from pll.errors import UserError
from pll.io import write_atomically
from pll.review.label_snapshot import LabelSnapshot
from pll.runs.folder import RunFolder
from pll.weights import Weights


def with_weights(own: LabelSnapshot, weights: Weights) -> LabelSnapshot:
    """The same run with other label weights, (nnz,) float32."""
    return replace(own, weights=np.ascontiguousarray(weights, dtype=np.float32), relabelled=True)


def store_relabelled(folder: RunFolder, snapshot: LabelSnapshot) -> Path:
    """Write the label weights to the disk, before a round is opened on them."""
    path = _file(folder, snapshot.fingerprint)
    write_atomically(path, lambda part: np.save(part, snapshot.weights, allow_pickle=False), durable=True)
    return path


def read_relabelled(folder: RunFolder, own: LabelSnapshot, fingerprint: str) -> LabelSnapshot:
    """The labels that people accepted.

    Raises:
        UserError: the file is gone, or is not what was written.
    """
    path = _file(folder, fingerprint)
    if not path.exists():
        raise UserError(
            f"{path}: the labels that were taken over in the review of this run are missing. Put the file back, from "
            "a copy of the run's folder."
        )
    try:
        weights = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(path) from error
    if not isinstance(weights, np.ndarray) or weights.shape != own.weights.shape or weights.dtype != np.float32:
        raise _damaged(path)
    found = with_weights(own, weights)
    if not np.isfinite(weights).all() or found.fingerprint != fingerprint:
        raise _damaged(path)
    return found


def _file(folder: RunFolder, fingerprint: str) -> Path:
    return folder.path / "review" / f"labels-{fingerprint}.npy"


def _damaged(path: Path) -> UserError:
    return UserError(
        f"{path} is damaged: it does not hold the labels that were taken over. Put the file back, from a copy of the "
        "run's folder."
    )

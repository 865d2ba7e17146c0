"""Proposals that people took over: label weights kept beside the run, so that every process and export finds them.

    review/labels-<fingerprint>.npy   (nnz,) float32, in the run's folder; never changed, never deleted

Taking over makes another `LabelSnapshot` of the same run. It is the labels under review from the moment its
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


def relabelled(own: LabelSnapshot, weights: Weights) -> LabelSnapshot:
    """The same run with other label weights, (nnz,) float32."""
    return replace(own, weights=np.ascontiguousarray(weights, dtype=np.float32), taken_over=True)


def keep(folder: RunFolder, subject: LabelSnapshot) -> Path:
    """Write the label weights to the disk, before a round is opened on them."""
    path = _file(folder, subject.fingerprint)
    write_atomically(path, lambda part: np.save(part, subject.weights, allow_pickle=False), durable=True)
    return path


def kept(folder: RunFolder, own: LabelSnapshot, fingerprint: str) -> LabelSnapshot:
    """The labels that were taken over.

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
    found = relabelled(own, weights)
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

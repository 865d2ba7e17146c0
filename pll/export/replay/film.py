"""Data of a replay: a sample of the examples and their label weights over the epochs, compressed for one file.

Label weights are kept in thousandths, each frame as its difference to the one before: most weights of most epochs
hardly move, so that the whole compresses to about a tenth. `film.js` reads what this module writes.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.colors import class_colours, class_shapes
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.export.replay.pictures import picture_payload
from pll.runs.config import format_settings
from pll.runs.folder import RunFolder
from pll.runs.history import History
from pll.weights import Weights, top_positions
from pll.wording import short_names

MOST_EXAMPLES = 2000
"""Maximum number of examples, as in the star plot of the app."""
MOST_FILM_BYTES = 1_400_000
"""Maximum number of bytes of the compressed label weights; frames are left out evenly until they fit."""
MOST_FRAMES = 300
SCALE = 1000
UNKNOWN_HUE = 0xFFFF
"""Code of an unknown true label."""
FILM_LINES = ("transductive_accuracy", "test_accuracy", "mean_confidence", "changed_labels", "loss")
"""Columns of metrics.csv in a replay."""

Frames = npt.NDArray[np.uint16]


def film(folder: RunFolder, data: PartialLabelDataset) -> dict[str, Any]:
    """Data for the page of a replay, as plain values.

    Parameters
    ----------
    folder
        Of a run that has trained for one epoch at least.
    data
        Its training part.

    Raises
    ------
    UserError
        It has not trained yet.
    """
    config, sets = folder.config(), data.sets()
    rows = sample(len(data))
    selected = sets.take(rows)
    history = History(folder.history, sets)
    epochs = thinned(history.epochs(), MOST_FRAMES)
    if len(epochs) < 2:
        raise UserError("There is nothing to replay yet: train for one epoch at least.")
    # (f, nnz of the sample)
    frames = np.stack([quantised(weights, selected) for _, weights in history.frames(epochs, rows)])
    epochs, packed = fitted(epochs, frames)
    return {
        "title": config.name or data.name,
        "settings": format_settings(config),
        "n": len(data),
        "names": list(sets.class_names),
        "short": short_names(sets.class_names),
        "colours": class_colours(sets.n_classes),
        "shapes": class_shapes(sets.n_classes),
        "ids": [str(name) for name in data.row_ids[rows]],
        "sizes": encoded(selected.sizes.astype(np.uint32)),
        "labels": encoded(selected.indices.astype(np.uint32)),
        "truth": None
        if data.y is None
        else encoded(np.where(data.y >= 0, data.y, UNKNOWN_HUE)[rows].astype(np.uint16)),
        "epochs": epochs,
        "frames": base64.b64encode(packed).decode("ascii"),
        "metrics": metrics(folder, epochs),
        **picture_payload(data, rows),
    }


def sample(n: int, most: int = MOST_EXAMPLES) -> npt.NDArray[np.int64]:
    """Return (min(n, most),) sorted rows: all, or a random sample that is the same in every call.

    Parameters
    ----------
    n
        Examples.
    most
        How many at most.
    """
    if n <= most:
        return np.arange(n, dtype=np.int64)
    return np.sort(np.random.default_rng(0).choice(n, size=most, replace=False)).astype(np.int64)


def thinned(epochs: list[int], most: int) -> list[int]:
    """Return at most so many of the epochs, evenly spaced, including the first and the last.

    Parameters
    ----------
    epochs
        In their order.
    most
        How many at most.

    Examples
    --------
    >>> thinned([0, 1, 2, 3, 4], 3)
    [0, 2, 4]
    """
    if len(epochs) <= most:
        return epochs
    return [epochs[k] for k in np.unique(np.linspace(0, len(epochs) - 1, most).round().astype(int))]


def quantised(weights: Weights, sets: CandidateSets) -> Frames:
    """(nnz,) label weights in thousandths. The identified label stays the one with the largest: ties that rounding
    makes are undone, those that were there stay.

    Parameters
    ----------
    weights
        (nnz,) label weights.
    sets
        Of the same examples.

    Examples
    --------
    >>> sets = CandidateSets.from_lists([[0, 1], [0, 2]], n_classes=3)
    >>> quantised(np.array([0.4999, 0.5001, 0.5, 0.5], dtype=np.float32), sets).tolist()
    [499, 500, 500, 500]
    """
    whole = np.rint(weights * SCALE).astype(np.int64)
    top = top_positions(weights, sets)[sets.rows]  # (nnz,) where the largest of the same example stands
    is_tied_by_rounding = (whole == whole[top]) & (weights < weights[top])
    thousandths: Frames = (whole - is_tied_by_rounding).clip(0).astype(np.uint16)
    return thousandths


def fitted(epochs: list[int], frames: Frames, most_bytes: int = MOST_FILM_BYTES) -> tuple[list[int], bytes]:
    """Return as many frames as fit, evenly spaced, and their compressed values.

    Parameters
    ----------
    epochs
        (f,) of the frames.
    frames
        (f, nnz) thousandths.
    most_bytes
        Packed.
    """
    while True:
        packed_now = packed(frames)
        if len(packed_now) <= most_bytes or len(epochs) <= 2:
            return epochs, packed_now
        fewer = thinned(list(range(len(epochs))), max(2, int(0.95 * len(epochs) * most_bytes / len(packed_now))))
        epochs, frames = [epochs[k] for k in fewer], frames[fewer]


def packed(frames: Frames) -> bytes:
    """Compress frames: differences, zigzag (0, −1, 1, −2 as 0, 1, 2, 3), low bytes before high ones, deflate."""
    steps = np.diff(frames.astype(np.int32), axis=0, prepend=0)
    zigzag = np.where(steps < 0, -2 * steps - 1, 2 * steps).astype(np.uint16)
    planes = np.concatenate([(zigzag & 255).astype(np.uint8).ravel(), (zigzag >> 8).astype(np.uint8).ravel()])
    return zlib.compress(planes.tobytes(), 9)


def metrics(folder: RunFolder, epochs: list[int]) -> dict[str, list[float | None]]:
    """Return the metrics of each frame's epoch, of the final model at the end, as in labels.csv; None: not known.

    Parameters
    ----------
    folder
        Of the run.
    epochs
        Of the frames.
    """
    by_epoch = {row["epoch"]: row for row in folder.metrics()}
    final = folder.state().get("metrics") or {}
    if final:
        by_epoch[final["epoch"]] = by_epoch.get(final["epoch"], {}) | final
    return {name: [_rounded(by_epoch.get(epoch, {}).get(name)) for epoch in epochs] for name in FILM_LINES}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 5)


def encoded(array: npt.NDArray[Any]) -> str:
    """Return the array's little-endian bytes as base64."""
    return base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")

"""History of label weights over epochs, on disk: written while training, readable by other processes.

    history/frames/000012.npy   (nnz,) float32, the label weights of all examples after epoch 12 (0: before training)
    history/final.npy           (nnz,) float32, those of the final model: the last frame once a run has ended
    history/final.json          the epoch that frame belongs to

A frame is one `.npy` file, written atomically by renaming. It can be memory-mapped, so that reading one example costs
a few bytes per epoch. When the frames exceed their budget, every other one is deleted and the distance doubles, so
that they always cover the whole run evenly.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.io import save_array, write_json
from pll.runs.manifest import check, reading
from pll.training.metrics import EpochRecord
from pll.weights import Ints, Weights

FRAME_BUDGET = 256 * 2**20
"""Maximum number of bytes of the frames of a run."""
MIN_FRAMES, MAX_FRAMES = 8, 1000
"""Number of frames that are kept up to `MOST_FRAME_BYTES`, and maximum number of files."""
MOST_FRAME_BYTES = 4 * 2**30
"""Maximum number of bytes of all frames, whatever their number; two are always kept."""
READ_TRIES = 20
"""Attempts of a reader where frames are deleted while it reads."""


class HistoryWriter:
    """Writes the history of one run.

    Parameters
    ----------
    folder
        Created if missing.
    candidates
        Of the training examples.
    first
        (nnz,) label weights before training, where they are not uniform (warm start).
    """

    def __init__(self, folder: Path, candidates: CandidateSets, *, first: Weights | None = None) -> None:
        self.folder = folder
        self._most_frames = most_frames(candidates.nnz)
        (folder / "frames").mkdir(parents=True, exist_ok=True)
        self._epochs = _frame_epochs(folder)
        self._stride = self._epochs[1] - self._epochs[0] if len(self._epochs) > 1 else 1
        self._drop_between()  # a process that crashed may have been thinning
        if not self._epochs:
            self._write(0, candidates.uniform_weights() if first is None else first)

    def append(self, record: EpochRecord) -> None:
        """Append an epoch, where a frame is due."""
        if record.epoch % self._stride == 0:
            self._write(record.epoch, record.label_weights)

    def finish(self, epoch: int, label_weights: Weights) -> None:
        """Write the label weights of the final model as the last frame.

        Parameters
        ----------
        epoch
            The last one.
        label_weights
            (nnz,) float32.
        """
        save_array(self.folder / "final.npy", label_weights)
        write_json(self.folder / "final.json", {"epoch": epoch})

    def rewind(self, epoch: int) -> None:
        """Delete everything after `epoch`, and the final frame, so that a run can continue from there."""
        for old in self._epochs:
            if old > epoch:
                (self.folder / _frame(old)).unlink()
        for name in ("final.json", "final.npy"):  # the frame after the file that refers to it
            (self.folder / name).unlink(missing_ok=True)
        self._epochs = [old for old in self._epochs if old <= epoch]

    def _write(self, epoch: int, weights: Weights) -> None:
        save_array(self.folder / _frame(epoch), weights)
        self._epochs.append(epoch)
        if len(self._epochs) > self._most_frames:
            self._stride *= 2
            self._drop_between()

    def _drop_between(self) -> None:
        for epoch in self._epochs:
            if epoch % self._stride:
                (self.folder / _frame(epoch)).unlink()
        self._epochs = [epoch for epoch in self._epochs if epoch % self._stride == 0]


class History:
    """Reads the history of a run, finished or not. Every call reads the current files.

    Parameters
    ----------
    folder
        Folder of a `HistoryWriter`.
    candidates
        Of the training examples.
    """

    def __init__(self, folder: Path, candidates: CandidateSets) -> None:
        self.folder = folder
        self.candidates = candidates

    def epochs(self) -> list[int]:
        """Return the epochs that have a frame, in order."""
        return list(self._stored())

    def nearest(self, epoch: int) -> int:
        """Return the stored epoch closest to `epoch`; of two equally close the earlier one.

        Raises
        ------
        FileNotFoundError
            Nothing is stored yet.
        """
        return self._nearest(self._stored(), epoch)

    def weights(self, epoch: int) -> Weights:
        """Return (nnz,) label weights of the nearest stored epoch; for several epochs, `frames` is faster.

        Raises
        ------
        FileNotFoundError
            Nothing is stored yet.
        UserError
            The frame is damaged.
        """
        return next(self.frames([epoch]))[1]

    def frames(self, epochs: Iterable[int], rows: Ints | None = None) -> Iterator[tuple[int, Weights]]:
        """Yield the nearest stored epoch and its label weights for each of `epochs`.

        Parameters
        ----------
        epochs
            In any order.
        rows
            Yield only the label weights of these examples, concatenated.

        Raises
        ------
        FileNotFoundError
            Nothing is stored yet.
        UserError
            A frame is damaged.
        """
        stored = self._stored()
        at = None if rows is None else self.candidates.positions(rows)
        for epoch in epochs:
            for _ in range(READ_TRIES):
                nearest = self._nearest(stored, epoch)
                try:
                    frame = self._read("final.npy" if stored[nearest] else _frame(nearest), in_memory=at is None)
                    break
                except FileNotFoundError:  # thinned out since the folder was read
                    stored = self._stored()
            else:
                raise FileNotFoundError(f"The history in {self.folder} is being rewritten.")
            yield nearest, frame if at is None else frame[at]

    def final(self) -> Weights:
        """Return (nnz,) the label weights of the final model.

        Raises
        ------
        UserError
            The run has not ended, or they are damaged.
        """
        try:
            weights = self._read("final.npy")
        except FileNotFoundError as error:
            raise UserError(f"There are no final label weights in {self.folder}; finish or stop the run.") from error
        total = np.add.reduceat(weights.astype(np.float64), self.candidates.indptr[:-1])
        with reading(self.folder / "final.npy"):
            if not (weights.min() >= 0 and np.allclose(total, 1, atol=1e-3)):  # a NaN compares as false
                raise ValueError("label weights must be at least 0 and sum to 1 over the candidates of an example")
        return weights

    def _stored(self) -> dict[int, bool]:
        """Return the stored epochs, in order, and whether the frame is that of the final model."""
        stored = dict.fromkeys(_frame_epochs(self.folder), False)
        with suppress(FileNotFoundError), reading(file := self._checked("final.json")):
            final = int(json.loads(file.read_text(encoding="utf-8"))["epoch"])
            return stored | {final: True}  # at the end: no frame is of a later epoch
        return stored

    def _nearest(self, stored: dict[int, bool], epoch: int) -> int:
        if not stored:
            raise FileNotFoundError(f"There is no history in {self.folder} yet.")
        return epoch if epoch in stored else min(stored, key=lambda one: abs(one - epoch))

    def _read(self, name: str, *, in_memory: bool = True) -> Weights:
        """Return the label weights of a frame, in memory or mapped.

        Raises
        ------
        FileNotFoundError
            There is no such frame.
        UserError
            It is damaged.
        """
        file = self._checked(name)
        with reading(file):
            loaded: object = np.load(file, mmap_mode=None if in_memory else "r", allow_pickle=False)
            wanted = (self.candidates.nnz,)
            if not isinstance(loaded, np.ndarray) or loaded.shape != wanted or loaded.dtype != np.float32:
                raise ValueError(f"it should hold {wanted[0]} numbers of float32")
            return loaded

    def _checked(self, name: str) -> Path:
        """Return the path of a file once it is found to be what was written; raises DamagedError."""
        return check(self.folder.parent, f"{self.folder.name}/{name}")


def most_frames(nnz: int) -> int:
    """Return the number of frames that are kept at most."""
    few = max(2, min(MIN_FRAMES, MOST_FRAME_BYTES // (4 * nnz)))
    return min(MAX_FRAMES, max(few, FRAME_BUDGET // (4 * nnz)))


def history_bytes(nnz: int, epochs: int) -> int:
    """Return about how many bytes the history of a run takes.

    Parameters
    ----------
    nnz
        Candidates in all.
    epochs
        Of the run.
    """
    return 4 * nnz * min(epochs + 2, most_frames(nnz) + 2)


def _frame(epoch: int) -> str:
    return f"frames/{epoch:06d}.npy"


def _frame_epochs(folder: Path) -> list[int]:
    """Return the epochs that have a frame, in order."""
    try:
        with os.scandir(folder / "frames") as entries:  # a third of a glob's time; every refresh of a page reads it
            names = [entry.name for entry in entries]
    except FileNotFoundError:
        return []
    return sorted(int(name[:-4]) for name in names if name[0].isdigit() and name.endswith(".npy"))

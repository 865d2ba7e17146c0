"""History of label weights over epochs, on disk: written while training, readable by other processes.

    history/frames/000012.npy   (nnz,) float32, the label weights of all examples after epoch 12 (0: before training)
    history/final.npy           (nnz,) float32, those of the final model: the last frame once a run has ended
    history/final.json          the epoch that frame belongs to
    history/tracked.npy         (t,) int64, the examples stored in every epoch
    history/tracked.f32         one (nnz of tracked,) float32 row an epoch, epoch 0 first, appended
    history/changes.npy         (n,) int64, how often each identified label changed; there once a run has ended

A frame is one `.npy` file, written atomically by renaming. It can be memory-mapped, so that reading one example costs
a few bytes per epoch. When the frames exceed their budget, every other one is deleted and the distance doubles, so
that they always cover the whole run evenly.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.io import save_array, write_json
from pll.runs.manifest import check
from pll.training.metrics import EpochRecord
from pll.weights import Weights

FRAME_BUDGET = 256 * 2**20
"""Maximum number of bytes of the frames of a run."""
MIN_FRAMES, MAX_FRAMES = 8, 1000
"""Number of frames that are kept up to `MOST_BYTES`, and maximum number of files."""
MOST_BYTES = 4 * 2**30
"""Maximum number of bytes of all frames, whatever their number; two are always kept."""
TRACKED = 400
"""Number of examples stored in every epoch."""
TRACKED_FILE = "tracked.f32"
TRIES = 20
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

    def __init__(
        self,
        folder: Path,
        candidates: CandidateSets,
        *,
        first: Weights | None = None,
    ) -> None:
        self.folder = folder
        self._most_frames = most_frames(candidates.nnz)
        (folder / "frames").mkdir(parents=True, exist_ok=True)
        if not (folder / "tracked.npy").exists():
            save_array(folder / "tracked.npy", choose_tracked(len(candidates)))
        self._tracked_at = candidates.positions(_read_tracked(folder, len(candidates)))
        self._epochs = _frame_epochs(folder)
        self._stride = _stride(self._epochs)
        self._drop_between()  # a process that crashed may have been thinning
        if not self._epochs:
            weights = candidates.uniform_weights() if first is None else first
            self._write(0, weights)

    def append(self, record: EpochRecord) -> None:
        """Append an epoch: the tracked examples, and a frame where one is due."""
        self._write(record.epoch, record.label_weights)

    def finish(self, epoch: int, label_weights: Weights, changes: npt.NDArray[np.int64] | None = None) -> None:
        """Write the label weights of the final model as the last frame."""
        save_array(self.folder / "final.npy", label_weights)
        write_json(self.folder / "final.json", {"epoch": epoch})
        if changes is not None:
            save_array(self.folder / "changes.npy", changes)

    def rewind(self, epoch: int) -> None:
        """Delete everything after `epoch`, and the final frame, so that a run can continue from there."""
        for old in self._epochs:
            if old > epoch:
                _frame(self.folder, old).unlink()
        for name in ("final.json", "final.npy", "changes.npy"):  # the frame after the file that refers to it
            (self.folder / name).unlink(missing_ok=True)
        _cut(self.folder / TRACKED_FILE, rows=epoch + 1, width=len(self._tracked_at))
        self._epochs = [old for old in self._epochs if old <= epoch]

    def _write(self, epoch: int, weights: Weights) -> None:
        row = weights[self._tracked_at]
        with (self.folder / TRACKED_FILE).open("ab") as file:
            if file.tell() == epoch * row.nbytes:  # one row per epoch: never twice
                file.write(row.astype("<f4").tobytes())
        if epoch % self._stride == 0:
            save_array(_frame(self.folder, epoch), weights)
            self._epochs.append(epoch)
            self._thin()

    def _thin(self) -> None:
        if len(self._epochs) <= self._most_frames:
            return
        self._stride *= 2
        self._drop_between()

    def _drop_between(self) -> None:
        for epoch in self._epochs:
            if epoch % self._stride:
                _frame(self.folder, epoch).unlink()
        self._epochs = [epoch for epoch in self._epochs if epoch % self._stride == 0]


@dataclass(frozen=True)
class _Index:
    """Index of the stored frames.

    Attributes
    ----------
    epochs
        Epochs with a frame, in order.
    final
        Epoch of the final model's frame; None until the run has ended.
    """

    epochs: tuple[int, ...]
    final: int | None


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
        return list(self._index().epochs)

    def weights(self, epoch: int, rows: npt.NDArray[np.int64] | None = None) -> Weights:
        """Return (nnz,) label weights of the nearest stored epoch; with `rows`, those of these examples, concatenated.

        For more than one epoch, `frames` is faster.

        Raises
        ------
        FileNotFoundError
            Nothing is stored yet.
        """
        return next(self.frames([epoch], rows))[1]

    def frames(self, epochs: Iterable[int], rows: npt.NDArray[np.int64] | None = None) -> Iterator[tuple[int, Weights]]:
        """Yield the nearest stored epoch and its label weights for each of `epochs`, reading the index once.

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
            a frame is damaged.
        """
        index = self._index()
        at = None if rows is None else self.candidates.positions(rows)
        for epoch in epochs:
            for _ in range(TRIES):
                stored = self._nearest(index, epoch)
                try:
                    frame = self._read(self._file(index, stored), in_memory=at is None)
                    break
                except FileNotFoundError:  # thinned out since the index was read
                    index = self._index()
            else:
                raise FileNotFoundError(f"The history in {self.folder} is being rewritten.")
            yield stored, frame if at is None else frame[at]

    def nearest(self, epoch: int) -> int:
        """Return the stored epoch closest to `epoch`; of two equally close the earlier one.

        Raises
        ------
        FileNotFoundError
            Nothing is stored yet.
        """
        return self._nearest(self._index(), epoch)

    def example(self, row: int) -> tuple[list[int], npt.NDArray[np.float32]]:
        """Return the stored epochs of one example, and its label weights in them, (epochs, |S_i|)."""
        followed = np.flatnonzero(self.tracked == row)
        if len(followed):
            start = int(self.candidates.sizes[self.tracked[: followed[0]]].sum())
            table = self._table(TRACKED_FILE, int(self.candidates.sizes[self.tracked].sum()))
            story = table[:, start : start + int(self.candidates.sizes[row])]
            final = self._index().final
            if final is not None and final < len(story):  # after a stop: the model's, not the last training pass's
                story[final] = self.weights(final, np.array([row]))
            return list(range(len(story))), story
        frames = dict(self.frames(self.epochs(), np.array([row])))
        values = np.array(list(frames.values()), dtype=np.float32)
        return list(frames), values.reshape(len(frames), int(self.candidates.sizes[row]))

    @cached_property
    def tracked(self) -> npt.NDArray[np.int64]:
        """(t,) the examples stored in every epoch."""
        return _read_tracked(self.folder, len(self.candidates))

    def final(self) -> Weights:
        """Return (nnz,) the label weights of the final model.

        Raises
        ------
        UserError
            The run has not ended, or they are damaged.
        """
        file = self.folder / "final.npy"
        try:
            weights = self._read(file)
        except FileNotFoundError as error:
            raise UserError(f"There are no final label weights in {self.folder}; finish or stop the run.") from error
        total = np.add.reduceat(weights.astype(np.float64), self.candidates.indptr[:-1])
        if not (weights.min() >= 0 and np.allclose(total, 1, atol=1e-3)):  # a NaN compares as false
            raise _damaged(file, "label weights must be at least 0 and sum to 1 over the candidates of an example")
        return weights

    def changes(self) -> npt.NDArray[np.int64] | None:
        """Return (n,) how often each identified label changed; None until the run has ended."""
        file = self.folder / "changes.npy"
        if not file.exists():
            return None
        changes: npt.NDArray[np.int64] = read_array(file, (len(self.candidates),))
        return changes

    def _index(self) -> _Index:
        frames, file = _frame_epochs(self.folder), self.folder / "final.json"
        try:
            final = int(json.loads(_checked(file).read_text(encoding="utf-8"))["epoch"])
        except FileNotFoundError:
            return _Index(tuple(frames), None)
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise _damaged(file, str(error)) from error
        return _Index(tuple(sorted({*frames, final})), final)

    def _nearest(self, index: _Index, epoch: int) -> int:
        if not index.epochs:
            raise FileNotFoundError(f"There is no history in {self.folder} yet.")
        at = bisect_left(index.epochs, epoch)
        return min(index.epochs[max(at - 1, 0) : at + 1], key=lambda stored: abs(stored - epoch))

    def _file(self, index: _Index, epoch: int) -> Path:
        return self.folder / "final.npy" if epoch == index.final else _frame(self.folder, epoch)

    def _read(self, file: Path, *, in_memory: bool = True) -> Weights:
        """Return the label weights of a frame, in memory or mapped.

        Raises
        ------
        FileNotFoundError
            There is no such frame.
        UserError
            It is damaged.
        """
        weights: Weights = read_array(file, (self.candidates.nnz,), in_memory=in_memory)
        if weights.dtype != np.float32:
            raise _damaged(file, f"it holds {weights.dtype}")
        return weights

    def _table(self, name: str, width: int) -> npt.NDArray[np.float32]:
        file = _checked(self.folder / name)
        flat = np.fromfile(file, dtype="<f4") if file.exists() else np.empty(0, dtype="<f4")
        complete = len(flat) // width  # without a row that is being written
        return flat[: complete * width].reshape(complete, width)


def most_frames(nnz: int) -> int:
    """Return the number of frames that are kept at most."""
    few = max(2, min(MIN_FRAMES, MOST_BYTES // (4 * nnz)))
    return min(MAX_FRAMES, max(few, FRAME_BUDGET // (4 * nnz)))


def history_bytes(nnz: int, epochs: int) -> int:
    """Return about how many bytes the history of a run takes."""
    return 4 * nnz * min(epochs + 2, most_frames(nnz) + 2)


def read_array(file: Path, shape: tuple[int, ...] | None, *, in_memory: bool = True) -> npt.NDArray[Any]:
    """Return an array of a history, once its file is found to be what was written.

    Parameters
    ----------
    file
        In the folder of the history, or in its `frames`.
    shape
        What it must have; None for any of one dimension.
    in_memory
        Read it; else it is mapped.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    UserError
        It is damaged.
    """
    _checked(file)
    try:
        array: npt.NDArray[Any] = np.load(file, mmap_mode=None if in_memory else "r", allow_pickle=False)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(file, str(error)) from error
    if not isinstance(array, np.ndarray) or array.ndim != 1 or shape not in (None, array.shape):
        raise _damaged(file, f"its shape is {array.shape}" + ("" if shape is None else f", not {shape}"))
    return array


def _read_tracked(folder: Path, n: int) -> npt.NDArray[np.int64]:
    file = folder / "tracked.npy"
    try:
        tracked = read_array(file, None)
    except FileNotFoundError as error:
        raise _damaged(file, "it is missing") from error
    if tracked.dtype != np.int64 or not ((tracked >= 0) & (tracked < n)).all():
        raise _damaged(file, f"it should hold rows from 0 to {n - 1}")
    return tracked


def _checked(file: Path) -> Path:
    """Return a file of a history, once it is found to be what was written; DamagedError else."""
    run = _run_of(file)
    return check(run, file.relative_to(run).as_posix())


def _run_of(file: Path) -> Path:
    return file.parents[2 if file.parent.name == "frames" else 1]


def _damaged(file: Path, reason: str) -> UserError:
    return UserError(f"{file} is damaged ({reason}). Put it back from a backup, or train again.")


def _cut(file: Path, rows: int, width: int) -> None:
    """Truncate a table of float32 rows; rows that are missing after a power cut become NaN."""
    if not file.exists():
        return
    complete = min(file.stat().st_size // (4 * width), rows)
    os.truncate(file, complete * 4 * width)
    with file.open("ab") as table:
        table.write(np.full((rows - complete) * width, np.nan, dtype="<f4").tobytes())


def _frame(folder: Path, epoch: int) -> Path:
    return folder / "frames" / f"{epoch:06d}.npy"


def _frame_epochs(folder: Path) -> list[int]:
    try:
        with os.scandir(folder / "frames") as entries:  # a third of a glob's time; every refresh of a page reads it
            names = [entry.name for entry in entries]
    except FileNotFoundError:
        return []
    return sorted(int(name.removesuffix(".npy")) for name in names if name[0].isdigit() and name.endswith(".npy"))


def _stride(epochs: list[int]) -> int:
    return epochs[1] - epochs[0] if len(epochs) > 1 else 1


def choose_tracked(n: int) -> npt.NDArray[np.int64]:
    """Return (≤ `TRACKED`,) rows: a fixed sample, the same for all runs of n examples."""
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(n, size=min(TRACKED, n), replace=False)).astype(np.int64)

"""Features that stay where they are, in a file or in the machine's memory, and are read while mini-batches train.

`StreamedFeatures` takes the place of the tensor of scaled features, for a file larger than memory, or features larger
than a GPU's memory. Its numbers are the same, on a CPU to the last bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pll.io import is_mapped
from pll.training.devices import Memory, copies_by_itself, memory_of
from pll.training.scaling import Scaling, scaled
from pll.weights import Ints

BATCHES_AHEAD = 4
"""Number of mini-batches read ahead."""
FEATURES_SHARE = 0.6
"""Share of a GPU's free memory that features may take."""


@dataclass(frozen=True)
class _Read:
    """Features of some examples: raw in the machine's memory, or scaled on a GPU once `event` is reached."""

    features: Tensor
    event: torch.Event | None = None


class StreamedFeatures:
    """Scaled features of n examples that are not all on the device; it is used as a tensor of them would be.

    Parameters
    ----------
    X
        (n, …) float32, memory-mapped, or too large for the device.
    scaling
        Fitted to them.
    device
        Where batches go. To a GPU they are copied on a stream of their own, while the batches before train.
    note
        Why they are streamed, where a user should know.
    """

    def __init__(self, X: npt.NDArray[np.float32], scaling: Scaling, device: torch.device, note: str = "") -> None:
        self.device = device
        self.note = note
        self.shape = torch.Size((len(X), *scaling.output_shape(X.shape[1:])))
        self._X = np.asarray(X)
        self._scaling = scaling.to(device)
        self._plain = None
        if scaling.is_plain and device.type == "cpu":  # numpy computes the same, in the thread that reads
            self._plain = (scaling.fill.numpy(), scaling.shift.numpy(), scaling.spread.numpy())
        self._stream = torch.Stream(device) if copies_by_itself(device) else None
        self._reader: ThreadPoolExecutor | None = None
        self._waiting: deque[tuple[Tensor, Future[_Read]]] = deque()

    def __len__(self) -> int:
        return len(self._X)

    def __getitem__(self, rows: Tensor | slice) -> Tensor:
        """Return the scaled features of these examples."""
        return self._arrived(_Read(self._read(rows if isinstance(rows, slice) else rows.cpu().numpy())))

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Return the scaled features of the examples with these (B,) indices, which are in the machine's memory.

        `dim` is 0, as of a tensor.

        Parameters
        ----------
        dim
            0, as of a tensor.
        rows
            (B,) indices.
        """
        for place, (requested, reading) in enumerate(self._waiting):
            if requested is rows or torch.equal(requested, rows):
                for _ in range(place + 1):
                    self._waiting.popleft()
                return self._arrived(reading.result())
        return self[rows]

    def ahead(self, batches: Iterator[tuple[Tensor, Tensor]]) -> Iterator[Tensor]:
        """Yield the first of each pair, while the examples of the next ones are read.

        Parameters
        ----------
        batches
            Training units (B,), and the examples (B,) that `index_select` will read next.
        """
        if self._reader is None:
            self._reader = ThreadPoolExecutor(1, thread_name_prefix="features")
        self._waiting.clear()
        units: deque[Tensor] = deque()
        for own, rows in batches:
            units.append(own)
            self._waiting.append((rows, self._reader.submit(self._read_and_sent, rows.numpy())))
            while len(self._waiting) > 2 * BATCHES_AHEAD:  # the requested rows differ from the announced ones
                self._waiting.popleft()
            if len(units) > BATCHES_AHEAD:
                yield units.popleft()
        yield from units

    def _read_and_sent(self, rows: Ints) -> _Read:
        """Read examples in the reader's thread; to a GPU that copies by itself, begin to send and scale them.

        No other thread enters the stream: torch keeps in it what was current before.
        """
        read = self._read(rows)
        if self._stream is None:
            return _Read(read)
        with self._stream:
            scaled = self._scaled(read)
            return _Read(scaled, self._stream.record_event())

    def _read(self, rows: Ints | slice) -> Tensor:
        """Read examples into the machine's memory, from where the device can copy by itself where it does that."""
        count = len(range(*rows.indices(len(self)))) if isinstance(rows, slice) else len(rows)
        read = torch.empty((count, *self._X.shape[1:]), pin_memory=self._stream is not None)
        raw: npt.NDArray[np.float32] = read.numpy()
        if isinstance(rows, slice):
            raw[:] = self._X[rows]
        else:
            np.take(self._X, rows, axis=0, out=raw, mode="clip")  # without a buffer; they are all there
        if self._plain is not None:
            fill, shift, spread = self._plain
            if np.isnan(raw.sum()):
                np.copyto(raw, np.broadcast_to(fill, raw.shape), where=np.isnan(raw))
            np.subtract(raw, shift, out=raw)
            np.divide(raw, spread, out=raw)
        return read

    def _arrived(self, read: _Read) -> Tensor:
        if read.event is not None:
            stream = torch.accelerator.current_stream(self.device)
            stream.wait_event(read.event)
            read.features.record_stream(stream)  # so that its memory is not given away before it is used there
            return read.features
        return read.features if self._plain is not None else self._scaled(read.features)

    def _scaled(self, raw: Tensor) -> Tensor:
        with torch.no_grad():
            scaled: Tensor = self._scaling(raw.to(self.device, non_blocking=self._stream is not None))
        return scaled


Features = Tensor | StreamedFeatures
"""(n, …) scaled features of examples: on the device, or read batch by batch."""


def scaled_features(scaling: Scaling, X: npt.NDArray[np.float32]) -> Features:
    """Return the scaled features of X (n, …): on the device of the scaling, or read batch by batch.

    They are read by batches where X is memory-mapped, or where they take more than `FEATURES_SHARE` of the memory that
    a GPU has free: the rest is for the passes.

    Parameters
    ----------
    scaling
        Fitted.
    X
        (n, …) raw features.
    """
    device, note = scaling.shift.device, ""
    if not is_mapped(X):
        memory, needed = memory_of(device), 4 * len(X) * prod(scaling.output_shape(X.shape[1:]))
        if memory is None or features_fit(needed, memory):
            return scaled(scaling, X)
        note = (
            f"The features ({needed / 1e9:.1f} GB) do not fit into the GPU's memory ({memory.free / 1e9:.1f} GB free): "
            "they stay in the machine's memory and go there by batches."
        )
    return StreamedFeatures(X, scaling, device, note)


def features_fit(needed: int, memory: Memory | None) -> bool:
    """Return whether features of so many bytes are kept in this memory of a GPU; None, of the CPU, takes them all.

    Parameters
    ----------
    needed
        Bytes.
    memory
        Of the device.
    """
    return memory is None or needed <= FEATURES_SHARE * memory.free


def read_ahead(X: Features, batches: Iterator[tuple[Tensor, Tensor]]) -> Iterator[Tensor]:
    """Yield the first of each pair of tensors; where features are streamed, those of the second are read meanwhile.

    Parameters
    ----------
    X
        The features.
    batches
        Pairs: what is yielded, and the (B,) indices that will be read.
    """
    if isinstance(X, StreamedFeatures):
        return X.ahead(batches)
    return (units for units, _ in batches)

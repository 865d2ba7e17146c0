"""Features larger than memory: examples of a memory-mapped file, read while the mini-batches before train.

`MappedFeatures` takes the place of the tensor of scaled features. Its numbers are the same to the last bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pll.training.scaling import Scaling

AHEAD = 4
"""Number of mini-batches read ahead."""


class MappedFeatures:
    """Scaled features of n examples that stay in their file; it is used as a tensor of them would be.

    Parameters
    ----------
    X
        (n, …) float32, memory-mapped.
    scaling
        Fitted to them.
    device
        Where batches go.
    """

    def __init__(self, X: npt.NDArray[np.float32], scaling: Scaling, device: torch.device) -> None:
        self.device = device
        self.shape = torch.Size((len(X), *scaling.output_shape(X.shape[1:])))
        self._X = np.asarray(X)
        self._scaling = scaling.to(device)
        self._plain = None
        if scaling.is_plain and device.type == "cpu":  # numpy computes the same, in the thread that reads
            self._plain = (scaling.fill.numpy(), scaling.shift.numpy(), scaling.spread.numpy())
        self._reader: ThreadPoolExecutor | None = None
        self._waiting: deque[tuple[Tensor, Future[npt.NDArray[np.float32]]]] = deque()

    def __len__(self) -> int:
        return len(self._X)

    def __getitem__(self, rows: Tensor | slice) -> Tensor:
        """Return the scaled features of these examples."""
        at = rows if isinstance(rows, slice) else rows.cpu().numpy()
        return self._scaled(self._read(at))

    def index_select(self, dim: int, rows: Tensor) -> Tensor:
        """Return the scaled features of the examples with these (B,) indices; `dim` is 0, as of a tensor."""
        for place, (requested, reading) in enumerate(self._waiting):
            if requested is rows or torch.equal(requested, rows):
                for _ in range(place + 1):
                    self._waiting.popleft()
                return self._scaled(reading.result())
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
            self._waiting.append((rows, self._reader.submit(self._read, rows.cpu().numpy())))
            while len(self._waiting) > 2 * AHEAD:  # the requested rows differ from the announced ones
                self._waiting.popleft()
            if len(units) > AHEAD:
                yield units.popleft()
        yield from units

    def _read(self, rows: npt.NDArray[np.int64] | slice) -> npt.NDArray[np.float32]:
        raw = np.array(self._X[rows]) if isinstance(rows, slice) else np.take(self._X, rows, axis=0)
        if self._plain is not None:
            fill, shift, spread = self._plain
            if np.isnan(raw.sum()):
                raw = np.where(np.isnan(raw), fill, raw)
            np.subtract(raw, shift, out=raw)
            np.divide(raw, spread, out=raw)
        return raw

    def _scaled(self, raw: npt.NDArray[np.float32]) -> Tensor:
        read = torch.from_numpy(raw)
        if self._plain is not None:
            return read
        with torch.no_grad():
            scaled: Tensor = self._scaling(read.to(self.device))
        return scaled


Features = Tensor | MappedFeatures
"""(n, …) scaled features of examples, in memory or in a file."""


def read_ahead(X: Features, batches: Iterator[tuple[Tensor, Tensor]]) -> Iterator[Tensor]:
    """Yield the first of each pair of tensors; where features are in a file, those of the second are read meanwhile."""
    if isinstance(X, MappedFeatures):
        return X.ahead(batches)
    return (units for units, _ in batches)

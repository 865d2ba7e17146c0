"""Memory layouts of candidates and their weights in training: a dense mask, or rows padded batch by batch.

Both give the same numbers. Dense costs n × c and is fastest where c is small; padded costs the number of candidates,
whatever c is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pll.candidates import CandidateSets
from pll.io import IN_MEMORY_UP_TO, large_array
from pll.training.devices import moved
from pll.weights import Ints, Outside, Weights, log_prior

DENSE_UP_TO = 64
"""Largest number of classes for which the dense layout is always chosen."""
DENSE_ENTRIES = 2**28
"""Largest n × c of the dense layout: 1 GiB for each of its arrays."""


class Batch(ABC):
    """The candidates of one mini-batch, as k columns: k = c (dense) or the widest set of the batch (padded).

    Attributes
    ----------
    places, rows
        (B,) indices of the examples, in the machine's memory and on the device.
    units
        (B,) the training units, on the device: the examples themselves, unless the objective has `owners`.
    shares, added
        (B, k) the share of the given or added labels of an example, and bool, which are added; None without added
        labels.
    """

    def __init__(self, places: Tensor, rows: Tensor) -> None:
        self.places = places
        self.rows = self.units = rows
        self.shares: Tensor | None = None
        self.added: Tensor | None = None

    def restrict(self, logits: Tensor) -> Tensor:
        """Return the (B, k) softmax of (B, c) logits restricted to S_i, 0 off it (paper, Eq. norm).

        Where there is a prior, it is multiplied by that and normalised again; where labels were added to the sets,
        the given and the added labels are normalised apart, each to its share.
        """
        scores = self.scores(logits)
        if self.shares is None or self.added is None:
            return torch.softmax(scores, dim=1)
        # Two softmaxes, and not one divided by its sums: the sum over one part may underflow to 0.
        within = torch.softmax(scores.masked_fill(self.added, -torch.inf), dim=1)
        without = ~self.added.any(dim=1, keepdim=True)  # the softmax of −inf alone would be NaN
        added = torch.softmax(scores.masked_fill(~(self.added | without), -torch.inf), dim=1)
        return torch.where(self.added, added, within) * self.shares

    @abstractmethod
    def scores(self, logits: Tensor) -> Tensor:
        """Return the (B, k) logits of the candidates, plus the log of the prior where there is one; −inf off S_i."""

    @abstractmethod
    def pick(self, matrix: Tensor) -> Tensor:
        """Return the (B, k) columns of the candidates of a (B, c) matrix."""

    @abstractmethod
    def scatter(self, values: Tensor, matrix: Tensor) -> Tensor:
        """Return (B, k) values, 0 off S_i, as the columns of their candidates in a (B, c) matrix like this one.

        Parameters
        ----------
        values
            (B, k).
        matrix
            (B, c), of whose kind the result is.
        """

    @abstractmethod
    def read(self, weights: Tensor) -> Tensor:
        """Return this batch's part of a weight store, (B, k), 0 off S_i."""

    @abstractmethod
    def write(self, weights: Tensor, values: Tensor) -> None:
        """Write (B, k) values, 0 off S_i, into a weight store, in place.

        Parameters
        ----------
        weights
            A weight store.
        values
            (B, k).
        """

    @abstractmethod
    def mask(self, n_classes: int) -> Tensor:
        """Return a (B, c) bool mask, True on S_i."""


class Layout(ABC):
    """The candidates of all examples; creates and reads weight stores for them."""

    _outside: tuple[Tensor, Tensor] | None = None
    """Stores of the shares of given and added labels, and of which are added (1, else 0)."""

    def share(self, outside: Outside) -> None:
        """Let `Batch.restrict` normalise the given and the added labels apart, each to its share."""
        self._outside = self.store(outside.shares), self.store(outside.added.astype(np.float32))

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def batch(self, places: Tensor) -> Batch:
        """Return the candidates of the examples with these (B,) int64 indices, which are in the machine's memory."""
        batch = self._batch(places, moved(places, self.device))
        if self._outside is not None:
            shares, added = self._outside
            batch.shares, batch.added = batch.read(shares), batch.read(added) > 0
        return batch

    @abstractmethod
    def _batch(self, places: Tensor, rows: Tensor) -> Batch:
        """Return the batch of these rows, without added labels; the same twice, there and on the device."""

    @abstractmethod
    def store(self, flat: npt.NDArray[np.float32]) -> Tensor:
        """Return a weight store of (nnz,) values aligned with `CandidateSets.indices`."""

    @abstractmethod
    def zeros(self) -> Tensor:
        """Return a weight store of zeros."""

    @abstractmethod
    def entries(self, weights: Tensor) -> Tensor:
        """Return the (nnz,) values of a weight store, on its device and perhaps a part of it."""

    def flat(self, weights: Tensor) -> npt.NDArray[np.float32]:
        """Return a copy of a weight store as (nnz,) float32 in CPU memory."""
        values = self.entries(weights)
        result: npt.NDArray[np.float32] = large_array(len(values), np.float32)
        torch.from_numpy(result).copy_(values)
        return result


def choose_layout(
    candidates: CandidateSets, device: torch.device, prior: Weights | None = None, outside: Outside | None = None
) -> Layout:
    """Return the dense layout for few classes or nearly full sets, the padded one otherwise.

    Parameters
    ----------
    candidates
        n candidate sets.
    device
        Where training is.
    prior
        (nnz,) of `pll.weights.checked_prior`; `Batch.restrict` multiplies the softmax by it.
    outside
        Labels added to the candidates, where there are some.
    """
    layout: Layout = layout_type(candidates)(candidates, device, log_prior(prior, candidates))
    if outside is not None and not outside.is_empty:
        layout.share(outside)
    return layout


def layout_type(candidates: CandidateSets) -> type[DenseLayout] | type[PaddedLayout]:
    """Return the layout that `choose_layout` takes for these candidate sets."""
    if len(candidates) * candidates.n_classes > DENSE_ENTRIES:
        return PaddedLayout
    dense_is_small = candidates.n_classes <= DENSE_UP_TO
    nearly_full = candidates.nnz * 2 >= len(candidates) * candidates.n_classes
    return DenseLayout if dense_is_small or nearly_full else PaddedLayout


class DenseLayout(Layout):
    """Weight stores are (n, c), 0 off the candidates."""

    def __init__(self, candidates: CandidateSets, device: torch.device, log_prior: Weights | None = None) -> None:
        super().__init__(device)
        mask = torch.from_numpy(candidates.mask()).to(device)
        # S is stored apart from the weights: a weight that underflows to 0 must be able to come back.
        self.offset = torch.zeros(mask.shape, device=device).masked_fill_(~mask, -torch.inf)  # (n, c)
        entries = candidates.rows * candidates.n_classes + candidates.indices
        self._places = torch.from_numpy(entries.astype(np.int32)).to(device)  # n · c is at most `DENSE_ENTRIES`
        self.members = None  # (n, c) S, which the offset does not show: a candidate may have the prior 0
        if log_prior is not None:
            self.members = mask
            self.offset.view(-1)[self._places] = torch.from_numpy(log_prior).to(device)

    def zeros(self) -> Tensor:
        return torch.zeros_like(self.offset)

    def store(self, flat: npt.NDArray[np.float32]) -> Tensor:
        weights = self.zeros()
        weights.view(-1)[self._places] = torch.from_numpy(np.array(flat)).to(weights.device)
        return weights

    def entries(self, weights: Tensor) -> Tensor:
        return weights.view(-1).index_select(0, self._places)

    def _batch(self, places: Tensor, rows: Tensor) -> Batch:
        return _DenseBatch(places, rows, self.offset, self.members)


class _DenseBatch(Batch):
    def __init__(self, places: Tensor, rows: Tensor, offset: Tensor, members: Tensor | None) -> None:
        super().__init__(places, rows)
        self._offset = offset
        self._members = members

    def scores(self, logits: Tensor) -> Tensor:
        return logits + self._offset.index_select(0, self.rows)

    def pick(self, matrix: Tensor) -> Tensor:
        return matrix

    def scatter(self, values: Tensor, matrix: Tensor) -> Tensor:
        return values

    def read(self, weights: Tensor) -> Tensor:
        return weights.index_select(0, self.rows)

    def write(self, weights: Tensor, values: Tensor) -> None:
        weights.index_copy_(0, self.rows, values)

    def mask(self, n_classes: int) -> Tensor:
        if self._members is not None:
            return self._members.index_select(0, self.rows)
        return self._offset.index_select(0, self.rows) == 0


class PaddedLayout(Layout):
    """Weight stores are (nnz + 1,): aligned with `indices`, plus one place that padding points at, always 0."""

    def __init__(self, candidates: CandidateSets, device: torch.device, log_prior: Weights | None = None) -> None:
        super().__init__(device)
        self._candidates = candidates
        self.nnz = candidates.nnz
        self._parts: tuple[Tensor, Tensor] | None = None  # (n + 1,) indptr and (nnz + 1,) indices, on the device
        if device.type != "cpu" or 4 * self.nnz <= IN_MEMORY_UP_TO:
            padded = np.append(candidates.indices, np.int32(0))
            self._parts = (
                torch.from_numpy(candidates.indptr.copy()).to(device),
                torch.from_numpy(padded).to(device),
            )
        self.offset = None if log_prior is None else self.store(log_prior)

    def zeros(self) -> Tensor:
        if self.device.type != "cpu":
            return torch.zeros(self.nnz + 1, device=self.device)
        return torch.from_numpy(large_array(self.nnz + 1, np.float32))

    def store(self, flat: npt.NDArray[np.float32]) -> Tensor:
        weights = large_array(self.nnz + 1, np.float32)
        weights[:-1], weights[-1] = flat, 0
        return torch.from_numpy(weights).to(self.device)

    def entries(self, weights: Tensor) -> Tensor:
        return weights[:-1]

    def _batch(self, places: Tensor, rows: Tensor) -> Batch:
        starts, ends = self._bounds(rows)
        sizes = (ends - starts)[:, None]  # (B, 1)
        widest = self._widest(places.numpy()) if len(places) else 1  # a process may own none of a batch
        within = torch.arange(widest, device=rows.device)  # (k,)
        valid = within < sizes  # (B, k)
        positions = torch.where(valid, starts[:, None] + within, self.nnz)  # (B, k)
        offset = None if self.offset is None else self.offset[positions]  # (B, k)
        return _PaddedBatch(places, rows, positions, self._labels(positions, valid), valid, offset)

    def _widest(self, places: Ints) -> int:
        """Return the size of the largest set, by the machine's copy of the sets: the device would be waited for."""
        indptr = self._candidates.indptr
        return int((indptr[places + 1] - indptr[places]).max())

    def _bounds(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return where the entries of these examples begin and end, (B,) each."""
        if self._parts is not None:
            indptr = self._parts[0]
            return indptr[rows], indptr[rows + 1]
        at = rows.numpy()
        indptr_file = self._candidates.indptr
        return torch.from_numpy(indptr_file[at]), torch.from_numpy(indptr_file[at + 1])

    def _labels(self, positions: Tensor, valid: Tensor) -> Tensor:
        """Return the labels at these positions, 0 for padding."""
        if self._parts is not None:
            return self._parts[1][positions].long()
        result = self._candidates.indices[np.minimum(positions.numpy(), self.nnz - 1)]
        return torch.from_numpy(result).long() * valid


class _PaddedBatch(Batch):
    def __init__(
        self,
        places: Tensor,
        rows: Tensor,
        positions: Tensor,
        columns: Tensor,
        valid: Tensor,
        offset: Tensor | None = None,
    ) -> None:
        super().__init__(places, rows)
        self._positions = positions
        self._columns = columns
        self._valid = valid
        self._offset = offset

    def scores(self, logits: Tensor) -> Tensor:
        own = logits.gather(1, self._columns)
        if self._offset is not None:
            own = own + self._offset
        return own.masked_fill(~self._valid, -torch.inf)

    def pick(self, matrix: Tensor) -> Tensor:
        return matrix.gather(1, self._columns)

    def scatter(self, values: Tensor, matrix: Tensor) -> Tensor:
        return torch.zeros_like(matrix).scatter_add_(1, self._columns, values)

    def read(self, weights: Tensor) -> Tensor:
        return weights[self._positions]

    def write(self, weights: Tensor, values: Tensor) -> None:
        # Padding writes its 0 into the last place, which always holds 0.
        weights[self._positions] = values

    def mask(self, n_classes: int) -> Tensor:
        result = torch.zeros((len(self.rows), n_classes), device=self.rows.device)
        return result.scatter_add_(1, self._columns, self._valid.to(result)) > 0

"""Columns of labels: a cell is read once, however many rows hold it, and a message names the first that does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.errors import RowError, UserError
from pll.formats.checks import shorten
from pll.formats.records import RowNumber

Chunks: TypeAlias = pa.ChunkedArray
"""A column of text."""


@dataclass(frozen=True)
class LabelColumn:
    """A column that was read: row i holds `cells[codes[i]]`, which means `values[codes[i]]`.

    Attributes
    ----------
    place_of
        What a message calls the row at a position, and the column.
    codes
        (n,) int64, which of the different cells a row holds.
    cells
        The different cells, as they stand.
    values
        What each of them means.
    confidence
        Of a column of answers, the confidence of each different cell, NaN where it has none.
    weights
        Of a column of candidates, how often each label of each different cell is named, or how likely it is; empty
        where cells are sets alone.
    """

    place_of: Callable[[int], str]
    codes: npt.NDArray[np.int64]
    cells: list[str]
    values: list[Any]
    confidence: tuple[float, ...] = ()
    weights: tuple[Mapping[str, float], ...] = ()

    @classmethod
    def of(cls, name: str, chunks: Chunks, row_of: RowNumber) -> LabelColumn:
        """Return a column of text whose cells mean nothing yet; a missing one is ""."""
        codes, cells = encode(without_nulls(chunks))
        return cls(lambda at: f"Row {row_of(at)}, column {name}", codes, cells, [])

    def read(self, read_cell: Callable[..., Any], *more: Sequence[Any]) -> LabelColumn:
        """Return the column with what each different cell means, read of it and what `more` says of it.

        Raises
        ------
        UserError
            What `read_cell` raised, with the row, the column and the cell.
        """
        values = []
        for code, facts in enumerate(zip(self.cells, *more, strict=True)):
            try:
                values.append(read_cell(*facts))
            except UserError as error:
                raise RowError(f"{self.place(code)} holds {shorten(self.cells[code])}: {error}.") from None
        return replace(self, values=values)

    def texts(self) -> list[str]:
        """The cell in each row."""
        return [self.cells[code] for code in self.codes.tolist()]

    def times(self) -> list[int]:
        """How often each of the cells stands in the column."""
        times: list[int] = np.bincount(self.codes, minlength=len(self.cells)).tolist()
        return times

    def names(self) -> Iterator[tuple[int, str]]:
        """Yield (code, name) of every name in a column of names or tuples of names, None being none."""
        for code, value in enumerate(self.values):
            for name in (value,) if isinstance(value, str) else value or ():
                yield code, name

    def place(self, code: int) -> str:
        """Return the first row with this value, for a message."""
        return self.place_of(int(np.argmax(self.codes == code)))

    def pairs(self, number: Mapping[str, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Of a column of tuples of names: (m,) rows and (m,) class indices, row after row."""
        sizes = np.array([len(value) for value in self.values], dtype=np.int64)
        flat = np.array([number[name] for value in self.values for name in value], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        counts = sizes[self.codes]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(np.arange(len(self.codes)), counts), flat[np.repeat(starts[self.codes], counts) + within]


RoleColumns: TypeAlias = Mapping[str, Mapping[str, Chunks]]
"""Role → the columns that have it: name → cells."""


def read_column(name: str, chunks: Chunks, row_of: RowNumber, read_cell: Callable[[str], Any]) -> LabelColumn:
    """Parse every distinct cell of a text column; a missing one is "".

    Raises
    ------
    UserError
        What `read_cell` raised, with the row, the column and the cell.
    """
    return LabelColumn.of(name, chunks, row_of).read(read_cell)


def encode(chunks: Chunks) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return (n,) codes of a text column in the order of first appearance, and its distinct cells; null is −1."""
    coded = pc.dictionary_encode(chunks).unify_dictionaries()
    codes = np.concatenate([chunk.indices.fill_null(-1).to_numpy() for chunk in coded.chunks])
    return codes.astype(np.int64), coded.chunk(0).dictionary.to_pylist()


def without_nulls(chunks: Chunks) -> Chunks:
    """Return the column with "" in place of null."""
    return pc.fill_null(chunks, "")

"""Columns of labels: a cell is read once, however many rows hold it, and a message names the first that does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.candidates import sort_names
from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.checks import MAX_NAME, check_class_count, listing, shorten
from pll.formats.records import RowNumber
from pll.formats.tabular.cells import spelling

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
                raise UserError(f"{self.place(code)} holds {shorten(self.cells[code])}: {error}.") from None
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


def names_in(columns: Sequence[LabelColumn], class_names: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return all classes: those given, else those that occur in columns of names or tuples of names, sorted.

    Raises
    ------
    UserError
        A label that is not among those given; the row is named.
    """
    used: dict[str, tuple[LabelColumn, int]] = {}
    for column in columns:
        for code, name in column.names():
            used.setdefault(name, (column, code))
    check_class_count(len(used), "the columns of labels")
    for name, (column, code) in used.items():
        if len(name) > MAX_NAME:
            raise UserError(
                f"{column.place(code)} holds a label of {len(name):,} characters ({shorten(name)}); at most "
                f"{MAX_NAME:,} are supported. Is a quote left open?"
            )
    if not class_names:
        return sort_names(used)
    classes = set(class_names)
    for name, (column, code) in used.items():
        if name not in classes:
            raise UserError(
                f"{column.place(code)}: the label {shorten(name)} is unknown; the classes are {listing(class_names)}. "
                "Correct it, or add it to the classes."
            )
    return class_names


JOINED = "Spelled alike, and so one class"
"""How the note on joined spellings begins."""


def join_spellings(columns: Sequence[LabelColumn], options: ReadOptions, named: Collection[str] = ()) -> list[str]:
    """Make labels that are spelled alike one class, by `spelling`: the one that is named, else the most frequent.

    Nothing is joined where `options.merge` is False.

    Parameters
    ----------
    columns
        Of names or tuples of names; their values are changed.
    named
        Classes that have a column of their own; like `options.class_names` they are never merged.

    Returns
    -------
    list[str]
        A note for the user; none where no two labels have the same spelling.
    """
    counts: Counter[str] = Counter()
    for column in columns:
        rows = column.times()
        for code, name in column.names():
            counts[name] += rows[code]
    apart = {*options.class_names, *named}
    groups: dict[str, list[str]] = {}
    for name in [*counts, *(name for name in apart if name not in counts)] if options.merge else ():
        groups.setdefault(spelling(name), []).append(name)
    becomes: dict[str, str] = {}
    for group in groups.values():
        named_apart = [name for name in group if name in apart]
        if len(named_apart) < 2 < len(group) + 1:
            target = named_apart[0] if named_apart else max(sorted(group), key=counts.__getitem__)
            becomes |= {name: target for name in group if name != target and name in counts}
    if not becomes:
        return []
    for column in columns:
        column.values[:] = [
            becomes.get(value, value)
            if isinstance(value, str)
            else value and tuple(dict.fromkeys(becomes.get(name, name) for name in value))
            for value in column.values
        ]
    pairs = [f"{name} → {target}" for name, target in becomes.items()]
    return [f"{JOINED}: {listing(pairs)}."]


def encode(chunks: Chunks) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return (n,) codes of a text column in the order of first appearance, and its distinct cells; null is −1."""
    coded = pc.dictionary_encode(chunks).unify_dictionaries()
    codes = np.concatenate([chunk.indices.fill_null(-1).to_numpy() for chunk in coded.chunks])
    return codes.astype(np.int64), coded.chunk(0).dictionary.to_pylist()


def without_nulls(chunks: Chunks) -> Chunks:
    """Return the column with "" in place of null."""
    return pc.fill_null(chunks, "")

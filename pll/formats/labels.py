"""Columns of labels, as text, to candidate sets and true labels.

Every different cell is read once, however many rows hold it; a message still names the first row that does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.candidates import CandidateSets, sort_names
from pll.dataset import UNKNOWN
from pll.errors import UserError
from pll.formats.cells import guess_separator, read_label, split_cell
from pll.formats.checks import MAX_NAME, check_class_count
from pll.formats.words import listing, shorten

Chunks = Sequence[pa.Array]
"""A column of text, in pieces."""


@dataclass(frozen=True)
class LabelColumn:
    """A column that was read: row i holds `values[codes[i]]`.

    Attributes:
        name: the column's name, for messages.
        codes: (n,) int64, which of the different values a row holds.
        values: what each different cell means.
        row_of: the number a message gives to the row at a position.
    """

    name: str
    codes: npt.NDArray[np.int64]
    values: list[Any]
    row_of: Callable[[int], int]

    def place(self, code: int) -> str:
        """The first row with this value, for a message."""
        return f"Row {self.row_of(int(np.argmax(self.codes == code)))}, column {self.name}"

    def pairs(self, number: Mapping[str, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Of a column of tuples of names: (m,) rows and (m,) class indices, row after row."""
        sizes = np.array([len(value) for value in self.values], dtype=np.int64)
        flat = np.array([number[name] for value in self.values for name in value], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        counts = sizes[self.codes]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(np.arange(len(self.codes)), counts), flat[np.repeat(starts[self.codes], counts) + within]


def read_column(
    name: str, chunks: Sequence[pa.Array], row_of: Callable[[int], int], read_cell: Callable[[str], Any]
) -> LabelColumn:
    """Read every different cell of a text column.

    Raises:
        UserError: what `read_cell` raised, with the row, the column and the cell.
    """
    codes, cells = encode(chunks)
    column = LabelColumn(name, codes, [], row_of)
    for code, cell in enumerate(cells):
        try:
            column.values.append(read_cell(cell))
        except UserError as error:
            raise UserError(f"{column.place(code)} holds {shorten(cell)}: {error}.") from None
    return column


def read_candidates(
    chunks: Sequence[pa.Array], row_of: Callable[[int], int], separator: str | None = None
) -> LabelColumn:
    """The column `candidates`; its values are tuples of names.

    Raises:
        UserError: an empty set, or a cell that cannot be read; the row is named.
    """
    column = read_sets("candidates", chunks, row_of, separator)
    empty = np.asarray([not names for names in column.values], dtype=np.bool_)
    refuse_empty(empty[column.codes], row_of, "the column candidates")
    return column


def read_sets(
    name: str, chunks: Sequence[pa.Array], row_of: Callable[[int], int], separator: str | None = None
) -> LabelColumn:
    """A column of cells that may hold several names each, or none; its values are tuples.

    Raises:
        UserError: a cell that cannot be read; the row is named.
    """
    mark = separator or guess_separator(encode(chunks)[1])
    return read_column(name, without_nulls(chunks), row_of, lambda cell: split_cell(cell, mark))


def read_truth(chunks: Sequence[pa.Array], row_of: Callable[[int], int]) -> LabelColumn:
    """The column `true_label`; its values are names, None where the truth is not known."""
    return read_column("true_label", without_nulls(chunks), row_of, read_label)


def class_names(columns: Sequence[LabelColumn], given: tuple[str, ...] = ()) -> tuple[str, ...]:
    """All classes: those given, else those that occur in columns of names or tuples of names, sorted.

    Raises:
        UserError: a label that is not among those given; the row is named.
    """
    used: dict[str, tuple[LabelColumn, int]] = {}
    for column in columns:
        for code, value in enumerate(column.values):
            for name in (value,) if isinstance(value, str) else value or ():
                used.setdefault(name, (column, code))
    check_class_count(len(used), "the columns of labels")
    for name, (column, code) in used.items():
        if len(name) > MAX_NAME:
            raise UserError(
                f"{column.place(code)} holds a label of {len(name):,} characters ({shorten(name)}); at most "
                f"{MAX_NAME:,} are supported. Is a quote left open?"
            )
    if not given:
        return sort_names(used)
    known = set(given)
    for name, (column, code) in used.items():
        if name not in known:
            raise UserError(
                f"{column.place(code)}: the label {shorten(name)} is unknown; the classes are {listing(given)}. "
                "Correct it, or add it to the classes."
            )
    return given


def candidate_sets(column: LabelColumn, names: tuple[str, ...]) -> CandidateSets:
    """The sets of all rows, over all classes."""
    number = {name: k for k, name in enumerate(names)}
    lists = ([number[name] for name in cell] for cell in column.values)
    return CandidateSets.from_lists(lists, len(names), names).take(column.codes)


def true_labels(column: LabelColumn, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """(n,) class indices, `UNKNOWN` where the truth is not known."""
    number: dict[str | None, int] = {name: k for k, name in enumerate(names)}
    labels = [number.get(name, UNKNOWN) for name in column.values]
    return np.asarray(labels, dtype=np.int64)[column.codes]


def split_marks(chunks: Sequence[pa.Array], row_of: Callable[[int], int]) -> npt.NDArray[np.bool_]:
    """(n,) bool, True where the column `split` says test."""
    column = read_column("split", without_nulls(chunks), row_of, _split_cell)
    return np.asarray(column.values, dtype=np.bool_)[column.codes]


def _split_cell(cell: str) -> bool:
    part = cell.strip().casefold()
    if part not in ("train", "test"):
        raise UserError("write train or test")
    return part == "test"


def encode(chunks: Sequence[pa.Array]) -> tuple[npt.NDArray[np.int64], list[str]]:
    """(n,) codes of a text column in the order of first appearance, and the different cells; a null is −1."""
    coded = pa.chunked_array(pc.dictionary_encode(pa.chunked_array(chunks, pa.string()))).unify_dictionaries()
    codes = np.concatenate([chunk.indices.fill_null(-1).to_numpy() for chunk in coded.chunks])
    return codes.astype(np.int64), coded.chunk(0).dictionary.to_pylist()


def refuse_empty(empty: npt.NDArray[np.bool_], row_of: Callable[[int], int], where: str) -> None:
    """Raises UserError at the first row whose candidate set is empty."""
    if empty.any():
        rows = np.flatnonzero(empty)
        raise UserError(
            f"Row {row_of(int(rows[0]))} has an empty candidate set ({len(rows)} such row{'s' * (len(rows) != 1)}); "
            f"every example needs at least one possible label in {where}."
        )


def without_nulls(chunks: Chunks) -> list[pa.Array]:
    """The same text with "" where a cell is null."""
    return [chunk.fill_null("") for chunk in chunks]

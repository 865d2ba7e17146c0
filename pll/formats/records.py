"""The table that every tabular file becomes: Arrow columns with names, batch by batch.

A reader makes `Records` of a file and knows nothing of labels. What its columns are follows from their names and types
(`pll.formats.roles`); they are read here as text, as values of JSON, and as numbers to learn from;
`pll.formats.tabular.builder` makes the dataset.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll import io
from pll.errors import RowError, UserError, WordsInFeatures
from pll.formats.base import ReadOptions
from pll.formats.checks import listing, shorten
from pll.formats.forms import Form, form_told_by
from pll.formats.names import check_header, check_number, labels_at_end, sample_rows
from pll.formats.reading import LABELLED, OF_NAMES, Column, option
from pll.formats.roles import roles_of
from pll.formats.tabular.cells import MISSING, Cells, is_no_answer, is_number, numbers_in

JSON = pa.json_(pa.string())
"""Type of a column whose cells are JSON: its values are not text alone."""

Chunks: TypeAlias = pa.ChunkedArray
"""A column of text."""
Numbers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

RowNumber = Callable[[int], int]
"""Function from a position (0 is the first row of data) to the row number used in messages."""

_SAMPLE_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Records:
    """A source as columns with names: what the reader of every container returns.

    A container of several tables (a sheet, or a file, a person) is one of these, with a column that names the part and
    its role in `roles`.

    Attributes
    ----------
    names : sequence of str
        The columns, as the file calls them.
    batches : callable
        Some columns by their positions, in ascending order → record batches of these columns, once more at every call.
    rows : int
        Maximum number of rows; memory for so many is allocated.
    row_of : callable
        The number that a message gives to the row at a position.
    notes : tuple of str
        Notes about the reading, for the user.
    roles : mapping
        By name, the roles that the file or its format gives; those that the user gives go before.
    class_names : tuple of str
        All classes in order, where the file has them.
    first : sequence of Cells
        The first cells of each column as text, where the reader has them at hand.
    signature : Form
        The signature that the file has, where the reader knows it better than the names say.
    titles : mapping
        By name, what a column is about in words, where a second header row says so (the text of a question).
    may_be_empty : bool
        Whether an empty candidate set means that nobody answered, and is no mistake.
    codes : mapping
        What a codebook beside it calls codes, by variable (`pll.formats.codebook`).
    again : sequence of int
        Which row each row of the file is, where some stand there twice and count once; else empty.
    """

    names: Sequence[str]
    batches: Callable[[Sequence[int]], Iterable[pa.RecordBatch]]
    rows: int
    row_of: RowNumber = int
    notes: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    class_names: tuple[str, ...] = ()
    first: Sequence[Cells] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    may_be_empty: bool = False
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    signature: Form | None = None
    again: Sequence[int] = ()

    @cached_property
    def form(self) -> Form | None:
        """The signature that the table has; None for any other table."""
        return self.signature or form_told_by([name.strip() for name in self.names])

    @classmethod
    def of(cls, columns: pa.Table | Mapping[str, Sequence[Any]], **more: Any) -> Records:
        """Return the table of columns in memory, of Arrow or of values of JSON by name; `more` are other attributes.

        Examples
        --------
        >>> Records.of({"id": ["a"], "width": [1.5]}).sample()
        [['a'], ['1.5']]
        """
        arrow: pa.Table = columns
        if isinstance(columns, Mapping):
            arrow = pa.table({name: json_column(some) for name, some in columns.items()})
        return cls(arrow.column_names, lambda used: arrow.select(list(used)).to_batches(), len(arrow), **more)

    def sample(self) -> Sequence[Cells]:
        """Return the first cells of each column as text, from which its role is guessed."""
        if any(self.first):
            return self.first
        check_number(self.names)
        wanted, size = sample_rows(len(self.names)), 0
        columns: list[list[str | None]] = [[] for _ in self.names]
        for batch in self.batches(range(len(self.names))):
            for cells, column in zip(columns, batch.columns, strict=True):
                cells += text_of(column.slice(0, wanted - len(cells))).to_pylist()
            size += batch.nbytes
            if len(columns[0]) >= wanted or size > _SAMPLE_BYTES:
                break
        if not any(columns):
            raise no_rows()
        return columns

    def plan(self, options: ReadOptions) -> list[Column]:
        """Return the role of each column.

        Raises
        ------
        UserError
            No rows, names that cannot be, or roles that a person gave and that cannot be.
        """
        names, sample, given = check_header(self.names), self.sample(), options.columns
        certain = {name: role for name, role in self.roles.items() if name not in given}
        added = [name for name in labels_at_end(names) if name not in {**certain, **given}]
        if added:  # by Candid, where the rest of the table says what the labels are
            ours = {**dict.fromkeys(added, "ignore"), **certain}
            columns = roles_of(names, sample, given, self.form, self.codes, ours)
            if any(column.role in (*LABELLED, "true_label") or column.asks for column in columns):
                return columns
        return roles_of(names, sample, given, self.form, self.codes, certain)

    def texts(self, at: int) -> Iterator[str | None]:
        """Yield the cells of a column as text."""
        for batch in self.batches([at]):
            yield from text_of(batch.column(0)).to_pylist()

    def cells(self, columns: Sequence[Column]) -> list[pa.ChunkedArray]:
        """Return the cells of some columns as text, as their roles say."""
        parts: list[list[pa.Array]] = [[] for _ in columns]
        for batch in self.batches([column.at for column in columns]):
            for some, column, cells in zip(parts, columns, batch.columns, strict=True):
                some.append(text_of(cells, column.role))
        return [pa.chunked_array(some, pa.string()) for some in parts]

    def collected(
        self, columns: Sequence[Column], options: ReadOptions
    ) -> tuple[dict[int, pa.ChunkedArray], npt.NDArray[np.float32], list[str]]:
        """Return by position the cells of the columns that are no numbers, (n, d) the numbers, and their names.

        Features are cast batch by batch into one float32 matrix, so that a file is never in memory as text; a large
        matrix is in a temporary file (`pll.io.large_array`). Columns of lists come after those of numbers.

        Parameters
        ----------
        columns
            Every column with its role.
        options
            What is told how far it is.

        Raises
        ------
        UserError
            No rows; a feature that is no finite number, or a list of another length: row and column are named.
        """
        used = [column for column in columns if column.role != "ignore"]
        widths = {column: 1 for column in used if column.role == "feature"}
        widths |= {column: _list_length(self, column) for column in used if column.role == "vector"}
        owners = [(column, k + 1) for column, width in widths.items() for k in range(width)]
        names = [one.display_name if one.role == "feature" else f"{one.display_name} {k}" for one, k in owners]
        X = io.large_array((self.rows, len(names)), np.float32, in_memory_up_to=io.FEATURES_IN_MEMORY_UP_TO)
        chunks: dict[int, list[pa.Array]] = {column.at: [] for column in used if column not in widths}
        n, wrong = 0, dict[str, WordsInFeatures]()
        for batch in self.batches([column.at for column in used] or [0]):
            cells = {column: batch.column(k) for k, column in enumerate(used)}
            for column in used:
                if column not in widths:
                    chunks[column.at].append(_cells(cells[column], column.role))
            block, at = np.empty((len(names), len(batch))), 0  # (d, rows): arrow has columns, the dataset rows
            for column, width in widths.items():
                try:
                    part = _numbers(cells[column], column, width, self.row_of, n)
                except WordsInFeatures as error:
                    part = np.full((1, len(batch)), math.nan)
                    wrong.setdefault(column.name, error)
                block[at : at + width], at = part, at + width
            rows = X[n : n + len(batch)]
            with np.errstate(over="ignore"):
                rows[:] = block.T
            _check_range(rows, cells, [column for column, _ in owners], self.row_of, n)
            n += len(batch)
            options.tick("rows", n, max(n, self.rows))
        if wrong:
            raise _all_of(wrong)
        if not n:
            raise no_rows()
        options.tick("rows", n, n)
        return {at: pa.chunked_array(some) for at, some in chunks.items()}, X if n == len(X) else X[:n], names

    def values(self, used: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Yield the rows as values of JSON by name, of some columns by their positions."""
        names = [self.names[at] for at in used]
        for batch in self.batches(used):
            for row in zip(*map(values_in, batch.columns), strict=True):
                yield dict(zip(names, row, strict=True))

    def lines(self) -> Iterator[tuple[str | None, ...]]:
        """Yield the rows as text."""
        for batch in self.batches(range(len(self.names))):
            yield from zip(*(text_of(column).to_pylist() for column in batch.columns), strict=True)

    def whole(self) -> pa.Table:
        """Return all rows; the columns by position."""
        batches = list(self.batches(range(len(self.names))))
        empty = pa.schema([(str(at), pa.string()) for at in range(len(self.names))])
        return pa.Table.from_batches(batches, None if batches else empty)

    def with_columns(self, new: Mapping[str, Sequence[Any]], gone: Collection[int] = ()) -> Records:
        """Return the table with columns of values of JSON beside its own.

        Parameters
        ----------
        new
            The values of the new columns, by name.
        gone
            Positions of columns that it has no more.
        """
        stays = [k for k in range(len(self.names)) if k not in gone]
        at = sum(k < min(gone) for k in stays) if gone else len(stays)  # in the place of the first
        whole, sample = self.whole(), self.sample()
        parts = [(self.names[k], whole.column(k), sample[k]) for k in stays]
        made = zip(new, map(json_column, new.values()), strict=True)
        parts[at:at] = [(name, column, text_of(column.slice(0, len(sample[0]))).to_pylist()) for name, column in made]
        names, columns, first = zip(*parts, strict=True)
        table = Records.of(pa.table(list(columns), names=list(names)))
        return replace(self, names=table.names, batches=table.batches, first=first, signature=self.form)


def no_rows() -> UserError:
    """Return the error of a table that ends with its header."""
    return UserError("There is a header but not one row below it; add the examples.")


# ---- features ----------------------------------------------------------------------------------------------------


def _all_of(errors: Mapping[str, WordsInFeatures]) -> WordsInFeatures:
    """Return the first error of several columns, with what to type about every one of them."""
    first, *others = errors
    more = f" Other columns with such cells: {listing(others)}." if others else ""
    shell = " ".join(option(name, "keep") for name in errors)
    told = WordsInFeatures(f"{errors[first]}{more}", kind="words", shell=shell)
    told.columns = tuple(errors)
    return told


def _cells(column: pa.Array, role: str) -> pa.Array:
    """Return cells as text; as JSON where they are of that type and only carried along."""
    is_json = isinstance(column.type, pa.JsonType)
    return column if is_json and role in ("category", "keep") else text_of(column, role)


def _numbers(column: pa.Array, part: Column, width: int, row_of: RowNumber, start: int) -> Floats:
    """Return the numbers of a column, or (width, rows) those of one of lists; NaN where one is missing.

    Raises
    ------
    UserError
        A cell that is no number, or no list of so many; the row is named.
    """
    if part.role == "vector":
        return _lists(column, part, width, row_of, start).T
    if part.comma:
        column = _with_points(text_of(column))
    with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):  # numbers are written in JSON as they are elsewhere
        return _as_floats(column.storage if isinstance(column.type, pa.JsonType) else column)
    trimmed = pc.utf8_trim_whitespace(text_of(column))
    missing = pc.is_in(trimmed, value_set=pa.array(MISSING, pa.string()))
    trimmed = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
    with suppress(pa.ArrowInvalid):
        return _as_floats(trimmed)
    for word in trimmed.unique().drop_null().to_pylist():
        if not (is_number(word) or is_no_answer(word)):
            raise WordsInFeatures(
                f"Row {row_of(start + pc.index(trimmed, word).as_py())}, column {shorten(part.name)} holds "
                f"{shorten(word)}, which is not a number. Features must be numbers (1.5, not 1,5; empty or ? where "
                "missing): correct the cell, or say what else the column is."
            )
    return np.array([float(c) if c is not None and is_number(c) else math.nan for c in trimmed.to_pylist()])


def _as_floats(column: pa.Array) -> Floats:
    """Return (rows,) the numbers of a column; missing cells become NaN.

    Raises
    ------
    pyarrow.ArrowException
        A cell that is none.
    """
    return numbers_of(pc.cast(column, pa.float64()), math.nan)


def _with_points(column: pa.Array) -> pa.Array:
    """Return numbers that are written with a decimal comma, and points between the thousands, as 1234.5."""
    return pc.replace_substring(pc.replace_substring(column, ".", ""), ",", ".")


def _list_length(table: Records, column: Column) -> int:
    """Return how long the lists of a column are: as the first that there is."""
    for batch in table.batches([column.at]):
        for length in pc.list_value_length(_as_lists(batch.column(0), column, table.row_of, 0)).to_pylist():
            if length is not None:
                return int(length)
    return 0


def _as_lists(cells: pa.Array, column: Column, row_of: RowNumber, start: int) -> pa.Array:
    """Return a column of lists of numbers; text is read as JSON, Python or NumPy writes such lists.

    Raises
    ------
    UserError
        A cell that is no list of numbers; the row is named.
    """
    if is_list(cells.type) and not pa.types.is_nested(cells.type.value_type):
        with suppress(pa.ArrowException):  # else as the text that it is
            return cells.cast(pa.list_(pa.float64()))
    lists: list[list[float] | None] = []
    for at, cell in enumerate(text_of(cells).to_pylist()):
        numbers = numbers_in(cell) if cell and cell.strip() else None
        if cell and cell.strip() and (numbers is None or any(map(math.isinf, numbers))):
            raise RowError(
                f"Row {row_of(start + at)}, column {column.name} holds {shorten(cell)}: write a list of finite numbers "
                "such as [0.5, -1.25], or leave the cell empty."
            )
        lists.append(numbers)
    return pa.array(lists, pa.list_(pa.float64()))


def _lists(cells: pa.Array, column: Column, width: int, row_of: RowNumber, start: int) -> Floats:
    """Return (rows, width) the numbers of a column of lists; NaN where a cell is empty or has null.

    Raises
    ------
    UserError
        a list of another length; the row is named.
    """
    lists = _as_lists(cells, column, row_of, start)
    lengths = pc.fill_null(pc.list_value_length(lists), width).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(lengths != width)
    if len(wrong):
        raise RowError(
            f"Row {row_of(start + int(wrong[0]))}, column {column.name} holds a list of {lengths[wrong[0]]} numbers, "
            f"others have {width}; they must be equally long."
        )
    table = np.full((len(lists), width), np.nan)
    is_here = lists.is_valid().to_numpy(zero_copy_only=False)
    table[is_here] = pc.list_flatten(lists).to_numpy(zero_copy_only=False).reshape(-1, width)
    return table


def _check_range(
    X: npt.NDArray[np.float32],
    batch: Mapping[Column, pa.Array],
    owners: Sequence[Column],
    row_of: RowNumber,
    start: int,
) -> None:
    bad = np.isinf(X)
    if not bad.any():
        return
    row, k = (int(k) for k in np.argwhere(bad)[0])
    raise RowError(
        f"Row {row_of(start + row)}, column {shorten(owners[k].name)} holds "
        f"{shorten(str(batch[owners[k]][row].as_py()))}; features must be finite numbers (below 3.4e38). "
        "Remove the row or leave the cell empty."
    )


# ---- cells as text ---------------------------------------------------------------------------------------------------


def text_of(column: pa.Array, role: str = "") -> pa.Array:
    """Return the cells of a column as text; null stays null.

    Parameters
    ----------
    column : pyarrow.Array
        Of any type: numbers become their digits, lists and structs JSON.
    role : str
        What the column is, where that is known: labels that are floats (1.0, since others are missing) become whole
        numbers then.
    """
    kind = column.type
    if isinstance(kind, pa.JsonType):
        coded = column.storage.dictionary_encode()
        cells = [cell_of(value_of(cell)) for cell in coded.dictionary.to_pylist()]
        return pa.array(cells, pa.string()).take(coded.indices)
    if pa.types.is_dictionary(kind):
        return text_of(column.dictionary_decode(), role)
    if pa.types.is_floating(kind):
        is_whole = role in OF_NAMES and pc.all(pc.equal(column, pc.floor(column))).as_py() is not False
        return column.cast(pa.float64()).cast(pa.int64() if is_whole else pa.float64()).cast(pa.string())
    if pa.types.is_struct(kind) and kind.get_field_index("path") >= 0:  # a picture, as Hugging Face datasets has it
        return text_of(pc.struct_field(column, "path"))
    if is_list(kind) and (pa.types.is_integer(kind.value_type) or is_text(kind.value_type)):
        return pa.array([None if cell is None else _joined(*cell) for cell in column.to_pylist()], pa.string())
    if pa.types.is_map(kind):
        return pa.array([None if cell is None else _as_json(dict(cell)) for cell in column.to_pylist()], pa.string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        with suppress(pa.ArrowInvalid):  # no UTF-8, as bytes of a picture
            return column.cast(pa.string())
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.array([None if cell is None else _as_json(cell) for cell in column.to_pylist()], pa.string())
    return column.cast(pa.string())


def cell_of(value: Any) -> str | None:
    """Return a value of JSON as a cell of a table.

    Examples
    --------
    >>> cell_of(True), cell_of([1, "a"]), cell_of(1.5), cell_of([])
    ('true', '["1", "a"]', '1.5', '')
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        if not value:
            return ""
        # Numbers in a list of labels are names: 1 is "1".
        return json.dumps([cell_of(x) if isinstance(x, int | float) else x for x in value], ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def numbers_of(column: pa.Array, missing: float) -> npt.NDArray[Any]:
    """Return the numbers of a column, with one for those that are missing; `to_numpy` would import pandas.

    Parameters
    ----------
    column
        Numbers of any type.
    missing
        What stands for a missing one.

    Examples
    --------
    >>> numbers_of(pa.array([1, None, 3], pa.int32())[1:], -1)
    array([-1,  3], dtype=int32)
    """
    kind = np.dtype(column.type.to_pandas_dtype())
    if column.null_count == len(column):
        return np.full(len(column), missing, dtype=kind)
    values: npt.NDArray[Any] = np.frombuffer(column.buffers()[1], kind)[column.offset : column.offset + len(column)]
    if not column.null_count:
        return values
    is_missing = np.from_dlpack(pc.cast(pc.is_null(column), pa.uint8())).astype(np.bool_)
    return np.where(is_missing, kind.type(missing), values)


def codes_of(chunks: Chunks) -> tuple[Numbers, list[str]]:
    """Return (n,) codes of a column in the order of first appearance, and its distinct cells as text; null is −1."""
    coded = pc.dictionary_encode(chunks.cast(pa.string())).unify_dictionaries()
    if not coded.num_chunks:
        return np.empty(0, dtype=np.int64), []
    codes = np.concatenate([numbers_of(chunk.indices, -1) for chunk in coded.chunks])
    return codes.astype(np.int64), coded.chunk(0).dictionary.to_pylist()


def value_of(cell: str) -> Any:
    """Return what a cell of the type `JSON` holds; its text where a damaged file has something else there."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def values_in(column: pa.Array) -> list[Any]:
    """Return the values of a column; text that holds JSON is decoded."""
    if isinstance(column.type, pa.JsonType):
        return [None if cell is None else value_of(cell) for cell in column.storage.to_pylist()]
    return [value_of(cell) if cell and cell[:1] in "{[" else cell for cell in text_of(column).to_pylist()]


def json_column(values: Sequence[Any], *, may_be_text: bool = True) -> pa.Array:
    """Return values of JSON as a column: of text where all of them are, else of the type `JSON`; null is null.

    Parameters
    ----------
    values
        The cells.
    may_be_text
        Whether text stays text.
    """
    if may_be_text and all(value is None or isinstance(value, str) for value in values):
        return pa.array(values, pa.string())
    cells = [None if value is None else json.dumps(value, ensure_ascii=False) for value in values]
    return pa.ExtensionArray.from_storage(JSON, pa.array(cells, pa.string()))


def one_column(parts: Sequence[pa.Array | pa.ChunkedArray | int]) -> pa.ChunkedArray:
    """Return one column of its parts: text, or JSON where one is; a number is so many missing cells."""
    kinds = {str(part.type): part.type for part in parts if not isinstance(part, int)}
    is_json = any(isinstance(kind, pa.JsonType) for kind in kinds.values())
    kind = next(iter(kinds.values())) if len(kinds) == 1 else JSON if is_json else pa.string()
    chunks: list[pa.Array] = []
    for part in parts:
        whole = pa.nulls(part, kind) if isinstance(part, int) else part
        for chunk in whole.chunks if isinstance(whole, pa.ChunkedArray) else [whole]:
            plain = chunk if chunk.type == kind else text_of(chunk)
            chunks.append(plain if plain.type == kind else json_column(plain.to_pylist(), may_be_text=False))
    return pa.chunked_array(chunks, kind)


def is_list(kind: pa.DataType) -> bool:
    """Whether a type is one of lists."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


@lru_cache(maxsize=2**10)  # many rows have the same labels
def _joined(*cell: Any) -> str:
    labels = [None if label is None else str(label) for label in cell]  # whose place counts beside other lists
    return json.dumps(labels, ensure_ascii=False) if any(label is not None for label in labels) else ""


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda other: repr(other)[:100])

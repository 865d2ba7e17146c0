"""Tables of any origin: from columns to a dataset.

`pll.formats.guessing` says which column plays which part; batches of rows then go into a `TableBuilder`, which never
holds more text than one batch of features. What is not about tables as such (delimiters, encodings, files) belongs to
the format that brings the batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import labels, layouts
from pll.formats.base import ReadOptions
from pll.formats.cellkinds import MISSING, Cells
from pll.formats.checks import check_ids
from pll.formats.guessing import guesses, roles_of
from pll.formats.roles import LABEL_COLUMNS, UNNAMED, Column
from pll.formats.words import listing, shorten
from pll.images import Pictures
from pll.io import Column as ObjectColumn

MAX_COLUMNS = 60_000
"""Each costs the parser some 10 KB, however few rows there are."""


def check_header(header: Sequence[str]) -> list[str]:
    """The names of the columns, trimmed; one without a name is called by its place, `unnamed 1`.

    Raises:
        UserError: no name at all, one that stands twice, or too many columns.
    """
    if len(header) > MAX_COLUMNS:
        raise UserError(f"There are {len(header):,} columns; at most {MAX_COLUMNS:,} are supported.")
    if not any(name.strip() for name in header):
        raise UserError("The header is blank; the first row of a table must hold the names of its columns.")
    names = [name.strip() or f"{UNNAMED} {at}" for at, name in enumerate(header, start=1)]
    seen: dict[str, int] = {}
    for at, name in enumerate(names, start=1):
        part = name.casefold()
        key = part if part in LABEL_COLUMNS else name  # ID and id would be one column
        first = seen.setdefault(key, at)
        if first != at:
            raise UserError(
                f"Columns {first} and {at} have the same name {shorten(name)}; every column needs its own. "
                "The first row of a table must hold the column names."
            )
    return names


def plan(header: Sequence[str], sample: Sequence[Cells], options: ReadOptions) -> list[Column]:
    """The part of each column, by `pll.formats.guessing`.

    Args:
        header: as it stands in the file.
        sample: the first cells of each column.

    Raises:
        UserError: see `check_header` and `roles_of`.

    >>> [column.role for column in plan(["id", " width", "confidence"], [["a"], ["1"], ["1"]], ReadOptions())]
    ['id', 'feature', 'keep']
    """
    return roles_of(check_header(header), sample, options.columns)


class TableBuilder:
    """Takes batches of columns, gives a dataset.

    Args:
        columns: the part of each column, as `plan` says.
        options: class names, separator and name.
        row_of: the number a message gives to the row at a position (0 is the first row of data).
        rows_at_most: room for the features; only what is filled costs memory.
        empty_is_missing: a cell of words that is empty is a missing one; False where the format tells them apart.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        options: ReadOptions,
        row_of: Callable[[int], int],
        rows_at_most: int,
        *,
        empty_is_missing: bool = True,
    ) -> None:
        self.empty_is_missing = empty_is_missing
        self.columns = columns
        self.options = options
        self.row_of = row_of
        self.n = 0
        self.features = [column for column in columns if column.role == "feature"]
        self._X = np.empty((rows_at_most, len(self.features)), dtype=np.float32)
        self._cells: dict[int, list[pa.Array]] = {
            column.at: [] for column in columns if column.role not in ("feature", "ignore")
        }

    @property
    def used(self) -> list[int]:
        """Positions of the columns that `add` wants."""
        return [column.at for column in self.columns if column.role != "ignore"]

    def add(self, batch: dict[int, pa.Array], rows: int) -> None:
        """The next rows.

        Args:
            batch: by position in the table: text for every used column; features may be numbers too.
            rows: how many.
        """
        for at, chunks in self._cells.items():
            chunks.append(batch[at])
        block = np.empty((len(self.features), rows))  # (d, rows): arrow gives columns, the dataset wants rows
        for k, column in enumerate(self.features):
            block[k] = self._numbers(batch[column.at], column.name)
        X = self._X[self.n : self.n + rows]
        with np.errstate(over="ignore"):
            X[:] = block.T
        self._check_range(X, batch)
        self.n += rows

    def dataset(self) -> PartialLabelDataset:
        """Everything that was added.

        Raises:
            UserError: no rows, or labels, ids or split marks that do not hold what they must; the row is named.
        """
        if not self.n:
            raise no_rows()
        if any(column.role == "vote" for column in self.columns):
            return self._from_lines()
        found = layouts.read_labels(
            self._given("candidates"),
            self._given("true_label"),
            self.options,
            self.row_of,
            self._many("annotator"),
            self._many("class"),
        )
        ids = self._given("id")
        return self._dataset(
            found,
            self._X[: self.n],
            None if ids is None else check_ids(_texts(ids), self.row_of),
            np.arange(self.n),
        )

    def _from_lines(self) -> PartialLabelDataset:
        """Long form: lines of task, annotator and label become examples, in the order of their first line."""
        task, worker, vote = (self._given(role) for role in ("task", "worker", "vote"))
        if task is None or worker is None or vote is None:
            raise UserError(
                "In long form a table has a column of tasks, one of annotators and one of labels; say which is which "
                "(task, worker, vote)."
            )
        found = layouts.read_lines(task, worker, vote, self._given("true_label"), self.options, self.row_of)
        first = found.first
        return self._dataset(found, self._X[: self.n][first], found.ids, first)

    def _dataset(
        self,
        found: layouts.Found,
        X: npt.NDArray[np.float32],
        ids: npt.NDArray[np.str_] | None,
        rows: npt.NDArray[np.int64],
    ) -> PartialLabelDataset:
        """Args: rows: (n,) where the lines of the examples are."""
        split, text, image = (self._given(role) for role in ("split", "text", "image"))
        return PartialLabelDataset(
            X=X,
            candidates=found.candidates,
            y=found.y,
            class_names=found.class_names,
            ids=ids,
            feature_names=tuple(column.shown for column in self.features),
            texts=None if text is None else _objects(text, rows, ""),
            pictures=None if image is None else Pictures(_objects(image, rows, "")),
            categories=self._words("category", rows),
            extras=self._words("keep", rows),
            annotations=found.annotations,
            is_test=None if split is None else labels.split_marks(split, self.row_of)[rows],
            name=self.options.name or "table",
            kind="table",
            notes=(*self._notes(X), *found.notes),
        )

    def _words(self, role: str, rows: npt.NDArray[np.int64]) -> dict[str, ObjectColumn]:
        found = {column.shown: _objects(self._cells[column.at], rows) for column in self._of(role)}
        if self.empty_is_missing:
            for values in found.values():
                values[values == ""] = None
        return found

    def _of(self, role: str) -> list[Column]:
        return [column for column in self.columns if column.role == role]

    def _given(self, role: str) -> list[pa.Array] | None:
        return next((self._cells[column.at] for column in self._of(role)), None)

    def _many(self, role: str) -> dict[str, list[pa.Array]]:
        return {column.shown: self._cells[column.at] for column in self._of(role)}

    # ---- features ------------------------------------------------------------------------------------------------

    def _numbers(self, column: pa.Array, name: str) -> npt.NDArray[np.float64]:
        try:
            numbers = pc.cast(column, pa.float64())
        except pa.ArrowInvalid:
            trimmed = pc.utf8_trim_whitespace(column)
            missing = pc.is_in(trimmed, value_set=pa.array(MISSING))
            trimmed = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
            try:
                numbers = pc.cast(trimmed, pa.float64())
            except pa.ArrowInvalid:
                raise self._no_number(trimmed, name) from None
        return numbers.to_numpy(zero_copy_only=False)  # missing cells become NaN

    def _no_number(self, column: pa.Array, name: str) -> UserError:
        at = _first_that_is_no_number(column)
        return UserError(
            f"Row {self.row_of(self.n + at)}, column {shorten(name)} holds {shorten(column[at].as_py())}, which is "
            "not a number. Features must be numbers (1.5, not 1,5; empty or ? where missing): correct the cell, or say "
            "that the column is a category. If it holds the labels, name it candidates or true_label."
        )

    def _check_range(self, X: npt.NDArray[np.float32], batch: dict[int, pa.Array]) -> None:
        bad = np.isinf(X)
        if not bad.any():
            return
        row, k = (int(k) for k in np.argwhere(bad)[0])
        column = self.features[k]
        raise UserError(
            f"Row {self.row_of(self.n + row)}, column {shorten(column.name)} holds "
            f"{shorten(str(batch[column.at][row].as_py()))}; features must be finite numbers (below 3.4e38). "
            "Remove the row or leave the cell empty."
        )

    # ---- what a person should know -------------------------------------------------------------------------------

    def _notes(self, X: npt.NDArray[np.float32]) -> list[str]:
        notes = []
        ignored = [column.name for column in self._of("ignore")]
        if ignored:
            notes.append(f"Columns not used, because they hold results or you left them out: {listing(ignored)}.")
        numbers = [column.name for column in self.features if "." in column.name and _like_a_number(column.name)]
        if numbers:
            names = listing([column.name for column in self.features])
            notes.append(f"The first row was taken for the names of the columns: {names}.")
        suspects = np.flatnonzero(np.isnan(X[0]))  # cheap: nearly always none
        empty = [self.features[at].name for at in suspects if np.isnan(X[:, at]).all()]
        if empty:
            notes.append(f"Columns without a single value: {listing(empty)}.")
        return notes + guesses(self.columns)


def no_rows() -> UserError:
    """For a table that ends with its header."""
    return UserError("There is a header but not one row below it; add the examples.")


def _texts(chunks: Sequence[pa.Array]) -> list[str]:
    return [cell or "" for chunk in chunks for cell in chunk.to_pylist()]


def _objects(chunks: Sequence[pa.Array], rows: npt.NDArray[np.int64], missing: str | None = None) -> ObjectColumn:
    """The cells of some rows; every different text is held once."""
    codes, values = labels.encode(chunks)
    different = np.empty(len(values) + 1, dtype=object)
    different[: len(values)] = values
    different[-1] = missing
    return different[codes[rows]]


def _like_a_number(name: str) -> bool:
    return name.replace(".", "", 1).isdigit()


def _first_that_is_no_number(column: pa.Array) -> int:
    """Position of the first cell that does not convert, by halving."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            pc.cast(column.slice(low, middle - low), pa.float64())
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low

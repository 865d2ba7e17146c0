"""CSV and TSV: a row an example, label columns by their reserved names, every other column a feature.

Reading is by Apache Arrow, in batches: cells as text, features cast to numbers batch by batch, so that a file never
stands in memory as text. Names such as `NA`, `None` or `1` stay the text they are in label columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, ClassVar

import pyarrow as pa
import pyarrow.csv

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import spaced, textscan
from pll.formats.base import HEAD_BYTES, Format, ReadOptions
from pll.formats.checks import parsing
from pll.formats.columns import TextColumn, check_text, number_blocks, numbers_called, table_losses, text_columns
from pll.formats.guessing import SAMPLE_ROWS
from pll.formats.headers import is_data, numbered
from pll.formats.results import Results, left_out
from pll.formats.roles import Column
from pll.formats.table import TableBuilder, no_rows, plan

_WRITE_ROWS = 4096


@dataclass(frozen=True)
class Layout:
    """How a table of text is laid out.

    Attributes:
        delimiter: between its columns.
        header: their names, as they stand in the file; by number where it has none.
        sample: their first cells, `SAMPLE_ROWS` of each at most.
        top: rows above the data: 1 where there is a header, else 0.
    """

    delimiter: str
    header: list[str]
    sample: list[list[str]]
    top: int = 1


class Delimited(Format):
    """A text table; subclasses say which delimiters are theirs, the first being the one that is written."""

    row_note = "Rows are counted as a spreadsheet does: the header is row 1."
    delimiters: ClassVar[str]

    def sniff(self, path: Path, head: bytes) -> bool:
        if not textscan.looks_like_text(head):
            return False
        delimiter = textscan.delimiter_of(head, ",;\t")
        return delimiter is not None and delimiter in self.delimiters

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        with self._opened(path) as table:
            return self._read(table, options)

    def _read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        scan = textscan.scan(path, options.tick)
        layout = self._layout(path)
        width, top = len(layout.header), layout.top
        if scan.quotes % 2:
            textscan.check_last_quote(path, layout.delimiter)
        columns = self._plan(layout, options)
        row_of = (
            partial(textscan.row_number, path, layout.delimiter, top)
            if scan.has_blank_lines
            else lambda position: position + top + 1
        )
        # Every row takes at least a byte a column, which bounds the room for features by the file's size.
        rows_at_most = min(scan.records_at_most, scan.size // width + 1)
        table = TableBuilder(columns, options, row_of, rows_at_most)
        for batch in _batches(path, layout, table.used):
            table.add({at: batch.column(str(at)) for at in table.used}, len(batch))
            options.tick("rows", table.n, max(table.n, rows_at_most - 2))  # the header, and what ends the last line
        data = table.dataset()
        return data if top else replace(data, notes=(_no_header(width), *data.notes))

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        return table_losses(dataset)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        with path.open("wb") as file:
            write_table(dataset, file, self.delimiters[0], results)

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        with self._opened(source) as table:
            self._give_back(table, path, results, options)

    def _give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        layout = self._layout(source)
        header = layout.header
        columns = self._plan(layout, options)
        example = next((column.at for column in columns if column.role in ("id", "task")), None)
        names = [name.strip() for name in header]
        results = results.beside(names)
        kept = [at for at, name in enumerate(names) if name not in results.columns]
        schema = pa.schema([(name, pa.string()) for name in (*(header[at] for at in kept), *results.columns)])
        row = 0
        with (
            path.open("wb") as file,
            pa.csv.CSVWriter(file, schema, write_options=pa.csv.WriteOptions(delimiter=layout.delimiter)) as writer,
        ):
            for batch in _batches(source, layout, range(len(header))):
                ids = [str(row + k) for k in range(len(batch))]
                if example is not None:
                    ids = batch.column(str(example)).to_pylist()
                    if columns[example].role == "task":
                        ids = [cell.strip() for cell in ids]
                row += len(batch)
                added = [pa.array(cells, pa.string()) for cells in results.aligned(ids).values()]
                writer.write_batch(pa.record_batch([*(batch.column(str(at)) for at in kept), *added], schema=schema))

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        with self._opened(source, SAMPLE_ROWS) as table:
            layout = self._layout(table)
        lost = left_out(results, results.beside([name.strip() for name in layout.header]))
        return lost if layout.top else ["That the file has no header: it gets one, which names the labels.", *lost]

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        """What each column of a file is taken for.

        Raises:
            UserError: see `read`.
        """
        try:
            with self._opened(path, SAMPLE_ROWS) as table:
                return self._plan(self._layout(table), options)
        except UnicodeDecodeError:
            with parsing("the table"):
                textscan.scan(path)  # says where; only the beginning was looked at
                raise

    def _opened(self, path: Path, rows: int | None = None) -> AbstractContextManager[Path]:
        """The file, or a copy of it that has this format's delimiter.

        Args:
            rows: of how many rows; by default of all.
        """
        return nullcontext(path)

    def _layout(self, path: Path) -> Layout:
        with path.open("rb") as file:
            delimiter = textscan.delimiter_of(file.read(HEAD_BYTES), self.delimiters) or self.delimiters[0]
        first = textscan.header(path, delimiter)
        if not first or (len(first) == 1 and not first[0].strip()):
            raise UserError("The file holds nothing but blank lines; bring a table with a header and rows.")
        below = textscan.sample(path, delimiter, len(first), SAMPLE_ROWS)
        if not is_data(first, below):
            return Layout(delimiter, first, below)
        sample = [[cell, *cells][:SAMPLE_ROWS] for cell, cells in zip(first, below, strict=True)]
        return Layout(delimiter, numbered(len(first)), sample, top=0)

    def _plan(self, layout: Layout, options: ReadOptions) -> list[Column]:
        return plan(layout.header, layout.sample, options)


class Csv(Delimited):
    name = "csv"
    label = "CSV table"
    tool = "your CSV table"
    adds = "Columns with the label and how sure it is stand beside your own."
    suffixes = (".csv",)
    delimiters = ",;"


class Tsv(Delimited):
    """Tabs between the columns; spaces are read too, where the table holds numbers."""

    name = "tsv"
    label = "TSV table (tab separated)"
    tool = "your TSV table"
    adds = "Columns with the label and how sure it is stand beside your own."
    suffixes = (".tsv", ".tab")
    delimiters = "\t"

    def sniff(self, path: Path, head: bytes) -> bool:
        return super().sniff(path, head) or spaced.is_spaced(head)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        lost = super().cannot_give_back(source, results, options)
        return ["The spaces between the columns: tabs take their place.", *lost] if _is_spaced(source) else lost

    def _opened(self, path: Path, rows: int | None = None) -> AbstractContextManager[Path]:
        return spaced.with_tabs(path, rows) if _is_spaced(path) else nullcontext(path)


def write_columns(columns: Sequence[TextColumn], file: IO[bytes], delimiter: str) -> None:
    """Write columns of text as a table."""
    for column in columns:
        check_text(column.name)
        for cell in column.cells:
            check_text(cell or "")
    schema = pa.schema([(column.name, pa.string()) for column in columns])
    with pa.csv.CSVWriter(file, schema, write_options=pa.csv.WriteOptions(delimiter=delimiter)) as writer:
        arrays = [pa.array(column.cells, pa.string()) for column in columns]
        writer.write_batch(pa.record_batch(arrays, schema=schema))


def write_table(dataset: PartialLabelDataset, file: IO[bytes], delimiter: str, results: Results | None = None) -> None:
    """Write a dataset as a table of text."""
    texts = text_columns(dataset, results)
    numbers = numbers_called(dataset)
    for name in numbers:
        check_text(name)
    schema = pa.schema([(column.name, pa.string()) for column in texts] + [(name, pa.float32()) for name in numbers])
    options = pa.csv.WriteOptions(delimiter=delimiter, batch_size=_WRITE_ROWS)
    with pa.csv.CSVWriter(file, schema, write_options=options) as writer:
        for start in range(0, len(dataset), _WRITE_ROWS):
            rows = slice(start, start + _WRITE_ROWS)
            arrays = [pa.array(column.cells[rows], pa.string()) for column in texts]
            writer.write_batch(pa.record_batch(arrays + number_blocks(dataset, rows), schema=schema))


def _is_spaced(path: Path) -> bool:
    with path.open("rb") as file:
        return spaced.is_spaced(file.read(HEAD_BYTES))


def _no_header(width: int) -> str:
    return (
        f"The first row holds numbers where the others do, so it was taken for data: the columns are called "
        f"column 1 … column {width}. If it is the header, give one of its names a letter."
    )


def _batches(path: Path, layout: Layout, used: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Batches of text columns, named by their position."""
    width, top = len(layout.header), layout.top
    names = [str(at) for at in range(width)]
    try:
        with pa.csv.open_csv(
            path,
            # The header is skipped as a record, not as a line: its names may hold line ends.
            pa.csv.ReadOptions(block_size=textscan.MAX_RECORD_BYTES, column_names=names, skip_rows_after_names=top),
            pa.csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), include_columns=[str(at) for at in used]
            ),
        ) as reader:
            yield from (batch for batch in reader if len(batch))
    except pa.ArrowException as error:
        if textscan.check_shape(path, layout.delimiter, width, top) <= top:  # says it better than the parser, mostly
            raise no_rows() from None
        if "straddling" in str(error):
            raise textscan.too_long() from None
        with parsing("the table"):
            raise

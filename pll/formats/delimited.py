"""CSV and TSV: a header, a row an example, label columns by their reserved names, every other column a feature.

Reading is by Apache Arrow, in batches: cells as text, features cast to numbers batch by batch, so that a file never
stands in memory as text. Names such as `NA`, `None` or `1` stay the text they are in label columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, ClassVar

import pyarrow as pa
import pyarrow.csv

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats import textscan
from pll.formats.base import HEAD_BYTES, Format, ReadOptions, parsing
from pll.formats.columns import TextColumn, check_text, number_blocks, numbers_called, table_losses, text_columns
from pll.formats.results import Results, left_out
from pll.formats.roles import SAMPLE_ROWS, Column
from pll.formats.table import TableBuilder, no_rows, plan

_WRITE_ROWS = 4096


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
        scan = textscan.scan(path, options.tick)
        delimiter, header = self._header(path)
        if scan.quotes % 2:
            textscan.check_last_quote(path, delimiter)
        columns = self._plan(path, delimiter, header, options)
        row_of = (
            partial(textscan.row_number, path, delimiter) if scan.has_blank_lines else lambda position: position + 2
        )
        # Every row takes at least a byte a column, which bounds the room for features by the file's size.
        rows_at_most = min(scan.records_at_most, scan.size // len(header) + 1)
        table = TableBuilder(columns, options, row_of, rows_at_most)
        for batch in _batches(path, delimiter, table.used, len(header)):
            table.add({at: batch.column(str(at)) for at in table.used}, len(batch))
            options.tick("rows", table.n, max(table.n, rows_at_most - 2))  # the header, and what ends the last line
        return table.dataset()

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        return table_losses(dataset)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        with path.open("wb") as file:
            write_table(dataset, file, self.delimiters[0], results)

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        delimiter, header = self._header(source)
        columns = self._plan(source, delimiter, header, options)
        example = next((column.at for column in columns if column.role in ("id", "task")), None)
        names = [name.strip() for name in header]
        results = results.beside(names)
        kept = [at for at, name in enumerate(names) if name not in results.columns]
        schema = pa.schema([(name, pa.string()) for name in (*(header[at] for at in kept), *results.columns)])
        row = 0
        with (
            path.open("wb") as file,
            pa.csv.CSVWriter(file, schema, write_options=pa.csv.WriteOptions(delimiter=delimiter)) as writer,
        ):
            for batch in _batches(source, delimiter, range(len(header)), len(header)):
                ids = [str(row + k) for k in range(len(batch))]
                if example is not None:
                    ids = batch.column(str(example)).to_pylist()
                    if columns[example].role == "task":
                        ids = [cell.strip() for cell in ids]
                row += len(batch)
                added = [pa.array(cells, pa.string()) for cells in results.aligned(ids).values()]
                writer.write_batch(pa.record_batch([*(batch.column(str(at)) for at in kept), *added], schema=schema))

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return left_out(results, results.beside([name.strip() for name in self._header(source)[1]]))

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        """What each column of a file is taken for.

        Raises:
            UserError: see `read`.
        """
        try:
            delimiter, header = self._header(path)
            return self._plan(path, delimiter, header, options)
        except UnicodeDecodeError:
            with parsing("the table"):
                textscan.scan(path)  # says where; only the beginning was looked at
                raise

    def _header(self, path: Path) -> tuple[str, list[str]]:
        with path.open("rb") as file:
            delimiter = textscan.delimiter_of(file.read(HEAD_BYTES), self.delimiters) or self.delimiters[0]
        header = textscan.header(path, delimiter)
        if not header or (len(header) == 1 and not header[0].strip()):
            raise UserError("The file holds nothing but blank lines; bring a table with a header and rows.")
        return delimiter, header

    def _plan(self, path: Path, delimiter: str, header: list[str], options: ReadOptions) -> list[Column]:
        return plan(header, textscan.sample(path, delimiter, len(header), SAMPLE_ROWS), options)


class Csv(Delimited):
    name = "csv"
    label = "CSV table"
    tool = "your CSV table"
    adds = "Columns with the label and how sure it is stand beside your own."
    suffixes = (".csv",)
    delimiters = ",;"


class Tsv(Delimited):
    name = "tsv"
    label = "TSV table (tab separated)"
    tool = "your TSV table"
    adds = "Columns with the label and how sure it is stand beside your own."
    suffixes = (".tsv", ".tab")
    delimiters = "\t"


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


def _batches(path: Path, delimiter: str, used: Sequence[int], width: int) -> Iterator[pa.RecordBatch]:
    """Batches of text columns, named by their position."""
    names = [str(at) for at in range(width)]
    try:
        with pa.csv.open_csv(
            path,
            # The header is skipped as a record, not as a line: its names may hold line ends.
            pa.csv.ReadOptions(block_size=textscan.MAX_RECORD_BYTES, column_names=names, skip_rows_after_names=1),
            pa.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), include_columns=[str(at) for at in used]
            ),
        ) as reader:
            yield from (batch for batch in reader if len(batch))
    except pa.ArrowException as error:
        if textscan.check_shape(path, delimiter, width) <= 1:  # says it better than the parser, nearly always
            raise no_rows() from None
        if "straddling" in str(error):
            raise textscan.too_long() from None
        with parsing("the table"):
            raise

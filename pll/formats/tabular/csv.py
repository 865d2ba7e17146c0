"""CSV, TSV and tables with spaces between their columns.

Read by Apache Arrow in batches: cells as text, features cast to numbers batch by batch. Names such as `NA`, `None` or
`1` stay text in columns of labels. Records are read a second time, slowly, only to find the row that an error names.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, ClassVar

import pyarrow as pa
import pyarrow.csv

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.base import HEAD_BYTES, Format, ReadOptions
from pll.formats.checks import MAX_RECORD_BYTES, looks_like_text, parsing, readable, scan_text, shorten
from pll.formats.encodings import encode_like, in_utf8
from pll.formats.results import Results, example_rows, omitted_columns
from pll.formats.tabular.builder import arrow_table, build_dataset, no_rows, plan
from pll.formats.tabular.cells import is_data, is_measured, is_number, numbered
from pll.formats.tabular.columns import SAMPLE_ROWS, Column, sample_rows
from pll.formats.tabular.writer import (
    TextColumn,
    check_text,
    feature_column_names,
    number_blocks,
    table_limitations,
    text_columns,
)

_SAMPLE_CHARACTERS = 4_000_000
_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
"""A number with a decimal point: it tells a table with semicolons from one with decimal commas."""


def delimiter_of(head: bytes, marks: str) -> str | None:
    """Guess the delimiter of a table from its first rows; None where it has a single column.

    The one that gives every row as many fields as the header, and of those the one that gives most.

    >>> delimiter_of(b'id;"weight, kg"', ",;")
    ';'
    """
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    whole = text[: text.rfind("\n") + 1] or text  # the last line may be cut off
    scores = [(*_fit(whole, mark), -place, mark) for place, mark in enumerate(marks)]
    best = max(scores)
    return best[-1] if best[0] else None


def _fit(text: str, mark: str) -> tuple[bool, bool, int]:
    """Score a delimiter: whether there are several columns, whether rows agree on it, and how many there are."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        first = list(itertools.islice((record for record in reader if record), 10)) or [[]]
    except csv.Error:
        width = text.partition("\n")[0].count(mark) + 1
        return width > 1, False, width
    first = first[titles_above(first) :]
    widths = [len(record) for record in first]
    torn = any('"' in field for field in first[0])  # a delimiter inside quotes was taken for one
    return widths[0] > 1, len(set(widths)) == 1 and not torn, widths[0]


MOST_TITLES = 8
"""Rows above a header at most."""


def titles_above(records: Sequence[Sequence[str]]) -> int:
    """Return how many rows, without blank lines, are above the header of a table: a title, a date, a source.

    Below them is a header: no number, no empty cell, no name twice; then rows that are as wide.

    >>> titles_above([["Sales 2024"], ["id", "x", "y"], ["a", "1", "2"], ["b", "1", "2"]])
    1
    >>> (
    ...     titles_above([["id", "x", "y"], ["a", "1", ""]]),
    ...     titles_above([["1", "2"], ["id", "x"], ["a", "b"], ["c", "d"]]),
    ... )
    (0, 0)
    """
    for count in range(min(MOST_TITLES, len(records))):
        header, *rows = records[count:]
        names = [name.strip() for name in header]
        is_header = len(names) > 1 and all(names) and len(set(names)) == len(names) and not any(map(is_number, names))
        if is_header and len(rows) > 1 and all(len(row) == len(names) for row in rows):
            return count if all(_is_title(row, len(names)) for row in records[:count]) else 0
    return 0


def _is_title(row: Sequence[str], width: int) -> bool:
    """Whether a row is too short for a header, even one that leaves out the row names, or mostly empty."""
    return len(row) < width - 1 or 2 * sum(bool(cell.strip()) for cell in row) < width


@contextmanager
def without_titles(path: Path, delimiters: str) -> Iterator[tuple[Path, str]]:
    """Return a table without the rows above its header, and those rows, and without empty rows at its end.

    Blank lines replace the rows above; those at the end, of delimiters alone, are what spreadsheets save of cells that
    were emptied.
    """
    with path.open("rb") as file:
        delimiter = delimiter_of(file.read(HEAD_BYTES), delimiters) or delimiters[0]
    first: list[list[str]] = []
    ends: list[tuple[int, int]] = []  # of each of them: records, blank ones too, and lines so far
    with suppress(UnicodeDecodeError, csv.Error), path.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(iter(lambda: text.readline(MAX_RECORD_BYTES), ""), delimiter=delimiter)
        for number, record in enumerate(reader, start=1):
            if record:
                first.append(record)
                ends.append((number, reader.line_num))
            if len(first) > MOST_TITLES + 2:
                break
    count, size = titles_above(first), _filled_bytes(path, delimiter)
    if not count and size == path.stat().st_size:
        yield path, ""
        return
    words = " · ".join(cell.strip() for row in first[:count] for cell in row if cell.strip())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        with path.open("rb") as given, copy.open("wb") as made:
            records, lines = ends[count - 1] if count else (0, 0)
            above = sum(len(given.readline()) for _ in range(lines))
            made.write(b"\n" * records)  # rows keep their numbers
            shutil.copyfileobj(given, made)
            made.truncate(records + size - above)
        yield copy, words


def _filled_bytes(path: Path, delimiter: str) -> int:
    """Return the bytes of a table up to its last row that has a cell; more than `HEAD_BYTES` of empty rows stay."""
    with path.open("rb") as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(max(0, size - HEAD_BYTES))
        lines = file.read().splitlines(keepends=True)
    mark, kept = delimiter.encode(), size
    while len(lines) > 1 and not lines[-1].strip(mark + b"\r\n"):
        size -= len(lines[-1])
        kept = size if mark in lines.pop() else kept  # blank lines alone are no reason to copy the file
    return kept


def read_header(path: Path, delimiter: str) -> list[str]:
    """Return the fields of the first record that is not blank; none where there is no such record."""
    return next((record for _, record in read_records(path, delimiter) if record), [])


def read_sample(path: Path, delimiter: str, width: int, rows: int) -> list[list[str]]:
    """Return up to `rows` first cells of each column, without the header; rows of another length are left out."""
    found: list[list[str]] = [[] for _ in range(width)]
    room = _SAMPLE_CHARACTERS
    filled = (record for _, record in read_records(path, delimiter) if record)
    with suppress(UserError):  # of a quote that is never closed; reading says so
        for record in itertools.islice(filled, 1, 1 + rows):
            room -= sum(map(len, record))
            if room < 0:
                break
            if len(record) == width:
                for cells, cell in zip(found, record, strict=True):
                    cells.append(cell)
    return found


def read_records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number, fields) of every record, numbered from 1 as in a spreadsheet; a blank line has no fields.

    Raises:
        UserError: a record that is too long, or a quote that is never closed; the row is named.
    """
    number = 0
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = iter(lambda: file.readline(MAX_RECORD_BYTES), "")
        reader = csv.reader(lines, delimiter=delimiter, strict=False)
        while True:
            number += 1
            try:
                record = next(reader, None)
            except csv.Error as error:
                raise UserError(
                    f"Row {number} cannot be parsed ({error}); most often a double quote is opened there and "
                    "never closed. Close it, or write it twice inside a quoted cell."
                ) from None
            if record is None:
                return
            yield number, record


def row_number(path: Path, delimiter: str, top: int, position: int) -> int:
    """Return the spreadsheet's number of a data row (position 0 follows the header), blank lines counted.

    Args:
        top: rows above the data: 1 where there is a header, else 0.
    """
    try:
        filled = (number for number, record in read_records(path, delimiter) if record)
        return next((number for at, number in enumerate(filled) if at == position + top), position + top + 1)
    except UserError:
        return position + top + 1  # an odd cell before it; the number without blank lines is the best there is


def check_shape(path: Path, delimiter: str, width: int, top: int = 1) -> int:
    """Count the records without blank lines, and check that all have as many fields as the first.

    Args:
        top: 1 where the first is a header, else 0.

    Raises:
        UserError: one has not; the row, and how many fields it has.
    """
    count = 0
    above = "header" if top else "first row"
    for number, record in read_records(path, delimiter):
        if record and len(record) != width:
            raise UserError(
                f"Row {number} has {len(record)} field{'s' * (len(record) != 1)}, the {above} has {width}; "
                f"{'fill in' if len(record) < width else 'remove'} the difference, or put quotes around cells "
                f"that hold the delimiter ({'tab' if delimiter == chr(9) else delimiter})."
            )
        count += bool(record)
    return count


def check_last_quote(path: Path, delimiter: str) -> None:
    """Refuse a file whose last quoted cell is not closed: everything after the quote would be one cell.

    Raises:
        UserError: the row in which the quote is opened.
    """
    number = 1
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(iter(lambda: file.readline(MAX_RECORD_BYTES), ""), delimiter=delimiter, strict=True)
        try:
            for _ in reader:
                number += 1
        except csv.Error as error:
            if "unexpected end" in str(error) or "larger than" in str(error):
                raise UserError(
                    f"Row {number} opens a double quote that is never closed; close it, or write it twice inside a "
                    "quoted cell."
                ) from None


def too_long() -> UserError:
    """Return the error of a row longer than `MAX_RECORD_BYTES`."""
    return UserError(
        f"A row is longer than {readable(MAX_RECORD_BYTES)}; most often a double quote is never closed. Close it, or "
        "remove the long cell."
    )


_FEWEST_LINES = 3
_AGREE = 0.8
"""Share of the lines that have as many fields as most; where one has not, reading says which it is."""


def is_spaced(head: bytes) -> bool:
    """Whether the start of a file is a table of numbers with spaces between them; words may be among them.

    >>> (
    ...     is_spaced(b"a 1 2.5\\nb 3 ?\\nc 5 6\\n"),
    ...     is_spaced(b"to be or\\nnot to be\\nthat is it\\n"),
    ...     is_spaced(b"1,2\\n3,4\\n5,6\\n"),
    ... )
    (True, False, False)
    """
    if not looks_like_text(head) or delimiter_of(head, ",;\t") is not None:
        return False
    first, *rest = _rows(head) or [[]]
    width = _width(rest)
    whole = [row for row in rest if len(row) == width]
    if len(rest) + 1 < _FEWEST_LINES or width < 2 or len(whole) < _AGREE * len(rest):
        return False
    numbers = sum(map(is_measured, zip(*whole, strict=True)))
    return len(_header(first, width)) == width and 2 * numbers >= width


def _rows(head: bytes) -> list[list[str]]:
    """Return the fields of the first lines that are not blank; none where a line cannot be split."""
    text = head.decode("utf-8-sig", errors="replace")
    if len(head) >= HEAD_BYTES:  # the last line may be cut off
        text = text[: text.rfind("\n") + 1]
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.strip():
            found.append([])
            with suppress(UserError):  # reading says which line it is
                found[-1] = split_fields(line)
    return found


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Return the most frequent number of fields."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def split_fields(line: str) -> list[str]:
    """Split a line into fields; a quoted one may hold spaces.

    >>> split_fields('  a  "b c" 1 ')
    ['a', 'b c', '1']

    Raises:
        UserError: a quote that is never closed.
    """
    if '"' not in line:
        return line.split()
    try:
        return next(csv.reader([" ".join(line.split("\t")).strip()], delimiter=" ", skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise UserError(f"a double quote is opened and never closed, or stands inside a cell ({error})") from None


@contextmanager
def with_tabs(path: Path, rows: int | None = None) -> Iterator[Path]:
    """Copy a table with spaces between its columns to one with tabs: the same lines, blank ones too.

    Args:
        rows: of how many lines; by default of all.

    Raises:
        UserError: a line that cannot be taken apart; the row is named.
    """
    if rows is None:
        scan_text(path)  # says where it is no text
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        with path.open(encoding="utf-8-sig") as given, copy.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t", lineterminator="\n")
            lines = iter(lambda: given.readline(MAX_RECORD_BYTES), "")
            with path.open("rb") as start:
                wide = _width(_rows(start.read(HEAD_BYTES))[1:])
            is_first = True
            for number, line in enumerate(lines, start=1):
                if rows is not None and number > rows:
                    break
                if len(line) >= MAX_RECORD_BYTES:
                    raise too_long()
                try:
                    row = split_fields(line)
                except UserError as error:
                    raise UserError(f"Row {number} cannot be parsed: {error}.") from None
                if is_first and row:
                    row, is_first = _header(row, wide), False
                if len(row) not in (0, wide):
                    raise UserError(
                        f"Row {number} has {len(row)} field{'s' * (len(row) != 1)}, most rows have {wide}; "
                        f"{'fill in' if len(row) < wide else 'remove'} the difference (? where a value is missing), or "
                        "put quotes around cells that hold spaces."
                    )
                writer.writerow(row)
        yield copy


def _header(first: list[str], width: int) -> list[str]:
    """The first line as wide as the others: `numpy.savetxt` puts a `#` before it, R gives its row names no name."""
    if len(first) == width + 1 and first[0] == "#":
        return first[1:]
    return ["", *first] if len(first) == width - 1 else first


_WRITE_ROWS = 4096


@dataclass(frozen=True)
class TextTable:
    """Where a table of text stands in its file, and how its columns are separated.

    Attributes:
        delimiter: between its columns.
        header: their names, as in the file; by number where it has none.
        sample: their first cells, `sample_rows` of each at most.
        top: rows above the data: 1 where there is a header, else 0.
        path: the table.
    """

    delimiter: str
    header: list[str]
    sample: list[list[str]]
    top: int
    path: Path


class Delimited(Format):
    """Base class of text tables; a subclass lists its delimiters, of which the first is written."""

    row_note = "Rows are counted as a spreadsheet does: the header is row 1."
    content = "text"
    delimiters: ClassVar[str]

    def sniff(self, path: Path, head: bytes) -> bool:
        if not looks_like_text(head):
            return False
        delimiter = delimiter_of(head, ",;\t")
        return delimiter is not None and delimiter in self.delimiters

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        with self._table(path, options) as (table, encoding, above):
            data = self._read(table, options)
            return replace(data, notes=(*(note for note in (encoding, above) if note), *data.notes))

    def _read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        scan = scan_text(path, options.tick)
        layout = self._layout(path)
        width, top = len(layout.header), layout.top
        if scan.quotes % 2:
            check_last_quote(path, layout.delimiter)
        columns = self._plan(layout, options)
        row_of = (
            partial(row_number, path, layout.delimiter, top)
            if scan.has_blank_lines
            else lambda position: position + top + 1
        )
        # Every row takes at least a byte a column, which bounds the room for features by the file's size.
        rows_at_most = min(scan.records_at_most, scan.size // width + 1)
        used = [column.at for column in columns if column.role != "ignore"]
        batches = (({at: batch.column(str(at)) for at in used}, len(batch)) for batch in _batches(path, layout, used))
        # Above the rows is the header, and below them what ends the last line.
        table, X = arrow_table(batches, columns, options, row_of, rows_at_most, rows_at_most - 2)
        data = build_dataset(table, X, columns, options, row_of)
        return data if top else replace(data, notes=(_no_header(width), *data.notes))

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        return table_limitations(dataset)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        with path.open("wb") as file:
            write_table(dataset, file, self.delimiters[0], results)

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        """Write a table again with results, as it is written: delimiter, encoding, ends of lines, decimal commas.

        A table with a line for every vote becomes one with a row an example.
        """
        with self._table(source, options) as (table, _, _):
            self._give_back(table, path, results, options)
        encode_like(source, path)

    def _give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        layout = self._layout(source)
        columns = self._plan(layout, options)
        names = [name.strip() for name in layout.header]
        results = results.beside(names)
        if layout.delimiter == ";" and not any(_POINT.fullmatch(cell) for cells in layout.sample for cell in cells):
            results = results.with_decimal_commas()
        kept, rows = example_rows(_lines(source, layout), columns)
        kept = [at for at in kept if names[at] not in results.columns]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=layout.delimiter, lineterminator=_line_end(source))
            writer.writerow([*(layout.header[at] for at in kept), *results.columns])
            for example, row in rows:
                writer.writerow([*(row[at] for at in kept), *(results.cell(example, name) for name in results.columns)])

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        with self._table(source, options, SAMPLE_ROWS) as (table, _, above):
            layout = self._layout(table)
            columns = self._plan(layout, options)
        lost = [above] if above else []
        if any(column.role == "task" for column in columns):
            lost.append("The single votes (a row is an example now).")
        lost += omitted_columns(results, results.beside([name.strip() for name in layout.header]))
        return lost if layout.top else ["That the file has no header: it gets one, which names the labels.", *lost]

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        """Return the role of each column of a file.

        Raises:
            UserError: see `read`.
        """
        try:
            with self._table(path, options, SAMPLE_ROWS) as (table, _, _):
                return self._plan(self._layout(table), options)
        except UnicodeDecodeError:
            with parsing("the table"):
                scan_text(path)  # says where; only the beginning was looked at
                raise

    @contextmanager
    def _table(self, path: Path, options: ReadOptions, rows: int | None = None) -> Iterator[tuple[Path, str, str]]:
        """Yield the table in UTF-8 with the header at the top; notes on its encoding and on what stood above, or ""."""
        with (
            in_utf8(path) as (text, encoding),
            self._opened(text, options, rows) as opened,
            without_titles(opened, self.delimiters) as (table, titles),
        ):
            above = f"What stands above the header was left out: {shorten(titles)}." if titles else ""
            yield table, encoding, above

    def _opened(self, path: Path, options: ReadOptions, rows: int | None = None) -> AbstractContextManager[Path]:
        """Return the file, or a copy of it that has this format's delimiter.

        Args:
            rows: of how many rows; by default of all.
        """
        return nullcontext(path)

    def _layout(self, path: Path) -> TextTable:
        with path.open("rb") as file:
            delimiter = delimiter_of(file.read(HEAD_BYTES), self.delimiters) or self.delimiters[0]
        first = read_header(path, delimiter)
        if not first or (len(first) == 1 and not first[0].strip()):
            raise UserError("The file holds nothing but blank lines; bring a table with a header and rows.")
        below = read_sample(path, delimiter, len(first), sample_rows(len(first)))
        if not is_data(first, below):
            return TextTable(delimiter, first, below, 1, path)
        sample = [[cell, *cells] for cell, cells in zip(first, below, strict=True)]
        return TextTable(delimiter, numbered(len(first)), sample, 0, path)

    def _plan(self, layout: TextTable, options: ReadOptions) -> list[Column]:
        return plan(layout.header, layout.sample, options)


class Csv(Delimited):
    """Comma-separated text; other delimiters are recognised."""

    name = "csv"
    label = "CSV table"
    tool = "your CSV table"
    adds = "Columns with the label and how sure it is stand beside your own."
    suffixes = (".csv",)
    delimiters = ",;"


class Tsv(Delimited):
    """Tabs between the columns; a table of numbers with spaces is read as well."""

    name = "tsv"
    label = "TSV table (tab separated)"
    tool = "your TSV table"
    adds = "Columns with the label and how sure it is stand beside your own."
    suffixes = (".tsv", ".tab")
    delimiters = "\t"

    def sniff(self, path: Path, head: bytes) -> bool:
        return super().sniff(path, head) or is_spaced(head)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        lost = super().cannot_give_back(source, results, options)
        return ["The spaces between the columns: tabs take their place.", *lost] if _is_spaced(source) else lost

    def _opened(self, path: Path, options: ReadOptions, rows: int | None = None) -> AbstractContextManager[Path]:
        return with_tabs(path, rows) if _is_spaced(path) else nullcontext(path)


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
    numbers = feature_column_names(dataset)
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
        return is_spaced(file.read(HEAD_BYTES))


def _no_header(width: int) -> str:
    return (
        f"The first row holds numbers where the others do, so it was taken for data: the columns are called "
        f"column 1 … column {width}. If it is the header, give one of its names a letter."
    )


def _blank_lines(path: Path) -> int:
    """The number of blank lines a file begins with."""
    with path.open("rb") as file:
        lines = iter(lambda: file.readline(MAX_RECORD_BYTES), b"")
        return sum(
            1 for _ in itertools.takewhile(lambda line: not line.removeprefix(codecs.BOM_UTF8).strip(b"\r\n"), lines)
        )


def _lines(path: Path, layout: TextTable) -> Iterator[tuple[str, ...]]:
    """Yield the rows below the header."""
    for batch in _batches(path, layout, range(len(layout.header))):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _line_end(path: Path) -> str:
    with path.open("rb") as file:
        return "\r\n" if b"\r\n" in file.read(HEAD_BYTES) else "\n"


def _batches(path: Path, layout: TextTable, used: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Yield batches of text columns, named by their position."""
    width, top = len(layout.header), layout.top
    names = [str(at) for at in range(width)]
    try:
        with pa.csv.open_csv(
            path,
            # The header is skipped as a record, not as a line: its names may hold line ends.
            pa.csv.ReadOptions(
                block_size=MAX_RECORD_BYTES,
                column_names=names,
                skip_rows=_blank_lines(path) if top else 0,  # they would be taken for the header
                skip_rows_after_names=top,
            ),
            pa.csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), include_columns=[str(at) for at in used]
            ),
        ) as reader:
            yield from (batch for batch in reader if len(batch))
    except pa.ArrowException as error:
        if check_shape(path, layout.delimiter, width, top) <= top:  # says it better than the parser, mostly
            raise no_rows() from None
        if "straddling" in str(error):
            raise too_long() from None
        with parsing("the table"):
            raise

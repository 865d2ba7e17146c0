"""CSV, TSV and tables with spaces between their columns.

Read by Apache Arrow in batches: cells as text, in the encoding of the file, from below a title on. Names such as `NA`,
`None` or `1` stay text in columns of labels. Records are read a second time, slowly, only to find the row that an error
names.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

import pyarrow as pa
import pyarrow.csv

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.base import HEAD_BYTES, ReadOptions
from pll.formats.checks import MAX_RECORD_BYTES, looks_like_text, parsing, readable, scan_text, shorten
from pll.formats.encodings import ENCODINGS, encode_like, encoding_of, without_marks
from pll.formats.results import Results, example_rows
from pll.formats.tabular.cells import is_data, is_measured, is_number, numbered
from pll.formats.tabular.columns import sample_rows
from pll.formats.tabular.format import TableFormat
from pll.formats.tabular.table import ArrowTable
from pll.formats.tabular.writer import (
    TextColumn,
    check_text,
    feature_column_names,
    number_blocks,
    table_limitations,
    text_columns,
)

csv.field_size_limit(MAX_RECORD_BYTES)

_HEAD_CHUNK = 4 * 2**20
"""Number of bytes from which the encoding is guessed."""
_SAMPLE_CHARACTERS = 4_000_000
_WRITE_ROWS = 4096
_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
"""A number with a decimal point: a table with semicolons and such numbers has no decimal commas."""


@dataclass(frozen=True)
class Text:
    """A file of text: where it is, and how its bytes are read.

    Attributes
    ----------
    path
        The file.
    encoding
        As Python calls it.
    start
        Bytes of byte order marks before the text.
    delimiter
        Between its columns.
    above
        Rows above the header, as a spreadsheet counts them, blank ones too.
    lines
        The same in lines.
    title
        The words in them.
    header
        The first row below; names, or data.
    """

    path: Path
    encoding: str
    start: int
    delimiter: str
    above: int
    lines: int
    title: str
    header: list[str]

    def open(self) -> IO[str]:
        """Open the file as text, without byte order marks."""
        return _opened(self.path, self.encoding, self.start)


def _opened(path: Path, encoding: str, start: int) -> IO[str]:
    file = path.open("rb")
    file.seek(start)
    return io.TextIOWrapper(file, encoding=encoding, newline="")


def text_of_file(path: Path, delimiters: str) -> Text:
    """Return how a table of text is to be read, guessed from its beginning.

    Raises
    ------
    UserError
        An encoding that is not known, or no text.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_CHUNK)
    encoding, start = encoding_of(head), len(head) - len(without_marks(head))
    beginning = without_marks(head)[:HEAD_BYTES].decode(encoding, errors="replace")
    delimiter = delimiter_of(beginning, delimiters) or delimiters[0]
    records: list[list[str]] = []
    ends = [(0, 0)]  # of each: records, blank ones too, and lines so far
    with parsing("the beginning of the table"), _opened(path, encoding, start) as text:
        reader = csv.reader(iter(lambda: text.readline(MAX_RECORD_BYTES), ""), delimiter=delimiter)
        before = 0
        with suppress(csv.Error, UnicodeDecodeError):  # reading says where
            for number, record in enumerate(reader, start=1):
                if record:
                    records.append(record)
                    ends.append((number - 1, before))  # what is above it
                before = reader.line_num
                if len(records) > MOST_TITLES + 2:
                    break
    count = titles_above(records)
    if not records or (len(records[count]) == 1 and not records[count][0].strip()):
        scan_text(path, encoding=encoding)  # says where it is no text
        raise UserError("The file holds nothing but blank lines; bring a table with a header and rows.")
    title = " · ".join(cell.strip() for row in records[:count] for cell in row if cell.strip())
    return Text(path, encoding, start, delimiter, *ends[count + 1], title, records[count])


def delimiter_of(text: str, marks: str) -> str | None:
    """Guess the delimiter of a table from its first rows; None where it has a single column.

    The one that gives every row as many fields as the header, and of those the one that gives most.

    Examples
    --------
    >>> delimiter_of('id;"weight, kg"', ",;")
    ';'
    """
    text = text.lstrip("\ufeff").lstrip()
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

    Examples
    --------
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


def _records(text: Text) -> Iterator[tuple[int, list[str]]]:
    """Yield (number, fields) of every record, numbered from 1 as in a spreadsheet; a blank line has no fields.

    Raises
    ------
    csv.Error
        a record that is too long, or a quote that is never closed.
    """
    with text.open() as file:
        lines = iter(lambda: file.readline(MAX_RECORD_BYTES), "")
        yield from enumerate(csv.reader(lines, delimiter=text.delimiter), start=1)


def row_number(text: Text, position: int) -> int:
    """Return the spreadsheet's number of a row (position 0 is the header, or what is in its place)."""
    filled = (number for number, record in _records(text) if record and number > text.above)
    with suppress(csv.Error, UnicodeDecodeError):
        return next(itertools.islice(filled, position, None), position + text.above + 1)
    return position + text.above + 1  # an unusual cell before it: the number without blank lines is the closest


def check_last_quote(text: Text) -> None:
    """Refuse a file whose last quoted cell is not closed: everything after the quote would be one cell.

    Raises
    ------
    UserError
        The row in which the quote is opened.
    """
    number = 1
    with text.open() as file:
        reader = csv.reader(iter(lambda: file.readline(MAX_RECORD_BYTES), ""), delimiter=text.delimiter, strict=True)
        try:
            for _ in reader:
                number += 1
        except csv.Error as error:
            if "unexpected end" in str(error) or "larger than" in str(error):
                raise UserError(
                    f"Row {number} opens a double quote that is never closed; close it, or write it twice inside a "
                    "quoted cell."
                ) from None


def is_spaced(head: bytes) -> bool:
    """Whether the start of a file is a table with spaces between its columns, half of them numbers.

    Examples
    --------
    >>> is_spaced(b"a 1 2.5\\nb 3 ?\\nc 5 6\\n"), is_spaced(b"to be or\\nnot to be\\nthat is it\\n")
    (True, False)
    """
    text = head.decode("utf-8", errors="replace")
    if not looks_like_text(head) or delimiter_of(text, ",;\t") is not None:
        return False
    rows = [_fields(line) for line in text[: text.rfind("\n")].splitlines() if line.strip()][1:]
    whole = [row for row in rows if len(row) == len(rows[0]) > 1]
    columns = list(zip(*whole, strict=True))
    return len(rows) > 1 and 5 * len(whole) >= 4 * len(rows) and 2 * sum(map(is_measured, columns)) >= len(columns) > 0


class Delimited(TableFormat):
    """Base class of text tables; a subclass lists its delimiters, of which the first is written."""

    row_note = "Rows are counted as a spreadsheet does: the header is row 1."
    content = "text"
    delimiters: ClassVar[str]

    def sniff(self, path: Path, head: bytes) -> bool:
        if not looks_like_text(head):
            return False
        delimiter = delimiter_of(head.decode("utf-8", errors="replace"), ",;\t")
        return delimiter is not None and delimiter in self.delimiters

    def table(self, path: Path, options: ReadOptions) -> ArrowTable:
        text = text_of_file(path, self.delimiters)
        scan = scan_text(path, options.tick, text.encoding)
        if scan.quotes % 2:
            check_last_quote(text)
        encoding = ENCODINGS.get(text.encoding)
        notes = (
            [f"The file is in {encoding}, not UTF-8; where letters look wrong, save it as UTF-8."] if encoding else []
        )
        notes += [left_out(text.title)] if text.title else []
        first, empty = first_cells(text), _empty_rows(text)
        top = int(not is_data(text.header, first))
        if not top:
            notes.append(no_header(len(text.header)))
            first = [[name or None, *cells] for name, cells in zip(text.header, first, strict=True)]

        def row_of(position: int) -> int:
            return row_number(text, position + top) if scan.has_blank_lines else position + top + text.above + 1

        # Every row takes at least a byte a column, which bounds the memory for features by the file's size.
        rows = min(scan.records_at_most - text.lines - top, scan.size // len(text.header) + 1)
        return ArrowTable(
            text.header if top else numbered(len(text.header)),
            lambda used: _without_last(_batches(text, top, used), empty),
            rows,
            row_of,
            tuple(notes),
            first=first,
        )

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        return table_limitations(dataset)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        with path.open("wb") as file:
            write_table(dataset, file, self.delimiters[0], results)

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        """Write a table again with results, as it is written: delimiter, encoding, ends of lines, decimal commas.

        A table with a line for every vote becomes one with a row an example.
        """
        table, text = self.table(source, options), text_of_file(source, self.delimiters)
        names = [name.strip() for name in table.names]
        results = results.without(names)
        if text.delimiter == ";" and not any(
            _POINT.fullmatch(cell or "") for cells in table.sample() for cell in cells
        ):
            results = results.with_decimal_commas()
        places, rows = example_rows(table.lines(), table.plan(options))
        places = [at for at in places if names[at] not in results.columns]
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=text.delimiter, lineterminator=_line_end(text))
            writer.writerow([*(table.names[at] for at in places), *results.columns])
            for example, row in rows:
                writer.writerow(
                    [*(row[at] for at in places), *(results.cell(example, name) for name in results.columns)]
                )
        encode_like(source, path)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        table, title = self.table(source, options), text_of_file(source, self.delimiters).title
        lost = [] if no_header(len(table.names)) not in table.notes else [NO_HEADER]
        lost += [left_out(title)] if title else []
        if any(column.role == "task" for column in table.plan(options)):
            lost.append("The single votes (a row is an example now).")
        return [*lost, *super().cannot_give_back(source, results, options)]


class Csv(Delimited):
    """Comma-separated text; other delimiters are recognised."""

    name = "csv"
    label = "CSV table"
    tool = "your CSV table"
    adds = "Columns with the label and its confidence are added to your own."
    suffixes = (".csv",)
    delimiters = ",;"


class Tsv(Delimited):
    """Tabs between the columns; a table of numbers with spaces is read as well."""

    name = "tsv"
    label = "TSV table (tab separated)"
    tool = "your TSV table"
    adds = "Columns with the label and its confidence are added to your own."
    suffixes = (".tsv", ".tab")
    delimiters = "\t"

    def sniff(self, path: Path, head: bytes) -> bool:
        return super().sniff(path, head) or is_spaced(head)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        lost = super().cannot_give_back(source, results, options)
        return ["The spaces between the columns: tabs take their place.", *lost] if _is_spaced(source) else lost

    def table(self, path: Path, options: ReadOptions) -> ArrowTable:
        return _spaced_table(path) if _is_spaced(path) else super().table(path, options)


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


def _fields(line: str) -> list[str]:
    """Split a line at spaces; a quoted field may hold some."""
    plain = " ".join(line.split())
    return next(csv.reader([plain], delimiter=" "), []) if '"' in plain else plain.split()


def _spaced_table(path: Path) -> ArrowTable:
    """Return a table with spaces between its columns.

    Raises
    ------
    UserError
        A line with more or fewer fields than the others; the row is named.
    """
    scan_text(path)
    rows, numbers = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if fields := _fields(line):
            rows.append(fields)
            numbers.append(number)
    width = len(rows[1])
    if rows[0][0] == "#":  # as numpy.savetxt begins a header
        rows[0] = rows[0][1:]
    if len(rows[0]) == width - 1:  # R writes no name above those of rows
        rows[0] = ["", *rows[0]]
    wrong = next((at for at, row in enumerate(rows) if len(row) != width), None)
    if wrong is not None:
        raise UserError(
            f"Row {numbers[wrong]} has {len(rows[wrong])} fields, others have {width}; write ? where a value is "
            "missing, and quotes around cells that hold spaces."
        )
    top = int(not is_data(rows[0], list(zip(*rows[1 : 1 + sample_rows(width)], strict=True))))
    cells = [pa.array([cell or None for cell in column], pa.string()) for column in zip(*rows[top:], strict=True)]
    return ArrowTable.of(
        pa.table(cells, names=rows[0] if top else numbered(width)),
        row_of=numbers[top:].__getitem__,
        notes=() if top else (no_header(width),),
    )


def left_out(title: str) -> str:
    """Return what to say of the rows above a header."""
    return f"What stands above the header was left out: {shorten(title)}."


NO_HEADER = "That the file has no header: it gets one, which names the labels."
"""What is lost of a table that begins with data."""


def no_header(width: int) -> str:
    """Return what to say of a table that begins with data."""
    return (
        f"The first row holds numbers where the others do, so it was taken for data: the columns are called "
        f"column 1 … column {width}. If it is the header, give one of its names a letter."
    )


def _line_end(text: Text) -> str:
    with text.open() as file:
        return "\r\n" if "\r\n" in file.read(HEAD_BYTES) else "\n"


def _batches(text: Text, top: int, used: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Yield batches of columns of text, null where a cell is empty, without the empty rows at the end.

    Parameters
    ----------
    top
        1 where the first row is a header, else 0.

    Raises
    ------
    UserError
        a row with more or fewer fields than the first, or one that is too long; the row is named.
    """
    names = [str(at) for at in range(len(text.header))]
    invalid: list[pa.csv.InvalidRow] = []

    def refuse(row: pa.csv.InvalidRow) -> str:
        invalid.append(row)
        return "error"

    try:
        with pa.OSFile(str(text.path)) as file:
            file.seek(text.start)
            with pa.csv.open_csv(
                file,
                # The header is skipped as a record, not as a line: its names may hold line ends.
                pa.csv.ReadOptions(
                    use_threads=False,  # only then rows are numbered
                    block_size=MAX_RECORD_BYTES,
                    column_names=names,
                    skip_rows=text.lines,
                    skip_rows_after_names=top,
                    encoding=text.encoding,
                ),
                pa.csv.ParseOptions(delimiter=text.delimiter, newlines_in_values=True, invalid_row_handler=refuse),
                pa.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=[str(at) for at in used],
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            ) as reader:
                yield from reader
    except UnicodeDecodeError:
        raise UserError(
            f"The file begins as {ENCODINGS.get(text.encoding, 'UTF-8')} and goes on with what is no character there; "
            'save it as UTF-8 (in a spreadsheet: "CSV UTF-8").'
        ) from None
    except pa.ArrowException as error:
        if invalid:
            raise _ragged(text, top, invalid[0]) from None
        if "Empty CSV" in str(error) or ("straddling" in str(error) and text.path.stat().st_size < MAX_RECORD_BYTES):
            return  # a header alone
        if "straddling" in str(error):
            raise _too_long(_longest(text)) from None
        with parsing("the table"):
            raise


def _longest(text: Text) -> int:
    """Return the number of the first record longer than `MAX_RECORD_BYTES`."""
    number = 0
    with suppress(csv.Error):
        for _, record in _records(text):
            if sum(map(len, record)) + len(record) >= MAX_RECORD_BYTES:
                break
            number += 1
    return number + 1


def _too_long(row: int) -> UserError:
    """Return the error of a row longer than `MAX_RECORD_BYTES`."""
    return UserError(
        f"Row {row} is longer than {readable(MAX_RECORD_BYTES)}; most often a double quote is never closed. Close it, "
        "or remove the long cell."
    )


def _ragged(text: Text, top: int, row: pa.csv.InvalidRow) -> UserError:
    """Return the error of a row with more or fewer fields than the first."""
    has, width = row.actual_columns, row.expected_columns
    return UserError(
        f"Row {row_number(text, row.number - 1 - text.lines)} has {has} field{'s' * (has != 1)}, the "
        f"{'header' if top else 'first row'} has {width}; {'fill in' if has < width else 'remove'} the difference, or "
        f"put quotes around cells that hold the delimiter ({'tab' if text.delimiter == chr(9) else text.delimiter})."
    )


def first_cells(text: Text) -> list[list[str | None]]:
    """Return the first cells of each column below the header; rows of another length are left out."""
    columns: list[list[str | None]] = [[] for _ in text.header]
    room = _SAMPLE_CHARACTERS
    filled = (record for number, record in _records(text) if record and number > text.above)
    with suppress(csv.Error, UnicodeDecodeError):  # reading says where
        for record in itertools.islice(filled, 1, 1 + sample_rows(len(text.header))):
            room -= sum(map(len, record))
            if room < 0:
                break
            if len(record) == len(columns):
                for cells, cell in zip(columns, record, strict=True):
                    cells.append(cell or None)
    return columns


def _empty_rows(text: Text) -> int:
    """Return how many rows at the end have no cell, as spreadsheets save cells that were emptied."""
    with text.path.open("rb") as file:
        file.seek(max(text.start, file.seek(0, io.SEEK_END) - HEAD_BYTES))
        lines = file.read().decode(text.encoding, errors="replace").splitlines()
    empty = itertools.takewhile(lambda line: not line.strip(text.delimiter), reversed(lines[1:]))
    return sum(text.delimiter in line for line in empty)


def _without_last(batches: Iterable[pa.RecordBatch], count: int) -> Iterator[pa.RecordBatch]:
    """Yield batches without so many rows at their end."""
    previous: list[pa.RecordBatch] = []
    for batch in batches:
        previous.append(batch)
        while previous and sum(one.num_rows for one in previous[1:]) >= count:
            yield previous.pop(0)  # what comes after it is enough to leave out
    left = sum(one.num_rows for one in previous) - count
    for batch in previous:
        yield batch.slice(0, max(0, left))
        left -= batch.num_rows

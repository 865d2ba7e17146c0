"""CSV and TSV.

Read by Apache Arrow in batches: cells as text, in the encoding of the file, from below a title on. Names such as `NA`,
`None` or `1` stay text in columns of labels. Records are read a second time, slowly, only to find the row that an error
names.
"""

from __future__ import annotations

import csv
import io
import itertools
import mmap
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from pll.dataset import PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats.base import HEAD_BYTES, ReadOptions
from pll.formats.checks import MAX_RECORD_BYTES, looks_like_text, parsing, readable, scan_text
from pll.formats.codebook import codes_noted
from pll.formats.encodings import ENCODINGS, HEAD_CHUNK, as_utf8, encode_like, encoding_of, without_marks
from pll.formats.names import sample_rows
from pll.formats.reading import OF_NAMES
from pll.formats.records import Records
from pll.formats.results import Results, Value, free_name
from pll.formats.tabular.builder import TableFormat
from pll.formats.tabular.cells import is_number
from pll.formats.tabular.header import (
    AGAIN,
    COMMENT,
    LAST_ROWS,
    MOST_TITLES,
    Header,
    header_of,
    notes_on_rows,
    rows_below,
    titles_above,
)
from pll.formats.tabular.writer import (
    TextColumn,
    columns_of,
    number_blocks,
)
from pll.wording import count

csv.field_size_limit(MAX_RECORD_BYTES)

_SAMPLE_CHARACTERS = 4_000_000
_WRITE_ROWS = 4096
_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")
"""A number with a decimal point: a table with semicolons and such numbers has no decimal commas."""


class Row(NamedTuple):
    """A record of a text.

    Attributes
    ----------
    number
        As a spreadsheet counts it, from 1.
    above
        Number of lines above it.
    text
        Its lines as they stand, with their ends.
    fields
        Its cells; a blank one has none.
    """

    number: int
    above: int
    text: str
    fields: list[str]


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
    escaped
        Whether a quote inside of quotes has a backslash before it, as R and Spark write it.
    """

    path: Path
    encoding: str
    start: int
    delimiter: str
    escaped: bool = False

    def open(self) -> IO[str]:
        """Open the file as text, without byte order marks."""
        file = self.path.open("rb")
        file.seek(self.start)
        return io.TextIOWrapper(file, encoding=self.encoding, newline="")

    def rows(self, *, strict: bool = False) -> Iterator[Row]:
        """Yield every record.

        Raises
        ------
        csv.Error
            A record that is too long, or, if strict, quotes that are not as they must be.
        """
        with self.open() as file:
            lines: list[str] = []

            def read() -> Iterator[str]:
                while line := file.readline(MAX_RECORD_BYTES):
                    lines.append(line)
                    yield unescaped(line) if self.escaped else line

            reader, above = csv.reader(read(), delimiter=self.delimiter, strict=strict), 0
            for number, fields in enumerate(reader, start=1):
                yield Row(number, above, "".join(lines), fields)
                above = reader.line_num
                lines.clear()

    @cached_property
    def first(self) -> list[Row]:
        """The first records with a cell: the header and the roles of columns are guessed from them."""
        first, size = list[Row](), 0
        with parsing("the beginning of the table"), suppress(csv.Error, UnicodeDecodeError):  # reading says where
            for row in filter(lambda row: any(row.fields), self.rows()):
                first.append(row)
                size += sum(map(len, row.fields))
                if size > _SAMPLE_CHARACTERS or len(first) > MOST_TITLES + sample_rows(len(row.fields)):
                    break
        return first

    @cached_property
    def header(self) -> Header:
        """The header, by `header_of`."""
        return _header_of(tuple(tuple(row.fields) for row in self.first))

    @property
    def top(self) -> Row:
        """The header, or the first row where there is none."""
        return self.first[self.header.above]

    @cached_property
    def again(self) -> re.Pattern[bytes] | None:
        """What finds the line of the header that stands again below, as where files were put one below the other."""
        line = self.top.text.rstrip("\r\n")
        if self.header.rows != 1 or len(self.header.names) < 2 or "\n" in line:
            return None
        start, once = self.start + self.below - len("\n".encode(self.codec)), ("\n" + line).encode(self.codec)
        with self.path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            if whole.find(once, start) < 0:  # as in nearly every file: a pattern of a long line takes long to compile
                return None
            again, before, end = (re.escape(one.encode(self.codec)) for one in (line, "\r", "\n"))
            found = re.compile(end + b"(?:" + again + b"(?:" + before + b")?(?:" + end + rb"|\Z))+")
            return found if found.search(whole, start) else None

    @property
    def codec(self) -> str:
        """The encoding of a part of the text, without byte order marks."""
        return "utf-16-le" if self.encoding == "utf-16" else self.encoding

    @cached_property
    def below(self) -> int:
        """How many bytes of the text end with the line of the header."""
        with self.open() as file:
            return len("".join([*itertools.islice(file, self.top.above), self.top.text]).encode(self.codec))

    def sample(self) -> list[list[str | None]]:
        """Return the first cells of each column below the header; rows of another length are left out."""
        width = len(self.header.names)
        below = (row.fields for row in self.first[self.header.above + self.header.rows :])
        gone = self.top.fields if self.again else None
        rows = [fields for fields in below if len(fields) == width and fields != gone][: sample_rows(width)]
        while len(rows) > 1 and rows[-1] in self.end[1]:
            rows = rows[:-1]
        return [[cell or None for cell in cells] for cells in zip(*rows, strict=True)] or [[] for _ in range(width)]

    @property
    def has_decimal_commas(self) -> bool:
        """Whether commas are for numbers: there are semicolons between the columns, and no number is written as 1.5."""
        cells = itertools.chain.from_iterable(self.sample())
        return self.delimiter == ";" and not any(_POINT.fullmatch(cell or "") for cell in cells)

    @cached_property
    def end(self) -> tuple[int, list[list[str]]]:
        """Where the file ends but for totals, notes and rows without a cell below the table; and the former."""
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            file.seek(max(self.start, size - HEAD_BYTES))
            lines = file.read().decode(self.encoding, errors="replace").splitlines(keepends=True)[1:]
        rows = [at for at, line in enumerate(lines) if not line.startswith(COMMENT)]
        filled = [at for at in rows if lines[at].strip(self.delimiter + "\r\n\x1a")]
        with suppress(csv.Error):
            some = [unescaped(lines[at]) if self.escaped else lines[at] for at in filled[-LAST_ROWS:]]
            last = list(csv.reader(some, delimiter=self.delimiter))
            below = rows_below(last, len(self.header.names)) if len(last) > 2 else 0
            gone = "".join(lines[filled[-1 - below] + 1 if len(filled) > below else 0 :])
            wide = self.encoding == "utf-16"
            end = size - (2 * len(gone) if wide else len(gone.encode(self.encoding, errors="replace")))
            return end, last[len(last) - below :]
        return size, []

    @cached_property
    def _numbers(self) -> tuple[array[int], Iterator[int]]:
        """The numbers of the first rows below the header, and those of all others.

        They are of another text of this file: what is kept here holds none that holds it, and so is closed with it.
        """
        first, gone = self.top.number, self.top.fields if self.again else None
        rows = (row for row in replace(self).rows() if row.number >= first and row.fields)
        below = itertools.islice(rows, self.header.rows, None)
        return array("q"), (row.number for row in below if row.fields != gone)

    def row_number(self, position: int) -> int:
        """Return the spreadsheet's number of a row below the header; the file is read once, as far as that row."""
        numbers, others = self._numbers
        with suppress(csv.Error, UnicodeDecodeError):
            numbers.extend(itertools.islice(others, max(0, position + 1 - len(numbers))))
        # After an unusual cell the number without blank lines is the closest.
        return numbers[position] if position < len(numbers) else position + self.header.rows + 1


def text_of_file(path: Path, delimiters: str) -> Text:
    """Return how a table of text is to be read, guessed from its beginning.

    Parameters
    ----------
    path
        The file.
    delimiters
        Those that may stand between its columns; the first where none does.

    Raises
    ------
    UserError
        An encoding that is not known.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_CHUNK)
    encoding, plain = encoding_of(head), without_marks(head)
    beginning = plain[:HEAD_BYTES].decode(encoding, errors="replace")
    mark = delimiter_of(beginning, delimiters) or delimiters[0]
    escaped = are_escaped(plain.decode(encoding, errors="replace"), mark) if b"\\" in plain else False
    return Text(path, encoding, len(head) - len(plain), mark, escaped)


def unescaped(text: str) -> str:
    r"""Return text with the quotes inside of quotes written twice, as CSV has them.

    Examples
    --------
    >>> print(unescaped(r'"a \"b\" c","C:\\",1'))
    "a ""b"" c","C:\\",1
    """
    return re.sub(r'(?<!\\)\\"', '""', text)  # of two, the first is of the second


def are_escaped(text: str, mark: str) -> bool:
    r"""Whether a cell in quotes goes on behind a quote with a backslash before it, as in no other way of writing.

    Parameters
    ----------
    text
        The beginning of a table.
    mark
        Its delimiter.

    Examples
    --------
    >>> are_escaped('"a","b"\n"6\\" or 7","x"\n', ","), are_escaped('a\tb\n{"c": "\\"d\\""}\tx\n', "\t")
    (True, False)
    """
    mark = re.escape(mark)
    return re.search(rf'(?:\A|[{mark}\r\n])"[^"]*(?<!\\)\\"[^"{mark}\r\n]', text) is not None


@lru_cache(maxsize=4)  # as with `delimiter_of`, the same file is begun several times
def _header_of(first: tuple[tuple[str, ...], ...]) -> Header:
    return header_of([[*fields] for fields in first])


@lru_cache(maxsize=16)  # told, looked at and read, a file is begun several times
def delimiter_of(text: str, marks: str) -> str | None:
    """Guess the delimiter of a table from its first rows; None where it has a single column.

    The one that gives every row as many fields as the first line, else as the header below a title, and of those the
    one that gives most; `|`, which stands between labels too, only where no other does, and a space between numbers, or
    below names in quotes.

    Parameters
    ----------
    text
        The beginning of the table.
    marks
        What may be the delimiter; of several that fit as well the earlier one.

    Examples
    --------
    >>> delimiter_of('id;"weight, kg"', ",;"), delimiter_of("id|cm|n_cat\\n1|2,5|3\\n2|1,5|4\\n", ",;|")
    (';', '|')
    >>> delimiter_of("0 -1 2\\n1 1 -1\\n", ", "), delimiter_of("a text\\nwith words\\n", ", ")
    (' ', None)
    """
    text = unescaped(text.lstrip("\ufeff").lstrip())
    whole = text[: text.rfind("\n") + 1] or text  # the last line may be cut off
    whole = "".join(line for line in whole.splitlines(keepends=True) if not line.startswith(COMMENT))
    scores = [(*_fit(whole, mark), -place, mark) for place, mark in enumerate(marks)]
    best = max(scores, key=lambda score: (*score[:3], score[-1] != "|", *score[3:]))
    return best[-1] if best[0] else None


def _fit(text: str, mark: str) -> tuple[bool, bool, bool, int]:
    """Score a delimiter: whether there are several columns, rows agree on it, from the first line on, and how many."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        first = list(itertools.islice((record for record in reader if record), 10)) or [[]]
    except csv.Error:
        width = text.partition("\n")[0].count(mark) + 1
        return width > 1 and mark != " ", False, False, width
    if mark == " " and not (_QUOTED.match(text) or all(is_number(field) for record in first for field in record)):
        return False, False, False, 0
    above = titles_above(first)
    widths = [len(record) for record in first[above:]]
    torn = any('"' in field for field in first[above])  # a delimiter inside quotes was taken for one
    return widths[0] > 1, len(set(widths)) == 1 and not torn, not above, widths[0]


_QUOTED = re.compile(r'"[^"\n]*"(?: "[^"\n]*")+\r?\n')
"""Names in quotes with a space between them, as R writes them."""


class Delimited(TableFormat):
    """Base class of text tables.

    Attributes
    ----------
    delimiters
        What may stand between its columns; the first is written.
    """

    delimiters: ClassVar[str]

    def sniff(self, path: Path, head: bytes) -> bool:
        if not looks_like_text(head):
            return False
        delimiter = delimiter_of(as_utf8(head).decode("utf-8", errors="replace"), ",;|\t ")
        return delimiter is not None and delimiter in self.delimiters

    def table(self, path: Path, options: ReadOptions) -> Records:
        text = text_of_file(path, self.delimiters)
        scan = scan_text(path, options.tick, text.encoding)
        header, encoding = text.header, ENCODINGS.get(text.encoding)
        if scan.quotes % 2 and not text.escaped:
            _refuse_record(text, strict=True)
        foreign = f"The file is in {encoding}, not UTF-8; where letters look wrong, save it as UTF-8."
        notes = [*([foreign] if encoding else []), *header.notes, *([AGAIN] if text.again else [])]
        # Every row takes at least a byte a column, which bounds the memory for features by the file's size.
        return Records(
            header.names,
            lambda used: _batches(text, used),
            min(scan.records_at_most - header.rows, scan.size // len(header.names) + 1),
            text.row_number,
            (*notes, *notes_on_rows(text.end[1])),
            first=text.sample(),
            titles=header.titles,
            codes=codes_noted([[header.title], *text.end[1]], text.sample()),
        )

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        with path.open("wb") as file:
            write_table(file, self.delimiters[0], *columns_of(dataset, results), dataset.X)

    def add(self, source: Path, path: Path, added: Mapping[str, Sequence[Value]], options: ReadOptions) -> None:
        # every byte as it is, and cells at the end of each row
        text = text_of_file(source, self.delimiters)
        header, top = text.header, text.top.number
        names = [free_name(name, [one.strip() for one in header.names]) for name in added]
        comma = any(column.comma and column.role not in OF_NAMES for column in self.columns(source, options))
        comma = comma or text.has_decimal_commas
        values, none = zip(*added.values(), strict=True), [None] * len(names)
        with path.open("w", encoding="utf-8", newline="") as file:
            for row in text.rows():
                if not row.fields or row.number < top:
                    file.write(row.text)
                    continue
                is_again = text.again is not None and row.fields == text.top.fields
                if is_again or row.number < top + header.rows:
                    cells: Sequence[Value] = names if is_again or row.number == top else none
                else:
                    cells = next(values, none)
                line = row.text.rstrip("\r\n")
                file.write(f"{line}{text.delimiter}{_joined(cells, text.delimiter, comma)}{row.text[len(line) :]}")
        encode_like(source, path)


class Csv(Delimited):
    """Comma-separated text; other delimiters are recognised."""


class Tsv(Delimited):
    """Tab-separated text."""


def write_table(
    file: IO[bytes],
    delimiter: str,
    texts: Sequence[TextColumn],
    numbers: Sequence[str] = (),
    X: npt.NDArray[np.float32] | None = None,
) -> None:
    """Write columns of text (`check_columns`), and beside them numbers.

    Parameters
    ----------
    file
        Where to write.
    delimiter
        Between the columns.
    texts
        The columns of text.
    numbers
        The names of the columns of numbers.
    X
        (n, …) the numbers.
    """
    schema = pa.schema([(column.name, pa.string()) for column in texts] + [(name, pa.float32()) for name in numbers])
    options = pa.csv.WriteOptions(delimiter=delimiter, batch_size=_WRITE_ROWS)
    with pa.csv.CSVWriter(file, schema, write_options=options) as writer:
        for start in range(0, len(texts[0].cells), _WRITE_ROWS):
            rows = slice(start, start + _WRITE_ROWS)
            arrays = [pa.array(column.cells[rows], pa.string()) for column in texts]
            arrays += [] if X is None else number_blocks(X[rows])
            writer.write_batch(pa.record_batch(arrays, schema=schema))


LINE_ENDS = "\r\n"


def _joined(values: Sequence[Value], delimiter: str, comma: bool) -> str:
    """Return values as cells of a record."""
    file = io.StringIO(newline="")
    cells = [str(value).replace(".", ",") if comma and isinstance(value, float) else value for value in values]
    if delimiter == " ":  # between spaces nothing is no cell
        cells = ["NA" if cell in (None, "") else cell for cell in cells]
    # cells with an end of a line are quoted; one empty cell would be, too
    csv.writer(file, delimiter=delimiter, lineterminator=LINE_ENDS).writerow(cells)
    return file.getvalue().removesuffix(LINE_ENDS) if len(cells) > 1 or cells[0] else ""


def _batches(text: Text, used: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Yield batches of columns of text, null where a cell is empty, without the empty rows at the end.

    Raises
    ------
    UserError
        A row with more or fewer fields than the first, or one that is too long; the row is named.
    """
    names = [str(at) for at in range(len(text.header.names))]
    try:
        with (
            pa.memory_map(str(text.path)) as file,
            pa.csv.open_csv(
                pa.BufferReader(_without_header_again(text, file.read_buffer()[text.start : text.end[0]])),
                # The header is skipped as a record, not as a line: its names may hold line ends.
                pa.csv.ReadOptions(
                    use_threads=False,
                    block_size=MAX_RECORD_BYTES,
                    column_names=names,
                    skip_rows=text.top.above,
                    skip_rows_after_names=text.header.rows,
                    encoding=text.encoding,
                ),
                pa.csv.ParseOptions(delimiter=text.delimiter, newlines_in_values=True),
                pa.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=[str(at) for at in used],
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            ) as reader,
        ):
            yield from reader
    except UnicodeDecodeError:
        raise UserError(
            f"The file begins as {ENCODINGS.get(text.encoding, 'UTF-8')} and goes on with what is no character there; "
            'save it as UTF-8 (in a spreadsheet: "CSV UTF-8").'
        ) from None
    except pa.ArrowException as error:
        if "Empty CSV" in str(error) or ("straddling" in str(error) and text.path.stat().st_size < MAX_RECORD_BYTES):
            return  # a header alone
        with parsing("the table"):
            _refuse_record(text, strict=False)
            raise


def _without_header_again(text: Text, table: pa.Buffer) -> pa.Buffer | bytes:
    if text.escaped:
        table = pa.py_buffer(unescaped(table.to_pybytes().decode(text.codec)).encode(text.codec))
    if text.again is None:
        return table
    end = "\n".encode(text.codec)
    start = text.below - len(end)  # with the end of the header's line
    return table[:start].to_pybytes() + text.again.sub(end, table[start:].to_pybytes())


def _refuse_record(text: Text, *, strict: bool) -> None:
    """Raise for the first record that is not as wide as the header, too long or, if strict, never closed.

    Raises
    ------
    UserError
        There is one; its row is named.
    """
    number, width = 0, len(text.header.names)
    try:
        for number, _, _, record in text.rows(strict=strict):
            if sum(map(len, record)) + len(record) >= MAX_RECORD_BYTES:
                raise _too_long(number)
            if record and number >= text.top.number and len(record) != width:
                has, first = len(record), "header" if text.header.rows else "first row"
                mark = "tab" if text.delimiter == "\t" else text.delimiter
                raise RowError(
                    f"Row {number} has {count(has, 'field')}, the {first} has {width}; "
                    f"{'fill in' if has < width else 'remove'} the difference, or put quotes around cells that hold "
                    f"the delimiter ({mark})."
                )
    except csv.Error as error:
        if strict and ("unexpected end" in str(error) or "larger than" in str(error)):
            raise RowError(
                f"Row {number + 1} opens a double quote that is never closed; close it, or write it twice inside a "
                "quoted cell."
            ) from None
        if "larger than" in str(error):
            raise _too_long(number + 1) from None


def _too_long(row: int) -> UserError:
    return RowError(
        f"Row {row} is longer than {readable(MAX_RECORD_BYTES)}; most often a double quote is never closed. Close it, "
        "or remove the long cell."
    )

"""A text file before it is parsed: its encoding checked byte by byte, and its records walked to say where one is wrong.

The scan is one cheap pass over every file; the walk is slow and happens only to find the row that an error names.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pll.errors import UserError
from pll.formats.words import readable
from pll.io import Progress

MAX_RECORD_BYTES = 16 * 2**20
"""Longest row that is read; longer ones mostly come from a quote that is never closed."""

_CHUNK = 4 * 2**20
_SAMPLE_CHARACTERS = 4_000_000
_BLANK_LINES = (b"\n\n", b"\n\r\n", b"\r\r")
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f"))


@dataclass
class Scan:
    """What one pass over the bytes tells.

    Attributes:
        size: bytes.
        newlines: line feeds.
        returns: carriage returns.
        quotes: double quotes.
        has_blank_lines: False where it is certain that no line is empty.
    """

    size: int = 0
    newlines: int = 0
    returns: int = 0
    quotes: int = 0
    has_blank_lines: bool = False

    @property
    def records_at_most(self) -> int:
        return max(self.newlines, self.returns) + 1


def looks_like_text(head: bytes) -> bool:
    """Whether the start of a file could be a table of text: no control characters, not JSON, not XML."""
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    return bool(text) and text[:1] not in b"{[<" and len(head.translate(None, _CONTROL)) == len(head)


def scan(path: Path, tick: Progress | None = None) -> Scan:
    """Check that a file is UTF-8 text without NUL bytes.

    Args:
        tick: told how many bytes are done, of how many.

    Raises:
        UserError: it is not; the byte and the line are named.
    """
    found = Scan()
    decoder = codecs.getincrementaldecoder("utf-8")()
    tail = b""
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            _check_chunk(chunk, decoder, found)
            returns = chunk.count(b"\r")
            joined = tail + chunk
            marks = _BLANK_LINES if returns or b"\r" in tail else _BLANK_LINES[:1]
            found.has_blank_lines |= any(mark in joined for mark in marks)
            found.size += len(chunk)
            found.newlines += chunk.count(b"\n")
            found.returns += returns
            found.quotes += chunk.count(b'"')
            tail = chunk[-2:]
            if tick is not None:
                tick("bytes checked", found.size, path.stat().st_size)
    _check_chunk(b"", decoder, found)  # a character cut off at the very end
    return found


def _check_chunk(chunk: bytes, decoder: codecs.IncrementalDecoder, before: Scan) -> None:
    if not before.size and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise UserError('The file is in UTF-16; save it as UTF-8 (in a spreadsheet: "CSV UTF-8").')
    pending = len(decoder.getstate()[0])  # bytes of a character that began in the chunk before
    try:
        if pending or not chunk.isascii():  # most files are ASCII, and this is far quicker to see
            decoder.decode(chunk, final=not chunk)
    except UnicodeDecodeError as error:
        at = error.start - pending
        place = _place(before, chunk, at)
        raise UserError(
            f"{place} is 0x{error.object[error.start]:02X}, which is not valid UTF-8 there; save the file as UTF-8 "
            '(in a spreadsheet: "CSV UTF-8"; in a shell: iconv -f latin1 -t utf-8).'
        ) from None
    at = chunk.find(b"\0")
    if at >= 0:
        raise UserError(
            f"{_place(before, chunk, at)} is a NUL byte, which text never holds: the file is damaged, or not a "
            "table of text. Export it again as CSV in UTF-8."
        )


def _place(before: Scan, chunk: bytes, at: int) -> str:
    line = before.newlines + chunk.count(b"\n", 0, max(at, 0)) + 1
    return f"Byte {before.size + at:,} (line {line:,})"


def delimiter_of(head: bytes, marks: str) -> str | None:
    """Which of some delimiters a table uses, judged by its first rows; None where it has a single column.

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
    """Whether there are several columns, whether rows agree on it, and how many."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
        first = list(itertools.islice((record for record in reader if record), 10)) or [[]]
    except csv.Error:
        width = text.partition("\n")[0].count(mark) + 1
        return width > 1, False, width
    widths = [len(record) for record in first]
    torn = any('"' in field for field in first[0])  # a delimiter inside quotes was taken for one
    return widths[0] > 1, len(set(widths)) == 1 and not torn, widths[0]


def header(path: Path, delimiter: str) -> list[str]:
    """The fields of the first record that is not blank; none where there is no such record."""
    return next((record for _, record in records(path, delimiter) if record), [])


def sample(path: Path, delimiter: str, width: int, rows: int) -> list[list[str]]:
    """The first cells of each column below the first row, up to `rows` of them; odd rows are left out."""
    found: list[list[str]] = [[] for _ in range(width)]
    room = _SAMPLE_CHARACTERS
    filled = (record for _, record in records(path, delimiter) if record)
    with suppress(UserError):  # of a quote that is never closed; reading says so
        for record in itertools.islice(filled, 1, 1 + rows):
            room -= sum(map(len, record))
            if room < 0:
                break
            if len(record) == width:
                for cells, cell in zip(found, record, strict=True):
                    cells.append(cell)
    return found


def records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(number, fields) of every record as a spreadsheet numbers them, from 1; a blank line is a record without fields.

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
    """The spreadsheet's number of a row of data (position 0 comes right after the header), blank lines counted.

    Args:
        top: rows above the data: 1 where there is a header, else 0.
    """
    try:
        filled = (number for number, record in records(path, delimiter) if record)
        return next((number for at, number in enumerate(filled) if at == position + top), position + top + 1)
    except UserError:
        return position + top + 1  # an odd cell before it; the number without blank lines is the best there is


def check_shape(path: Path, delimiter: str, width: int, top: int = 1) -> int:
    """How many records there are, blank lines apart, once all have as many fields as the first.

    Args:
        top: 1 where the first is a header, else 0.

    Raises:
        UserError: one has not; the row, and how many fields it has.
    """
    count = 0
    above = "header" if top else "first row"
    for number, record in records(path, delimiter):
        if record and len(record) != width:
            raise UserError(
                f"Row {number} has {len(record)} field{'s' * (len(record) != 1)}, the {above} has {width}; "
                f"{'fill in' if len(record) < width else 'remove'} the difference, or put quotes around cells "
                f"that hold the delimiter ({'tab' if delimiter == chr(9) else delimiter})."
            )
        count += bool(record)
    return count


def check_last_quote(path: Path, delimiter: str) -> None:
    """Refuse a file whose last quoted cell is never closed, since everything after the quote would be one cell.

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
    """For a row longer than `MAX_RECORD_BYTES`."""
    return UserError(
        f"A row is longer than {readable(MAX_RECORD_BYTES)}; most often a double quote is never closed. Close it, or "
        "remove the long cell."
    )

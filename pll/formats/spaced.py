"""Tables with spaces between their columns, as the UCI repository, R and `numpy.savetxt` write them.

They are told apart with care, since any prose has spaces: no other delimiter, as many fields in every line, half
of them numbers. Such a table is copied with tabs between its columns, line for line, and read as any other.
"""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pll.errors import UserError
from pll.formats import textscan
from pll.formats.base import HEAD_BYTES
from pll.formats.cellkinds import is_measured

_FEWEST_LINES = 3
_AGREE = 0.8
"""Share of the lines that have as many fields as most; where one has not, reading says which it is."""


def is_spaced(head: bytes) -> bool:
    """Whether the start of a file is a table of numbers with spaces between them; words may stand among them.

    >>> (
    ...     is_spaced(b"a 1 2.5\\nb 3 ?\\nc 5 6\\n"),
    ...     is_spaced(b"to be or\\nnot to be\\nthat is it\\n"),
    ...     is_spaced(b"1,2\\n3,4\\n5,6\\n"),
    ... )
    (True, False, False)
    """
    if not textscan.looks_like_text(head) or textscan.delimiter_of(head, ",;\t") is not None:
        return False
    first, *rest = _rows(head) or [[]]
    width = _width(rest)
    whole = [row for row in rest if len(row) == width]
    if len(rest) + 1 < _FEWEST_LINES or width < 2 or len(whole) < _AGREE * len(rest):
        return False
    numbers = sum(map(is_measured, zip(*whole, strict=True)))
    return len(_header(first, width)) == width and 2 * numbers >= width


def _rows(head: bytes) -> list[list[str]]:
    """The first lines taken apart, blank ones left out; without fields where a line cannot be."""
    text = head.decode("utf-8-sig", errors="replace")
    if len(head) >= HEAD_BYTES:  # the last line may be cut off
        text = text[: text.rfind("\n") + 1]
    found: list[list[str]] = []
    for line in text.splitlines():
        if line.strip():
            found.append([])
            with suppress(UserError):  # reading says which line it is
                found[-1] = fields(line)
    return found


def _width(rows: Sequence[Sequence[str]]) -> int:
    """How many fields most rows have."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def fields(line: str) -> list[str]:
    """The fields of a line; in quotes one may hold spaces.

    >>> fields('  a  "b c" 1 ')
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
    """A copy of a table that has spaces between its columns, with tabs instead: the same lines, blank ones too.

    Args:
        rows: of how many lines; by default of all.

    Raises:
        UserError: a line that cannot be taken apart; the row is named.
    """
    if rows is None:
        textscan.scan(path)  # says where it is no text
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        with path.open(encoding="utf-8-sig") as given, copy.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t", lineterminator="\n")
            lines = iter(lambda: given.readline(textscan.MAX_RECORD_BYTES), "")
            with path.open("rb") as start:
                wide = _width(_rows(start.read(HEAD_BYTES))[1:])
            is_first = True
            for number, line in enumerate(lines, start=1):
                if rows is not None and number > rows:
                    break
                if len(line) >= textscan.MAX_RECORD_BYTES:
                    raise textscan.too_long()
                try:
                    row = fields(line)
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

"""Cells of CSV files that spreadsheets would execute: found, and neutralised on request.

A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return is a formula to a spreadsheet (OWASP, "CSV
Injection"), wherever the text came from: an id, a class name, a note. Numbers are no formulas. Neutralised, a cell has
an apostrophe in front, which spreadsheets do not show; programs do, so that cells change only on request.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pll.formats.encodings import encode_like
from pll.formats.tabular.csv import LINE_ENDS, text_of_file
from pll.io import write_atomically

STARTS = ("=", "+", "-", "@", "\t", "\r")
DELIMITERS = {".csv": ",;", ".tsv": "\t"}
"""Delimiter of a file by its suffix."""
LONGEST_CELL = 2**31 - 1
"""Characters of a cell that the csv module reads."""


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet would execute a cell.

    Examples
    --------
    >>> [is_formula(cell) for cell in ("=1+1", "@SUM(A1)", "-x", "-1.5", "-1,5", "+3e4", "cat", "")]
    [True, True, True, False, False, False, False, False]
    """
    if not cell.startswith(STARTS):
        return False
    with suppress(ValueError):
        float(cell.replace(",", "."))
        return False
    return True


def formulas_in(file: Path) -> int:
    """Return the number of cells of a CSV or TSV file that spreadsheets would execute; 0 for other files."""
    return sum(is_formula(cell) for cells, _ in _rows(file)[0] for cell in cells)


def neutralise(file: Path) -> int:
    """Put an apostrophe before such cells of a file, atomically; return their number. Other rows stay as they are."""
    result, mark = _rows(file)
    count = sum(is_formula(cell) for cells, _ in result for cell in cells)
    if not count:
        return 0

    def write(part: Path) -> None:
        with part.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(_neutral(cells, mark, lines) for cells, lines in result)
        encode_like(file, part)

    write_atomically(file, write)
    return count


def formula_messages(files: Iterable[Path], *, safe: bool) -> list[str]:
    """Return notes on the cells of these files that spreadsheets would execute.

    Parameters
    ----------
    files
        Of any kind.
    safe
        Neutralise them.
    """
    notes = []
    for file in files:
        count = neutralise(file) if safe else formulas_in(file)
        if count:
            cells = f"{count:,} cell{'s' * (count != 1)} of {file.name} begin{'s' * (count == 1)} with = + - or @"
            done = "an apostrophe stands in front now" if safe else "--spreadsheet-safe puts an apostrophe in front"
            notes.append(f"{cells}, which a spreadsheet would execute; {done}.")
    return notes


def _neutral(cells: list[str], mark: str, lines: str) -> str:
    """A row with an apostrophe before its formulas; its lines as they stand where it has none.

    Parameters
    ----------
    cells
        Of the row.
    mark
        What is between them.
    lines
        Of the row, with their ends.
    """
    if not any(map(is_formula, cells)):
        return lines
    row = io.StringIO(newline="")
    writer = csv.writer(row, delimiter=mark, lineterminator=LINE_ENDS)  # a cell with either of them is quoted
    writer.writerow([f"'{cell}" if is_formula(cell) else cell for cell in cells])
    return row.getvalue().removesuffix(LINE_ENDS) + lines[len(lines.rstrip(LINE_ENDS)) :]


def _rows(file: Path) -> tuple[list[tuple[list[str], str]], str]:
    """The rows of a CSV or TSV file, each its cells and its lines, and what is between cells; none of other files."""
    if file.suffix not in DELIMITERS:
        return [], ""
    before = csv.field_size_limit(LONGEST_CELL)
    result, lines = list[tuple[list[str], str]](), list[str]()
    try:
        text = text_of_file(file, DELIMITERS[file.suffix])
        with text.open() as stream:

            def read() -> Iterator[str]:
                for line in stream:
                    lines.append(line)
                    yield line

            for cells in csv.reader(read(), delimiter=text.delimiter):
                result.append((cells, "".join(lines)))
                lines.clear()
            return result, text.delimiter
    finally:
        csv.field_size_limit(before)

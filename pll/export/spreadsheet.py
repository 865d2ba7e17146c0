"""Cells of CSV files that spreadsheets would execute: found, and neutralised on request.

A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return is a formula to a spreadsheet (OWASP, "CSV
Injection"), wherever the text came from: an id, a class name, a note. Numbers are no formulas. Neutralised, a cell has
an apostrophe in front, which spreadsheets do not show; programs do, so that cells change only on request.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pll.formats.encodings import encode_like
from pll.formats.tabular.csv import text_of_file
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
    return sum(is_formula(cell) for row in _rows(file)[0] for cell in row)


def neutralise(file: Path) -> int:
    """Put an apostrophe before such cells of a file, atomically; return their number."""
    result, mark = _rows(file)
    count = sum(is_formula(cell) for row in result for cell in row)
    if not count:
        return 0
    rows = [[f"'{cell}" if is_formula(cell) else cell for cell in row] for row in result]
    quoting: Literal[0, 1] = csv.QUOTE_ALL if any("\r" in cell for row in rows for cell in row) else csv.QUOTE_MINIMAL

    def write(part: Path) -> None:
        with part.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, delimiter=mark, lineterminator="\n", quoting=quoting).writerows(rows)
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


def _rows(file: Path) -> tuple[list[list[str]], str]:
    """The rows of a CSV or TSV file and what is between their cells; no rows of other files."""
    if file.suffix not in DELIMITERS:
        return [], ""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        text = text_of_file(file, DELIMITERS[file.suffix])
        with text.open() as stream:
            return list(csv.reader(stream, delimiter=text.delimiter)), text.delimiter
    finally:
        csv.field_size_limit(before)

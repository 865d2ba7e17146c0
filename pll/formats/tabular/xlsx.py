"""Workbooks of Excel: a sheet is read as a table of text, and labels go back into it.

Values are read, not formulas; days as 2025-03-04. Rows keep the numbers they have in the spreadsheet. Nothing in a
workbook is believed: what it would unpack to is checked first, and cells are counted as they are read.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.extras import require_extra
from pll.formats.archive import key_of, names_in, open_zip
from pll.formats.base import ReadOptions
from pll.formats.checks import check_unpacked_size, listing, parsing, shorten
from pll.formats.codebook import MOST_CODES, codes_beside, codes_in, codes_noted, is_coded
from pll.formats.label_frame import NUMBERS
from pll.formats.names import MAX_COLUMNS, sample_rows
from pll.formats.proposal import Codes
from pll.formats.records import Records, no_rows
from pll.formats.results import Results, Value, free_name
from pll.formats.tabular.builder import TableFormat
from pll.formats.tabular.header import AGAIN, MOST_TITLES, Header, header_of, notes_on_rows, rows_below
from pll.formats.tabular.parts import are_one_a_person, joined, people_among, says_of_items, stacked, with_items
from pll.formats.tabular.writer import columns_of

MOST_CELLS = 5_000_000
"""Cells of a sheet that are read; each takes some 100 bytes and a few microseconds."""
MOST_ROWS_OF_SHEET = 1_048_576
MOST_CHARACTERS = 32_767
"""Rows of a sheet, and characters of a cell, as Excel has them."""
MOST_SHEETS = 30
"""Sheets that may be a person's each."""
FOREWORD = 20
"""Rows, at most, of a first sheet that says what stands in the next ones, such as codes and what they mean."""
MOST_ROWS_LOOKED_AT = 50
"""Rows in which a sheet must show that it holds a table."""


class Xlsx(TableFormat):
    """Workbooks of Excel."""

    def sniff(self, path: Path, head: bytes) -> bool:
        return head.startswith(b"PK") and "xl/workbook.xml" in names_in(path)

    def table(self, path: Path, options: ReadOptions) -> Records:
        parts = _sheets_of(path, options)
        names = [sheet.name for sheet in parts]
        table = stacked(names, [sheet.records for sheet in parts])
        if options.sheet is None and (len(parts) == 1 or are_one_a_person([one.records for one in parts])):
            beside = {one.name: one.records for one in _beside(path, options, names)}
            left, said = with_items({one.name: one.records for one in parts}, beside)
            names += [name for name in beside if name not in left]
            table = replace(left[names[0]], notes=(*table.notes, *said))
        others = [one for one in _sheets(*key_of(path), options.max_bytes) if one not in names]
        lines, codes = _lines(*key_of(path), options.max_bytes, tuple(names)), {**table.codes}
        columns = dict(zip(table.names, table.sample(), strict=True)) if lines else {}
        books = {title: codes_in(title, rows) for title, rows in lines.items()}
        for title, told in sorted(books.items(), key=lambda book: bool(book[1])):  # what is called a codebook is one
            codes |= told or codes_beside(columns, lines[title])
        table = replace(table, codes=codes)
        if not others:
            return table
        read = f"The sheet {shorten(names[0])} was read" if len(parts) == 1 else f"{len(parts)} sheets were read"
        also = f"{read}; there {'is' if len(others) == 1 else 'are'} also {listing(others)}."
        return replace(table, notes=(*table.notes, also))

    def sheets(self, path: Path, options: ReadOptions) -> list[str]:
        # those that are hidden apart; "" first, where each is a person's
        read = [sheet.name for sheet in _sheets_of(path, replace(options, sheet=None))]
        first = "" if len(read) > 1 else read[0]
        return list(dict.fromkeys([first, *_sheets(*key_of(path), options.max_bytes)]))

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        columns, numbers = columns_of(dataset, results)
        if len(dataset) >= MOST_ROWS_OF_SHEET or len(columns) + len(numbers) > 16_384:
            raise UserError("A sheet has at most 1,048,576 rows and 16,384 columns; write CSV or Parquet.")
        for text in (*numbers, *(text for column in columns for text in (column.name, *column.cells))):
            _checked(text)
        flat = dataset.X.reshape(len(dataset), -1)
        book = _openpyxl().Workbook(write_only=True)
        sheet = book.create_sheet("labels")
        sheet.append([_text_cell(sheet, name) for name in (*(column.name for column in columns), *numbers)])
        numbered = {column.name for column in columns if column.role == "ignore" and column.name in NUMBERS}
        for i in range(len(dataset)):
            cells = [one.values[i] if one.name in numbered else _text_cell(sheet, one.cells[i]) for one in columns]
            # the shortest decimal that is this number: 6.924, not the 6.923999786376953 that all its digits are
            sheet.append([*cells, *(None if np.isnan(x) else float(str(x)) for x in flat[i])])
        book.save(path)

    def add(self, source: Path, path: Path, added: Mapping[str, Sequence[Value]], options: ReadOptions) -> None:
        # columns beside the table of the sheet that was read, or of each
        with parsing("the workbook"), source.open("rb") as file:
            book = _openpyxl().load_workbook(file, rich_text=True)
        start = 0
        for sheet in _sheets_of(source, options):
            taken = [name.strip() for name in sheet.header.names]
            for at, (name, values) in enumerate(added.items(), start=sheet.left + len(taken)):
                for top in sheet.tops if sheet.header.rows else ():
                    _put(book[sheet.name], top, at, free_name(name, taken))
                for (number, _), value in zip(sheet.below, values[start:], strict=False):
                    _put(book[sheet.name], number, at, value)
            start += len(sheet.below)
        book.save(path)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        inside = names_in(source)
        lost = super().cannot_give_back(source, results, options)
        if any("vbaProject" in name for name in inside):
            lost.append("Macros.")
        drawn = [name for name in inside if "vmlDrawing" not in name and "comments" not in name.lower()]
        if any(name.startswith(("xl/drawings/", "xl/pivot", "xl/slicers")) for name in drawn):
            lost.append("Shapes and pivot tables; pictures and charts may look different.")
        if _has_formulas(source):
            lost.append("The results of formulas, until Excel or LibreOffice has opened and saved the file.")
        return lost


def _has_formulas(source: Path) -> bool:
    """Whether a cell of some sheet is computed."""
    with open_zip(source) as archive:
        sheets = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        return any(re.search(rb"<f[ >]", archive.read(name)) for name in sheets if name.endswith(".xml"))


@lru_cache(maxsize=16)
def _sheets(path: str, inode: int, size: int, time: int, max_bytes: int) -> tuple[str, ...]:
    with _book(Path(path), max_bytes) as book:
        return tuple(sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible" and _is_table(sheet))


def _is_table(sheet: Any) -> bool:
    """Whether two of the first rows or more have two cells or more."""
    filled = (sum(value not in (None, "") for value in row) for row in islice(_rows(sheet), MOST_ROWS_LOOKED_AT))
    return sum(count > 1 for count in filled) > 1


@dataclass(frozen=True)
class _Sheet:
    """A sheet as a table of text.

    Attributes
    ----------
    name
        Of the sheet.
    header
        Its header, and what is above.
    tops
        The numbers of its row, and of those below in which it stands again.
    below
        (number in the sheet, cells) of every row below that is not empty; all of one width.
    left
        How many empty columns are before the table.
    notes
        What to say of it to the user.
    codes
        What notes below the table say that codes mean.
    """

    name: str
    header: Header
    tops: Sequence[int]
    below: Sequence[tuple[int, Sequence[str]]]
    left: int
    notes: tuple[str, ...]
    codes: Codes

    @cached_property
    def records(self) -> Records:
        """The table in it."""
        names, rows = self.header.names, self.below
        cells = [pa.array([row[at] or None for _, row in rows], pa.string()) for at in range(len(names))]
        table = pa.Table.from_arrays(cells, names=names)
        about = {"notes": self.notes, "codes": self.codes, "titles": self.header.titles}
        return Records.of(table, row_of=lambda at: rows[at][0], **about)


def _sheets_of(path: Path, options: ReadOptions) -> list[_Sheet]:
    """Return the sheet that is meant; where nobody said so and each is a person's, or a part of one table, all of them.

    Raises
    ------
    UserError
        There is no such sheet, it is empty or too large, or the workbook cannot be read.
    """
    first = _converted(*key_of(path), options.max_bytes, options.sheet)
    if options.sheet is not None:
        return [first]
    parts = [first, *_beside(path, options, [first.name])]
    parts = [one for one in parts if not _is_about(one, parts)] or parts
    parts = [one for one in parts if not _is_legend(one, parts)] or parts
    people = people_among([one.records for one in parts])
    if len(people) > 1:
        return [parts[k] for k in people]
    first = parts[0]
    alike = [one for one in parts if {*one.header.names} == {*first.header.names}]
    if len(alike) > 1:
        return alike
    largest = max(parts, key=lambda one: len(one.below))
    is_foreword = len(first.below) <= FOREWORD and len(largest.below) >= 10 * len(first.below)
    return [largest] if is_foreword or joined({one.name: one.records for one in parts})[1] else [first]


def _is_about(sheet: _Sheet, others: Sequence[_Sheet]) -> bool:
    """Whether the first column of a sheet names columns of another one, in each line: what they mean."""
    named = {row[0] for _, row in sheet.below}
    return len(named) > 1 and any(named <= {*one.header.names} for one in others if one is not sheet)


def _is_legend(sheet: _Sheet, others: Sequence[_Sheet]) -> bool:
    """Whether a sheet says what codes mean that recur in another one, or that a column of it has."""
    codes = codes_in(sheet.name, [sheet.header.names, *(row for _, row in sheet.below)])
    for one in others if codes else ():
        columns = dict(zip(one.header.names, zip(*(row for _, row in one.below), strict=True), strict=True))
        is_coded_so = any(is_coded(cells, some) for cells in columns.values() for some in codes.values())
        is_coded_so = is_coded_so and not says_of_items(sheet.records, one.records)
        if one is not sheet and (is_coded_so or not codes.keys().isdisjoint(columns)):
            return True
    return False


def _beside(path: Path, options: ReadOptions, names: Sequence[str]) -> list[_Sheet]:
    """The other sheets that are tables, where they are few."""
    every, found = _sheets(*key_of(path), options.max_bytes), list[_Sheet]()
    for name in every if len(every) <= MOST_SHEETS else ():
        with suppress(UserError):  # no table after all
            found += [_converted(*key_of(path), options.max_bytes, name)] if name not in names else []
    return found


@lru_cache(maxsize=MOST_SHEETS)  # a page asks again and again; the columns, the data, the labels
def _converted(path: str, inode: int, size: int, time: int, max_bytes: int, sheet: str | None) -> _Sheet:
    with _book(Path(path), max_bytes) as book:
        every = [one.title for one in book.worksheets]
        if sheet is not None and sheet not in every:
            raise UserError(f"There is no sheet {shorten(sheet)}; there are {listing(every)}.")
        tables = _sheets(path, inode, size, time, max_bytes)
        name = sheet if sheet is not None else next(iter((*tables, *every)), None)
        if name is None:
            raise UserError("The workbook has no sheet with cells; bring one with a header and rows.")
        numbered_rows = [(at, [_text(value) for value in row]) for at, row in enumerate(_rows(book[name]), start=1)]
        empty, merged = _empty_formulas(book[name]), _merged(book[name])
    filled = [(at, row) for at, row in numbered_rows if any(row)]
    if not filled:
        raise UserError(f"The sheet {shorten(name)} is empty; bring a table with a header and rows.")
    taken = sum(len(cell) for _, row in filled for cell in row)
    check_unpacked_size(taken, size, max_bytes, f"the sheet {shorten(name)}")
    left = min(next(at for at, cell in enumerate(row) if cell) for _, row in filled)
    width = max(len(row) for _, row in filled) - left
    rows = [(at, [*row[left:], *[""] * (width - len(row) + left)]) for at, row in filled]
    header = header_of([row for _, row in rows[: MOST_TITLES + sample_rows(width)]])
    top, below = rows[header.above], rows[header.above + header.rows :]
    again = {number for number, row in below if header.rows == 1 < width and row == top[1]}
    below = [row for row in below if row[0] not in again]
    if not below:
        raise no_rows()
    row_at, over = dict(below), 0
    for first, end, column in merged:  # what is one over several rows stands in each of these, but not in a header
        cell = row_at[first][column - left] if first in row_at and 0 <= column - left < width else ""
        for number in range(first + 1, min(end, below[-1][0]) + 1) if cell else ():
            if (row := row_at.get(number)) and not row[column - left]:
                row[column - left], over = cell, over + 1
    last = list[Sequence[str]]()
    if count := rows_below([row for _, row in below], width):
        below, last = below[:-count], [row for _, row in below[-count:]]
    said = ["Cells that were made one over several rows stand for each of these."] if over else []
    notes = (*header.notes, *([AGAIN] if again else []), *notes_on_rows(last), *said, *empty)
    columns = [*zip(*(row for _, row in below[: sample_rows(width)]), strict=True)]
    codes = codes_noted([[header.title], *last], columns)
    return _Sheet(name, header, (top[0], *again), below, left, notes, codes)


def _empty_formulas(sheet: Any) -> list[str]:
    """Return what to say of formulas without their value; a sheet that is read row by row knows nothing of them."""
    with sheet._get_source() as file:
        empty = len(_WITHOUT_VALUE.findall(file.read()))
    text = (
        f"{empty:,} formulas have no value in the file, so their cells are empty: open the file in a spreadsheet and "
        "save it."
    )
    return [text] if empty else []


def _merged(sheet: Any) -> list[tuple[int, int, int]]:
    """(first row, last row, column from 0) of cells that were made one over several rows."""
    from openpyxl.utils import range_boundaries

    with sheet._get_source() as file:
        areas = [range_boundaries(area.decode()) for area in _MERGED.findall(file.read())]
    return [(top, bottom, left - 1) for left, top, right, bottom in areas if top < bottom]


_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\b[^>]*\bref="([A-Z]+\d+:[A-Z]+\d+)"')
_WITHOUT_VALUE = re.compile(  # the value of a formula that gives an empty text is one
    rb'<(?:\w+:)?c\b(?![^>]*\bt="str")[^>]*>\s*<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*'
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)


@lru_cache(maxsize=16)
def _lines(
    path: str, inode: int, size: int, time: int, max_bytes: int, read: tuple[str, ...]
) -> dict[str, list[list[str]]]:
    """The first rows with a cell of the other sheets: what they say that codes mean is looked for."""
    with _book(Path(path), max_bytes) as book:
        others = [sheet for sheet in book.worksheets if sheet.title not in read]
        lines = {one.title: [list(map(_text, row)) for row in islice(_rows(one), MOST_CODES)] for one in others}
    return {title: [row for row in rows if any(row)] for title, rows in lines.items()}


@contextmanager
def _book(path: Path, max_bytes: int) -> Iterator[Any]:
    """A workbook whose sheets are read row by row."""
    openpyxl = _openpyxl()
    with parsing("the workbook", "open it in the spreadsheet and save it again, or save the sheet as CSV UTF-8"):
        with open_zip(path) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        check_unpacked_size(unpacked, path.stat().st_size, max_bytes, "this workbook")
        with path.open("rb") as file:  # of a path openpyxl wants to know the ending
            yield openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)


def _rows(sheet: Any) -> Iterator[list[Any]]:
    """The values of each row up to its last one; rows that were left out are empty.

    Raises
    ------
    UserError
        More rows, columns or cells than are read.
    """
    sheet.reset_dimensions()  # what a workbook says of its size may be wrong
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        cells += len(row)
        if number > MOST_ROWS_OF_SHEET or len(row) > MAX_COLUMNS or cells > MOST_CELLS:
            raise UserError(
                f"The sheet {shorten(sheet.title)} has more than {MOST_CELLS:,} cells; save it as CSV UTF-8 or Parquet."
            )
        values = list(row)
        while values and values[-1] in (None, ""):
            values.pop()
        yield values


def _text(value: Any) -> str:
    """A cell as a spreadsheet would write it into a CSV.

    >>> _text(3.0), _text(0.5), _text(True), _text(None), _text(datetime.datetime(2025, 3, 4))
    ('3', '0.5', 'TRUE', '', '2025-03-04')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(sep=" ")
    return str(value)


def _text_cell(sheet: Any, text: str | None) -> Any:
    """A cell of a new sheet that holds text, be it one that begins with `=`."""
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, value=text or None)
    if text:
        cell.data_type = "s"
    return cell


def _put(sheet: Any, row: int, at: int, value: Value) -> None:
    """Put a value into a row (from 1) and a column (from 0); text stays text."""
    cell = sheet.cell(row=row, column=at + 1)
    cell.value = _checked(value) if isinstance(value, str) else value
    if isinstance(value, str):
        cell.data_type = "s"


def _checked(text: str | None) -> str | None:
    """Text that a cell can hold.

    Raises
    ------
    UserError
        Too long, or with control characters.
    """
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if text and (len(text) > MOST_CHARACTERS or ILLEGAL_CHARACTERS_RE.search(text)):
        why = f"{len(text):,} characters" if len(text) > MOST_CHARACTERS else "a control character"
        raise UserError(f"A cell of Excel cannot hold {shorten(text)} ({why}); write CSV or Parquet.")
    return text or None


def _openpyxl() -> Any:
    require_extra("openpyxl")
    import openpyxl

    return openpyxl

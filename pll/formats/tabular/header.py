"""Where the header of a text or a sheet is: below a title, or nowhere, where the first row is data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, zip_longest

import numpy as np

from pll.errors import UserError
from pll.formats.checks import shorten
from pll.formats.forms import WORDS, words_of
from pll.formats.names import GRID, LABEL_COLUMNS
from pll.formats.tabular.cells import MISSING, is_measured, is_number

COMMENT = "##"
"""How lines begin that say what a table is, above it."""
MOST_TITLES = 8
"""Rows above a header at most."""
LONG = 5
"""Numbers in a first row of which it is no chance that they rise."""


@dataclass(frozen=True)
class Header:
    """The header of a table.

    Attributes
    ----------
    names
        Of the columns; `column 1`, … where there is no header.
    above
        Rows above the header, or above the first row of data.
    title
        The words in them.
    rows
        1 where there is a header, else 0; 2 where the cells of a first row stand over several of a second, or a second
        says what they are in other words; 3 where a survey's has two more rows: the questions, and what they are called
        inside the program.
    titles
        By name, the text of a question, where a row below the names has it.
    repeated
        The name of several columns, numbered here; "" where each has its own.
    """

    names: list[str]
    above: int
    title: str
    rows: int
    titles: Mapping[str, str] = field(default_factory=dict)
    repeated: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say of it to the user."""
        if self.rows:
            joined = [name for name in self.names if JOINED in name or GRID.fullmatch(name)]
            number = "Three" if self.rows == 3 else "Two"
            two = [f"{number} rows are the header: {shorten(name)}." for name in joined[:1]]
            same = f"Columns of one name are numbered here: {shorten(f'{self.repeated} 1')}, … ."
            return (
                *self._without_title,
                *(two if self.rows > 1 and not self.titles else ()),
                *([same] if self.repeated else ()),
            )
        return (
            *self._without_title,
            f"The first row holds what the others do, so it was taken for data: the columns are called "
            f"column 1 … column {len(self.names)}. If it is the header, give one of its names a letter.",
        )

    @property
    def _without_title(self) -> tuple[str, ...]:
        return (f"What stands above the header was left out: {shorten(self.title)}.",) if self.title else ()


def header_of(records: Sequence[Sequence[str]]) -> Header:
    """Return the header of a table.

    Parameters
    ----------
    records
        Its first rows, without blank ones.

    Raises
    ------
    UserError
        There is no row, or the first has no word.

    Examples
    --------
    >>> header_of([["Sales 2024"], ["id", "x", "y"], ["a", "1", "2"], ["b", "1", "2"]])
    Header(names=['id', 'x', 'y'], above=1, title='Sales 2024', rows=1, titles={}, repeated='')
    >>> header_of([["5.1", "3.5", "setosa"], ["4.9", "3.0", "setosa"]]).names
    ['column 1', 'column 2', 'column 3']
    >>> header_of([["", "Ann", "", "Bob", ""], ["id", "yes", "no", "yes", "no"], ["a", "x", "", "", "x"]]).names
    ['id', 'Ann: yes', 'Ann: no', 'Bob: yes', 'Bob: no']
    >>> header_of([["x", "y"], ["r1", "1", "2"], ["r2", "1", "3"]]).names  # as R writes it
    ['', 'x', 'y']
    """
    above = titles_above(records)
    first, *below = records[above:] or [[]]
    if not first or (len(first) == 1 and not first[0].strip()):
        raise UserError("The file holds nothing but blank lines; bring a table with a header and rows.")
    title = " · ".join(cell.strip() for row in records[:above] for cell in row if cell.strip())
    if levels := _of_levels(records[above:]):
        return Header(levels, above, title, 3)
    if both := _of_two_rows(records[above:]):
        return Header(both, above, title, 2)
    if _name_rows(below, len(first)):
        first = ["", *first]
    if _is_data(first, [row for row in below if len(row) == len(first)]):
        return Header([f"column {at}" for at in range(1, len(first) + 1)], above, title, 0)
    names, repeated = _numbered(first, below)
    if len(below) > 1 and 2 * sum(_INSIDE in cell for cell in below[1]) > len(first) == len(below[1]):
        return Header(names, above, title, 3, dict(zip(names, below[0], strict=False)), repeated)
    if below and _says_again(first, *below):
        return Header(names, above, title, 2, dict(zip(names, below[0], strict=False)), repeated)
    return Header(names, above, title, 1, repeated=repeated)


def _name_rows(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether rows are one cell wider than their header, and begin with a name each, of the row."""
    are_wider = len(rows) > 1 and all(len(row) == width + 1 for row in rows)
    return are_wider and len({row[0].strip() for row in rows} - {""}) == len(rows) and any(row[-1] for row in rows)


def _numbered(names: Sequence[str], below: Sequence[Sequence[str]]) -> tuple[list[str], str]:
    """Return names of which each is another one's, and one that several columns had: a form asks the same of two.

    Names that say what a label is stay, and what a cell below says too is no name: then the first row may be data.

    Examples
    --------
    >>> _numbered(["id", "Finding", "Done?", "Finding", "Done?"], [["1", "cyst", "yes", "none", "yes"]])
    (['id', 'Finding 1', 'Done? 1', 'Finding 2', 'Done? 2'], 'Finding')
    >>> _numbered(["a", "cat", "cat"], [["b", "cat", "dog"]])[1]
    ''
    """
    keys = [name.strip() for name in names]
    cells = {cell.strip() for row in below for cell in row}
    again = {key for key, times in Counter(keys).items() if times > 1 and key and key not in cells}
    again -= {key for key in again if key.casefold() in LABEL_COLUMNS}
    numbered, seen = list[str](), Counter[str]()
    for name, key in zip(names, keys, strict=True):
        seen[key] += 1
        numbered.append(f"{key} {seen[key]}" if key in again else name)
    is_one = len({*map(str.strip, numbered)} - {""}) == len([one for one in numbered if one.strip()])
    return (numbered, next(key for key in keys if key in again)) if again and is_one else ([*names], "")


def _says_again(names: Sequence[str], words: Sequence[str], *below: Sequence[str]) -> bool:
    """Whether a second row says what the columns are in other words, as surveys do: all of it, and nothing below again.

    Of two names at least it has the same letters, or there are numbers alone below two of its texts.

    >>> _says_again(["StartDate", "ResponseId", "T1"], ["Start Date", "Response ID", "Is it?"], ["1/1", "R_2", "yes"])
    True
    >>> _says_again(["CASE", "LG1", "LG2"], ["number", "Logo 1", "Logo 2"], ["61", "-9", "1"], ["62", "2", "1"])
    True
    >>> _says_again(["Red", "Blue", "T1"], ["red", "blue", "yes"], ["red", "blue", "yes"])
    False
    """
    cells = {cell for row in below for cell in row}
    is_new = all(said.strip() and not is_number(said) and said not in cells for said in words)
    if len(words) != len(names) or not below or not is_new:
        return False
    columns = zip(words, *(row for row in below if len(row) == len(names)), strict=False)
    over = sum(len(some) > 1 and all(map(is_number, filter(None, some))) and any(some) for _, *some in columns)
    pairs = zip(names, words, strict=True)
    same = sum("".join(words_of(name)) == "".join(words_of(said)) for name, said in pairs)
    return same > 1 or over > 1


JOINED = ": "
"""Between what two rows of a header say of a column."""


def _of_levels(records: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of columns of two levels, as pandas writes them: the name of the rows stands below them, alone.

    >>> _of_levels([["", "sound", "", "by", "by"], ["", "hz", "db", "LK", "TS"], ["clip", *[""] * 4], ["a1", *"9999"]])
    ['clip', 'sound: hz', 'sound: db', 'by: LK', 'by: TS']
    """
    rows = [[cell.strip() for cell in row] for row in records[:4]]
    if len(rows) < 4 or len({*map(len, rows)}) > 1 or len(rows[0]) < 3:
        return []
    (_, *upper), (_, *lower), (name, *others), _ = rows
    over = [next(filter(None, reversed(upper[: at + 1])), "") for at in range(len(upper))]
    names = [name, *(f"{first}{JOINED}{second}" for first, second in zip(over, lower, strict=True))]
    are_levels = all((name, *over[:1], *lower)) and not any(others) and len({*over}) < len(over)
    if not are_levels or any(map(is_number, lower)) or len({*names}) < len(names):
        return []
    comes_again = any(
        cell == row[at].strip() for row in records[3:] for at, cell in enumerate(rows[1]) if at < len(row)
    )
    return [] if comes_again else names  # a row of labels, below which nobody labelled one


def _of_two_rows(records: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of a header whose first row stands over several cells of the second; nothing where it does not.

    Cells of the second come again below those of the first, as classes or questions do below people.
    """
    upper, lower = ([cell.strip() for cell in row] for row in (*records[:2], [], [])[:2])
    if len(upper) == len(lower) and (grids := _of_questions(upper, lower, records[2:])):
        return grids
    if grouped := _of_groups(upper, lower, records[2:]):
        return grouped
    again = {name for name, times in Counter(filter(None, lower)).items() if times > 1}
    if not again or len(upper) != len(lower) or any(map(is_number, (*upper, *again))):
        return []
    names, below, over = list[str](), dict[str, list[str]](), ""
    for first, second in zip(upper, lower, strict=True):
        over = first or over
        names.append(JOINED.join(filter(None, (over if second in again else first, second))))
        if second in again:
            below.setdefault(over, []).append(second)
    alike = Counter(map(tuple, below.values())).most_common(1)[0]
    is_one = "" not in below and len(set(filter(None, names))) == sum(map(bool, names)) and alike[1] > 1
    return names if is_one and len(alike[0]) > 1 else []


def _of_groups(upper: Sequence[str], lower: Sequence[str], below: Sequence[Sequence[str]]) -> list[str]:
    """Return the names in the second row of a header, where the first one says of what several of them are.

    Nothing of the second comes again below it, and below some of its words there are numbers alone.

    Examples
    --------
    >>> rows = [["12", "still life", "84.7", "pupil", "copy", ""], ["13", "a port", "18.3", "copy", "copy", "rolled"]]
    >>> upper, lower = ["Object", "", "", "By", "", "Note"], ["No.", "Title", "Height", "Bo", "Cas", ""]
    >>> _of_groups(upper, lower, rows)
    ['No.', 'Title', 'Height', 'Bo', 'Cas', 'Note']
    """
    filled = [at for at, cell in enumerate(upper) if cell]
    rows = [row for row in below if len(row) == len(upper)]
    wide = sum(end - at > 1 for at, end in pairwise([*filled, len(upper)]))
    names = [second or first for first, second in zip(upper, lower, strict=False)]
    is_header = len(upper) == len(lower) and filled[:1] == [0] and wide > 1 and len(rows) > 1 and all(names)
    if not is_header or len({*names}) < len(names) or any(map(is_number, names)):
        return []
    columns = [[row[at].strip() for row in rows if row[at].strip()] for at in range(len(names))]
    come_again = any(name in cells for name, cells in zip(names, columns, strict=True))
    are_numbers = sum(bool(cells) and all(map(is_number, cells)) for cells in columns)
    return names if are_numbers and not come_again else []


def _of_questions(upper: Sequence[str], lower: Sequence[str], below: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of a form's answers: a question stands over its first column, below is what it asks about.

    The second row has nothing in a column that all others fill, and nothing that comes again below it; where each
    question has one column, it says the same under several: `Response`.

    Examples
    --------
    >>> rows = [["1", "cat", "dog", "cat", ""], ["2", "cat", "dog", "dog", "none"]]
    >>> _of_questions(["ID", "Kind?", "", "", "Else?"], ["", "Photo 1", "Photo 2", "Photo 3", "Response"], rows)
    ['ID', 'Kind? [Photo 1]', 'Kind? [Photo 2]', 'Kind? [Photo 3]', 'Else?']
    """
    pairs = [*zip(upper, lower, strict=True)]
    rows = [row for row in below if len(row) == len(pairs)]
    alone = [at for at, (first, second) in enumerate(pairs) if first and not second]
    own = [at for at in alone if all(row[at].strip() for row in rows)]
    asked = [at for at, (first, second) in enumerate(pairs) if second and not first]
    said = asked or [at for at, (_, second) in enumerate(pairs) if second]
    comes_again = any(lower[at] == row[at].strip() for at in said for row in rows)
    are_several = len(asked) > 1 or (not asked and len({lower[at] for at in said}) < len(said))
    if len(rows) < 2 or not own or not are_several or comes_again or not all(map(any, pairs)):
        return []
    names, question = list[str](), ""
    for at, (first, second) in enumerate(pairs):
        question = first or question
        is_alone = bool(first) and at + 1 not in asked
        names.append(first if is_alone or not second else f"{question} [{second}]")
    return names if len({*names}) == len(names) and pairs[0][0] else []


_TOTAL = re.compile(
    rf"\s*(?:grand )?(?:{'|'.join(sorted(WORDS['total']))})(?:\b\s*(?:[=:(].*|\w+)?)?\s*|\s*n\s*[=:(].*", re.IGNORECASE
)


def begins_as_total(cell: str) -> bool:
    """Whether a cell is what stands at the beginning of a last row that is no example.

    Examples
    --------
    >>> [begins_as_total(cell) for cell in ("TOTALE", "Média geral", "N = 64", "合计", "total loss of power", "sums")]
    [True, True, True, True, False, False]
    """
    return _TOTAL.fullmatch(cell) is not None


def is_total(record: Sequence[str]) -> bool:
    """Whether a last row is no example: it begins with a word for a total, and then has numbers alone.

    Examples
    --------
    >>> is_total(["Summe", "", "255"]), is_total(["n = 80", "", ""]), is_total(["Total", "a text"])
    (True, True, False)
    """
    first, *others = [cell.strip() for cell in record if cell.strip()] or [""]
    return (
        begins_as_total(first)
        and all(is_number(one.replace(",", ".").rstrip("%")) for one in others)
        and len(others) < len(record) - 1
    )


MOST_BELOW = 8
"""Rows below a table at most."""
LAST_ROWS = 5 * MOST_BELOW
"""Last rows that tell what is below the others."""


def rows_below(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return how many of the last rows are none of the table: totals, notes, a line of agreement.

    A note in the first cell alone has three words, where cells of the first column have not, or stands in brackets, as
    databases say how many rows there are; a shorter one may be a row that is cut off. Where the first column names all
    rows in one way, a last row that it does not name so is none of them, if it is half as full as they are, or has
    other words where they have few.

    Parameters
    ----------
    rows
        The last ones with a cell.
    width
        Of the table.

    Examples
    --------
    >>> table = [["a 1", "2", "3"], ["a 2", "2", "3"]]
    >>> rows_below([*table, ["Total", "", "6"], ["? = I am not sure", "", ""]], 3), rows_below([*table, ["a 3"]], 3)
    (2, 0)
    >>> votes = [[str(at), "cat", "dog" if at % 3 else "cat"] for at in range(2, 20)]
    >>> rows_below([*votes, ["Match (%)", "84.4", "82.2"], ["", "", "J. Doe, 3/12"]], 3)
    2
    """
    if width < 3 or 10 * sum(map(_is_alone, (row[:1] for row in rows[:50]))) > len(rows[:50]) + 2 * MOST_BELOW:
        return int(len(rows) > 1 and len(rows[-1]) == width and is_total(rows[-1]))
    is_other = _telling_others(rows[-LAST_ROWS : -min(MOST_BELOW, len(rows) // 4)])
    count = 0
    while count < min(MOST_BELOW, len(rows) - 1):
        last = rows[-1 - count]
        if not (_is_alone(last) or (len(last) == width and (is_total(last) or is_other(last)))):
            break
        count += 1
    return count


LEAST_ROWS_ALIKE = 8
"""Rows, at least, whose first cells may show in which way rows are named."""


def _telling_others(rows: Sequence[Sequence[str]]) -> Callable[[Sequence[str]], bool]:
    """Return a test of whether a row is none like these, which the first column names in few ways: 1, 2; a-1, a-2."""
    columns = [Counter(filter(None, map(str.strip, cells))) for cells in zip_longest(*rows, fillvalue="")]
    ways = {_way(cell) for cell in columns[0]} if columns else set[str]()
    full = float(np.median([_filled(row) for row in rows])) if rows else 0.0
    few = [words if 2 * len(words) <= words.total() else None for words in columns]

    def is_other(row: Sequence[str]) -> bool:
        first, *others = map(str.strip, row)
        pairs = [(cell, words) for cell, words in zip(others, few[1:], strict=False) if cell and words]
        is_half = 2 * _filled(row) <= full  # then a number that others have too says nothing: an average
        beside = [(cell, words) for cell, words in pairs if not (is_half and is_number(cell.replace(",", ".")))]
        is_odd = bool(beside) or is_half
        return _way(first) not in ways and is_odd and not any(cell in words for cell, words in beside)

    return is_other if len(ways) <= len(rows) / 4 and len(rows) >= LEAST_ROWS_ALIKE else lambda row: False


_DIGITS, _LETTERS = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")


def _way(cell: str) -> str:
    """In which way a row is named: `a-1` and `B-22` are one.

    >>> _way("a-1") == _way("Bcd-22"), _way("Match (%)"), _way("일치도")
    (True, 'a (%)', 'a')
    """
    return _LETTERS.sub("a", _DIGITS.sub("0", cell))


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _is_alone(row: Sequence[str]) -> bool:
    first = row[0].strip() if row else ""
    is_note = len(first.split()) >= 3 or first[:1] + first[-1:] == "()"  # (567 rows)
    return is_note and not any(cell.strip() for cell in row[1:])


AGAIN = "The header stands again in rows below, which were left out."


def notes_on_rows(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield what to say of last rows that are left out.

    Examples
    --------
    >>> list(notes_on_rows([["Total", "", "6"]]))
    ["The last row was left out, since it is a total: 'Total · 6'."]
    """
    if not rows:
        return
    said = "; ".join(" · ".join(cell.strip() for cell in row if cell.strip()) for row in rows)
    start = "The last row was left out, since it is" if len(rows) == 1 else f"{len(rows)} last rows were left out:"
    kind = "" if len(rows) > 1 else " a total:" if is_total(rows[0]) else " a note:"
    yield f"{start}{kind} {shorten(said, 200)}."


_INSIDE = '"ImportId"'
"""What the cells of the third row of a survey of Qualtrics hold."""


def titles_above(records: Sequence[Sequence[str]]) -> int:
    """Return how many rows, without blank lines, are above the header of a table: a title, a date, a source.

    Below them is a header: no number, no empty cell, no name twice; then rows that are as wide.
    """
    said = next((at for at, row in enumerate(records) if not (row and row[0].startswith(COMMENT))), 0)
    for count in range(said, min(said + MOST_TITLES, len(records))):
        header, *rows = records[count : said + MOST_TITLES + 3]
        if both := _of_two_rows(records[count:]):
            header, rows = both, rows[1:]
        names = [name.strip() for name in header]
        # behind a column that is empty stands something else, as a legend
        blank = (
            k for k, name in enumerate(names) if k and not name and not any(row[k : k + 1] != [""] for row in rows)
        )
        names = names[: next(blank, None)]
        is_header = len(names) > 1 and all(names) and len(set(names)) == len(names) and not any(map(is_number, names))
        if is_header and len(rows) > 1 and all(len(row) == len(header) for row in rows):
            return count if all(_is_title(row, len(names)) for row in records[:count]) else 0
    return 0


def _is_title(row: Sequence[str], width: int) -> bool:
    """Whether a row is too short for a header, even one that leaves out the row names, or mostly empty."""
    return len(row) < width - 1 or 2 * sum(bool(cell.strip()) for cell in row) < width


def _is_data(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a first row is data: it has a number wherever the rows below have numbers, in two columns at least.

    Or each of its cells stands again in its column, and not in a row that repeats it, as a header may; and one is a
    number, or columns have nothing in common, or all cells.

    Numbers in even steps (0, 1, 2 …; years) are names after all; two of them, if they are 0, 1 or 1, 2; and so are
    `LONG` and more that rise (wavelengths).
    """
    others = [{*cells} for cells in zip(*(row for row in below if row != first), strict=True)]
    again = [cell in cells for cell, cells in zip(first, others, strict=False)]
    if len(again) == len(first) == len({*first}) > 1 and all(again) and all(first):
        own = [one - {""} for one in others]
        are_apart = all(one.isdisjoint(other) for one, other in combinations(own, 2)) and min(map(len, own)) > 1
        are_apart = are_apart or all({*first} <= one for one in own)
        if are_apart or any(map(is_number, first)):  # a box that is ticked says its own name, as a person may
            return True
    if sum(map(is_number, first)) < 2:
        return False
    columns = [at for at, cells in enumerate(zip(*below, strict=True)) if is_measured(cells)]
    above = [first[at].strip() for at in columns]
    if not all(cell in MISSING or is_number(cell) for cell in above):
        return False
    numbers = np.array([float(cell) for cell in above if is_number(cell)])
    if len(numbers) < 2 or not np.isfinite(numbers).all():
        return False
    if len(numbers) == 2:
        return numbers.tolist() not in ([0, 1], [1, 2])
    steps = np.diff(numbers)
    is_even = steps[0] != 0 and bool(np.allclose(steps, steps[0], rtol=1e-6))
    return not (is_even or (len(numbers) >= LONG and bool((steps > 0).all())))

"""An archive of plain texts as tables: each where all have tabs, else a line an example in all of a folder."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pll.errors import UserError
from pll.formats.archive import Members
from pll.formats.checks import listing
from pll.formats.codebook import codes_in
from pll.formats.encodings import as_utf8
from pll.formats.grouping import grouped
from pll.formats.tabular.cells import is_number

TEXTS_AS_TABLE = "lines.csv"
"""What the table of the texts of a folder is called in which a line each is about one example."""
BOOK_OF_CODES = "codebook.csv"
"""What the table is called that a text with the names of classes is, in the order of their numbers."""
MOST_TEXTS = 1000
"""Texts that may be tables."""
_ABOUT = ("readme", "license", "licence")
"""How texts are called that hold no data."""


def names_of_texts(members: Members) -> list[str]:
    """Return the texts with data where there is nothing but texts, else nothing.

    Parameters
    ----------
    members
        The archive or folder.
    """
    paths = {name: PurePosixPath(name) for name in members.sizes}
    paths = {name: path for name, path in paths.items() if not path.stem.lower().startswith(_ABOUT)}
    are_texts = all(path.suffix.lower() == ".txt" for path in paths.values())
    return [*paths] if are_texts and len(paths) <= MOST_TEXTS else []


def tables_in_texts(members: Members) -> tuple[dict[str, bytes], list[str]]:
    """Return the tables that texts are, as the content of files, and notes on texts that are in none.

    They are those of a folder whose texts all have tabs, or `TEXTS_AS_TABLE` of one where most have as many lines; or
    a text alone.

    A column of `TEXTS_AS_TABLE` is a text, called as its file; tabs in all lines, or numbers alone, make several.

    Parameters
    ----------
    members
        The archive or folder.

    Raises
    ------
    UserError
        Texts of a folder that are neither.
    """
    names = names_of_texts(members)
    members.check_total(names)
    said = {name: _lines(members.read(name)) for name in names}
    folders = grouped((name.rpartition("/")[0], name) for name in names)
    tables, alone, notes = dict[str, bytes](), list[str](), list[str]()
    for folder, texts in folders.items():
        books = [name for name in texts if _is_codebook(name, said[name])]
        own = [name for name in texts if name not in books] or texts
        untabbed = [name for name in texts if not _has_tabs(said[name])]
        many = Counter(len(said[name]) for name in own).most_common()[0][0]
        alike = [name for name in texts if len(said[name]) == many]
        others = [name for name in own if name not in alike]
        if many > 1 and len(alike) > max(1, len(others)) and not {*untabbed}.isdisjoint(alike):
            tables[str(PurePosixPath(folder, TEXTS_AS_TABLE))] = _side_by_side({name: said[name] for name in alike})
            named = [name for name in others if _names_numbers(said[name], [said[one] for one in alike])][:1]
            for name in named:
                tables[str(PurePosixPath(folder, BOOK_OF_CODES))] = _as_csv([("code", "name"), *enumerate(said[name])])
            others = [name for name in others if name not in named]
            notes += [f"Left out, since others in their folder have {many:,} lines: {listing(others)}."] * bool(others)
        elif len(untabbed) < len(texts) and {*untabbed} <= {*books}:
            tables |= {name: members.read(name) for name in texts if name not in untabbed}
        elif len(own) == 1:
            alone += own
        else:
            raise _are_no_table({name: said[name] for name in texts})
    if tables or not alone:
        return tables, notes + [f"Left out, as single texts without tabs: {listing(alone)}."] * bool(alone)
    if len(alone) > 1:
        raise _are_no_table(said)
    return {name: members.read(name) for name in alone}, notes


def _lines(content: bytes) -> list[str]:
    """Return the lines of a text, the last of which may be empty.

    >>> _lines(b"a\\n\\n"), _lines(b"a\\r\\n\\r\\nb")
    (['a', ''], ['a', '', 'b'])
    """
    return as_utf8(content).decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")


def _is_codebook(name: str, lines: list[str]) -> bool:
    """Whether a text says what codes mean, each once."""
    return len({*lines}) == len(lines) and bool(codes_in(PurePosixPath(name).stem, [[line] for line in lines]))


def _names_numbers(lines: list[str], texts: Sequence[list[str]]) -> bool:
    """Whether a text has a name for each whole number from 0 on that stands in other texts, of one of these all.

    >>> (
    ...     _names_numbers(["coast", "forest"], [["0 -1", "1 0"], ["a.jpg", "b.jpg"]]),
    ...     _names_numbers(["a", "b"], [["0 5"]]),
    ... )
    (True, False)
    """
    codes = [{cell for line in text for cell in line.split()} - {"-1"} for text in texts]
    wanted = {str(number) for number in range(len(lines))}
    are_names = len({*lines}) == len(lines) > 1 and all(lines) and not any(map(is_number, lines))
    return are_names and wanted in codes and all(some <= wanted for some in codes if all(map(is_number, some)))


def _has_tabs(lines: list[str]) -> bool:
    """Whether there are several lines, and tabs in all that are not empty."""
    filled = [line for line in lines if line]
    return len(lines) > 1 and bool(filled) and all("\t" in line for line in filled)


def _are_no_table(said: Mapping[str, list[str]]) -> UserError:
    sizes = listing([f"{name} has {len(lines):,}" for name, lines in said.items()])
    return UserError(
        f"The texts are no table by their lines ({sizes}). Line by line the texts of a folder must be about the same "
        "examples, or each must have tabs between the columns of a table; leave others out. A text an example is not "
        "read: bring a table with a row for each."
    )


def _side_by_side(said: Mapping[str, list[str]]) -> bytes:
    """Return the table with a row for each line of texts."""
    columns = dict[str, list[str]]()
    for name, lines in said.items():
        columns |= _columns(PurePosixPath(name).stem, lines)
    return _as_csv([[*columns], *zip(*columns.values(), strict=True)])


def _as_csv(rows: Iterable[Sequence[Any]]) -> bytes:
    content = io.StringIO()
    csv.writer(content, lineterminator="\n").writerows(rows)
    return content.getvalue().encode()


def _columns(stem: str, lines: list[str]) -> dict[str, list[str]]:
    """Return the columns of a text: one, or as many as all of its lines have tabs between, or numbers.

    >>> _columns("answers", ["-1 5", "0 2"]), _columns("labels", [" cat", "a dog"])
    ({'answers 1': ['-1', '0'], 'answers 2': ['5', '2']}, {'labels': ['cat', 'a dog']})
    >>> _columns("said", ["1\\ta dog", "2\\t"])
    {'said 1': ['1', '2'], 'said 2': ['a dog', '']}
    """
    rows = [line.split("\t") for line in lines]
    if len(rows[0]) == 1:
        rows = [line.split() for line in lines]
        rows = rows if all(is_number(cell) for row in rows for cell in row) else [[]]
    width = len(rows[0])
    if width < 2 or any(len(row) != width for row in rows):
        return {stem: [line.strip() for line in lines]}
    return {f"{stem} {at + 1}": [row[at].strip() for row in rows] for at in range(width)}

"""An archive or a folder of plain texts as tables: each by itself where it has tabs, else a line an example in all."""

from __future__ import annotations

import csv
import io
from collections import Counter
from pathlib import PurePosixPath

from pll.errors import UserError
from pll.formats.archive import Members
from pll.formats.checks import listing
from pll.formats.encodings import as_utf8
from pll.formats.tabular.cells import is_number

TEXTS_AS_TABLE = "lines.csv"
"""What the table of texts is called in which a line each is about one example."""
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
    """Return the tables that texts are, as the content of files, and the texts that are in none.

    They are one alone, those with tabs in every line, or `TEXTS_AS_TABLE` of those with as many lines as most.

    A column of `TEXTS_AS_TABLE` is a text, called as its file; a matrix of numbers is one column for each of them.

    Parameters
    ----------
    members
        The archive or folder.

    Raises
    ------
    UserError
        Texts without tabs that have different numbers of lines.
    """
    names = names_of_texts(members)
    members.check_total(names)
    said = {name: as_utf8(members.read(name)).decode("utf-8", "replace").rstrip("\r\n").split("\n") for name in names}
    tabbed = [name for name, lines in said.items() if len(lines) > 1 and all("\t" in line for line in lines if line)]
    if tabbed or len(said) < 2:
        return {name: members.read(name) for name in tabbed or said}, [
            name for name in said if tabbed and name not in tabbed
        ]
    (many, times), *_ = Counter(map(len, said.values())).most_common()
    if times < 2 or many < 2:
        sizes = listing([f"{name} has {len(lines):,}" for name, lines in said.items()])
        raise UserError(
            f"The texts have different numbers of lines ({sizes}). Line by line they must be about the same examples; "
            "or put a tab between the columns of each."
        )
    columns = dict[str, list[str]]()
    for name, lines in said.items():
        if len(lines) == many:
            columns |= _columns(PurePosixPath(name).stem, [line.strip() for line in lines])
    content = io.StringIO()
    csv.writer(content, lineterminator="\n").writerows([columns, *zip(*columns.values(), strict=True)])
    return {TEXTS_AS_TABLE: content.getvalue().encode()}, [name for name, lines in said.items() if len(lines) != many]


def _columns(stem: str, lines: list[str]) -> dict[str, list[str]]:
    """Return the columns of a text: one, or as many as all of its lines have numbers.

    >>> _columns("answers", ["-1 5", "0 2"]), _columns("labels", ["cat", "a dog"])
    ({'answers 1': ['-1', '0'], 'answers 2': ['5', '2']}, {'labels': ['cat', 'a dog']})
    """
    rows = [line.split() for line in lines]
    width = len(rows[0])
    if width < 2 or any(len(row) != width for row in rows) or not all(is_number(cell) for row in rows for cell in row):
        return {stem: lines}
    return {f"{stem} {at + 1}": [row[at] for row in rows] for at in range(width)}

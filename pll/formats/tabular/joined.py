"""Tables that say more of what another one is about, by a column that names it: items, truth, people beside answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from pll.formats.forms import plain_name
from pll.formats.proposal import says
from pll.formats.records import Records
from pll.formats.tabular.parts import SHARED, are_one_a_person, cells_of, in_common


def joined(tables: Mapping[str, Records]) -> tuple[dict[str, Records], list[str]]:
    """Add to the largest table what others say of what it names; return the tables that are left, and notes.

    Such a table has one row for each name in a column that is called the same in both, and its other columns are new.

    Parameters
    ----------
    tables
        By name.

    Examples
    --------
    >>> import pyarrow as pa
    >>> answers = Records.of(pa.table({"item": ["q1", "q1", "q2"], "who": ["a", "b", "a"], "says": ["x", "y", "y"]}))
    >>> items = Records.of(pa.table({"item": ["q1", "q2", "q3"], "title": ["one", "two", "three"]}))
    >>> left, notes = joined({"answers.csv": answers, "items.csv": items})
    >>> list(left), left["answers.csv"].names
    (['answers.csv'], ['item', 'who', 'says', 'title'])
    >>> notes
    ['items.csv was added by item; 1 of its 3 rows is of nothing here.']
    """
    left, notes = dict(tables), list[str]()
    first, *others = sorted(tables, key=lambda name: -tables[name].rows) or [""]
    others = [name for name in others if _may_say_more(name, tables[name], tables[first])]
    if not others or are_one_a_person([*tables.values()]):
        return left, notes
    for name in others:
        about = tables[name]
        if (key := _key(left[first], about)) is None:
            continue
        mine, theirs = key
        keys = cells_of(left[first], mine)
        row_of = {cell: row for row, cell in enumerate(cells_of(about, theirs)) if cell}
        others = [column for column in about.names if column != theirs]
        new = {_called(left[first].names, name, column, len(others)): cells_of(about, column) for column in others}
        left[first] = left[first].with_columns(
            {column: [cells[row_of[k]] if k in row_of else None for k in keys] for column, cells in new.items()}
        )
        del left[name]
        spare = len(row_of.keys() - {*keys})
        of_nothing = f"; {spare:,} of its {len(row_of):,} rows {'is' if spare == 1 else 'are'} of nothing here"
        notes.append(f"{name} was added by {mine}{of_nothing if spare else ''}.")
    return left, notes


def _may_say_more(name: str, about: Records, table: Records) -> bool:
    """Whether a table has other columns, and is no part of the same, or is called as what somebody settled."""
    return in_common(table.names, about.names) < SHARED or says("settled", PurePosixPath(name).stem)


def _key(table: Records, about: Records) -> tuple[str, str] | None:
    """Return the columns of both tables that name the same: each once in the second; None where there are none."""
    plain = {plain_name(name): name for name in table.names}
    for theirs in about.names:
        mine = plain.get(plain_name(theirs))
        cells = cells_of(about, theirs) if mine else []
        if mine is None or len({*cells}) < len(cells) or None in cells:
            continue
        there = {cell for cell in cells_of(table, mine) if cell}
        if len(there & {*cells}) >= SHARED * min(len(there), len(cells)) > 0:
            return mine, theirs
    return None


def _called(there: Sequence[str], file: str, column: str, new: int) -> str:
    """Return what a column that is added is called: as its file, where that says it, or its name is taken."""
    stem = PurePosixPath(file).stem
    if new == 1 and says("settled", stem) and stem not in there:
        return stem
    return f"{stem} {column}" if column in there else column

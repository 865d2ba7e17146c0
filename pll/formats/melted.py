"""Rows that stand twice in a table with a row for each example, as pasted again at its end, count once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pll.formats.names import is_named_id
from pll.formats.reading import LINES
from pll.formats.records import Records
from pll.formats.tabular.cells import Cells, are_texts, default_role

FEW_AGAIN = 0.05
"""Share of the rows whose id stands in another row too, up to which that is a slip, and no other form of a table."""


def once(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table without rows that stand there a second time, every cell the same; any other as it is.

    Another column than a text must name the rest of the rows, none twice: without one, things may well be alike.

    Parameters
    ----------
    table
        The table.
    given
        Roles that a person gave: with one of long form the table stays.

    Examples
    --------
    >>> cells = {"ref": [f"a{k}" for k in range(30)], "cover": ["ab"[k % 2] for k in range(30)]}
    >>> twice = {name: [*some, some[3]] for name, some in cells.items()}
    >>> once(Records.of(twice), {}).notes
    ('Rows that stand there twice, every cell the same, count once: 1, the first of them row 30.',)
    >>> once(Records.of(twice | {"who": [*"x" * 30, "y"]}), {}).notes
    ()
    """
    sample = list(zip(*table.sample(), strict=True))
    kinds = len({*sample})  # a large table is read as a whole only where a row is seen to stand there twice
    named = enumerate(table.sample()) if 0 < len(sample) - kinds <= FEW_AGAIN * len(sample) else ()
    keys = [at for at, some in named if len({*some}) == kinds and _may_name(table.names[at].strip(), some)]
    if not keys or not {*LINES}.isdisjoint({**table.roles, **given}.values()):
        return table
    lines, number = list(table.lines()), dict[tuple[str | None, ...], int]()
    again = [number.setdefault(line, len(number)) for line in lines]
    if len(number) == len(lines) or not any(len({line[at] for line in number}) == len(number) for at in keys):
        return table
    rows = np.unique(again, return_index=True)[1]
    second = np.setdiff1d(np.arange(len(lines)), rows)
    note = f"Rows that stand there twice, every cell the same, count once: {len(second):,}, the first of them row"
    return replace(
        table,
        batches=Records.of(table.whole().take(rows)).batches,
        rows=len(rows),
        row_of=lambda at: table.row_of(int(rows[at])),
        notes=(*table.notes, f"{note} {table.row_of(int(second[0]))}."),
        first=[[cells[row] for row in rows if row < len(cells)] for cells in table.sample()],
        again=again,
    )


def _may_name(name: str, cells: Cells) -> bool:
    """Whether a column may name rows: an id, or a word in each."""
    return all(cells) and (is_named_id(name) or default_role(cells) != "feature") and not are_texts(cells, 4)

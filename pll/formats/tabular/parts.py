"""Several tables that are one: a sheet, or a file in a ZIP archive or a folder, a person.

Tables whose columns agree and that are about the same examples are the answers of one person each; the name of the
sheet or of the file is the person. Others, as parts of one export, are one table, one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

import pyarrow as pa

from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.records import Records, one_column, text_of

PERSON = ("annotator", "annotated in", "file or sheet")
"""Names of the column that says whose a row is; the first that no table has."""
SHARED = 0.5
"""Share of the columns that two tables have in common, and of the examples that two people both saw, at least."""


def stacked(names: Sequence[str], tables: Sequence[Records]) -> Records:
    """Return tables one after the other, with a column that says whose each row is where each is one person's.

    Parameters
    ----------
    names
        Of the sheets or files.
    tables
        At least one.

    Raises
    ------
    UserError
        Their columns have little in common.
    """
    if len(tables) == 1:
        return tables[0]
    other = next((k for k, table in enumerate(tables) if _in_common(tables[0].names, table.names) < SHARED), None)
    if other is not None:
        raise UserError(
            f"{names[0]} has the columns {listing(list(tables[0].names), limit=5)}, {names[other]} has "
            f"{listing(list(tables[other].names), limit=5)}: these are different tables. Bring the one with the "
            "examples; files of votes can be brought beside it."
        )
    every = list(dict.fromkeys(name for table in tables for name in table.names))
    whole = [_whole(table) for table in tables]
    columns = {
        name: one_column([part.column(list(table.names).index(name)) if name in table.names else len(part)
                       for table, part in zip(tables, whole, strict=True)])
        for name in every
    }  # fmt: skip
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    starts = [0]
    for part in whole:
        starts.append(starts[-1] + len(part))

    def row_of(at: int) -> int:
        part = next(k for k, end in enumerate(starts[1:]) if at < end)
        return tables[part].row_of(at - starts[part])

    roles = {name: role for table in tables for name, role in table.roles.items()}
    if are_one_a_person(tables):
        column = next(name for name in PERSON if name not in every)
        who = [name for name, part in zip(names, whole, strict=True) for _ in range(len(part))]
        columns = {column: pa.array(who, pa.string()), **columns}
        roles |= {column: "worker"}
        about = f"{len(names)} tables about the same examples were taken for one person each: {listing(list(names))}."
    else:
        about = f"{len(names)} tables were read as one: {listing(list(names))}."
    may_be_empty = all(table.may_be_empty for table in tables)
    notes_of_all = (about, *notes)
    return Records.of(pa.table(columns), row_of=row_of, roles=roles, notes=notes_of_all, may_be_empty=may_be_empty)


def are_one_a_person(tables: Sequence[Records]) -> bool:
    """Whether tables are the answers of a person each: the same columns, about the same examples.

    Examples
    --------
    >>> ann = Records.of(pa.table({"id": ["a", "b"], "label": ["x", "y"]}))
    >>> bob = Records.of(pa.table({"id": ["b", "a"], "label": ["x", "x"]}))
    >>> are_one_a_person([ann, bob]), are_one_a_person([ann, Records.of(pa.table({"id": ["c"], "label": ["x"]}))])
    (True, False)
    """
    if any(name.strip().casefold() == "candidates" for name in tables[0].names):  # sets, which are nobody's answers
        return False
    if len(tables) < 2 or any(_in_common(tables[0].names, table.names) < SHARED for table in tables):
        return False
    for name in tables[0].names:
        if any(name not in table.names for table in tables):
            continue
        cells = [_cells(table, name) for table in tables]
        about = [set(some) - {None} for some in cells]
        most = max(about, key=len)
        are_names = all(len(some) >= max(1, SHARED * len(of)) for some, of in zip(about, cells, strict=True))
        several = sum(len(some) > 1 for some in about) > 1  # somebody may have answered once
        if are_names and several and all(len(some & most) >= SHARED * min(len(some), len(most)) for some in about):
            return True
    return False


def people_of(paths: Sequence[str]) -> list[str]:
    """Return what the files of an archive are called: by their own names, else by the folder that tells them apart.

    Examples
    --------
    >>> people_of(["in/amy.csv", "in/ben.csv"]), people_of(["out/amy/all.jsonl", "out/ben/all.jsonl"])
    (['amy', 'ben'], ['amy', 'ben'])
    """
    for part in (-1, -2, -3):
        names = [PurePosixPath(path).stem if part == -1 else PurePosixPath(path).parts[part:][0] for path in paths]
        if max(Counter(names).values()) == 1:
            return names
    return list(paths)


def _in_common(one: Sequence[str], other: Sequence[str]) -> float:
    """Return which share of the columns of two tables both have."""
    return len({*one} & {*other}) / max(len({*one} | {*other}), 1)


def _whole(table: Records) -> pa.Table:
    """Return all rows of a table; its columns by position."""
    batches = list(table.batches(range(len(table.names))))
    empty = pa.schema([(str(at), pa.string()) for at in range(len(table.names))])
    return pa.Table.from_batches(batches, None if batches else empty)


def _cells(table: Records, name: str) -> list[str | None]:
    at = list(table.names).index(name)
    return [cell or None for batch in table.batches([at]) for cell in text_of(batch.column(0)).to_pylist()]

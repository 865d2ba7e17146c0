"""A table with a row for each value: one column names what another one holds (`tier`, `variable`), and is made wide.

Tables of answers look so too, a row an answer, and stay: there everybody says the same few words. What is made wide has
a name under which other things stand, such as the words that two people labelled. A table with a column for each
example, and a row for what was measured or what somebody said, is turned. Rows that stand twice in a table with a row
for each example, as pasted again at its end, count once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from pll.formats.checks import listing
from pll.formats.class_groups import agree
from pll.formats.forms import USUAL, plain_name
from pll.formats.names import is_named_id
from pll.formats.proposal import FEW, are_distinct, share_among
from pll.formats.reading import LINES
from pll.formats.records import Records
from pll.formats.tabular.cells import Cells, are_texts, default_role, is_number, spelling

MOST_COLUMNS = 10
"""Columns of such a table, at most."""
LEAST_ROWS, LEAST_FILLED = 10, 0.6
"""Examples, at least, and the share of their values that are there."""
SHARED = 0.1
"""Share of the words that what is no answer has in common with all others, at most."""


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


def wide(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table with a row for each value as one with a column for each name; any other as it is.

    Parameters
    ----------
    table
        The table.
    given
        Roles that a person gave: with one for the names, or what they name, the table stays.

    Examples
    --------
    >>> said = [(k, n, f"w{k} x" if n == "word" else "ab"[k % 2]) for k in range(30) for n in ("word", "amy", "bo")]
    >>> long = Records.of(dict(zip(("at", "tier", "text"), map(list, zip(*said)))))
    >>> wide(long, {}).names, wide(long, {"tier": "worker"}).names
    (['at', 'word', 'amy', 'bo'], ['at', 'tier', 'text'])
    """
    found = _named_in(table, dict(zip(table.names, table.sample(), strict=True)))
    if found is None or any(name.strip() in given for name in found):
        return table
    cells = {name: list(table.texts(at)) for at, name in enumerate(table.names)}
    if _named_in(table, cells) != found:
        return table
    what, value = found
    keys = [name for name in table.names if name not in found]
    rows: dict[tuple[str | None, ...], dict[str, str | None]] = {}
    first = dict[tuple[str | None, ...], int]()
    for at, key in enumerate(zip(*(cells[name] for name in keys), strict=True)):
        first.setdefault(key, at)
        rows.setdefault(key, {})[cells[what][at] or ""] = cells[value][at]
    names = [name for name in dict.fromkeys(cells[what]) if name]
    called = {name: f"{what} {name}" if name in keys else name for name in names}
    columns = {name: [key[at] for key in rows] for at, name in enumerate(keys)}
    columns |= {called[name]: [row.get(name) for row in rows.values()] for name in names}
    role = "id" if len(keys) == 1 else "keep"
    roles = {name: role for name in keys if are_distinct(columns[name]) and not are_texts(columns[name], 4)}
    lines = list(first.values())
    each = " and ".join(keys)
    note = f"{what} names what {value} holds: {listing(names)} were made columns, with a row for each {each}."
    return Records.of(columns, row_of=lambda at: table.row_of(lines[at]), roles=roles, notes=(*table.notes, note))


def turned(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table with a column for each example as one with a row for each; any other as it is.

    Rows of numbers or of texts stand there above rows in which people say the same few words.

    Parameters
    ----------
    table
        The table.
    given
        Roles that a person gave: with one for an example's column, the table stays.

    Examples
    --------
    >>> rows = [("sugar", *map(str, range(40))), *((who, *("ab"[k % 2] for k in range(40))) for who in ("amy", "bo"))]
    >>> names = ["jar", *(f"J{k}" for k in range(40))]
    >>> across = Records.of(dict(zip(names, map(list, zip(*rows)))))
    >>> turned(across, {}).names, len(turned(across, {"J3": "category"}).names)
    (['jar', 'sugar', 'amy', 'bo'], 41)
    """
    examples = [name.strip() for name in table.names[1:]]
    is_wide = len(examples) >= max(LEAST_ROWS, 2 * table.rows) and 2 < table.rows <= FEW
    if table.form is not None or table.roles or not is_wide or any(name in given for name in examples):
        return table
    called, *columns = (list(table.texts(at)) for at in range(len(table.names)))
    rows = dict(zip(called, map(list, zip(*columns, strict=True)), strict=True))
    if not are_distinct(called) or any(map(is_number, filter(None, called))) or not _are_said_below(rows):
        return table
    key = table.names[0]
    told: dict[str, Sequence[str | None]] = {name.strip(): cells for name, cells in rows.items() if name}
    if key in told:
        return table
    note = f"Each column is an example ({listing(examples, limit=3)}), so the table was turned: its rows are columns."
    told = {key: examples, **told}
    return Records.of(told, row_of=lambda at: at + 2, roles={key: "id"}, notes=(*table.notes, note))


def _are_said_below(rows: Mapping[str | None, Cells]) -> bool:
    """Whether rows of numbers or texts come first, and then those of people who say the same words, mostly agreeing."""
    said: list[dict[object, str]] = [
        {at: spelling(cell) for at, cell in enumerate(cells) if cell and cell.strip()} for cells in rows.values()
    ]
    are_known = [
        all(map(is_number, (word.replace(",", ".", 1) for word in some.values()))) or are_texts([*some.values()], 4)
        for some in said
    ]
    first = are_known.index(False) if False in are_known else 0
    people = said[first:]
    is_filled = all(2 * len(some) >= len(cells) for some, cells in zip(said, rows.values(), strict=True))
    words = Counter(word for some in people for word in some.values())
    are_few = 1 < len(words) <= FEW and len(people) > 1 and not any(are_known[first:])
    return first > 0 and is_filled and are_few and any(_agree(a, b) for a, b in combinations(people, 2))


def _named_in(table: Records, cells: Mapping[str, Cells]) -> tuple[str, str] | None:
    """Return the column of names and that of what they name; None where a table has no such columns."""
    is_other = table.form is not None or bool(table.roles) or not 2 < len(cells) <= MOST_COLUMNS
    names = [name for name, some in cells.items() if not is_other and all(some) and 2 < len({*some}) <= FEW]
    people = {*USUAL["worker"], *USUAL["person"]}
    pairs = [(name, value) for name in names for value in cells if name != value]
    others = {pair: [name for name in cells if name not in pair] for pair in pairs}
    free = [pair for pair in pairs if people.isdisjoint(map(plain_name, others[pair]))]
    return next((pair for pair in free if _names(cells, *pair, others[pair])), None)


def _names(cells: Mapping[str, Cells], what: str, value: str, keys: Sequence[str]) -> bool:
    """Whether a column names what stands in another one, once for each combination of all others."""
    rows = list(zip(*(cells[name] for name in keys), strict=True))
    examples, kinds = len({*rows}), dict.fromkeys(cells[what])
    is_once = len({*zip(rows, cells[what], strict=True)}) == len(rows)
    if not is_once or examples < LEAST_ROWS or len(rows) < LEAST_FILLED * examples * len(kinds):
        return False
    said: dict[str | None, dict[object, str]] = {kind: {} for kind in kinds}
    for row, kind, cell in zip(rows, cells[what], cells[value], strict=True):
        said[kind] |= {row: spelling(cell)} if cell and cell.strip() else {}
    words = {kind: Counter(some.values()) for kind, some in said.items()}
    others = [kind for kind in kinds if _is_other(kind, words)]
    few = [k for k in kinds if k not in others and 1 < len(words[k]) <= max(FEW, words[k].total() // 4)]
    return bool(others) and any(_agree(said[a], said[b]) for a, b in combinations(few, 2))


def _is_other(kind: str | None, words: Mapping[str | None, Counter[str]]) -> bool:
    """Whether what stands under a name are many words, and those of no other name."""
    own, rest = words[kind], sum((some for other, some in words.items() if other != kind), Counter[str]())
    are_many = len(own) > FEW or 2 * len(own) > own.total()
    return are_many and share_among(own, rest) <= SHARED


def _agree(one: Mapping[object, str], other: Mapping[object, str]) -> bool:
    """Whether two names have the same words, and mostly the same one for an example, as people have who see it."""
    a, b = Counter(one.values()), Counter(other.values())
    is_one = min(share_among(a, b), share_among(b, a)) >= 1 / 2
    both = list(one.keys() & other.keys())
    return is_one and agree([[said[key] for key in both] for said in (one, other)])

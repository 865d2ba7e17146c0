"""Numbered pairs of columns, of who answered and what (`annotator_1`, `label_1`, `annotator_2`, `label_2`, …)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pll.formats.checks import listing
from pll.formats.names import is_named_id
from pll.formats.records import Records
from pll.formats.tabular.cells import FEW, NEARLY_ALL, Cells, are_dates, is_number, nearly_all, spelling

Numbered = Mapping[str, Mapping[str, str]]
"""Columns by their name without the number (`label_*`), and by the number."""


def with_pairs(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table in which numbered pairs of columns, of a person and a label, are one column of answers.

    Other columns with these numbers, such as the year, are of the answers, and carried along.

    Parameters
    ----------
    table
        Without a signature.
    given
        Roles that a person gave: where one is of such a column, it stays as it is.
    """
    numbered = _numbered(table.names)
    cells = dict(zip(table.names, table.first, strict=True))
    found = [(who, what) for who in numbered for what in numbered if _are_pairs(numbered, who, what, cells)]
    if len(found) != 1 or any(name in given for stem in found[0] for name in numbered[stem].values()):
        return table
    who, what = found[0]
    pairs = [(table.names.index(numbered[who][k]), table.names.index(numbered[what][k])) for k in numbered[what]]
    answers: list[dict[str, str | list[str]]] = [{} for _ in table.texts(pairs[0][0])]
    for person, label in pairs:
        for own, name, cell in zip(answers, table.texts(person), table.texts(label), strict=True):
            if name and cell:  # who answers again says both
                own[name] = [*_listed(own[name]), cell] if name in own else cell
    beside = [name for stem in numbered if {*numbered[stem]} == {*numbered[what]} for name in numbered[stem].values()]
    said = listing([*numbered[what].values()])
    note = f"Columns {said} were read as answers of whom {listing([*numbered[who].values()])} name."
    roles = {**dict.fromkeys(beside, "keep"), "answers": "answers", **table.roles}
    read = replace(table, roles=roles, notes=(*table.notes, note))
    return read.with_columns({"answers": answers}, [at for pair in pairs for at in pair])


def _listed(said: str | list[str]) -> list[str]:
    return [said] if isinstance(said, str) else said


def _numbered(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """The columns with one number in their name, two at least of each kind."""
    found = dict[str, dict[str, str]]()
    for name in names:
        kind, times = re.subn(r"\d+", "*", name)
        if times == 1:
            found.setdefault(kind, {})["".join(filter(str.isdigit, name))] = name
    return {kind: by_number for kind, by_number in found.items() if len(by_number) > 1}


def _are_pairs(numbered: Numbered, who: str, what: str, cells: Mapping[str, Cells]) -> bool:
    """Whether columns name people who come again under several numbers, none twice in a row, beside what they say."""
    if who == what or numbered[who].keys() != numbered[what].keys() or is_named_id(what.replace("*", "")):
        return False
    people = [[cell or "" for cell in cells[name]] for name in numbered[who].values()]
    labels = [[cell or "" for cell in cells[numbered[what][k]]] for k in numbered[who]]
    said = [pair for some, of in zip(people, labels, strict=True) for pair in zip(some, map(spelling, of), strict=True)]
    both = [pair for pair in said if all(pair)]
    named, kinds = Counter(name for name, _ in both), Counter(label for _, label in both)
    if len(both) < NEARLY_ALL * sum(any(pair) for pair in said) or len(named) < 2 or len(kinds) < 2:
        return False
    if any(nearly_all(is_number, [*some]) or are_dates([*some]) for some in (named, kinds)) or {*named} & {*kinds}:
        return False
    rows = [[name for name in row if name] for row in zip(*people, strict=True)]
    several = sum(sum(name in some for some in people) > 1 for name in named)
    once = sum(len({*row}) == len(row) for row in rows)
    agreed = [len({label for label in row if label}) < sum(map(bool, row)) for row in zip(*labels, strict=True)]
    are_few = 2 * len(named) <= len(both) and len(kinds) <= max(FEW, len(both) // 4)
    return are_few and 2 * several >= len(named) and once >= NEARLY_ALL * len(rows) and any(agreed)

"""Columns that are a voter and a class each (`finbert_pos`, `Ann: urgent`): how likely or how often, or a mark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from pll.formats.checks import listing
from pll.formats.class_groups import agree, amount, says_total
from pll.formats.forms import USUAL, plain_name
from pll.formats.names import GRID, MOST_IN_GRID, SHARE_COLUMN, Grid, grids, parts_of
from pll.formats.reading import OF_LABELS
from pll.formats.records import Records
from pll.formats.results import free_name
from pll.formats.tabular.cells import (
    FEW,
    NEARLY_ALL,
    Cells,
    are_dates,
    is_number,
    present_cells,
    read_marks,
    says_counts,
)

ROUNDED_SUM = 0.02
"""How far a sum may be from 1 or 100."""
LEAST_OF_ALL_VOTERS = 0.2
"""Share of the rows that every voter answered, at least."""


def with_voters(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table in which columns of a voter and a class each are one column a voter.

    Columns that are called as a class of these, as `Sum_Amsel` is, are made of them, and carried along.

    Parameters
    ----------
    table
        Without a signature.
    given
        Roles that a person gave.
    """
    cells = {name.strip(): some for name, some in zip(table.names, table.first, strict=True)}
    free = [name for name in cells if name not in given or given[name] in OF_LABELS]
    cross = _without_means(cross_in(free, [cells[name] for name in free]), cells)
    used = {name for classes in cross.values() for name in classes.values()}
    if not cross or (used & given.keys() and not cross.keys() & given.keys()):
        return table
    labels = [*next(iter(cross.values()))]
    about = [n for n in free if n not in used and {*labels}.intersection(part for pair in parts_of(n) for part in pair)]
    at = {name.strip(): k for k, name in enumerate(table.names)}
    texts = {name: list(table.texts(at[name])) for name in used}
    new = {voter: _answers([*some], [texts[name] for name in some.values()]) for voter, some in cross.items()}
    note = f"Columns of {listing([*cross])} for {listing(labels)} each were read as one answer each."
    roles = {**dict.fromkeys(about, "keep"), **table.roles}
    gone = [at[name] for name in {*used, *(at.keys() & cross.keys())}]
    return replace(table, roles=roles, notes=(*table.notes, note)).with_columns(new, gone)


def with_shares_of_lines(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table in which columns of how likely each class is are one answer a line, of several voters' lines.

    A column names who gave the line (`model`), another one what it is about, which no voter names twice.

    Parameters
    ----------
    table
        Without a signature.
    given
        Roles that a person gave.
    """
    cells = {name.strip(): some for name, some in zip(table.names, table.first, strict=True)}
    free = [n for n in cells if n not in table.roles and (n not in given or given[n] in OF_LABELS)]
    stems: dict[str, dict[str, str]] = {}
    for name in free:
        if name not in given and (match := SHARE_COLUMN.fullmatch(name)):
            stems.setdefault(match["stem"].casefold(), {})[match["name"].removesuffix(")")] = name
    shares = max(stems.values(), key=len, default={})
    people = [name for name in free if plain_name(name) in USUAL["worker"] and len({*cells[name]}) > 1]
    if len(shares) < 2 or len(people) != 1 or not all(_may_be(cells[name]) for name in shares.values()):
        return table
    who = cells[people[0]]
    others = {name: cells[name] for name in free if name != people[0] and name not in shares.values()}
    is_example = any(  # a row has a name of its own, or its label beside
        plain_name(name) in USUAL["vote"]
        or (len({*some}) == len(some) and not any(is_number(cell) for cell in present_cells(some)[:FEW]))
        for name, some in others.items()
    )
    several = [some for some in others.values() if 2 * max(len({*some}), 1) <= len(some) and not are_dates(some)]
    are_lines = not is_example and any(len({*zip(some, who, strict=True)}) == len(some) for some in several)
    if not are_lines or not _are_answers([_numbers(cells[name]) for name in shares.values()]):
        return table
    at = {name.strip(): k for k, name in enumerate(table.names)}
    answer = free_name("answer", table.names)
    new = {answer: _answers([*shares], [list(table.texts(at[name])) for name in shares.values()])}
    note = f"{listing([*shares.values()])} were read as one answer a line, of one {people[0]}."
    roles = {**table.roles, answer: "vote", people[0]: "worker"}
    return replace(table, roles=roles, notes=(*table.notes, note)).with_columns(new, [at[n] for n in shares.values()])


def with_names_in_classes(table: Records, given: Mapping[str, str]) -> Records:
    """Return a table in which columns of classes, whose cells name who chose each, are one column a voter.

    Names come again in several columns and stand in one of a row, and most of them in most rows, as labels do not; some
    cells hold several of them.

    Parameters
    ----------
    table
        Without a signature.
    given
        Roles that a person gave: a column with one stays as it is.
    """
    at = {name.strip(): k for k, name in enumerate(table.names)}
    first = {name.strip(): some for name, some in zip(table.names, table.first, strict=True)}
    free = [name for name in first if name not in given and name not in table.roles]
    free = [name for name in free if not any(is_number(cell) for cell in present_cells(first[name])[:FEW])]
    free = [name for name in free if not any(plain_name(name) in names for names in USUAL.values())]
    named = {name: [_NAME_MARK.split(cell.strip()) if cell else [] for cell in first[name]] for name in free}
    times, under = Counter[str](), dict[str, set[str]]()
    for name, rows in named.items():
        for who in (who for row in rows for who in row):
            times[who] += 1
            under.setdefault(who, set()).add(name)
    people = {who for who, names in under.items() if len(names) > 1 and times[who] > 2 and not who.isdecimal()}
    known = {name: sum(who in people for row in rows for who in row) for name, rows in named.items()}
    classes = [name for name in free if known[name] >= NEARLY_ALL * max(sum(map(len, named[name])), 1)]
    rows = [[who for who in chain(*row) if who in people] for row in zip(*(named[n] for n in classes), strict=True)]
    said = [row for row in rows if row]
    are_once = sum(len({*row}) == len(row) for row in said) >= NEARLY_ALL * len(said)
    several = sum(len(some) > 1 for name in classes for some in named[name])
    are_there = sum(map(len, said)) >= MOSTLY_THERE * len(people) * len(said) > 0
    are_people = 1 < len(people) <= MOST_IN_GRID and len(classes) > 1 and are_once and are_there
    if not (are_people and several >= LEAST_OF_ALL_VOTERS * len(said)):
        return table
    cells = {name: list(table.texts(at[name])) for name in classes}
    grids = [GRID.fullmatch(name) for name in classes]
    called = {name: grid["item"] if grid and all(grids) else name for name, grid in zip(classes, grids, strict=True)}
    taken, answers = [name for name in table.names if name not in classes], dict[str, list[Any]]()
    for name, column in cells.items():
        for row, cell in enumerate(column):
            for who in filter(None, _NAME_MARK.split(cell.strip()) if cell else ()):  # whoever comes late, too
                if who not in answers:
                    answers[who] = [None] * len(column)
                    if len(answers) > MOST_IN_GRID:  # texts, further down
                        return table
                own = answers[who]
                own[row] = called[name] if own[row] is None else [own[row], called[name]]
    answers = {free_name(who, taken): answers[who] for who in sorted(answers)}
    note = f"The cells of {listing(classes)} name who chose each: {listing([*answers])}."
    roles = {**table.roles, **dict.fromkeys(answers, "annotator")}
    return replace(table, roles=roles, notes=(*table.notes, note)).with_columns(answers, [at[name] for name in classes])


MOSTLY_THERE = 0.6
"""Share of the names that stand in a row, on average, from which they are those of people who answered."""
_NAME_MARK = re.compile(r"\s*[,;/|+]\s*")


def _without_means(cross: Grid, cells: Mapping[str, Cells]) -> Grid:
    """The voters without one whose numbers are the means of those of the others, as of an ensemble."""
    numbers = {
        voter: [[amount(cell) or 0.0 for cell in cells[name]] for name in classes.values()]
        for voter, classes in cross.items()
    }

    def is_mean(voter: str) -> bool:
        others = [some for who, some in numbers.items() if who != voter]
        several = len({round(x, 2) for some in numbers[voter] for x in some}) > 2
        columns = zip(numbers[voter], *others, strict=True)
        rows = (row for column in columns for row in zip(*column, strict=True))
        return len(others) > 1 and several and all(abs(x - sum(row) / len(row)) <= ROUNDED_SUM / 2 for x, *row in rows)

    return {voter: classes for voter, classes in cross.items() if not is_mean(voter)}


def cross_in(names: Sequence[str], sample: Sequence[Cells]) -> Grid:
    """Return the voters and classes that columns are called by; nothing where they are not.

    The cells are how likely the class is, from 0 to 1 or in percents, how many chose it, or marks. Every voter has the
    same classes, and the cells of a row make one answer: one mark, or one sum; where the voters agree, several marks
    in some rows.

    Parameters
    ----------
    names
        Of the columns.
    sample
        Their first cells.

    Examples
    --------
    >>> names = ["text", "ann_good", "ann_bad", "bob_good", "bob_bad"]
    >>> cross_in(names, [["one", "two"], ["x", ""], ["", "x"], ["x", "x"], ["", ""]])
    {'ann': {'good': 'ann_good', 'bad': 'ann_bad'}, 'bob': {'good': 'bob_good', 'bad': 'bob_bad'}}
    >>> [*cross_in(["A [x]", "A [y]", "B [x]", "B [y]"], [["1", "0"], ["0", "1"], ["1", "1"], ["0", "0"]])["A"]]
    ['x', 'y']
    """
    cells = dict(zip(names, sample, strict=True))
    likely = grids([name for name in names if parts_of(name) and _may_be(cells[name])])
    return next((grid for grid in likely if _is_cross(grid, cells)), {})


def _may_be(cells: Cells) -> bool:
    return read_marks(cells) is not None or all(amount(cell) is not None for cell in cells)


def _is_cross(group: Grid, cells: Mapping[str, Cells]) -> bool:
    if any(says_counts(voter) or says_total(voter) for voter in group):
        return False
    numbers = {voter: {c: _numbers(cells[name]) for c, name in classes.items()} for voter, classes in group.items()}
    used = {label for classes in numbers.values() for label, some in classes.items() if any(some)}
    return len(used) > 1 and (all(_are_answers([*some.values()]) for some in numbers.values()) or _mark_alike(numbers))


def _are_answers(columns: Sequence[Sequence[float]]) -> bool:
    """Whether the cells of nearly every row are one answer."""
    rows = [row for row in zip(*columns, strict=True) if any(row)]
    if len(rows) < max(LEAST_OF_ALL_VOTERS * len(columns[0]), 2):
        return False
    if all(number in (0.0, 1.0) for row in rows for number in row):
        return [sum(row) for row in rows].count(1) >= NEARLY_ALL * len(rows)
    totals = sorted(float(sum(row)) for row in rows)
    whole = totals[len(totals) // 2]
    are_shares = abs(whole - 1) <= ROUNDED_SUM or abs(whole - 100) <= 100 * ROUNDED_SUM
    alike = sum(abs(total - whole) <= ROUNDED_SUM * whole for total in totals)
    return alike >= NEARLY_ALL * len(rows) and (are_shares or all(total.is_integer() for total in totals))


def _mark_alike(marks: Mapping[str, Mapping[str, Sequence[float]]]) -> bool:
    """Whether voters mark mostly one class of a row, sometimes several, and in most classes the same rows."""
    sums = [sum(row) for classes in marks.values() for row in zip(*classes.values(), strict=True) if any(row)]
    are_marks = all(number in (0.0, 1.0) for classes in marks.values() for one in classes.values() for number in one)
    alike = [agree([classes[name] for classes in marks.values()]) for name in next(iter(marks.values()))]
    return are_marks and 2 * sums.count(1.0) > len(sums) and 2 * alike.count(True) > len(alike)


def _numbers(cells: Cells) -> list[float]:
    amounts = list(map(amount, cells))
    marks = read_marks(cells) or () if None in amounts else ()
    return [float(mark is True) for mark in marks] or [one or 0.0 for one in amounts]


def _answers(classes: Collection[str], columns: Sequence[Cells]) -> list[Any]:
    """Return the answer of a voter in each row: the likeliest classes with their share, or the marked ones."""
    numbers, answers = list(map(_numbers, columns)), list[Any]()
    are_marks = all(number in (0.0, 1.0) for column in numbers for number in column)
    for row in zip(*numbers, strict=True):
        best = [name for name, number in zip(classes, row, strict=True) if number == max(row) > 0]
        answer: Any = best[0] if len(best) == 1 else best or None
        if best and not are_marks:
            answer = {"label": answer, "confidence": round(max(row) / sum(row), 6)}
        answers.append(answer)
    return answers

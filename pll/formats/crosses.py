"""Columns that are a voter and a class each (`BirdNET_Amsel`, `Ann: urgent`) become one column of answers a voter.

The cells are how likely the class is, from 0 to 1 or in percents, how many chose it, or marks. Every voter has the same
classes, and the cells of a row make one answer: one mark, or one sum.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from pll.formats.checks import listing
from pll.formats.class_groups import amount
from pll.formats.forms import WORDS, plain_name
from pll.formats.tabular.answer_cells import says_counts
from pll.formats.tabular.cells import NEARLY_ALL, Cells, read_marks

MOST = 60
"""Voters, or classes, at most."""
ROUNDED = 0.02
"""How far a sum may be from 1 or 100."""
LEAST = 0.2
"""Share of the rows that every voter answered, at least."""
_MARK = re.compile(r"\s*[_.:/|·-]+\s*|\s+")

Cross = Mapping[str, Mapping[str, str]]
"""The columns of each voter by class."""


def cross_in(names: Sequence[str], sample: Sequence[Cells]) -> Cross:
    """Return the voters and classes that columns are called by; nothing where they are not.

    Examples
    --------
    >>> names = ["text", "ann_good", "ann_bad", "bob_good", "bob_bad"]
    >>> cross_in(names, [["one", "two"], ["x", ""], ["", "x"], ["x", "x"], ["", ""]])
    {'ann': {'good': 'ann_good', 'bad': 'ann_bad'}, 'bob': {'good': 'bob_good', 'bad': 'bob_bad'}}
    """
    cells = dict(zip(names, sample, strict=True))
    parts: dict[tuple[bool, str], dict[str, str]] = {}
    for name in names:
        for mark in _MARK.finditer(name):
            left, right = name[: mark.start()], name[mark.end() :]
            if left and right:
                parts.setdefault((True, left), {})[right] = name
                parts.setdefault((False, right), {})[left] = name
    several = {name for classes in parts.values() if len(classes) > 1 for name in classes.values()}
    fit = {name for name in several if _may_be(cells[name])}
    parts = {key: {label: n for label, n in classes.items() if n in fit} for key, classes in parts.items()}
    groups: dict[tuple[bool, frozenset[str]], dict[str, dict[str, str]]] = {}
    for (first, voter), classes in parts.items():
        if 1 < len(classes) <= MOST:
            groups.setdefault((first, frozenset(classes)), {})[voter] = classes
    fitting = [group for group in groups.values() if 1 < len(group) <= MOST]
    fitting.sort(key=lambda group: -sum(map(len, group.values())))
    return next((group for group in fitting if _is_cross(group, cells)), {})


def _is_cross(group: Cross, cells: Mapping[str, Cells]) -> bool:
    if any(says_counts(voter) or plain_name(voter) in WORDS["amounts"] for voter in group):
        return False
    used = {label for classes in group.values() for label, name in classes.items() if any(_numbers(cells[name]))}
    return len(used) > 1 and all(_are_answers([cells[n] for n in classes.values()]) for classes in group.values())


def _may_be(cells: Cells) -> bool:
    return read_marks(cells) is not None or all(amount(cell) is not None for cell in cells)


def _are_answers(columns: Sequence[Cells]) -> bool:
    """Whether the cells of nearly every row are one answer."""
    rows = [row for row in zip(*map(_numbers, columns), strict=True) if any(row)]
    if len(rows) < max(LEAST * len(columns[0]), 2):
        return False
    if all(number in (0.0, 1.0) for row in rows for number in row):
        return sum(int(sum(row) == 1) for row in rows) >= NEARLY_ALL * len(rows)
    totals = sorted(float(sum(row)) for row in rows)
    whole = totals[len(totals) // 2]
    are_shares = abs(whole - 1) <= ROUNDED or abs(whole - 100) <= 100 * ROUNDED
    alike = sum(abs(total - whole) <= ROUNDED * whole for total in totals)
    return alike >= NEARLY_ALL * len(rows) and (are_shares or all(total.is_integer() for total in totals))


def _numbers(cells: Cells) -> list[float]:
    amounts = list(map(amount, cells))
    return (
        [one or 0.0 for one in amounts] if None not in amounts else [float(x is True) for x in read_marks(cells) or ()]
    )


def answers_of(classes: Mapping[str, str], columns: Sequence[Cells]) -> list[str | None]:
    """Return the answer of a voter in each row: the likeliest classes with their share, or the marked ones."""
    numbers, answers = list(map(_numbers, columns)), list[str | None]()
    are_marks = all(number in (0.0, 1.0) for column in numbers for number in column)
    for row in zip(*numbers, strict=True):
        best = [name for name, number in zip(classes, row, strict=True) if number == max(row) > 0]
        answer: object = best if len(best) != 1 else best[0]
        if best and not are_marks:
            answer = {"label": answer, "confidence": round(max(row) / sum(row), 6)}
        plain = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        answers.append(plain if best else None)
    return answers


def beside(names: Sequence[str], cross: Cross) -> list[str]:
    """Return the other columns that are called as a class of the cross: `Sum_Amsel` is made of them."""
    used = {name for classes in cross.values() for name in classes.values()}
    ends = {label for classes in cross.values() for label in classes}
    parts = {
        name: {part for at in _MARK.finditer(name) for part in (name[: at.start()], name[at.end() :])} for name in names
    }
    return [name for name in names if name not in used and parts[name] & ends]


def note_on(cross: Cross) -> str:
    """Return what to say of it."""
    classes = next(iter(cross.values()))
    return f"Columns of {listing(list(cross))} for {listing(list(classes))} each were read as one answer each."

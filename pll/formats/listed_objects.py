"""Who said what in a column of lists of objects, an object an answer, whatever the tool calls its fields.

*Who* is a field that differs between the objects of a row and comes again in other rows, called as people are; *what*
one of few words, called as labels are. Fields of fields count, and JSON in text is opened.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pll.formats.forms import FIELDS
from pll.formats.proposal import FEW
from pll.formats.tabular.cells import NEARLY_ALL, are_dates

DEEPEST = 6
"""Fields of fields that are looked at; a list between them is one more."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

Row = Sequence[Mapping[str, Any]]
"""The objects in a cell, each as its fields by path: `author.email`."""


@dataclass(frozen=True)
class Fields:
    """Fields of the objects in a column.

    Attributes
    ----------
    who, what
        Paths that may say who, and what; the likelier first.
    """

    who: tuple[str, ...]
    what: tuple[str, ...]


def state_against(one: Mapping[str, Any]) -> str:
    """Return the state by which an object does not count; "" where it counts.

    Examples
    --------
    >>> state_against({"by": "a", "latest": False}), state_against({"by": "b", "status": "draft"}), state_against({})
    ('latest: false', 'status: draft', '')
    """
    return next((f"{path}: {str(cell).lower()}" for path, cell in one.items() if _is_out(path, cell)), "")


def _is_out(path: str, cell: Any) -> bool:
    """Whether a field says that its object does not count."""
    if isinstance(cell, bool):
        return bool(_words(path) & FIELDS["does_not_count" if cell else "counts"])
    is_state = not {"status", "state", "type", "kind"}.isdisjoint(_words(path))
    return is_state and isinstance(cell, str) and cell.casefold() in FIELDS["does_not_count"]


def questions_of(rows: Sequence[Row]) -> tuple[str, str] | None:
    """Return which field names the question of an answer, and which the answer, where a row has one of each; else None.

    Examples
    --------
    >>> questions_of([[{"task": "T0", "value": v}, {"task": "T1", "value": n}] for v, n in zip("xyxy", "1221")])
    ('task', 'value')
    """
    objects = [one for row in rows for one in row]
    fields = dict.fromkeys(path for one in objects for path in one)
    named = [path for path in fields if _words(path) & FIELDS["question"] and _says_question(path, rows)]
    what = [path for path in fields if path not in named and _words(path) & {"value", "answer", "label", "choice"}]
    what = [path for path in what if _says_what(path, objects)]
    return (named[-1], what[0]) if len(rows) > 1 and named and what else None


def _says_question(path: str, rows: Sequence[Row]) -> bool:
    """Whether a field is the same few names in nearly every row, each once."""
    cells = [[str(one[path]) for one in row if path in one] for row in rows]
    kinds = Counter(cell for some in cells for cell in some)
    is_apart = all(len({*some}) == len(some) for some in cells)
    return is_apart and 0 < len(kinds) <= FEW and 2 * min(kinds.values()) >= len(rows)


def fields_in(value: Any) -> list[dict[str, Any]] | None:
    """Return the objects of a list as their fields by path; None of anything else.

    Examples
    --------
    >>> fields_in([{"by": {"email": "a@b"}, "data": '{"class": {"label": "cat"}}', "all": [{"x": 1}, {"x": 2}]}])
    [{'by.email': 'a@b', 'data.class.label': 'cat', 'all.x': [1, 2]}]
    """
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return None
    found = []
    for one in value:
        fields: dict[str, list[Any]] = {}
        for path, leaf in _leaves(one, DEEPEST):
            fields.setdefault(path, []).append(leaf)
        found.append({path: some[0] if len(some) == 1 else some for path, some in fields.items()})
    return found


def _leaves(value: Any, depth: int, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, str) and value[:1] in ("{", "[") and depth > 0:
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else (("", one) for one in value)
        for key, one in inner if depth > 0 else ():
            yield from _leaves(one, depth - 1, f"{path}.{key}".strip("."))
    elif value is not None:
        yield path, value


def reading_of(rows: Sequence[Row]) -> Fields | None:
    """Return which fields of the objects say who and what; None where no pair does.

    Examples
    --------
    >>> rows = [[{"by": w, "class": c} for w, c in zip("ab", s)] for s in (["x", "y"], ["y", "y"])]
    >>> reading_of(rows)
    Fields(who=('by',), what=('class',))
    """
    objects = [one for row in rows for one in row]
    if len(rows) < 2 or len(objects) < 2:
        return None
    paths = Counter(path for one in objects for path in one)
    paths = Counter({path: n for path, n in paths.items() if n >= NEARLY_ALL * len(objects)})
    who = [path for path in paths if _words(path) & FIELDS["who"] and _says_who(path, rows)]
    what = [path for path in paths if path not in who and _says_what(path, objects)]
    who, what = (_different(some, objects) for some in (who, what))
    return Fields(tuple(who), tuple(what)) if what and who else None


def _words(path: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(path)}


def _last(path: str) -> str:
    return str((_WORD.findall(path) or [path])[-1]).casefold()


def _says_who(path: str, rows: Sequence[Row]) -> bool:
    """Whether a field differs within nearly every row, and comes again in others."""
    cells = [[str(one[path]) for one in row if path in one] for row in rows]
    every = [cell for some in cells for cell in some]
    apart = sum(len(set(some)) == len(some) for some in cells)
    return apart >= NEARLY_ALL * len(rows) and 2 * len(set(every)) <= max(len(every), 4) and not are_dates(every)


def _says_what(path: str, objects: Row) -> bool:
    """Whether a field has few different words, and is called as labels are."""
    values = [cell for one in objects for cell in _listed(one.get(path))]
    kinds = {str(cell) for cell in values}
    few = 1 < len(kinds) <= max(FEW, len(values) // 20) and 2 * len(kinds) <= max(len(values), 4)
    plain = all(isinstance(cell, str | int) for cell in values) and not are_dates([str(cell) for cell in values])
    return few and plain and not FIELDS["what"].isdisjoint(_words(path)) and _last(path) not in FIELDS["about"]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _different(paths: Sequence[str], objects: Row) -> list[str]:
    """Fields of which none says the same as an earlier one in other words."""
    kept: list[str] = []
    for path in paths:
        cells = [str(one.get(path)) for one in objects]
        others = ([str(one.get(other)) for one in objects] for other in kept)
        if all(len({*zip(cells, some, strict=True)}) > max(len({*cells}), len({*some})) for some in others):
            kept.append(path)
    return kept


def answers_of(row: Row, who: str, what: str) -> list[dict[str, Any]]:
    """Return the answers in a cell as objects of who gave it and its label."""
    return [{"annotator": one.get(who), "label": one[what]} for one in row if one.get(what) is not None]

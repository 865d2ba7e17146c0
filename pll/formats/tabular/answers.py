"""Cells in JSON with more than labels: the confidence of a model's answer, the count or probability of each label.

A model's answer is an object with a field for the label (`{"label": "cat", "confidence": 0.8}`), in a code fence or
not. Counts and shares are an object of numbers (`{"cat": 3, "dog": 1}`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from pll.formats.tabular.cells import Cells, nearly_all

ANSWER_FIELDS = ("label", "answer", "class", "category", "prediction", "choice")
"""Fields of a model's answer that hold the label."""
_SEVERAL = (*(f"{name}s" for name in ANSWER_FIELDS), "classes", "categories")
SCORE_FIELDS = ("confidence", "score", "probability", "prob", "certainty")
"""Fields with the confidence in it."""
_FENCE = re.compile(r"\s*```[a-z]*[ \t]*\n?(.*?)\n?```\s*", re.IGNORECASE | re.DOTALL)
COVERED = 0.99
"""Probability that the likeliest classes together have at least, where candidate sets are made of probabilities."""


def answer_of(cell: str) -> tuple[tuple[str, ...], float] | None:
    """Return the labels of a model's answer in JSON, and its confidence from 0 to 1 (NaN where it has none).

    None where the cell is no such answer.

    Examples
    --------
    >>> answer_of('{"label": "cat", "confidence": 0.8}'), answer_of('{"label": null, "why": "blurred"}')[0]
    ((('cat',), 0.8), ())
    >>> answer_of("cat"), answer_of('{"cat": 0.8, "dog": 0.2}')
    (None, None)
    """
    fields = _object(cell)
    if fields is None:
        return None
    plain = {name.strip().casefold(): value for name, value in fields.items()}
    field = next((name for name in (*ANSWER_FIELDS, *_SEVERAL) if name in plain), None)
    if field is None:
        return None
    values = plain[field] if isinstance(plain[field], list) else [plain[field]]
    names = [_name(one) for one in values if one is not None]
    if any(name is None for name in names):
        return None
    confidence = next((_share(plain[name]) for name in SCORE_FIELDS if name in plain), math.nan)
    return tuple(dict.fromkeys(name for name in names if name)), confidence


def shares_of(cell: str) -> dict[str, float] | None:
    """Return how likely or how frequent each label is, of a JSON object of such numbers; None of any other cell.

    Of shares the likeliest labels that make up `COVERED` of their sum, of counts all above 0. Where a label has null,
    as in a struct of Arrow, nobody gave it.

    Examples
    --------
    >>> shares_of('{"cat": 3, "dog": 1, "fox": null}'), shares_of('{"cat": 0.6, "dog": 0.399, "fox": 0.001}')
    ({'cat': 3, 'dog': 1}, {'cat': 0.6, 'dog': 0.399})
    >>> shares_of('{"width": -1}'), shares_of("{cat, dog}")
    (None, None)
    """
    fields = _object(cell)
    if not fields:
        return None
    shares = {name.strip(): 0 if value is None else value for name, value in fields.items()}
    if not all(map(_is_share, shares.values())):
        return None
    positive = {name: value for name, value in shares.items() if value > 0 and name}
    whole = sum(positive.values())
    if not positive or all(value == round(value) for value in positive.values()):
        return positive
    ahead, least = 0.0, 0.0
    for value in sorted(positive.values(), reverse=True):
        if ahead >= COVERED * whole - 1e-9:
            break
        ahead, least = ahead + value, value
    return {name: value for name, value in positive.items() if value >= least}


def _is_share(value: Any) -> bool:
    """Whether a value can be how likely or how frequent a label is."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


_COUNTED = re.compile(
    r"(?:.*[^a-z])?(?:count|vote|dist|distribution|proba?|probabilitie|score|softmax|logit|pred|prediction)(?:s|er|ers)?"
)


def says_counts(name: str) -> bool:
    """Whether a column or field is called as counts or shares of labels are.

    Examples
    --------
    >>> says_counts("label_counts"), says_counts("Probabilities"), says_counts("box")
    (True, True, False)
    """
    return _COUNTED.fullmatch(name.casefold()) is not None


def is_object(cell: str) -> bool:
    """Whether a cell is a JSON object."""
    return _object(cell) is not None


def objects_in(name: str, cells: Cells) -> tuple[str, Cells]:
    """Return what the objects in a column are, "" where hardly a cell is one, and its cells as if with labels alone.

    They are "answers" of a model; "shares" of labels, whose sum is 1 unless the name of the column says that they are
    counts; or "others".

    Examples
    --------
    >>> objects_in("gpt", ['{"label": "cat", "score": 1}', None]), objects_in("votes", ['{"cat": 2, "dog": 1}'])
    (('answers', ['cat', None]), ('shares', ['["cat", "dog"]']))
    >>> objects_in("gpt", ["cat"])
    ('', ['cat'])
    """

    def says_shares(cell: str) -> bool:
        values = (shares_of(cell) if answer_of(cell) is None else None) or {}
        return len(values) > 0 and (says_counts(name) or abs(sum(values.values()) - 1) <= 1.02 - COVERED)

    may_be = any(cell.rstrip().endswith(("}", "```")) for cell in cells if cell)  # rare, and cheap to check
    if not may_be or not nearly_all(is_object, cells):
        return "", cells
    if nearly_all(lambda cell: answer_of(cell) is not None, cells):
        return "answers", [cell and (_joined(answer[0]) if (answer := answer_of(cell)) else cell) for cell in cells]
    if nearly_all(says_shares, cells):
        return "shares", [cell and (_joined(tuple(shares_of(cell) or ())) or cell) for cell in cells]
    return "others", cells


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else json.dumps(list(names), ensure_ascii=False) if names else ""


def _object(cell: str) -> dict[str, Any] | None:
    fenced = _FENCE.fullmatch(cell)
    text = (cell if fenced is None else fenced[1]).strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _name(value: Any) -> str | None:
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value) if isinstance(value, int | float) else None


def _share(value: Any) -> float:
    try:
        share = float(str(value).strip().removesuffix("%"))
    except ValueError:
        return math.nan
    share = share / 100 if str(value).strip().endswith("%") or 1 < share <= 100 else share
    return share if 0 <= share <= 1 else math.nan

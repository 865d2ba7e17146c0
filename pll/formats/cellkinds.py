"""What the cells of a column look like: numbers, pictures, words, 0 and 1."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from pll.images import SUFFIXES

Cells = Sequence[str | None]
"""The first cells of a column, as text; None where one is missing."""

MISSING = (
    *("", "?", "NA", "N/A", "n/a", "na", "#N/A", "#N/A N/A", "#NA", "<NA>"),
    *("NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "none"),
)
"""What marks a missing cell in a column of numbers (in label columns these are names like any other)."""

BINARY = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}
"""What stands in the column of a class."""

_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def looks_like_picture(cell: str) -> bool:
    """Whether a cell is the path or address of a picture.

    >>> looks_like_picture("cats/1.PNG"), looks_like_picture("https://x.org/1.jpg?s=2"), looks_like_picture("a cat")
    (True, True, False)
    """
    bare = cell.split("?", 1)[0].split("#", 1)[0].lower()
    return bare.endswith(SUFFIXES) or cell.startswith("data:image/")


def is_number(cell: str) -> bool:
    """Whether a cell is written as a number, infinite ones included (which reading refuses, with their row).

    >>> is_number(" 1e3 "), is_number("1_000"), is_number("nan")
    (True, False, False)
    """
    try:
        return "_" not in cell and not math.isnan(float(cell))
    except ValueError:
        return False


def are_pictures(cells: Cells) -> bool:
    """Whether nearly all cells are pictures."""
    return _mostly(looks_like_picture, cells)


def is_measured(cells: Cells) -> bool:
    """Whether a column holds numbers: where every second cell is one, the others are mistakes, or missing."""
    filled = _known(cells)
    return bool(filled) and 2 * sum(map(is_number, filled)) >= len(filled)


def has_fractions(cells: Cells) -> bool:
    """Whether there is a number that is not whole: labels never are."""
    return any(
        cell and is_number(cell) and not float(cell).is_integer() and math.isfinite(float(cell)) for cell in cells
    )


def are_binary(cells: Cells) -> bool:
    """Whether all cells say yes or no, as those of a class do."""
    return bool(cells) and all(cell is not None and cell.strip().casefold() in BINARY for cell in cells)


def are_texts(cells: Cells, words: int) -> bool:
    """Whether there is something to read: mostly different cells, of so many words on average."""
    filled = _filled(cells)
    if not filled or _mostly(is_number, filled) or are_pictures(filled):
        return False
    return sum(len(cell.split()) for cell in filled) >= words * len(filled) and 2 * len(set(filled)) > len(filled)


def learnt_as(cells: Cells) -> str:
    """The role of a column of which nothing else is known: numbers, words to learn from, or words to carry along."""
    filled = _known(cells)
    if not filled or is_measured(filled) or all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in filled):
        return "feature"  # what is no number in it, reading refuses with its row
    few = len(set(filled)) <= max(20, len(filled) // 2)
    short = sum(map(len, filled)) <= 60 * len(filled)
    return "category" if few and short else "keep"


def _mostly(test: Callable[[str], bool], cells: Cells) -> bool:
    filled = _filled(cells)
    return bool(filled) and sum(map(test, filled)) >= 0.9 * len(filled)


def _filled(cells: Cells) -> list[str]:
    return [cell for cell in cells if cell and cell.strip()]


def _known(cells: Cells) -> list[str]:
    return [cell for cell in cells if cell is not None and cell.strip() not in MISSING]

"""Words for what stands in a file, as a message has them: sizes, kinds of values, names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def kind_of(dtype: np.dtype[Any]) -> str:
    """A dtype in words.

    >>> kind_of(np.dtype("U5")), kind_of(np.dtype(np.int64))
    ('text', 'whole numbers')
    """
    words = {"f": "decimal numbers", "i": "whole numbers", "u": "whole numbers", "b": "true/false values"}
    words |= {"U": "text", "S": "bytes", "O": "Python objects", "c": "complex numbers", "V": "records"}
    return words.get(dtype.kind, "dates or times" if dtype.kind in "mM" else f"values of type {dtype}")


def readable(size: int) -> str:
    """A number of bytes for people.

    >>> readable(3 * 2**30), readable(2000)
    ('3.0 GB', '2.0 KB')
    """
    amount, units = float(size), ["bytes", "KB", "MB", "GB", "TB"]
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.0f} bytes" if units[0] == "bytes" else f"{amount:,.1f} {units[0]}"


def shorten(text: str, limit: int = 60) -> str:
    """A value from a file as it may stand in a message: quoted, on one line, not longer than it helps."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def listing(names: Sequence[str], limit: int = 8) -> str:
    """Names for a message: the first few, and how many more.

    >>> listing(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    shown = ", ".join(name if len(name) <= 40 else name[:39] + "…" for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")

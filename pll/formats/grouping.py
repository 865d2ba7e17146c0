"""What has a key in common, together: columns by a part of their names, cells by their example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return the values of each key, the keys in the order of first appearance.

    Examples
    --------
    >>> grouped((name[0], name) for name in ("ann", "bob", "amy"))
    {'a': ['ann', 'amy'], 'b': ['bob']}
    """
    groups: dict[Key, list[Value]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def summed(pairs: Iterable[tuple[Key, int]]) -> Counter[Key]:
    """Return how often each key stands there, of how often it does each time.

    Examples
    --------
    >>> summed([("cat", 2), ("dog", 1), ("cat", 3)])
    Counter({'cat': 5, 'dog': 1})
    """
    counts = Counter[Key]()
    for key, times in pairs:
        counts[key] += times
    return counts

"""Keys of the desk: a class of one character is its own key, other candidates get digits, then letters.

A class name wins over an action: where a class is called n, *None of these* moves to another key. Every button shows
its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase, digits

ACTIONS = {
    "none": "N",
    "other": "A",
    "unsure": "?",
    "eliminate": "E",
    "skip": "S",
    "undo": "U",
    "filter": "/",
}
"""The key of each action, where no class is called like it."""
SPARE = "-=[];',.`!@#$%^&*()_+{}:<>|~" + ascii_uppercase[::-1]
"""Taken in this order by actions whose key is a class."""
POSITIONS = digits[1:] + ascii_uppercase


def own_keys(class_names: Sequence[str]) -> dict[str, str]:
    """Classes that are their own key, in upper case where no other class is the same letter in another case.

    Examples
    --------
    >>> own_keys(["0", "7", "cat", "x"]), own_keys(["a", "A"])
    ({'0': '0', '7': '7', 'x': 'X'}, {'a': 'a', 'A': 'A'})
    """
    single = [name for name in class_names if len(name) == 1 and name.isascii() and name.isprintable() and name != " "]
    upper = [name.upper() for name in single]
    return {name: big if upper.count(big) == 1 else name for name, big in zip(single, upper, strict=True)}


def action_keys(class_names: Sequence[str]) -> dict[str, str]:
    """The key of each action; for all examples of a review the same.

    Examples
    --------
    >>> action_keys(["n", "m"])["none"], action_keys(["cat", "dog"])["none"]
    ('-', 'N')
    """
    taken = {key.upper() for key in own_keys(class_names).values()}
    free = iter([key for key in SPARE if key not in taken and key not in ACTIONS.values()])
    return {name: next(free) if key in taken else key for name, key in ACTIONS.items()}


def candidate_keys(listed: Sequence[str], class_names: Sequence[str], *, fixed: bool = False) -> list[str]:
    """The key of each candidate, "" for those beyond the last key.

    Parameters
    ----------
    listed
        The candidates in the order shown.
    class_names
        Of the whole data.
    fixed
        a class keeps its key from example to example, where there are enough keys for all classes.

    Examples
    --------
    >>> candidate_keys(["7", "2"], [str(k) for k in range(10)]), candidate_keys(["dog", "cat"], ["cat", "dog"])
    (['7', '2'], ['1', '2'])
    >>> candidate_keys(["dog"], ["cat", "dog"], fixed=True)
    ['2']
    """
    own = own_keys(class_names)
    taken = {key.upper() for key in (*own.values(), *action_keys(class_names).values())}
    numbered = not any(key in digits for key in own.values())  # "2" for the second of digits would mislead
    free = [key for key in POSITIONS if key not in taken and (numbered or key not in digits)]
    places = [name for name in class_names if name not in own]
    if not fixed or len(places) > len(free) or not set(listed) <= {*places, *own}:
        places = [name for name in listed if name not in own]
    assigned = dict(zip(places, free, strict=False))
    return [own.get(name) or assigned.get(name, "") for name in listed]

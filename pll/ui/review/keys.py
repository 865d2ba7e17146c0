"""Keys of the desk: one entry for each action, and the keys of the candidates.

A class of one character is its own key. Where at most nine other classes remain, each has one key for the whole review:
what the fingers have learnt stays true. Where there are more, keys follow the card: 1 is its first candidate. A class
name wins over an action: where a class is called n, *None of these* moves to another key. Every button shows its key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase, digits
from typing import Literal

Fact = Literal["can decide", "several open", "is present", "is past", "can undo", "can go back"]
"""What decides which actions are possible: whether this reviewer may decide the example; several candidates are not
ruled out; the open example, or an earlier decision, is looked at; there is a decision to undo, or an earlier one."""


@dataclass(frozen=True)
class Action:
    """One action of the desk; the page, its keys and docs/review.md follow from it.

    Attributes
    ----------
    name
        What `desk.js` and `ReviewTab` know it by.
    key
        Where no class is called like it; arrows and Escape as they are drawn.
    label
        On its button.
    title
        What it does.
    needs
        What has to hold for it.
    place
        Of its button: among the answers, among the moves, or none.
    stores
        Whether the key alone is a decision of that name.
    """

    name: str
    key: str
    label: str
    title: str
    needs: tuple[Fact, ...] = ("can decide",)
    place: Literal["answers", "moves", ""] = "answers"
    stores: bool = False


ACTIONS = (
    Action("none", "N", "None of these", "None of the candidates is right", stores=True),
    Action("other", "A", "Another label", "A class that is not among the candidates, or a new one"),
    Action("unsure", "?", "Unsure", "You cannot tell", stores=True),
    Action(
        *("eliminate", "E", "Rule one out"),
        "One candidate is wrong, press its key; the example stays until one is left",
        ("can decide", "several open"),
    ),
    Action("skip", "S", "Skip", "Decide later: it comes back at the end", ("can decide", "is present"), stores=True),
    Action("undo", "U", "Undo", "Undo your last decision, any number of them", ("can undo",), "moves"),
    Action("back", "←", "", "The decision before; it can be changed", ("can go back",), "moves"),
    Action("forward", "→", "", "Forward again", ("is past",), "moves"),
    Action("now", "Esc", "Back to the current example", "Back to the current example", ("is past",), ""),
    Action("filter", "/", "", "Filter the candidates, where there are more than keys", place=""),
)
SPARE_KEYS = "-=[];',.`!@#$%^&*()_+{}:<>|~" + ascii_uppercase[::-1]
"""Taken in this order by actions whose key is a class."""
POSITIONS = digits[1:] + ascii_uppercase
MOST_KEYED = 9
"""Classes, besides those that are their own key, of which each has a key for the whole review."""


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
    free = iter([key for key in SPARE_KEYS if key not in taken and key not in {action.key for action in ACTIONS}])
    return {action.name: next(free) if action.key in taken else action.key for action in ACTIONS}


def stand_for_classes(class_names: Sequence[str]) -> bool:
    """Whether a class has one key for the whole review, so that candidates are shown in the order of the classes.

    Examples
    --------
    >>> stand_for_classes(["cat", "dog"]), stand_for_classes([f"class {k}" for k in range(10)])
    (True, False)
    >>> stand_for_classes([str(k) for k in range(10)])
    True
    """
    own = own_keys(class_names)
    return len(class_names) - len(own) <= min(MOST_KEYED, len(_free(class_names)))


def candidate_keys(listed: Sequence[str], class_names: Sequence[str]) -> list[str]:
    """The key of each candidate, "" for those beyond the last key.

    Parameters
    ----------
    listed
        The candidates in the order shown.
    class_names
        Of the whole data.

    Examples
    --------
    >>> candidate_keys(["7", "2"], [str(k) for k in range(10)]), candidate_keys(["dog"], ["cat", "dog"])
    (['7', '2'], ['2'])
    >>> candidate_keys(["class 8", "class 3"], [f"class {k}" for k in range(10)])
    ['1', '2']
    """
    own = own_keys(class_names)
    places = [*class_names, *listed] if stand_for_classes(class_names) else listed
    others = [name for name in dict.fromkeys(places) if name not in own]
    assigned = dict(zip(others, _free(class_names), strict=False))
    return [own.get(name) or assigned.get(name, "") for name in listed]


def _free(class_names: Sequence[str]) -> list[str]:
    """The keys for classes that are not their own."""
    own = own_keys(class_names).values()
    taken = {key.upper() for key in (*own, *action_keys(class_names).values())}
    numbered = not any(key in digits for key in own)  # "2" for the second of digits would mislead
    return [key for key in POSITIONS if key not in taken and (numbered or key not in digits)]

"""What is said beside a column of the same examples, by whatever other columns, and whether the column says it too."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass

from pll.formats.class_groups import LEAST_AGREED_PEOPLE, amount
from pll.formats.grouping import grouped
from pll.formats.proposal import LEAST_SPLIT, Proposal, labels_among, labels_listed
from pll.formats.tabular.cells import read_marks, spelling


@dataclass(frozen=True)
class Supported:
    """What a column says of an example, and what is said beside it.

    Attributes
    ----------
    label
        The column's.
    beside
        By label, how often or how likely it is said beside, the first said first; none is 0.
    """

    label: str
    beside: Mapping[str, float]

    def share(self, label: str) -> float:
        """How much is said for a label, where for the one with most it is 1."""
        return self.beside.get(label, 0.0) / max(self.beside.values())


def supported(table: Proposal, name: str, classes: Collection[str]) -> list[Supported]:
    """Return the examples of which a column says a class, and something is said beside it.

    Parameters
    ----------
    table
        The columns, and what they are so far: voters, lines, sets, lists of answers, columns of classes.
    name
        Of the column.
    classes
        What counts, in the common spelling.
    """
    beside: dict[Hashable, dict[str, float]] = defaultdict(dict)
    own = dict[Hashable, str]()
    for key, cell, said in zip(table.keys_of_lines(), table.cells[name], _said_beside(table, name), strict=True):
        if (label := spelling(cell or "")) in classes:
            own.setdefault(key, label)
        for label, weight in said:
            if weight and label in classes:
                beside[key][label] = beside[key].get(label, 0.0) + weight
    return [Supported(label, beside[key]) for key, label in own.items() if beside[key]]


def says_what_is_said(examples: Collection[Supported]) -> bool:
    """Whether a column says what is said most beside it far more often than by chance.

    Parameters
    ----------
    examples
        As `supported` returns them.

    Examples
    --------
    >>> beside = [{"fox": 2.0, "hen": 1.0}, {"hen": 1.0}] * 9
    >>> says_what_is_said([Supported(*one) for one in zip(["fox", "hen"] * 9, beside)])
    True
    >>> says_what_is_said([Supported(*one) for one in zip(["fox", "hen", "hen"] * 6, beside)])
    False
    """
    times = Counter(one.label for one in examples)
    got = sum(one.share(one.label) for one in examples)
    by_chance = sum(times[label] * one.share(label) for one in examples for label in one.beside) / max(len(examples), 1)
    return got - by_chance > LEAST_AGREED_PEOPLE * (len(examples) - by_chance)


def is_made_of_what_is_said(examples: Collection[Supported]) -> bool:
    """Whether a program may have made a column of what is said beside it.

    It says what is said most wherever there is one such label, and others beside it, as the majority does and the
    likeliest label; or always the same where the same is said, as the worst of all grades is.

    Parameters
    ----------
    examples
        As `supported` returns them.

    Examples
    --------
    >>> beside = [{"fox": 2.0, "hen": 1.0}, {"hen": 3.0, "fox": 1.0}] * 9
    >>> is_made_of_what_is_said([Supported(*one) for one in zip(["fox", "hen"] * 9, beside)])
    True
    >>> is_made_of_what_is_said([Supported(*one) for one in zip(["fox", "hen"] * 8 + ["hen"] * 2, beside)])
    False
    """
    most = [(one, [label for label in one.beside if one.share(label) == 1]) for one in examples if len(one.beside) > 1]
    split = [one.label == labels[0] for one, labels in most if len(labels) == 1]
    by_said = grouped((frozenset(one.beside.items()), one.label) for one, _ in most)
    again = {said: labels for said, labels in by_said.items() if len(labels) > 1}
    is_function = sum(map(len, again.values())) >= 2 * LEAST_SPLIT and all(len({*own}) == 1 for own in again.values())
    return (len(split) >= LEAST_SPLIT and all(split)) or is_function


def _said_beside(table: Proposal, name: str) -> Iterator[list[tuple[str, float]]]:
    """Yield what other columns say of each row: labels, and how often or how likely."""
    single = [table.cells[one] for one in table.having("annotator", "vote", "candidate") if one != name]
    sets = [table.cells[one] for one in table.having("candidates")]
    lists = [table.raw[one] for one in table.having("answers")]
    classes = [(spelling(table.roles[one].display_name), _amounts(table, one)) for one in _of_classes(table)]
    for at in range(len(table.cells[name])):
        said = [spelling(cells[at] or "") for cells in single]
        said += [label for cells in sets for label in labels_among([cells[at]])]
        said += [label for cells in lists for label in labels_listed(cells[at])]
        yield [*((label, 1.0) for label in said), *((label, amounts[at]) for label, amounts in classes)]


def _of_classes(table: Proposal) -> list[str]:
    return table.having("class", "probability", "count")


def _amounts(table: Proposal, name: str) -> list[float]:
    """How often or how likely a class is in each row, as its column says; 1 where it is marked."""
    if table.roles[name].role != "class":
        return [amount(cell) or 0.0 for cell in table.raw[name]]
    return [float(mark is True) for mark in read_marks(table.cells[name]) or [None] * len(table.cells[name])]

"""Columns that are a class each: marked where it is a candidate, or how many voted for it, or how likely it is."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pll.formats.checks import listing
from pll.formats.forms import WORDS, plain_name
from pll.formats.names import CLASS_COLUMN, NUMBERED, SHARE_COLUMN, class_name, shown_name
from pll.formats.proposal import Proposal
from pll.formats.reading import LABELLED
from pll.formats.tabular.cells import (
    Cells,
    is_missing,
    is_no_answer,
    is_number,
    present_cells,
    read_marks,
    says_counts,
    spelling,
)

GENERIC = ("label", "class", "class_label", "classification", "target")
"""Names of labels of any kind, true or not."""
MOST_COUNTS = 40
"""Columns that may be counts beside their sum; of more, only those with one sum are looked for."""
MOST_VOTERS = 50
"""Votes on an example, at most, where the columns of counts have no names that say so."""

_BETWEEN = re.compile(r"[\W_]+")


def classes(table: Proposal) -> None:
    """Marks that share a stem (candidate, class, label, y) or end in the truth's values: a column a class.

    A group is one by name: a cell of it that is no mark is refused with its row when it is read.
    `label_1, label_2` without a truth may also be voters who vote 0 or 1: the user is asked.
    """
    truth = set(table.truth())
    may_be = [name for name in table.open() if truth or CLASS_COLUMN.fullmatch(name)]
    marks = {name: rows for name in may_be if (rows := read_marks(table.cells[name])) is not None}
    stems: dict[str, dict[str, str]] = {"cand": {}, "class": {}, "label": {}, "y": {}}
    for name in marks:
        if match := CLASS_COLUMN.fullmatch(name):
            stem = match["stem"].casefold()
            stems["cand" if stem.startswith("cand") else stem][name] = class_name(name)
    has_sets = bool(table.having("candidates", "candidate"))
    table.give_all(stems["cand"] if has_sets else (), "keep")  # another way to write the candidates: never a feature
    if table.having(*LABELLED):
        return

    def is_matrix(group: Mapping[str, str]) -> bool:
        different = len(set(group.values())) == len(group) > 1 and all(group.values())
        rows = list(zip(*(marks[name] for name in group), strict=True))
        return different and _are_whole(rows) and all(any(mark is not False for mark in row) for row in rows)

    labels = stems["label"]
    may_be_votes = len(labels) > 1 and all(match and match["label"] for match in map(NUMBERED.fullmatch, labels))
    may_be_votes = may_be_votes and not (truth and truth <= set(map(spelling, labels.values())))
    if may_be_votes and (truth or not is_matrix(labels)):
        stems["label"] = {}
    named = [group for stem, group in stems.items() if is_matrix(group) or (stem == "cand" and len(group) > 1)]
    of_truth = _called_as(list(marks), truth)
    for group in [*named, *([of_truth] if is_matrix(of_truth) else [])][:1]:  # reading names a row without a mark
        for name, ending in group.items():
            table.give(name, "class", ending)
        if group is labels and may_be_votes:
            table.ask(
                f"{listing([*group], limit=12)} hold 0 and 1. What is one of these columns?",
                ("a class: 1 where it is a candidate", dict.fromkeys(group, "class")),
                ("a voter who votes 0 or 1", dict.fromkeys(group, "annotator")),
            )
        return
    table.give_all(labels if may_be_votes and truth <= {"0", "1", "0.0", "1.0"} else (), "annotator")


def _called_as(names: Sequence[str], truth: set[str]) -> dict[str, str]:
    """Columns that are called as the true labels, after one stem, with those endings; all that have a stem."""
    if not truth or all(map(is_number, truth)):
        return {}
    word = min(truth)
    starts = {name: [0, *(at + 1 for at, letter in enumerate(name) if letter in "_.=: -")] for name in names}
    stems = [name[:at] for name in names for at in starts[name] if spelling(name[at:]) == word]
    for stem in dict.fromkeys(stems):
        group = {name: name[len(stem) :].strip() for name in names if name.startswith(stem)}
        if truth <= set(map(spelling, group.values())):
            return {name: ending for name, ending in group.items() if stem or spelling(ending) in truth}
    return {}


def probabilities(table: Proposal) -> None:
    """`prob_cat, prob_dog, …`, and numbers under the names of the classes: how likely, or how frequent, each is.

    A group is one by name: a cell of it that is no such number is refused with its row when it is read.
    """
    amounts = {name: list(map(amount, table.cells[name])) for name in table.open() if are_amounts(table.cells[name])}
    truth, groups = set(table.truth()), dict[str, dict[str, str]]()
    for name in amounts:
        if match := SHARE_COLUMN.fullmatch(name):
            groups.setdefault(match["stem"].casefold(), {})[name] = shown_name(name, "probability")
    of_truth = _called_as(list(amounts), truth) if len(truth) > 1 else {}
    whole = [row for row in zip(*amounts.values(), strict=True) if None not in row]
    totals = {round(sum(filter(None, row)), 6) for row in whole}
    if of_truth and len(totals) == 1:  # the others are classes too, which are nobody's truth
        of_truth = dict(zip(amounts, amounts, strict=True)) | of_truth
    for group in (*groups.values(), of_truth):
        rows = list(zip(*(amounts[name] for name in group), strict=True))
        if len(group) > 1 and _are_whole(rows) and not (truth and truth.isdisjoint(map(spelling, group.values()))):
            for name, ending in group.items():
                table.give(name, "probability", ending)
            return


def _are_whole(rows: Sequence[Sequence[object]]) -> bool:
    """Whether most rows of the columns of a group have no odd cell (None)."""
    return 2 * sum(None not in row for row in rows) > len(rows)


def are_amounts(cells: Cells) -> bool:
    """Whether most cells that are not missing are numbers of at least 0, with or without a percent sign."""
    filled = present_cells(cells)
    return 2 * sum(amount(cell) is not None for cell in filled) >= len(filled)


@lru_cache(maxsize=2**12)  # a rule looks at the cells of a column twice, and many columns have the same
def amount(cell: str | None) -> float | None:
    """Return the number of at least 0 in a cell, 0 where it is missing; None where there is another thing."""
    if is_missing(cell):
        return 0.0
    plain = (cell or "").strip().removesuffix("%").strip().replace(",", ".")
    return float(plain) if is_number(plain) and 0 <= float(plain) < math.inf else None


def counts(table: Proposal) -> None:
    """Columns of whole numbers with one sum (of 2 to `MOST_VOTERS`), or that of a column beside: votes for a class.

    So are columns of percents that make up 100.
    """
    group = _counted(table)
    shown = [shown_name(name, "count") for name in group]
    for name, called in zip(group, apart(group) if group and shown == group else shown, strict=True):
        silent = is_no_answer(called, among_votes=True)  # who could not tell
        table.give(name, "keep" if silent else "count", called, why="no answer" * silent)


def apart(names: Sequence[str]) -> list[str]:
    """Return names without the words that all of them begin or end with.

    Examples
    --------
    >>> apart(["t01_smooth_count", "t01_features_or_disk_count"]), apart(["n cat", "n dog"]), apart(["cat", "dog"])
    (['smooth', 'features_or_disk'], ['cat', 'dog'], ['cat', 'dog'])
    """
    parts = [re.split(r"([_ .:-]+)", name) for name in names]
    most = min(map(len, parts)) - 1  # a word and a mark at least stay
    first = next((k for k in range(0, most, 2) if len({part[k] for part in parts}) > 1), most)
    last = next((k for k in range(0, most - first, 2) if len({part[-1 - k] for part in parts}) > 1), most - first)
    return ["".join(part[first : len(part) - last]) for part in parts]


def _counted(table: Proposal) -> list[str]:
    likely = [n for n in table.open() if table.repeats(n) or any("%" in cell for cell in table.raw[n][:9] if cell)]
    cells = {name: table.raw[name] for name in likely if are_amounts(table.raw[name])}
    percents = [n for n, some in cells.items() if all("%" in (c or "%") for c in some) and present_cells(some)]
    if len(percents) > 1 and all(abs(total - 100) <= len(percents) for total in _sums(table, percents)):
        return percents
    whole = [n for n in cells if n not in percents and table.repeats(n) and _are_counts(table.raw[n])]
    varied = [name for name in whole if len(set(cells[name])) > 1]  # the number of votes may be the same everywhere
    one_sum = set(_sums(table, varied))
    if len(varied) > 1 and len(one_sum) == 1 and 2 <= max(one_sum) <= MOST_VOTERS:
        return varied
    for group in _alike(whole):
        sums = _sums(table, group)
        if any([amount(cell) or 0.0 for cell in table.raw[name]] == sums for name in whole if name not in group):
            return group
    for total in [name for name in whole if says_total(name)] if 2 < len(whole) <= MOST_COUNTS else ():
        others = [name for name in whole if name != total]
        sums, wanted = _sums(table, others), [amount(cell) or 0.0 for cell in table.raw[total]]
        rest = [have - want for have, want in zip(sums, wanted, strict=True)]  # what one column more would be
        if not any(rest):
            return others
        spare = [name for name in others if [amount(cell) or 0.0 for cell in table.raw[name]] == rest]
        if spare and len(others) > 2:
            return [name for name in others if name != spare[0]]
    return []


def _alike(names: Sequence[str]) -> list[list[str]]:
    """Return the groups of names that begin or end with the same word: `n_cat, n_dog`, `cat votes, dog votes`."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for name in names:
        words = [word for word in _BETWEEN.split(name) if word]
        for at_end, word in ((False, words[0]), (True, words[-1])) if len(words) > 1 else ():
            groups.setdefault((at_end, word.casefold()), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def says_total(name: str) -> bool:
    """Whether a column is called as the number of votes is."""
    plain = plain_name(name)
    is_named = plain in _TOTALS or plain in WORDS["total"]
    return says_counts(name) or is_named or plain.startswith(("n_", "num_", "number_of_"))


_TOTALS = ("n", "total", "sum", "annotators", "raters", "voters", "annotations", "judgments")
"""Names of the number of votes."""


def _are_counts(cells: Cells) -> bool:
    return all((number := amount(cell)) is not None and number.is_integer() and number <= 1000 for cell in cells)


def _sums(table: Proposal, names: Sequence[str]) -> list[float]:
    return [sum(amount(cell) or 0.0 for cell in row) for row in zip(*(table.raw[n] for n in names), strict=True)]

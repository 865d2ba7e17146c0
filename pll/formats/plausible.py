"""Where no rule finds labels: columns that agree as people do, or that may hold labels; the user is asked, never told.

The rules want names and cells that are sure; what is left is judged by what labels have in common in any file: few
different ones, which come again, and on which those who gave them agree more often than by chance.
"""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np

from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.class_groups import (
    LEAST_PARTS,
    MOST_COUNTS,
    MOST_VOTES_COUNTED,
    agree,
    amount,
    are_counts,
    parts_of_total,
    side_by_side,
    sums_of,
)
from pll.formats.grouping import grouped
from pll.formats.one_column import set_apart
from pll.formats.proposal import MOST_OFFERED, Proposal, one_of, says, which
from pll.formats.reading import TO_FILL_IN
from pll.formats.tabular.cells import (
    guess_separator,
    is_no_answer,
    present_cells,
    spelling,
    split_cell,
)
from pll.formats.voters import ask_whose, of_one_vocabulary

LEAST_BOTH = 10
"""Rows that two columns fill, from which it is no chance that they agree."""
MOST_KINDS_OF_CODES = 10
"""Different numbers with fractions, at most, that may be codes of classes."""


def unclear(table: Proposal) -> None:
    """Ask whether columns that agree are voters; else which column of few words holds the labels.

    Parameters
    ----------
    table
        The columns and what they are so far: none is taken for labels.
    """
    total = parts_of_total(table)
    groups = [[name for name in names if name not in set_apart(table, names)] for names in agreeing(table)]
    if groups and not total:
        every = listing([name for names in groups for name in names], limit=12)
        ask_whose(table, f"{every} agree more often than by chance", groups)
    elif len(table.raw) <= MOST_COUNTS and (parts := total or _parts_of_whole(table)):
        table.give_all(parts, "feature")
        whole = "what the column beside them holds" if total else "1" if sums_of(table, parts)[0] < 2 else "100"
        table.ask(
            f"{listing(parts, limit=12)} add up to {whole}, in every row. What are they?",
            ("classes: how likely, or how often given, each is", dict.fromkeys(parts, "probability")),
            ("nobody's: learn from them", dict.fromkeys(parts, "feature")),
        )
    elif parts := _counts_side_by_side(table):
        table.give_all(parts, "feature")
        table.ask(
            f"{listing(parts, limit=12)} are small whole numbers, some of them 0. What are they?",
            ("how many people gave each class", dict.fromkeys(parts, "count")),
            ("nobody's: learn from them", dict.fromkeys(parts, "feature")),
        )
    else:
        _ask_for_the_column(table)


def _counts_side_by_side(table: Proposal) -> list[str]:
    """The first columns side by side that may be counts of votes, of rows that not everybody answered."""
    names, open_ones = list(table.raw), {*table.open()}
    may_be = [name in open_ones and are_counts(table.raw[name]) for name in names]
    for is_run, group in groupby(range(len(names)), key=may_be.__getitem__):
        run = [names[at] for at in group]
        cells = [amount(cell) for name in run for cell in table.raw[name]] if is_run and len(run) >= LEAST_PARTS else []
        some_are_none = len(cells) <= 10 * cells.count(0.0)
        if cells and some_are_none and 2.0 in cells and max(sums_of(table, run)) <= MOST_VOTES_COUNTED:
            return run
    return []


def _parts_of_whole(table: Proposal) -> list[str]:
    """The most columns of numbers side by side that add up to 1 or 100 in every row, but for rounding."""
    names, (_, before, others) = list(table.raw), side_by_side(table)
    for count in range(len(names), LEAST_PARTS - 1, -1):
        sums = before[:, count:] - before[:, :-count]
        for whole in (1, 100):
            fits = (np.abs(sums / whole - 1) <= count / 200).all(axis=0) & (others[count:] == others[:-count])
            if fits.any():
                first = int(fits.argmax())
                return names[first : first + count]
    return []


def agreeing(table: Proposal) -> list[list[str]]:
    """Return groups of open columns of few labels, each of which agrees with another one of its group.

    Parameters
    ----------
    table
        The columns and what they are so far.
    """
    free = which(table, "answers", "repeats", "!of the occasion", "!of a state", "!an id", "!of an aggregate")
    numbers = which(table, "fractions", among=free)
    many = [name for name in numbers if len({*present_cells(table.cells[name])}) > MOST_KINDS_OF_CODES]
    free = [name for name in free if name not in many]
    said = {name: _said(table, name) for name in free}

    def alike(one: str, other: str) -> bool:
        both = sum(a is not None and b is not None for a, b in zip(said[one], said[other], strict=True))
        return one != other and both >= LEAST_BOTH and agree([said[one], said[other]])

    groups = of_one_vocabulary(table, free)
    found = [[name for name in names if any(alike(name, other) for other in names)] for names in groups]
    return [names for names in found if len(names) > 1]


def _said(table: Proposal, name: str) -> list[frozenset[str] | None]:
    """Return the labels of each cell of a column, in their common spelling; None where there is no answer."""
    mark = guess_separator(present_cells(table.cells[name]))

    def labels(cell: str) -> frozenset[str] | None:
        try:
            labels = split_cell(cell, mark)
        except UserError:  # reading says where a list cannot be read
            labels = (cell,)
        return frozenset(spelling(one) for one in labels if not is_no_answer(one, among_votes=True)) or None

    known = {cell: labels(cell) for cell in {*table.cells[name]} if cell}
    return [known.get(cell or "") for cell in table.cells[name]]


def _ask_for_the_column(table: Proposal) -> None:
    """Ask about columns of few words whose names say labels, or, beside texts or pictures, all that may be: which."""
    found = which(table, "of some label", "!of an aggregate", "answers", "labels")
    stems = grouped((re.sub(r"\d+", "", name), name) for name in which(table, "rows", "empty"))
    to_fill_in = [name for names in stems.values() if len(names) > 1 for name in names]
    table.give_all(to_fill_in, "keep", why=TO_FILL_IN)
    if not (found or to_fill_in) and table.having("text", "image"):
        found = which(table, "rows", "word", "answers", "labels", "!of an aggregate", "!of the occasion", "!of a state")
        found = which(table, "!of a person", "!states", "!numbered names", "!too many words", among=found)
    found = sorted(found, key=lambda name: (not says("labels", name), len(table.words(name))))[:MOST_OFFERED]
    table.give_all(found, "keep")
    said = {name: listing(list(dict.fromkeys(present_cells(table.raw[name])))[:4]) for name in found}
    if len(found) == 1:
        name = found[0]
        table.ask(
            f"{name} may hold the labels ({said[name]}). May some be wrong?",
            ("one label each, which may be wrong", {name: "candidates"}),
            ("the true label", {name: "true_label"}),
            ("only carried along", {name: "keep"}),
        )
    elif found:
        table.ask(
            f"{listing(found)} may hold the labels. Which does?",
            *one_of([(f"{name} ({said[name]})", [name]) for name in found], "candidates"),
            ("none of them: only carried along", dict.fromkeys(found, "keep")),
        )

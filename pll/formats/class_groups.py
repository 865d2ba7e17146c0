"""Columns that are a class each: marked where it is a candidate, or how many voted for it, or how likely it is."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from pll.formats.checks import listing
from pll.formats.forms import USUAL, WORDS, plain_name, words_of
from pll.formats.grouping import grouped
from pll.formats.names import CLASS_COLUMN, GRID, NAMED, NUMBERED, SHARE_COLUMN, class_name, shown_name
from pll.formats.proposal import Proposal, one_of, says, share_among, which
from pll.formats.reading import LABELLED
from pll.formats.tabular.cells import (
    FUNCTION,
    NEARLY_ALL,
    ROUNDED,
    Cells,
    has_fractions,
    is_missing,
    is_no_answer,
    is_number,
    mark_in,
    present_cells,
    read_marks,
    says_counts,
    spelling,
)

MOST_COUNTS = 40
"""Columns that may be counts beside their sum; of more, only those with one sum are looked for."""
MOST_VOTES_COUNTED = 50
"""Votes on an example, at most, where the columns of counts have no names that say so."""

LEAST_ROWS_OF_VOTES = 10
"""Rows from which it is no chance that columns look like votes."""

_LETTERS = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PARTS = re.compile(rf"[{_LETTERS}]|[^\W_{_LETTERS}]+|[\W_]+")
"""The words of a name, and what is between them; a letter of Chinese, Japanese or Korean is a word."""


def classes(table: Proposal) -> None:
    """A column a class, marked where it is a candidate; another that names what is marked says nothing more."""
    _named_classes(table, _marks_in(table))
    for ask in (_marked_with_doubt, _marked_alike):
        if not table.having(*LABELLED, "true_label") and not table.is_asked():
            ask(table)
    group = {name: table.roles[name].display_name for name in table.having("class")}
    table.give_all(_naming_again(table, group), "keep", why="it names the marked classes")


def _marks_in(table: Proposal) -> dict[str, Sequence[bool | None]]:
    """What each open column of marks says, row by row."""
    return {name: rows for name in table.open() if (rows := read_marks(table.cells[name])) is not None}


def _named_classes(table: Proposal, marks: Mapping[str, Sequence[bool | None]]) -> None:
    """Marks that share a stem (candidate, class, label, y) or end in the truth's values.

    A group is one by name: a cell of it that is no mark is refused with its row when it is read.
    `label_1, label_2` without a truth may also be voters who vote 0 or 1: the user is asked.
    """
    truth = set(table.truth())
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
        _give(table, group, "class")
        if group is labels and may_be_votes:
            _ask_what(table, [group], _VOTERS)
        return
    table.give_all(labels if may_be_votes and truth <= {"0", "1", "0.0", "1.0"} else (), "annotator")


_VOTERS = {"class": "a class: 1 where it is a candidate", "annotator": "a voter who votes 0 or 1"}
_NOBODY = {"feature": "nobody's: learn from them"}
"""What a column of numbers may be, by role, where names do not say."""


def _give(table: Proposal, group: Mapping[str, str], role: str) -> None:
    """Give the columns of classes a role; what says that there is no answer is none, but for an output of a model."""
    whole = Counter(map(spelling, group))
    others = (table.words(name) for name in (table.open() if group else ()) if name not in group)
    if any(len(words) > 1 and share_among(words, whole) >= NEARLY_ALL for words in others):
        group = dict(zip(group, group, strict=True))  # another column has them in full: `Salix alba`
    for name, own in group.items():
        called = table.meaning(name, own)
        is_short = called.isalpha() and len(called) <= LONGEST_ABBREVIATION
        may_be = is_short or role == "probability" or spelling(called) == "none"
        silent = is_no_answer(called, among_votes=True) and not may_be
        table.give(name, "keep" if silent else role, called, why="no answer" * silent)


LONGEST_ABBREVIATION = 3
"""Letters of a name that may be a code: NV is a nevus, whatever it means in a cell."""


def _ask_what(
    table: Proposal,
    groups: Sequence[Collection[str]],
    ways: Mapping[str, str],
    beside: Sequence[str] = (),
) -> None:
    """Ask what the columns of a group are, the first of `ways` or another, or which of several groups has the labels.

    Whatever the answer, columns beside them are carried along, and so is what says that there is no answer.
    """
    every, role = [name for group in groups for name in group], next(iter(ways))
    kept = {name: "keep" for name in (*every, *beside) if table.roles[name].role == "keep"}
    text = f"{listing(every, limit=12)} are marked. What is one of these columns?"
    if len(groups) > 1:
        offered = [(f"{listing([*group], limit=4)}: {ways[role]}", group) for group in groups]
        table.ask(text, *one_of(offered, role, kept))
        return
    table.ask(text, *((said, dict.fromkeys(every, one) | (kept if one == role else {})) for one, said in ways.items()))


def _marked_alike(table: Proposal) -> None:
    """Marks that only begin or end alike, or beside which there is nothing to learn from: the user is asked.

    Not where another column names what is marked, as forms that allow several choices write both.
    """
    marks = _marks_in(table)
    some = [name for name, rows in marks.items() if rows.count(None) <= table.cells[name].count(None) and not all(rows)]
    some = [name for name in some if not NAMED.fullmatch(name)]
    ticked = [name for name in some if _are_ticks(table.cells[name])]  # by whoever filled the row in: no numbers
    groups = [*_groups(table, some), *([dict(zip(ticked, apart(ticked), strict=True))] if len(ticked) > 1 else [])]
    groups = [group for group in groups if _are_choices(table, [marks[name] for name in group], group)]
    groups = _apart_from_each_other(groups)
    again = {name: group for group in groups for name in _naming_again(table, group)}
    groups = [group for group in groups if not again or group in again.values()]
    for group in groups:
        _give(table, group, "class")
    table.give_all(again, "keep", why="it names the marked classes")
    if len(groups) > 1 or (groups and not again):
        _ask_what(table, groups, _VOTERS | _NOBODY, list(again))


def _marked_with_doubt(table: Proposal) -> None:
    """Ask about columns of 1, 0 and seldom −1, or nothing: findings that are there, are not, or perhaps.

    Not where the columns agree, as people do who say −1, 0 or 1 of the same thing.
    """
    codes = {name: list(map(_sure, table.cells[name])) for name in table.open() if not FUNCTION.match(name)}
    group = {name: some for name, some in codes.items() if not NAMED.fullmatch(name) and _are_sure(some)}
    times = Counter(code for some in group.values() for code in some)
    if len(group) < LEAST_FINDINGS or not 0 < times[-1] < times[1] or not times[0] or agree(list(group.values())):
        return
    _give(table, dict(zip(group, apart([*group]), strict=True)), "class")
    _ask_what(table, [group], _PERHAPS | _NOBODY)


LEAST_FINDINGS = 3
"""Columns of 1, 0 and −1, at least, that are a class each."""
_PERHAPS = {
    "class": "a class: 1 where it is, −1 where it may be: a candidate too",
    "annotator": "a voter who says −1, 0 or 1",
}


def _sure(cell: str | None) -> float | None:
    """The number in a cell, None where it is missing; not a number (NaN) for anything else."""
    plain = (cell or "").strip().replace("−", "-")
    return None if is_missing(cell) else float(plain) if is_number(plain) else math.nan


def _are_sure(codes: Sequence[float | None]) -> bool:
    """Whether a column holds 1, 0 and −1 and nothing else, some cells of it −1 or missing."""
    kinds = {*codes}
    return kinds <= {-1, 0, 1, None} and bool(kinds & {-1, None}) and kinds != {None}


def agree(columns: Sequence[Sequence[Hashable | None]]) -> bool:
    """Whether columns have the same in a row far more often than by chance, as each is.

    Parameters
    ----------
    columns
        Of what stands in each row, None where nothing does.
    """
    same, chance, rows = agreed(columns)
    return same - chance > LEAST_AGREED_PEOPLE * (rows - chance)


def agreed(columns: Sequence[Sequence[Hashable | None]]) -> tuple[int, float, int]:
    """Return in how many rows two columns have the same, over all pairs; in how many they would by chance; of how many.

    Parameters
    ----------
    columns
        Of what stands in each row, None where nothing does.

    Examples
    --------
    >>> agreed(["abab", "abba"])
    (2, 2.0, 4)
    """
    same, chance, rows = 0, 0.0, 0
    for one, other in combinations(columns[:MOST_COLUMNS_COMPARED], 2):
        pairs = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
        ours, theirs = (Counter(pair[k] for pair in pairs) for k in (0, 1))
        same, rows = same + sum(a == b for a, b in pairs), rows + len(pairs)
        chance += sum(ours[code] * theirs[code] for code in ours) / max(len(pairs), 1)
    return same, chance, rows


MOST_COLUMNS_COMPARED, LEAST_AGREED_PEOPLE = 12, 0.25
"""Columns that are compared, at most; share of what chance leaves on which people agree, at least."""


def _are_ticks(cells: Cells) -> bool:
    """Whether a column holds ticks and nothing else: x, ✓."""
    return all(cell.strip().casefold() == "x" or not cell.strip().isalnum() for cell in present_cells(cells))


def _are_choices(table: Proposal, marks: Sequence[Sequence[bool | None]], group: Collection[str]) -> bool:
    """Whether nearly every row marks a column, and some several; or one each, where there is nothing to learn from."""
    marked = [sum(mark is True for mark in row) for row in zip(*marks, strict=True)]
    several = any(times > 1 for times in marked)
    are_most = sum(map(bool, marked)) >= max(LEAST_ROWS_OF_VOTES, NEARLY_ALL * len(marked))
    return are_most and (several or not _to_learn_from(table, group))


def _to_learn_from(table: Proposal, group: Collection[str]) -> list[str]:
    """Columns of numbers and few words beside those of a group."""
    free = [name for name in which(table, "!empty", "!dates", "!of the occasion") if name not in group]
    free = [*which(table, "fractions", among=free), *which(table, "repeats", "!named id", among=free)]
    return [*which(table, "number", among=free), *which(table, "word", among=free)]


def _naming_again(table: Proposal, group: Mapping[str, str]) -> list[str]:
    """Columns whose cells are the names of the marked classes, in any order, of many rows."""
    marked = [(spelling(called), [mark_in(cell or "") for cell in table.cells[name]]) for name, called in group.items()]
    rows = [[called for called, row in marked if row[at]] for at in range(len(marked[0][1]))] if marked else []
    if not any(len(row) > 1 for row in rows):
        return []
    words = [name for name in which(table, "!measured") if name not in group]
    return [name for name in words if _names_all(table.raw[name], rows)]


def _names_all(cells: Cells, rows: Sequence[Sequence[str]]) -> bool:
    """Whether nearly all cells that are filled are the names of a row, whatever is between them."""
    filled = [(spelling(cell), names) for cell, names in zip(cells, rows, strict=True) if cell and cell.strip()]
    named = 0
    for cell, names in filled:
        rest = cell
        for name in sorted(names, key=len, reverse=True):
            rest = rest.replace(name, " ", 1)
        named += all(name in cell for name in names) and not any(map(str.isalnum, rest))
    return named >= max(LEAST_ROWS_OF_VOTES, NEARLY_ALL * len(filled))


def _called_as(names: Sequence[str], truth: set[str]) -> dict[str, str]:
    """Columns that are called as the true labels, after what all have before; all that have it."""
    if len(truth) < 2 or all(map(is_number, truth)):
        return {}
    begins = (name[:at] for name in names for at in range(len(name)) if spelling(name[at:]) == min(truth))
    for begin in dict.fromkeys(begins):
        called = {name: name.removeprefix(begin) for name in names if name.startswith(begin)}
        if truth <= set(map(spelling, called.values())):
            return {name: one for name, one in called.items() if begin or spelling(one) in truth}
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
    of_truth = _called_as(list(amounts), truth)
    whole = [row for row in zip(*amounts.values(), strict=True) if None not in row]
    totals = {round(sum(filter(None, row)), 6) for row in whole}
    if of_truth and len(totals) == 1:  # the others are classes too, which are nobody's truth
        of_truth = dict(zip(amounts, amounts, strict=True)) | of_truth
    won = [] if groups or of_truth else _won_among(table, [n for n in amounts if has_fractions(table.cells[n])])
    groups |= {"": dict(zip(won, apart(won), strict=True))} if won else {}
    for group in (*groups.values(), of_truth):
        rows = list(zip(*(amounts[name] for name in group), strict=True))
        if len(group) > 1 and _are_whole(rows) and not (truth and truth.isdisjoint(map(spelling, group.values()))):
            parts = _making_up_one(table, group)
            sums = [sum(filter(None, row)) for row in zip(*(amounts[name] for name in parts), strict=True)]
            is_apart = max(sums) > 1.1 * min(filter(None, sums), default=1.0)  # percents are rounded
            is_apart |= not any(abs(max(sums) - whole) <= 0.1 * whole for whole in (1, 100))
            are_counts = is_apart and not any(has_fractions(table.cells[name]) for name in parts)
            _give(table, {name: group[name] for name in parts}, "count" if are_counts else "probability")
            table.give_all([name for name in group if name not in parts], "keep", why=MADE_OF_SHARES)
            return


MADE_OF_SHARES = "made of the shares"


def _making_up_one(table: Proposal, group: Collection[str]) -> list[str]:
    """The columns of a group that make up 1 and stand side by side: sums and other versions of them stand beside.

    All columns, where no part of them does; but for what is everywhere the sum of all others (`votes_total`).
    """
    amounts, names = np.array(_amounts(table, group)), [*group]
    sums = np.isclose(2 * amounts, amounts.sum(axis=1, keepdims=True)).all(axis=0)
    if len(names) > 2 and len(amounts) >= LEAST_ROWS_OF_VOTES and sums.sum() == 1:
        return [name for name, is_sum in zip(names, sums, strict=True) if not is_sum]
    until = np.zeros((len(next(iter(table.cells.values()), ())), len(names) + 1))  # of all columns before each
    until[:, 1:] = np.cumsum(amounts, axis=1)
    for size in range(len(names), 1, -1):
        are_one = np.abs(until[:, size:] - until[:, :-size] - 1) <= ROUNDED * size
        found = np.flatnonzero(are_one.sum(axis=0) >= max(LEAST_ROWS_OF_VOTES, NEARLY_ALL * len(until)))
        if len(found):
            return names[found[0] : found[0] + size]
    return names


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


LEAST_PARTS = 3
"""Columns, at least, of which it is no chance that another one is their sum."""
LARGEST_PART = 1e9
"""Numbers above it are ids, perhaps, and no parts of a sum."""
Sums = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]
"""Of n columns: (rows, n) amounts, (rows, n + 1) what those before each add up to, (n + 1,) how many are no amounts."""


def side_by_side(table: Proposal) -> Sums:
    """Return what the numbers of columns side by side add up to.

    Parameters
    ----------
    table
        The columns; one with a role, or with words, has no amounts.
    """
    names = list(table.raw)
    usable = {name for name in table.open() if are_amounts(table.raw[name])}
    read = [[amount(cell) or 0.0 for cell in table.raw[name]] if name in usable else None for name in names]
    # an id of 18 digits would leave nothing of what stands beside it
    read = [None if some is None or max(some, default=0.0) > LARGEST_PART else some for some in read]
    rows = len(table.raw[names[0]])
    amounts = np.array([some or [0.0] * rows for some in read]).reshape(len(names), rows).T
    before = np.concatenate([np.zeros((rows, 1)), amounts.cumsum(axis=1)], axis=1)
    return amounts, before, np.cumsum([0, *(some is None for some in read)])


def parts_of_total(table: Proposal) -> list[str]:
    """Columns of numbers side by side that the one before or after them is the sum of in every row.

    Two may be by chance, or what something is made of: then that one is called as a total.
    """
    if len(table.raw) > MOST_COUNTS:
        return []
    names, (amounts, before, others) = list(table.raw), side_by_side(table)
    for at in np.flatnonzero(np.diff(others) == 0).tolist():
        total = amounts[:, [at]]
        least = 2 if says("total", names[at]) else LEAST_PARTS if np.ptp(total) > 0 else len(names)
        runs = [(k, at) for k in range(at - least + 1)] + [(at + 1, k) for k in range(len(names), at + least, -1)]
        for first, end in runs:  # the longest on each side first
            is_whole = others[first] == others[end] and np.allclose(before[:8, end] - before[:8, first], total[:8, 0])
            if is_whole and np.allclose(before[:, end] - before[:, first], total[:, 0]):
                return names[first:end]
    return []


def counts(table: Proposal) -> None:
    """Columns of whole numbers that are votes for a class, and of percents that make up 100.

    They have one sum (of 2 to `MOST_VOTES_COUNTED`), or that of a column beside.
    """
    _give(table, classes_of(counted(table), "count"), "count")


def classes_of(names: Sequence[str], role: str) -> dict[str, str]:
    """Return the class that each of some columns is of: what is left of its name.

    Parameters
    ----------
    names
        Of columns of one group.
    role
        Of all of them: `"count"` or `"probability"`.

    Examples
    --------
    >>> classes_of(["p_cat", "p_dog"], "probability"), classes_of(["is_cat_share", "is_dog_share"], "probability")
    ({'p_cat': 'cat', 'p_dog': 'dog'}, {'is_cat_share': 'cat', 'is_dog_share': 'dog'})
    """
    shown = [shown_name(name, role) for name in names]
    is_plain = len(names) > 1 and shown == [*names]
    return dict(zip(names, apart(names) if is_plain else shown, strict=True))


def apart(names: Sequence[str]) -> list[str]:
    """Return names without the words that all of them begin or end with.

    Examples
    --------
    >>> apart(["t01_smooth_count", "t01_features_or_disk_count"]), apart(["n cat", "n dog"]), apart(["cat", "dog"])
    (['smooth', 'features_or_disk'], ['cat', 'dog'], ['cat', 'dog'])
    >>> apart(["猫の票数", "犬の票数"]), apart(["Which? (all)/no", "Which? (all)/not sure"]), apart(["C++?", "R?"])
    (['猫', '犬'], ['no', 'not sure'], ['C++', 'R'])
    >>> apart(["B. lucorum", "B. hortorum"])  # a genus, cut short
    ['B. lucorum', 'B. hortorum']
    """
    parts = [_PARTS.findall(name) for name in names]
    if all(_OF_A_GENUS.fullmatch(name) for name in names):
        return list(names)
    most = min(map(len, parts), default=1) - 1  # a word stays
    first = next((k for k in range(most) if len({part[k] for part in parts}) > 1), most)
    last = next((k for k in range(most - first) if len({part[-1 - k] for part in parts}) > 1), most - first)
    bare = ["".join(part[first : len(part) - last]).strip(" _.:-/?") for part in parts]
    return bare if all(bare) else list(names)


_OF_A_GENUS = re.compile(r"[A-Z][a-z]?\. [a-z]+(-[a-z]+)?")


def stranger_among(names: Sequence[str]) -> list[str]:
    """Return the one name without a word that all others share, of which there are three at least; else none.

    Examples
    --------
    >>> stranger_among(["Coder A", "Coder B", "Coder C", "final"]), stranger_among(["Ann", "Bob", "Cem", "final"])
    (['final'], [])
    >>> stranger_among(["판독의1", "판독의2", "판독의3", "최종판정"]), stranger_among(["P1", "P2", "P3", "conference"])
    (['최종판정'], ['conference'])
    """
    letters = [re.sub(r"\d+", " ", name.casefold()) for name in names]
    words = [{part for part in _PARTS.findall(name) if part[0].isalpha()} for name in letters]
    users = Counter(word for some in words for word in some)
    shared = {word for word, times in users.items() if times == len(names) - 1 >= 3}
    found = [name for name, some in zip(names, words, strict=True) if not shared <= some]
    return found if len(found) == 1 else []


def _groups(table: Proposal, names: Sequence[str]) -> list[dict[str, str]]:
    """Columns that begin or end alike, the most first, then all where there is nothing else; what each is of."""
    groups = _alike(names, [*table.raw])
    groups += [[*names]] if len(names) > 2 and not _to_learn_from(table, names) else []
    return [dict(zip(group, apart(group), strict=True)) for group in groups]


def _apart_from_each_other(groups: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the groups that share no column with one before them."""
    return [group for at, group in enumerate(groups) if all(group.keys().isdisjoint(one) for one in groups[:at])]


def _alike(names: Sequence[str], every: Sequence[str] = ()) -> list[list[str]]:
    """Return the columns that begin or end with the same word, the most first: `n_cat, n_dog`, `cat?, dog?`.

    What follows the name of another column, or stands after a slash, is a part of one question.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for name in names:
        parts = _PARTS.findall(name)
        begun = [one for one in every if one != name and name.startswith(one) and not name[len(one)].isalnum()]
        asked = max(begun, key=len, default=name.rpartition("/")[0])
        ends = [("first", parts[0]), ("last", parts[-1])] if len(parts) > 1 else []
        for key in [*([("asked", asked)] if asked else []), *ends]:
            groups.setdefault(key, []).append(name)
    alike = sorted(groups.items(), key=lambda group: (group[0][0] != "asked", -len(group[1])))
    return [group for _, group in alike if len(group) > 1]


def counted_in_grid(table: Proposal) -> list[str]:
    """Columns of whole numbers below one that says that they are: `Number of tasters [sour]`.

    Of what people choose, some is nothing, and all of it about the same in each row.
    """
    asked = ((match["question"], name) for name in table.open() if (match := GRID.fullmatch(name)))
    of_number = (one for one in asked if not WORDS["number_of"].isdisjoint(words_of(one[0])[:1]))
    groups = grouped((question, name) for question, name in of_number if are_counts(table.raw[name]))
    return next((names for names in groups.values() if len(names) > 1 and _are_chosen(table, names)), [])


def _are_chosen(table: Proposal, names: Sequence[str]) -> bool:
    sums = sorted(sums_of(table, names))
    middle, rows = sums[len(sums) // 2], _amounts(table, names)
    alike = sum(abs(one - middle) <= middle / 4 for one in sums)
    return alike >= 0.8 * len(sums) and 10 * sum(row.count(0.0) for row in rows) >= len(rows) * len(names)


def counted(table: Proposal) -> list[str]:
    """Columns of counts without a doubt."""
    if grid := counted_in_grid(table):
        return grid
    form = table.form if table.form is not None and table.form.answers else None
    told = [name for name in table.open() if form is not None and form.may_answer(name)]
    percent = [name for name in table.open() if any("%" in cell for cell in table.raw[name][:9] if cell)]
    likely = [name for name in table.open() if name in told or name in percent or table.repeats(name)]
    # what people gave, be there a sum of it
    likely = [name for name in likely if not (NAMED.fullmatch(name) or NUMBERED.fullmatch(name))]
    cells = {name: table.raw[name] for name in likely if are_amounts(table.raw[name])}
    percents = [n for n, some in cells.items() if all("%" in (c or "%") for c in some) and present_cells(some)]
    if any(map(says_total, cells)):  # else they may be what something is made of
        percents = percents or [name for name in cells if "%" in name]
    if len(percents) > 1 and all(abs(total - 100) <= len(percents) for total in sums_of(table, percents)):
        return percents
    whole = [n for n in cells if n not in percents and (n in told or table.repeats(n)) and are_counts(table.raw[n])]
    varied = [name for name in whole if len(set(cells[name])) > 1]  # the number of votes may be the same everywhere
    one_sum = set(sums_of(table, varied))
    if len(varied) > 1 and len(one_sum) == 1 and 2 <= max(one_sum) <= MOST_VOTES_COUNTED:
        return varied
    for group in _alike(whole):
        for total in whole:  # be it called as they are
            parts = [name for name in group if name != total]
            is_told = len(parts) >= LEAST_PARTS or says("total", total)
            is_told = is_told and (total not in group or all(says("ballots", name) for name in parts))
            if is_told and len(parts) > 1 and sums_of(table, parts) == sums_of(table, [total]):
                return parts
    for group in _alike(whole):
        is_said = len(group) > 2 and all(says("ballots", name) for name in group)
        sums = sums_of(table, group) if is_said or {*told}.issuperset(group) else [0.0]
        if 1 < max(sums) <= MOST_VOTES_COUNTED and sum(map(bool, sums)) >= NEARLY_ALL * len(sums):
            return group
    if run := _won_among(table, whole):
        return run
    for total in [name for name in whole if says_total(name)] if 2 < len(whole) <= MOST_COUNTS else ():
        others = [name for name in whole if name != total]
        are_several = len(others) >= LEAST_PARTS or words_of(total)[-1:] != ("score",)  # of two it is what both gave
        if are_several and sums_of(table, others) == sums_of(table, [total]):
            return others
    return []


def _won_among(table: Proposal, names: Sequence[str]) -> list[str]:
    """Columns of numbers side by side of which another column names the largest in each row, and all that it names.

    By the name of the column, or its last part; not where all are marks, which another column names as well.
    """
    own, every = {*names}, list(table.raw)
    at = {spelling(re.split(r"[.:_/]", name)[-1]): k for k, name in enumerate(every) if name in own}
    at |= {spelling(name): k for k, name in enumerate(every) if name in own}
    for name in which(table, "word", "repeats") if len(own) > 1 else ():
        cells = [spelling(cell or "") for cell in table.raw[name]]
        places = {at.get(cell, -1) for cell in cells if cell}
        if len(places) < LEAST_WINNERS or min(places) < 0:
            continue
        first, last = start, end = min(places), max(places)
        while start > 0 and every[start - 1] in own:
            start -= 1
        while end + 1 < len(every) and every[end + 1] in own:
            end += 1
        beside = every[start : end + 1]  # with those that never had most, if all are called alike or make up a whole
        if apart(beside) != beside or len({round(total, 1) for total in sums_of(table, beside)}) == 1:
            first, last = start, end
        run = every[first : last + 1]
        rows = _amounts(table, run)
        won = [row[at[cell] - first] == max(row) for cell, row in zip(cells, rows, strict=True) if cell]
        is_sure = sum(won) >= max(LEAST_ROWS_OF_VOTES, NEARLY_ALL * len(won))
        if own.issuperset(run) and is_sure and not all(max(row) == sum(row) for row in rows):
            return run
    return []


LEAST_WINNERS = 2
"""Columns, at least, that another one names as the largest."""


def says_total(name: str) -> bool:
    """Whether a column is called as the number of votes is."""
    plain = plain_name(name)
    is_named = plain in USUAL["votes"] or plain in WORDS["total"]
    first, *others = words_of(name) or ("",)
    is_number = plain.startswith("number_of_") or (first in ("num", *WORDS["number_of"]) and bool(others))
    return says_counts(name) or is_named or is_number


def are_counts(cells: Cells) -> bool:
    """Whether all cells are whole numbers from 0 to 1000, or missing."""
    return all((number := amount(cell)) is not None and number.is_integer() and number <= 1000 for cell in cells)


def _amounts(table: Proposal, names: Iterable[str]) -> list[list[float]]:
    return [[amount(cell) or 0.0 for cell in row] for row in zip(*(table.raw[n] for n in names), strict=True)]


def sums_of(table: Proposal, names: Iterable[str]) -> list[float]:
    """Return what the numbers in some columns add up to in each row; 0 where one is missing or no number.

    Parameters
    ----------
    table
        The columns.
    names
        Of those in question.
    """
    return list(map(sum, _amounts(table, names)))

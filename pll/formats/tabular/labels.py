"""The labels of a table: candidate sets, annotations and truth of its columns of text.

Candidates in one cell are joined by `|`, or are a JSON list where a name holds that.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pll.annotations.data import Annotations
from pll.annotations.rules import Resolved, Rule, resolve
from pll.candidates import CandidateSets
from pll.dataset import UNKNOWN
from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.checks import check_ids, listing, shorten
from pll.formats.records import RowNumber
from pll.formats.tabular.answers import COVERED, is_object, shares_of
from pll.formats.tabular.cells import (
    BINARY,
    SEPARATORS,
    WORDS,
    guess_separator,
    is_missing,
    labels_in,
    read_label,
    says_nothing,
    spelling,
)
from pll.formats.tabular.label_columns import (
    Chunks,
    LabelColumn,
    RoleColumns,
    encode,
    join_spellings,
    names_in,
    read_column,
)
from pll.formats.tabular.lines import (
    annotations_of,
    lines_in,
    note_unmapped,
    read_answers,
    reader_of,
    rename_whole_numbers,
)
from pll.weights import Weights, checked_prior


def sets_of(annotations: Annotations, combine: str = "union") -> tuple[CandidateSets, list[str]]:
    """Return the candidate sets, and warnings about them.

    The set of an example without annotations holds every class.

    Parameters
    ----------
    combine
        `"union"` of all answers, or the `"largest"` answer (the first of several that are).

    Raises
    ------
    UserError
        Too many examples without an answer, for so many classes.

    Examples
    --------
    >>> annotations = Annotations([0, 0, 0], [0, 1, 1], [0, 1, 2], 2, ("a", "b", "c"), ("ann", "bob"))
    >>> [row.tolist() for row in sets_of(annotations)[0]], [row.tolist() for row in sets_of(annotations, "largest")[0]]
    ([[0, 1, 2], [0, 1, 2]], [[1, 2], [0, 1, 2]])
    """
    if combine == "largest":
        rows = annotations.rows[annotations.answer_starts]
        best = np.lexsort((np.arange(len(rows)), -annotations.answer_sizes, rows))  # by row, the largest first
        chosen = np.zeros(len(rows), dtype=np.bool_)
        chosen[best[np.diff(rows[best], prepend=-1) != 0]] = True
        is_largest = np.repeat(chosen, annotations.answer_sizes)
        triples = (annotations.rows[is_largest], annotations.annotators[is_largest], annotations.labels[is_largest])
        annotations = Annotations(*triples, annotations.n_rows, annotations.class_names, annotations.annotator_names)
    return filled(resolve(annotations, Rule("union")))


def filled(resolved: Resolved) -> tuple[CandidateSets, list[str]]:
    """Return the sets of all rows, with a note: a row without any gets every class.

    Raises
    ------
    UserError
        Too many rows without any, for so many classes.
    """
    n, c = resolved.unannotated + len(resolved.rows), resolved.candidates.n_classes
    if not resolved.unannotated:
        return resolved.candidates, []
    if not resolved.can_be_filled:
        raise UserError(
            f"{resolved.unannotated:,} of {n:,} examples have no annotation, and each may have any of {c:,} labels; "
            "that is too much to hold. Leave out the examples without an annotation."
        )
    note = f"{resolved.unannotated:,} of {n:,} examples have no annotation; any label is a candidate there."
    return resolved.filled(), [note]


REPEATED = 0.05
"""Share of the candidate sets in which a label is repeated, from which repetitions are counts and no slips."""


def read_candidates(name: str, chunks: Chunks, row_of: RowNumber) -> LabelColumn:
    """The column of the candidates, under its own name; its values are tuples of names.

    Objects of counts or shares are read, and labels that stand several times in a cell are counted.

    Raises
    ------
    UserError
        An empty set, or a cell that cannot be read; the row is named.
    """
    mark = guess_separator(encode(chunks)[1])

    def read_counts(cell: str) -> Mapping[str, float]:
        if not is_object(cell):
            return Counter(labels_in(cell, mark))
        shares = shares_of(cell)
        if shares is None:
            raise UserError("write a number from 0 for each label: how often or how likely it is")
        return shares

    column = read_column(name, chunks, row_of, read_counts)
    weighed = np.array([bool(weights) and set(weights.values()) != {1} for weights in column.values], dtype=np.bool_)
    is_weighed = weighed[column.codes].mean() >= REPEATED
    weights = tuple(column.values) if is_weighed else ()
    column = replace(column, values=[tuple(names) for names in column.values], weights=weights)
    empty = np.asarray([not names for names in column.values], dtype=np.bool_)
    refuse_empty(empty[column.codes], row_of, f"the column {name}")
    return column


def read_truth(chunks: Chunks, row_of: RowNumber) -> LabelColumn:
    """Parse the column `true_label`; its values are names, None where the truth is not known."""

    def read_name(cell: str) -> str | None:
        if is_object(cell):
            raise UserError("the true label is one name and no object")
        return read_label(cell)

    return read_column("true_label", chunks, row_of, read_name)


def candidate_sets(column: LabelColumn, names: tuple[str, ...]) -> CandidateSets:
    """Return the candidate sets of all rows."""
    number = {name: k for k, name in enumerate(names)}
    lists = ([number[name] for name in cell] for cell in column.values)
    return CandidateSets.from_lists(lists, len(names), names).take(column.codes)


def true_labels(column: LabelColumn, names: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Return (n,) class indices, `UNKNOWN` where the truth is not known."""
    number: dict[str | None, int] = {name: k for k, name in enumerate(names)}
    labels = [number.get(name, UNKNOWN) for name in column.values]
    return np.asarray(labels, dtype=np.int64)[column.codes]


def split_marks(chunks: Chunks, row_of: RowNumber) -> npt.NDArray[np.bool_]:
    """Return (n,) bool, True where the column `split` is "test"."""
    column = read_column("split", chunks, row_of, _split_cell)
    return np.asarray(column.values, dtype=np.bool_)[column.codes]


def _split_cell(cell: str) -> bool:
    part = cell.strip().casefold()
    if part not in ("train", "test"):
        raise UserError("write train or test")
    return part == "test"


def refuse_empty(empty: npt.NDArray[np.bool_], row_of: RowNumber, where: str) -> None:
    """Raise UserError at the first row whose candidate set is empty."""
    if empty.any():
        rows = np.flatnonzero(empty)
        raise UserError(
            f"Row {row_of(int(rows[0]))} has an empty candidate set ({len(rows)} such row{'s' * (len(rows) != 1)}); "
            f"every example needs at least one possible label in {where}."
        )


@dataclass(frozen=True, eq=False)
class TableLabels:
    """The labels of a table.

    Attributes
    ----------
    class_names
        All classes.
    candidates, y, annotations, prior
        As `PartialLabelDataset` has them.
    notes
        Warnings about them.
    first
        (n,) in long form, the first line of each example.
    example
        (lines,) in long form, the example of each line.
    ids
        (n,) in long form, the examples.
    """

    class_names: tuple[str, ...]
    candidates: CandidateSets | None = None
    y: npt.NDArray[np.int64] | None = None
    annotations: Annotations | None = None
    notes: tuple[str, ...] = ()
    first: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    ids: npt.NDArray[np.str_] | None = None
    prior: Weights | None = None
    example: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def read_labels(columns_by_role: RoleColumns, options: ReadOptions, row_of: RowNumber) -> TableLabels:
    """Return the labels of a table.

    Where there are candidates, they are the sets; else the annotations; else the 0/1 columns of the classes;
    else the likeliest classes that together make up `COVERED` of the probability, which is their prior. Of a table with
    a line an answer (a column with the role vote) the examples are those of its column task.

    Parameters
    ----------
    columns_by_role
        Roles of labels, and the columns that have them.
    options
        Class names and the like.
    row_of
        The number a message gives to a row.

    Raises
    ------
    UserError
        An empty set, an unknown label, a cell that cannot be read, a line without task or annotator; the row is named.
    """

    def one(role: str) -> Chunks | None:
        return next(iter(columns_by_role.get(role, {}).values()), None)

    truth, vote = one("true_label"), one("vote")
    true = None if truth is None else read_truth(truth, row_of)
    lines, is_long = lines_in(columns_by_role, row_of), vote is not None
    name, sets = next(iter(columns_by_role.get("candidates", {}).items()), ("candidates", None))
    sets = sets or _joined(columns_by_role.get("candidate", {}))
    set_column = None if sets is None or is_long else read_candidates(name, sets, row_of)
    known = {name for column in (true, set_column) if column is not None for _, name in column.names()}
    notes, unmapped = list[str](), Counter[str]()
    if lines is not None:
        reader, notes = reader_of(lines, known, options)
        lines, unmapped = read_answers(lines, reader)
        if options.class_names:
            options = replace(options, class_names=reader.classes)
        elif not (is_long or reader.classes):
            rename_whole_numbers(lines.votes)
    votes = None if lines is None else lines.votes
    by_column: Mapping[str, Chunks] = {}
    if set_column is None and lines is None:
        by_column = columns_by_role.get("class") or columns_by_role.get("probability", {})
    if true is not None:
        others = {name for column in (set_column, votes) if column is not None for _, name in column.names()}
        notes += _without_no_answers(true, {*by_column, *others})
    notes += [] if set_column is None else _doubtful_names(set_column)
    columns = [column for column in (set_column, true, votes) if column is not None]
    notes += join_spellings(columns, options, by_column)
    names = names_in(columns, options.class_names)
    annotations, candidates, prior = None, None, None
    if by_column:
        names = options.class_names or tuple(dict.fromkeys((*by_column, *names)))
        candidates, prior = _sets_by_column(by_column, names, row_of, are_shares=not columns_by_role.get("class"))
    if lines is not None and any(lines.votes.values):
        annotations = annotations_of(lines, names, unmapped)
        notes += note_unmapped(unmapped)
    elif unmapped:
        raise UserError(f"No answer could be mapped to a class (first: {shorten(next(iter(unmapped)))}).")
    elif is_long:
        raise UserError("Nobody gave a label: every cell of the column of labels is empty.")
    elif lines is not None:
        notes.append("Nobody gave a label: the columns of the annotators are empty.")
    if set_column is not None:
        candidates = candidate_sets(set_column, names)
        if set_column.weights:
            prior = _prior(set_column, candidates)
            notes.append("Candidates come with how often or how likely each is: label weights start from that.")
    elif annotations is not None:
        candidates, about_sets = sets_of(annotations, options.combine)
        notes += about_sets
    y = None if true is None else true_labels(true, names)
    labels = TableLabels(names, candidates, y, annotations, tuple(notes), prior=prior)
    if lines is None or not is_long:
        return labels
    first = np.unique(lines.tasks, return_index=True)[1]
    ids = check_ids(lines.ids, lambda at: row_of(int(first[at])))
    y = None if y is None else y[first]
    return replace(labels, y=y, first=first, ids=ids, example=lines.tasks)


def _doubtful_names(column: LabelColumn) -> list[str]:
    """Return a note on candidates that may be several, joined otherwise than in the other cells: `x;y` beside `x|y`."""
    names = {name for _, name in column.names()}
    doubtful = [
        name
        for name in sorted(names)
        if any(mark in name and {part.strip() for part in name.split(mark)} <= names for mark in SEPARATORS)
    ]
    if not doubtful:
        return []
    were = "was" if len(doubtful) == 1 else "were each"
    return [
        f"{listing(doubtful)} {were} read as one label, though the parts are labels too: join them as in the other "
        "cells if they are several."
    ]


def _joined(columns: Mapping[str, Chunks]) -> Chunks | None:
    """Return one column of candidate sets from columns of one candidate a cell; None where there are none."""
    if not columns:
        return None
    cells = [[(cell or "").strip() for cell in chunks.to_pylist()] for chunks in columns.values()]
    sets = (list(dict.fromkeys(filter(None, row))) for row in zip(*cells, strict=True))
    return pa.chunked_array([pa.array([json.dumps(names, ensure_ascii=False) for names in sets], pa.string())])


def _without_no_answers(true: LabelColumn, names: set[str]) -> list[str]:
    """Make true labels unknown that only say that there is none ("-", "N/A"), where no candidate is called so."""
    empty = {name for name in true.values if name is not None and name not in names and says_nothing(name)}
    if not names or not empty:
        return []
    rows = np.isin(true.codes, [code for code, name in enumerate(true.values) if name in empty])
    true.values[:] = [None if name in empty else name for name in true.values]
    return [f"{int(rows.sum()):,} true labels say that there is none ({listing(sorted(empty))}): they are not known."]


def _prior(column: LabelColumn, sets: CandidateSets) -> Weights:
    """Return the prior of sets whose cells say how often or how likely each label is."""
    number = {name: k for k, name in enumerate(sets.class_names)}
    place = {spelling(name): k for k, name in enumerate(sets.class_names)}
    cells = []
    for weights in column.weights:
        total: defaultdict[int, float] = defaultdict(float)
        for name, weight in weights.items():
            total[number[name] if name in number else place[spelling(name)]] += weight
        cells.append([total[k] for k in sorted(total)])
    return checked_prior(np.concatenate([cells[code] for code in column.codes.tolist()]), sets)


def _sets_by_column(
    columns: Mapping[str, Chunks], names: tuple[str, ...], row_of: RowNumber, *, are_shares: bool
) -> tuple[CandidateSets, Weights | None]:
    """Return the sets, and of shares the prior, of a column a class: 0/1, or how likely each is (all alike if none is).

    Raises
    ------
    UserError
        A column that is no class, a row without a mark, or a cell that cannot be read; the row is named.
    """
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise UserError(f"The column of the class {shorten(unknown[0])} is unknown; the classes are {listing(names)}.")
    n, places = len(next(iter(columns.values()))), [names.index(name) for name in columns]
    if are_shares:
        shares = np.zeros((n, len(names)))
        shares[:, places] = shares_in(columns, row_of)
        return sets_of_shares(shares, names, places)
    marks = np.zeros((n, len(names)), dtype=np.bool_)
    for place, (name, chunks) in zip(places, columns.items(), strict=True):
        written = {cell.strip().casefold() for cell in encode(chunks)[1]}
        says_no = any((BINARY | WORDS).get(cell) is False for cell in written)
        column = read_column(name, chunks, row_of, _mark if says_no else _mark_or_nothing)
        marks[:, place] = np.asarray(column.values, dtype=np.bool_)[column.codes]
    refuse_empty(np.logical_not(marks.any(axis=1)), row_of, "the columns of the classes")
    return CandidateSets.from_mask(marks, names), None


def shares_in(columns: Mapping[str, Chunks], row_of: RowNumber) -> npt.NDArray[np.float64]:
    """Return (n, columns) float64, how likely each class is.

    Where the rows without a missing cell, at least half of all, have one sum, the missing cells of a row share what is
    left of it: .3 and .1 beside a missing one leave .6. Else a missing cell is 0, as in a list of the likeliest few;
    and so are all of a row that has none.

    Raises
    ------
    UserError
        A cell that is no probability; the row is named.
    """
    read = [read_column(name, chunks, row_of, _share) for name, chunks in columns.items()]
    shares = np.stack([np.array(column.values, dtype=np.float64)[column.codes] for column in read], axis=1)
    missing = np.isnan(shares)
    shares[missing] = 0.0
    totals, n_missing = shares.sum(axis=1), missing.sum(axis=1)
    whole = totals[n_missing == 0]
    if 0 < len(shares) <= 2 * len(whole) and np.allclose(whole, whole[0], rtol=0.02, atol=0.0):
        rest = np.maximum(whole[0] - totals, 0.0) / np.maximum(n_missing, 1)
        shares += np.where(missing & (totals > 0)[:, None], rest[:, None], 0.0)
    return shares


def sets_of_shares(
    shares: npt.NDArray[np.float64], names: tuple[str, ...], columns: Sequence[int]
) -> tuple[CandidateSets, Weights]:
    """Return the sets of the likeliest classes that make up `COVERED`, and these shares as the prior.

    Parameters
    ----------
    shares
        (n, c) at least 0, changed in place; in a row without any, all classes of `columns` are equally likely.
    names
        c names.
    columns
        The classes of which there are shares.
    """
    shares[np.ix_(shares.sum(axis=1) == 0, columns)] = 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    sets = CandidateSets.from_mask(_likeliest(shares), names)
    return sets, checked_prior(shares[sets.rows, sets.indices], sets)


_OR_FEATURES = "; or give the column another role (feature, keep)"


def _share(cell: str) -> float:
    """Return how likely a class is; NaN where the cell is missing."""
    if is_missing(cell):
        return math.nan
    try:
        share = float(cell.strip().removesuffix("%"))
    except ValueError:
        share = math.nan
    if not 0 <= share < math.inf:
        raise UserError(f"write a probability from 0 to 1{_OR_FEATURES}")
    return share


def _likeliest(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return (n, c) bool: of each row the fewest classes that make up `COVERED`, with those as likely as the last."""
    order = np.argsort(-shares, axis=1, kind="stable")
    ahead = np.cumsum(np.take_along_axis(shares, order, axis=1), axis=1)
    last = (ahead < COVERED - 1e-9).sum(axis=1).clip(max=shares.shape[1] - 1)  # place of the class that reaches it
    least = np.take_along_axis(shares, np.take_along_axis(order, last[:, None], axis=1), axis=1)
    chosen: npt.NDArray[np.bool_] = (shares >= least) & (shares > 0)
    return chosen


def _mark_or_nothing(cell: str) -> bool:
    return not is_missing(cell) and _mark(cell)


def _mark(cell: str) -> bool:
    try:
        return (BINARY | WORDS)[cell.strip().casefold()]
    except KeyError:
        raise UserError(f"write 1 for a candidate and 0 for any other class{_OR_FEATURES}") from None

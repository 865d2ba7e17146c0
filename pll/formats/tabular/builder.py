"""Builder of a dataset from a table whose columns are known.

Features are cast to numbers batch by batch; labels, candidate sets and annotations are read of the text of the other
columns. Candidates in one cell are joined by `|`, or are a JSON list where a name holds that. Every different cell is
read once, however many rows hold it, and a message still names the first row that does.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll import io
from pll.annotations.data import Annotations
from pll.annotations.rules import Resolved, Rule, resolve
from pll.candidates import CandidateSets, sort_names
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import DuplicateIds, UserError
from pll.formats.base import ReadOptions
from pll.formats.checks import MAX_NAME, check_class_count, check_ids, listing, shorten
from pll.formats.tabular.answers import COVERED, answer_of, is_object, shares_of
from pll.formats.tabular.cells import (
    BINARY,
    MISSING,
    WORDS,
    are_texts,
    guess_separator,
    labels_in,
    numbers_in,
    read_label,
    says_nothing,
    spelling,
    split_cell,
)
from pll.formats.tabular.columns import Column, notes_on, option, refuse_questions
from pll.formats.tabular.table import ArrowTable, RowNumber, cell_of, is_list, no_rows, text_of, value_of
from pll.images import Pictures
from pll.io import Column as ObjectColumn
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
        kept = np.repeat(chosen, annotations.answer_sizes)
        triples = (annotations.rows[kept], annotations.annotators[kept], annotations.labels[kept])
        annotations = Annotations(*triples, annotations.n_rows, annotations.class_names, annotations.annotator_names)
    return filled(resolve(annotations, Rule("union")))


def filled(found: Resolved) -> tuple[CandidateSets, list[str]]:
    """Return the sets of all rows, with a note: a row without any gets every class.

    Raises
    ------
    UserError
        Too many rows without any, for so many classes.
    """
    n, c = found.unannotated + len(found.rows), found.candidates.n_classes
    if not found.unannotated:
        return found.candidates, []
    if not found.can_be_filled:
        raise UserError(
            f"{found.unannotated:,} of {n:,} examples have no annotation, and each may have any of {c:,} labels; that "
            "is too much to hold. Leave out the examples without an annotation."
        )
    note = f"{found.unannotated:,} of {n:,} examples have no annotation; any label is a candidate there."
    return found.filled(), [note]


Chunks: TypeAlias = pa.ChunkedArray
"""A column of text."""


@dataclass(frozen=True)
class LabelColumn:
    """A column that was read: row i holds `values[codes[i]]`.

    Attributes
    ----------
    name
        The column's name, for messages.
    codes
        (n,) int64, which of the different values a row holds.
    values
        What each different cell means.
    row_of
        The number a message gives to the row at a position.
    sure
        Of a column of answers, how sure each different cell is, NaN where it does not say.
    weights
        Of a column of candidates, how often each label of each different cell is named, or how likely it is; empty
        where cells are sets alone.
    """

    name: str
    codes: npt.NDArray[np.int64]
    values: list[Any]
    row_of: RowNumber
    sure: tuple[float, ...] = ()
    weights: tuple[Mapping[str, float], ...] = ()

    def place(self, code: int) -> str:
        """Return the first row with this value, for a message."""
        return f"Row {self.row_of(int(np.argmax(self.codes == code)))}, column {self.name}"

    def pairs(self, number: Mapping[str, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Of a column of tuples of names: (m,) rows and (m,) class indices, row after row."""
        sizes = np.array([len(value) for value in self.values], dtype=np.int64)
        flat = np.array([number[name] for value in self.values for name in value], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        counts = sizes[self.codes]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(np.arange(len(self.codes)), counts), flat[np.repeat(starts[self.codes], counts) + within]


def read_column(name: str, chunks: Chunks, row_of: RowNumber, read_cell: Callable[[str], Any]) -> LabelColumn:
    """Parse every distinct cell of a text column.

    Raises
    ------
    UserError
        What `read_cell` raised, with the row, the column and the cell.
    """
    codes, cells = encode(chunks)
    column = LabelColumn(name, codes, [], row_of)
    for code, cell in enumerate(cells):
        try:
            column.values.append(read_cell(cell))
        except UserError as error:
            raise UserError(f"{column.place(code)} holds {shorten(cell)}: {error}.") from None
    return column


REPEATED = 0.05
"""Share of the candidate sets in which a label is repeated, from which repetitions are counts and no slips."""


def read_candidates(chunks: Chunks, row_of: RowNumber, separator: str | None = None) -> LabelColumn:
    """The column `candidates`; its values are tuples of names.

    Objects of counts or shares are read, and labels that stand several times in a cell are counted.

    Raises
    ------
    UserError
        An empty set, or a cell that cannot be read; the row is named.
    """
    mark = separator or guess_separator(encode(chunks)[1])

    def read_counts(cell: str) -> Mapping[str, float]:
        if not is_object(cell):
            return Counter(labels_in(cell, mark))
        shares = shares_of(cell)
        if shares is None:
            raise UserError("write a number from 0 for each label: how often or how likely it is")
        return shares

    column = read_column("candidates", without_nulls(chunks), row_of, read_counts)
    weighed = np.array([bool(weights) and set(weights.values()) != {1} for weights in column.values], dtype=np.bool_)
    is_weighed = weighed[column.codes].mean() >= REPEATED
    weights = tuple(column.values) if is_weighed else ()
    column = replace(column, values=[tuple(names) for names in column.values], weights=weights)
    empty = np.asarray([not names for names in column.values], dtype=np.bool_)
    refuse_empty(empty[column.codes], row_of, "the column candidates")
    return column


def read_answers(name: str, chunks: Chunks, row_of: RowNumber, separator: str | None = None) -> LabelColumn:
    """The column of an annotator; its values are tuples of names, and of a model's answers in JSON how sure it is.

    Raises
    ------
    UserError
        a cell that cannot be read; the row is named.
    """
    cells = encode(without_nulls(chunks))[1]
    if not any("{" in cell for cell in cells):
        return read_sets(name, chunks, row_of, separator)
    answers = [answer_of(cell) for cell in cells]
    mark = separator or guess_separator(encode(chunks)[1])

    def read(cell: str) -> tuple[str, ...]:
        answer = answer_of(cell)
        return split_cell(cell, mark) if answer is None else answer[0]

    sure = tuple(math.nan if answer is None else answer[1] for answer in answers)
    return replace(read_column(name, without_nulls(chunks), row_of, read), sure=sure)


def read_sets(name: str, chunks: Chunks, row_of: RowNumber, separator: str | None = None) -> LabelColumn:
    """Parse a column of cells that may hold several names each, or none; its values are tuples.

    Raises
    ------
    UserError
        a cell that cannot be read; the row is named.
    """
    mark = separator or guess_separator(encode(chunks)[1])
    return read_column(name, without_nulls(chunks), row_of, lambda cell: split_cell(cell, mark))


def read_truth(chunks: Chunks, row_of: RowNumber) -> LabelColumn:
    """Parse the column `true_label`; its values are names, None where the truth is not known."""

    def read_name(cell: str) -> str | None:
        if is_object(cell):
            raise UserError("the true label is one name and no object")
        return read_label(cell)

    return read_column("true_label", without_nulls(chunks), row_of, read_name)


def names_in(columns: Sequence[LabelColumn], given: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return all classes: those given, else those that occur in columns of names or tuples of names, sorted.

    Raises
    ------
    UserError
        a label that is not among those given; the row is named.
    """
    used: dict[str, tuple[LabelColumn, int]] = {}
    for column in columns:
        for code, value in enumerate(column.values):
            for name in (value,) if isinstance(value, str) else value or ():
                used.setdefault(name, (column, code))
    check_class_count(len(used), "the columns of labels")
    for name, (column, code) in used.items():
        if len(name) > MAX_NAME:
            raise UserError(
                f"{column.place(code)} holds a label of {len(name):,} characters ({shorten(name)}); at most "
                f"{MAX_NAME:,} are supported. Is a quote left open?"
            )
    if not given:
        return sort_names(used)
    known = set(given)
    for name, (column, code) in used.items():
        if name not in known:
            raise UserError(
                f"{column.place(code)}: the label {shorten(name)} is unknown; the classes are {listing(given)}. "
                "Correct it, or add it to the classes."
            )
    return given


JOINED = "Spelled alike, and so one class"
"""How the note on joined spellings begins."""


def join_spellings(columns: Sequence[LabelColumn], options: ReadOptions, named: Collection[str] = ()) -> list[str]:
    """Make labels that are spelled alike one class, by `spelling`: the one that is named, else the most frequent.

    Nothing is joined where `options.merge` is False.

    Parameters
    ----------
    columns
        Of names or tuples of names; their values are changed.
    named
        Classes that have a column of their own; like `options.class_names` they are told apart.

    Returns
    -------
    list[str]
        What to say of it; nothing where no two labels are spelled alike.
    """
    counts: Counter[str] = Counter()
    for column in columns:
        for value, rows in zip(column.values, np.bincount(column.codes, minlength=len(column.values)), strict=False):
            for name in (value,) if isinstance(value, str) else value or ():
                counts[name] += int(rows)
    apart = {*options.class_names, *named}
    groups: dict[str, list[str]] = {}
    for name in [*counts, *(name for name in apart if name not in counts)] if options.merge else ():
        groups.setdefault(spelling(name), []).append(name)
    becomes: dict[str, str] = {}
    for group in groups.values():
        known = [name for name in group if name in apart]
        if len(known) < 2 < len(group) + 1:
            target = known[0] if known else max(sorted(group), key=counts.__getitem__)
            becomes |= {name: target for name in group if name != target and name in counts}
    if not becomes:
        return []
    for column in columns:
        column.values[:] = [
            becomes.get(value, value)
            if isinstance(value, str)
            else value and tuple(dict.fromkeys(becomes.get(name, name) for name in value))
            for value in column.values
        ]
    pairs = [f"{name} → {target}" for name, target in becomes.items()]
    return [f"{JOINED}: {listing(pairs)}."]


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
    column = read_column("split", without_nulls(chunks), row_of, _split_cell)
    return np.asarray(column.values, dtype=np.bool_)[column.codes]


def _split_cell(cell: str) -> bool:
    part = cell.strip().casefold()
    if part not in ("train", "test"):
        raise UserError("write train or test")
    return part == "test"


def encode(chunks: Chunks) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return (n,) codes of a text column in the order of first appearance, and its distinct cells; null is −1."""
    coded = pc.dictionary_encode(chunks).unify_dictionaries()
    codes = np.concatenate([chunk.indices.fill_null(-1).to_numpy() for chunk in coded.chunks])
    return codes.astype(np.int64), coded.chunk(0).dictionary.to_pylist()


def refuse_empty(empty: npt.NDArray[np.bool_], row_of: RowNumber, where: str) -> None:
    """Raise UserError at the first row whose candidate set is empty."""
    if empty.any():
        rows = np.flatnonzero(empty)
        raise UserError(
            f"Row {row_of(int(rows[0]))} has an empty candidate set ({len(rows)} such row{'s' * (len(rows) != 1)}); "
            f"every example needs at least one possible label in {where}."
        )


def without_nulls(chunks: Chunks) -> Chunks:
    """Return the column with "" in place of null."""
    return pc.fill_null(chunks, "")


_NUMBER = re.compile(r"\d{1,9}(?:\.0+)?", re.ASCII)


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


def read_labels(
    sets: Chunks | None,
    truth: Chunks | None,
    options: ReadOptions,
    row_of: RowNumber,
    annotators: Mapping[str, Chunks] | None = None,
    classes: Mapping[str, Chunks] | None = None,
    probabilities: Mapping[str, Chunks] | None = None,
    scores: Mapping[str, Chunks] | None = None,
) -> TableLabels:
    """Return the labels of a table with one row per example.

    Where there are candidates, they are the sets; else what the annotators said; else the 0/1 columns of the classes;
    else the likeliest classes that together make up `COVERED` of the probability, which is their prior.

    Raises
    ------
    UserError
        An empty set, an unknown label, a cell that cannot be read; the row is named.
    """
    given = None if sets is None else read_candidates(sets, row_of, options.separator)
    true = None if truth is None else read_truth(truth, row_of)
    notes: list[str] = []
    answers = {
        name: read_answers(f"{name} (an annotator)", chunks, row_of, options.separator)
        for name, chunks in (annotators or {}).items()
    }
    _whole_numbers(list(answers.values()))
    by_column = {} if given is not None or answers else classes or probabilities or {}
    if true is not None:
        cells = [names for column in (given, *answers.values()) if column is not None for names in column.values]
        notes += _without_no_answers(true, set(by_column).union(*cells))
    columns = [column for column in (given, true, *answers.values()) if column is not None]
    notes += join_spellings(columns, options, by_column)
    names = names_in(columns, options.class_names)
    annotations, candidates, known = None, None, None
    if by_column:
        names = options.class_names or tuple(dict.fromkeys((*by_column, *names)))
        candidates, known = _sets_by_column(by_column, names, row_of, are_shares=not classes)
    if answers:
        annotations = _annotations(answers, names, _numbers_of(scores or {}, answers, row_of))
        if annotations is None:
            notes.append("Nobody gave a label: the columns of the annotators are empty.")
    if given is not None:
        candidates = candidate_sets(given, names)
        if given.weights:
            known = _prior(given, candidates)
            notes.append("Candidates come with how often or how likely each is: label weights start from that.")
    elif annotations is not None:
        candidates, about_sets = sets_of(annotations, options.combine)
        notes += about_sets
    y = None if true is None else true_labels(true, names)
    return TableLabels(names, candidates, y, annotations, tuple(notes), prior=known)


def _without_no_answers(true: LabelColumn, said: set[str]) -> list[str]:
    """Make true labels unknown that only say that there is none ("-", "N/A"), where no candidate is called so."""
    empty = {name for name in true.values if name is not None and name not in said and says_nothing(name)}
    if not said or not empty:
        return []
    rows = np.isin(true.codes, [code for code, name in enumerate(true.values) if name in empty])
    true.values[:] = [None if name in empty else name for name in true.values]
    return [f"{int(rows.sum()):,} true labels say that there is none ({listing(sorted(empty))}): they are not known."]


def read_lines(
    task: Chunks, worker: Chunks, vote: Chunks, truth: Chunks | None, options: ReadOptions, row_of: RowNumber
) -> TableLabels:
    """Return the labels of a table with one row per annotator's label; an empty one is a skipped answer.

    Raises
    ------
    UserError
        a line without task or annotator, an unknown label, no label at all; the row is named.
    """
    tasks, workers = (_named(name, chunks, row_of) for name, chunks in (("task", task), ("annotator", worker)))
    votes = read_answers("label", vote, row_of, options.separator)
    true = None if truth is None else read_truth(truth, row_of)
    columns = [votes] if true is None else [votes, true]
    joined = join_spellings(columns, options)
    names = names_in(columns, options.class_names)
    first = np.unique(tasks.codes, return_index=True)[1]
    if not any(votes.values):
        raise UserError("Nobody gave a label: every cell of the column of labels is empty.")
    lines, classes = votes.pairs({name: k for k, name in enumerate(names)})
    annotations = Annotations(
        tasks.codes[lines],
        workers.codes[lines],
        classes,
        len(first),
        names,
        tuple(workers.values),
        skipped=int(np.isin(votes.codes, [k for k, value in enumerate(votes.values) if not value]).sum()),
        scores=_scores([votes], [lines]),
    )
    sets, notes = sets_of(annotations, options.combine)
    y = None if true is None else true_labels(true, names)[first]
    ids = check_ids(tasks.values, lambda at: row_of(int(first[at])))
    return TableLabels(names, sets, y, annotations, (*joined, *notes), first, ids, example=tasks.codes)


def _whole_numbers(columns: Sequence[LabelColumn]) -> None:
    """Rename class numbers written as 1.0 (because others in their column are missing) to 1."""
    names = [name for column in columns for value in column.values for name in value]
    if names and all(_NUMBER.fullmatch(name) for name in names):
        for column in columns:
            column.values[:] = [tuple(name.partition(".")[0] for name in value) for value in column.values]


def _named(name: str, chunks: Chunks, row_of: RowNumber) -> LabelColumn:
    """Parse a column of names of tasks or annotators, trimmed; codes in the order of first appearance."""
    codes, cells = encode(without_nulls(chunks))
    place: dict[str, int] = {}
    merged = np.array([place.setdefault(cell.strip(), len(place)) for cell in cells], dtype=np.int64)
    column = LabelColumn(name, merged[codes], list(place), row_of)
    if "" in place:
        raise UserError(f"{column.place(place[''])} is empty; every line needs its {name}.")
    return column


def _numbers_of(
    scores: Mapping[str, Chunks], answers: Mapping[str, LabelColumn], row_of: RowNumber
) -> dict[str, npt.NDArray[np.float64]]:
    """Return how sure each annotator was, (n,) each, NaN where it is not said.

    Raises
    ------
    UserError
        Scores of somebody who is no annotator, or a cell that is no number; the row is named.
    """
    for name in scores:
        if name not in answers:
            raise UserError(
                f"There are scores of {shorten(name)}, but no annotator of that name: the column of the scores of gpt "
                "is called gpt_score. Say what the column is, or leave it out."
            )
    found = {}
    for name, chunks in scores.items():
        numbers = np.full(len(answers[name].codes), math.nan)
        for row, cell in enumerate(chunks.to_pylist()):
            if cell is None or not cell.strip():
                continue
            try:
                numbers[row] = float(cell.replace(",", "."))  # a decimal comma
            except ValueError:
                raise UserError(
                    f"Row {row_of(row)}: the score of {shorten(name)} is no number: {shorten(cell)}."
                ) from None
        found[name] = numbers
    return found


def _annotations(
    answers: Mapping[str, LabelColumn],
    names: tuple[str, ...],
    sure: Mapping[str, npt.NDArray[np.float64]],
) -> Annotations | None:
    """Return the annotations; None where there is no answer at all.

    Parameters
    ----------
    sure
        (n,) how sure an annotator was of the answers in each row, by annotator, where columns say so.
    """
    if not names:
        return None
    number = {name: k for k, name in enumerate(names)}
    pairs = [column.pairs(number) for column in answers.values()]
    who = [np.full(len(rows), k, dtype=np.int64) for k, (rows, _) in enumerate(pairs)]
    n = len(next(iter(answers.values())).codes)
    rows, labels = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    scores = _scores(list(answers.values()), [pair[0] for pair in pairs])
    if sure:
        own = [sure.get(name, np.full(n, math.nan))[pair[0]] for name, pair in zip(answers, pairs, strict=True)]
        said = np.concatenate(own)
        scores = said if scores is None else np.where(np.isfinite(said), said, scores)
    return Annotations(rows, np.concatenate(who), labels, n, names, tuple(answers), scores=scores)


def _scores(columns: Sequence[LabelColumn], rows: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.float64] | None:
    """Return how sure the answers of some columns in some rows are, NaN where they do not say; None if none does."""
    found = [
        np.array(column.sure or [math.nan] * len(column.values))[column.codes[some]]
        for column, some in zip(columns, rows, strict=True)
    ]
    scores: npt.NDArray[np.float64] = np.concatenate(found)
    return scores if np.isfinite(scores).any() else None


def _prior(column: LabelColumn, sets: CandidateSets) -> Weights:
    """Return the prior of sets whose cells say how often or how likely each label is."""
    number = {name: k for k, name in enumerate(sets.class_names)}
    place = {spelling(name): k for k, name in enumerate(sets.class_names)}
    cells = []
    for weights in column.weights:
        found: Counter[int] = Counter()
        for name, weight in weights.items():
            found[number[name] if name in number else place[spelling(name)]] += weight  # type: ignore[assignment]
        cells.append([found[k] for k in sorted(found)])
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
    shape = (len(next(iter(columns.values()))), len(names))
    shares: npt.NDArray[Any] = np.zeros(shape, dtype=np.float64 if are_shares else np.bool_)
    for name, chunks in columns.items():
        cells = without_nulls(chunks)
        written = {cell.strip().casefold() for cell in encode(cells)[1]}
        says_no = any((BINARY | WORDS).get(cell) is False for cell in written)
        column = read_column(name, cells, row_of, _share if are_shares else _mark if says_no else _mark_or_nothing)
        shares[:, names.index(name)] = np.asarray(column.values, dtype=shares.dtype)[column.codes]
    if not are_shares:
        refuse_empty(np.logical_not(shares.any(axis=1)), row_of, "the columns of the classes")
        return CandidateSets.from_mask(shares, names), None
    at = [names.index(name) for name in columns]
    shares[np.ix_(shares.sum(axis=1) == 0, at)] = 1.0
    shares /= shares.sum(axis=1, keepdims=True)
    sets = CandidateSets.from_mask(likeliest(shares), names)
    return sets, checked_prior(shares[sets.rows, sets.indices], sets)


def _share(cell: str) -> float:
    cell = cell.strip().removesuffix("%")
    try:
        share = float(cell) if cell.strip() else 0.0
    except ValueError:
        share = math.nan
    if not 0 <= share < math.inf:
        raise UserError("write a probability from 0 to 1")
    return share


def likeliest(shares: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return (n, c) bool: of each row the fewest classes that make up `COVERED`, with those as likely as the last."""
    order = np.argsort(-shares, axis=1, kind="stable")
    ahead = np.cumsum(np.take_along_axis(shares, order, axis=1), axis=1)
    last = (ahead < COVERED - 1e-9).sum(axis=1).clip(max=shares.shape[1] - 1)  # place of the class that reaches it
    least = np.take_along_axis(shares, np.take_along_axis(order, last[:, None], axis=1), axis=1)
    chosen: npt.NDArray[np.bool_] = (shares >= least) & (shares > 0)
    return chosen


def _mark_or_nothing(cell: str) -> bool:
    return bool(cell.strip()) and _mark(cell)


def _mark(cell: str) -> bool:
    try:
        return (BINARY | WORDS)[cell.strip().casefold()]
    except KeyError:
        raise UserError("write 1 for a candidate and 0 for any other class") from None


def _collected(
    table: ArrowTable, columns: Sequence[Column], options: ReadOptions
) -> tuple[dict[int, Chunks], npt.NDArray[np.float32], list[str]]:
    """Return by position the cells of the columns that are no numbers, (n, d) the numbers, and names of their columns.

    Features are cast batch by batch into one float32 matrix, so that a file is never in memory as text; a large matrix
    is in a temporary file (`pll.io.new_features`). Columns of lists come after those of numbers.
    """
    used = [column for column in columns if column.role != "ignore"]
    features = [column for column in used if column.role == "feature"]
    widths = {column: _list_length(table, column) for column in used if column.role == "vector"}
    names = [column.shown for column in features]
    names += [f"{column.shown} {k}" for column, width in widths.items() for k in range(1, width + 1)]
    owners = [*features, *(column for column, width in widths.items() for _ in range(width))]
    shape = (table.rows, len(names))
    is_large = 4 * math.prod(shape) > io.FEATURES_IN_MEMORY_UP_TO
    X = io.new_features(shape) if is_large else np.empty(shape, dtype=np.float32)
    chunks: dict[int, list[pa.Array]] = {
        column.at: [] for column in used if column.role != "feature" and column not in widths
    }
    n = 0
    for batch in table.batches([column.at for column in used] or [0]):
        cells = {column.at: batch.column(k) for k, column in enumerate(used)}
        rows = batch.num_rows
        for column in used:
            if column.at in chunks:
                chunks[column.at].append(_cells(cells[column.at], column.role))
        block = np.empty((len(names), rows))  # (d, rows): arrow has columns, the dataset rows
        for k, column in enumerate(features):
            block[k] = _numbers(cells[column.at], column, table.row_of, n)
        at = len(features)
        for column, width in widths.items():
            block[at : at + width] = _lists(cells[column.at], column, width, table.row_of, n).T
            at += width
        part = X[n : n + rows]
        with np.errstate(over="ignore"):
            part[:] = block.T
        _check_range(part, cells, owners, table.row_of, n)
        n += rows
        options.tick("rows", n, max(n, table.rows))
    if not n:
        raise no_rows()
    options.tick("rows", n, n)
    return {at: pa.chunked_array(some) for at, some in chunks.items()}, X if n == len(X) else X[:n], names


def _cells(column: pa.Array, role: str) -> pa.Array:
    """Return cells as text; as JSON where they are of that type and only carried along."""
    is_json = isinstance(column.type, pa.JsonType)
    return column if is_json and role in ("category", "keep") else text_of(column, role)


def build(table: ArrowTable, columns: Sequence[Column], options: ReadOptions) -> PartialLabelDataset:
    """Return the dataset in a table.

    Parameters
    ----------
    table : ArrowTable
        What a reader made of the file.
    columns : sequence of Column
        The role of each column, as `ArrowTable.plan` says.
    options : ReadOptions
        Class names, separator, name and the like.

    Raises
    ------
    UserError
        A column may have two roles and nobody has said which; no rows; a feature that is no finite number; labels, ids
        or split marks that do not hold what they must: row and column are named.
    """
    refuse_questions(columns)
    options = replace(options, class_names=options.class_names or table.class_names)
    cells, X, names_of_features = _collected(table, columns, options)
    row_of = table.row_of

    def many(role: str) -> dict[str, Chunks]:
        return {column.shown: cells[column.at] for column in columns if column.role == role}

    def one(role: str) -> Chunks | None:
        return next(iter(many(role).values()), None)

    found, about_answers, about_ids = None, list[Column](), list[str]()
    if any(column.role == "vote" for column in columns):
        task, worker, vote = one("task"), one("worker"), one("vote")
        if task is None or worker is None or vote is None:
            raise UserError(
                "In long form a table has a column of tasks, one of annotators and one of labels; say which is which "
                "(task, worker, vote)."
            )
        found = read_lines(task, worker, vote, one("true_label"), options, row_of)
        about_answers = _varying(X, cells, columns, found)
        features = [column for column in columns if column.role == "feature"]
        kept = [k for k in range(X.shape[1]) if k >= len(features) or features[k] not in about_answers]
        rows, ids = found.first, found.ids
        X, names_of_features = X[rows][:, kept], [names_of_features[k] for k in kept]
        columns = [column for column in columns if column not in about_answers]
    else:
        sets, truth = one("candidates"), one("true_label")
        if sets is None:
            sets = _joined(many("candidate"))
        found = read_labels(
            sets, truth, options, row_of, many("annotator"), many("class"), many("probability"), many("score")
        )
        rows, ids = np.arange(len(X)), None
        named = next((column for column in columns if column.role == "id"), None)
        if named is not None:
            keys = [cell or "" for cell in cells[named.at].to_pylist()]
            if named.guessed and len(set(keys)) < len(keys):  # further down than the rows that were looked at
                columns = [replace(one, role="keep") if one is named else one for one in columns]
                about_ids = [f"{named.name} names some examples twice: they are numbered, and it is carried along."]
            else:
                ids = _ids(keys, row_of, named)
    split, text, image = one("split"), one("text"), one("image")
    if text is None and found.ids is not None and are_texts(found.ids.tolist(), 4):
        text = one("task")
    return PartialLabelDataset(
        X=X,
        candidates=found.candidates,
        y=found.y,
        prior=found.prior,
        class_names=found.class_names,
        ids=ids,
        feature_names=tuple(names_of_features),
        texts=None if text is None else _objects(text, rows, missing=""),
        pictures=None if image is None else Pictures(_objects(image, rows, missing="")),
        categories={name: _objects(chunks, rows, named=True) for name, chunks in many("category").items()},
        extras={name: _objects(chunks, rows) for name, chunks in many("keep").items()},
        annotations=found.annotations,
        is_test=None if split is None else split_marks(split, row_of)[rows],
        name=options.name or "table",
        kind="table",
        notes=(*_notes(X, columns), *about_ids, *_unused(about_answers), *found.notes),
    )


def _ids(cells: Sequence[str], row_of: RowNumber, column: Column) -> npt.NDArray[np.str_]:
    try:
        return check_ids(cells, row_of)
    except DuplicateIds as error:
        raise DuplicateIds(
            f"{error} Correct them; or keep the column and number the rows ({option(column.name, 'keep')})."
        ) from None


def _varying(
    X: npt.NDArray[np.float32], cells: Mapping[int, Chunks], columns: Sequence[Column], found: TableLabels
) -> list[Column]:
    """Return the features, (lines, d) X and categories, that differ between the lines of one example in long form."""
    alike, k = found.first[found.example], 0  # (lines,) the first line of the same example
    different = []
    for column in columns:
        if column.role == "feature":
            values = X[:, k]
            k += 1
            if not np.array_equal(values, values[alike], equal_nan=True):
                different.append(column)
        elif column.role == "category":
            codes = encode(cells[column.at])[0]
            if not np.array_equal(codes, codes[alike]):
                different.append(column)
    return different


def _joined(columns: Mapping[str, Chunks]) -> Chunks | None:
    """Return one column of candidate sets from columns of one candidate a cell; None where there are none."""
    if not columns:
        return None
    cells = [[(cell or "").strip() for cell in chunks.to_pylist()] for chunks in columns.values()]
    sets = (list(dict.fromkeys(filter(None, row))) for row in zip(*cells, strict=True))
    return pa.chunked_array([pa.array([json.dumps(names, ensure_ascii=False) for names in sets], pa.string())])


def _unused(columns: Sequence[Column]) -> list[str]:
    if not columns:
        return []
    names = listing([column.name for column in columns])
    return [f"Not used, because it differs between the answers to one example and so is none of its features: {names}."]


def _numbers(column: pa.Array, part: Column, row_of: RowNumber, start: int) -> npt.NDArray[np.float64]:
    """Return (rows,) the numbers of a column, NaN where one is missing.

    Raises
    ------
    UserError
        a cell that is no number; the row is named.
    """
    if part.comma:
        column = _with_points(text_of(column))
    try:  # numbers are written in JSON as they are elsewhere
        numbers = pc.cast(column.storage if isinstance(column.type, pa.JsonType) else column, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        given = text_of(column)
        trimmed = pc.utf8_trim_whitespace(given)
        missing = pc.is_in(trimmed, value_set=pa.array(MISSING))
        trimmed = pc.if_else(missing, pa.scalar(None, pa.string()), trimmed)
        try:
            numbers = pc.cast(trimmed, pa.float64())
        except pa.ArrowInvalid:
            at = _first_that_is_no_number(trimmed)
            raise UserError(
                f"Row {row_of(start + at)}, column {shorten(part.name)} holds {shorten(trimmed[at].as_py())}, which is "
                "not a number. Features must be numbers (1.5, not 1,5; empty or ? where missing): correct the cell, or "
                "say that the column is a category. If it holds the labels, name it candidates or true_label."
            ) from None
    result: npt.NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False)  # missing cells become NaN
    return result


def _with_points(column: pa.Array) -> pa.Array:
    """Return numbers that are written with a decimal comma, and points between the thousands, as 1234.5."""
    return pc.replace_substring(pc.replace_substring(column, ".", ""), ",", ".")


def _list_length(table: ArrowTable, column: Column) -> int:
    """Return how long the lists of a column are: as the first that there is."""
    for batch in table.batches([column.at]):
        for length in pc.list_value_length(_as_lists(batch.column(0), column, table.row_of, 0)).to_pylist():
            if length is not None:
                return int(length)
    return 0


def _as_lists(cells: pa.Array, column: Column, row_of: RowNumber, start: int) -> pa.Array:
    """Return a column of lists of numbers; text is read as JSON, Python or NumPy writes such lists.

    Raises
    ------
    UserError
        a cell that is no list of numbers; the row is named.
    """
    if is_list(cells.type) and not pa.types.is_nested(cells.type.value_type):
        with suppress(pa.ArrowException):  # else as the text that it is
            return cells.cast(pa.list_(pa.float64()))
    found: list[list[float] | None] = []
    for at, cell in enumerate(text_of(cells).to_pylist()):
        numbers = numbers_in(cell) if cell and cell.strip() else None
        if cell and cell.strip() and (numbers is None or any(map(math.isinf, numbers))):
            raise UserError(
                f"Row {row_of(start + at)}, column {column.name} holds {shorten(cell)}: write a list of finite numbers "
                "such as [0.5, -1.25], or leave the cell empty."
            )
        found.append(numbers)
    return pa.array(found, pa.list_(pa.float64()))


def _lists(cells: pa.Array, column: Column, width: int, row_of: RowNumber, start: int) -> npt.NDArray[np.float64]:
    """Return (rows, width) the numbers of a column of lists; NaN where a cell is empty or has null.

    Raises
    ------
    UserError
        a list of another length; the row is named.
    """
    lists = _as_lists(cells, column, row_of, start)
    lengths = pc.fill_null(pc.list_value_length(lists), width).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(lengths != width)
    if len(wrong):
        raise UserError(
            f"Row {row_of(start + int(wrong[0]))}, column {column.name} holds a list of {lengths[wrong[0]]} numbers, "
            f"others have {width}; they must be equally long."
        )
    table = np.full((len(lists), width), np.nan)
    is_here = lists.is_valid().to_numpy(zero_copy_only=False)
    table[is_here] = pc.list_flatten(lists).to_numpy(zero_copy_only=False).reshape(-1, width)
    return table


def _check_range(
    X: npt.NDArray[np.float32], batch: Mapping[int, pa.Array], features: Sequence[Column], row_of: RowNumber, start: int
) -> None:
    bad = np.isinf(X)
    if not bad.any():
        return
    row, k = (int(k) for k in np.argwhere(bad)[0])
    raise UserError(
        f"Row {row_of(start + row)}, column {shorten(features[k].name)} holds "
        f"{shorten(str(batch[features[k].at][row].as_py()))}; features must be finite numbers (below 3.4e38). "
        "Remove the row or leave the cell empty."
    )


def _notes(X: npt.NDArray[np.float32], columns: Sequence[Column]) -> list[str]:
    """Return notes about the columns for the user."""
    notes = []
    features = [column.name for column in columns if column.role == "feature"]
    ignored = [column.name for column in columns if column.role == "ignore"]
    if ignored:
        notes.append(f"Columns not used, because they hold results or you left them out: {listing(ignored)}.")
    if any("." in name and name.replace(".", "", 1).isdigit() for name in features):
        notes.append(f"The first row was taken for the names of the columns: {listing(features)}.")
    suspects = np.flatnonzero(np.isnan(X[0, : len(features)]))  # cheap: nearly always none
    empty = [features[at] for at in suspects if np.isnan(X[:, at]).all()]
    if empty:
        notes.append(f"Columns without a single value: {listing(empty)}.")
    return notes + notes_on(columns)


def _objects(
    chunks: Chunks, rows: npt.NDArray[np.int64], *, missing: str | None = None, named: bool = False
) -> ObjectColumn:
    """Return the cells of some rows, values of JSON as they are; equal ones share one object.

    Parameters
    ----------
    missing
        What stands for a cell that is missing.
    named
        Values of JSON become text.
    """
    is_json = isinstance(chunks.type, pa.JsonType)
    codes, values = encode(chunks.cast(pa.string()) if is_json else chunks)
    found = [value_of(value) for value in values] if is_json else list(values)
    different = np.empty(len(values) + 1, dtype=object)
    for at, value in enumerate(found):  # one by one: a list is no row of an array
        different[at] = cell_of(value) if named else value
    different[-1] = missing
    return different[codes[rows]]


def _first_that_is_no_number(column: pa.Array) -> int:
    """Return the position of the first cell that cannot be converted, by bisection."""
    low, high = 0, len(column)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            pc.cast(column.slice(low, middle - low), pa.float64())
            low = middle
        except pa.ArrowInvalid:
            high = middle
    return low

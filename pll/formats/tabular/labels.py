"""The labels of a table: candidate sets, annotations and truth of its columns of text.

Candidates in one cell are joined by `|`, or are a JSON list where a name holds that. Every different cell is read once,
however many rows hold it, and a message still names the first row that does.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pll.annotations.data import Annotations
from pll.annotations.rules import Resolved, Rule, resolve
from pll.candidates import CandidateSets, sort_names
from pll.dataset import UNKNOWN
from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.checks import MAX_NAME, check_class_count, check_ids, listing, shorten
from pll.formats.proposals import is_sentence, proposed_classes
from pll.formats.tabular.answers import COVERED, AnswerReader, is_object, shares_of
from pll.formats.tabular.cells import (
    BINARY,
    NEARLY_ALL,
    WORDS,
    guess_separator,
    labels_in,
    read_label,
    says_nothing,
    spelling,
)
from pll.formats.tabular.columns import LINES
from pll.formats.tabular.table import RowNumber
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


Chunks: TypeAlias = pa.ChunkedArray
"""A column of text."""


@dataclass(frozen=True)
class LabelColumn:
    """A column that was read: row i holds `cells[codes[i]]`, which means `values[codes[i]]`.

    Attributes
    ----------
    place_of
        What a message calls the row at a position, and the column.
    codes
        (n,) int64, which of the different cells a row holds.
    cells
        The different cells, as they stand.
    values
        What each of them means.
    confidence
        Of a column of answers, the confidence of each different cell, NaN where it has none.
    weights
        Of a column of candidates, how often each label of each different cell is named, or how likely it is; empty
        where cells are sets alone.
    """

    place_of: Callable[[int], str]
    codes: npt.NDArray[np.int64]
    cells: list[str]
    values: list[Any]
    confidence: tuple[float, ...] = ()
    weights: tuple[Mapping[str, float], ...] = ()

    @classmethod
    def of(cls, name: str, chunks: Chunks, row_of: RowNumber) -> LabelColumn:
        """Return a column of text whose cells mean nothing yet; a missing one is ""."""
        codes, cells = encode(without_nulls(chunks))
        return cls(lambda at: f"Row {row_of(at)}, column {name}", codes, cells, [])

    def read(self, read_cell: Callable[..., Any], *more: Sequence[Any]) -> LabelColumn:
        """Return the column with what each different cell means, read of it and what `more` says of it.

        Raises
        ------
        UserError
            What `read_cell` raised, with the row, the column and the cell.
        """
        values = []
        for code, facts in enumerate(zip(self.cells, *more, strict=True)):
            try:
                values.append(read_cell(*facts))
            except UserError as error:
                raise UserError(f"{self.place(code)} holds {shorten(self.cells[code])}: {error}.") from None
        return replace(self, values=values)

    def texts(self) -> list[str]:
        """The cell in each row."""
        return [self.cells[code] for code in self.codes.tolist()]

    def times(self) -> list[int]:
        """How often each of the cells stands in the column."""
        times: list[int] = np.bincount(self.codes, minlength=len(self.cells)).tolist()
        return times

    def names(self) -> Iterator[tuple[int, str]]:
        """Yield (code, name) of every name in a column of names or tuples of names, None being none."""
        for code, value in enumerate(self.values):
            for name in (value,) if isinstance(value, str) else value or ():
                yield code, name

    def place(self, code: int) -> str:
        """Return the first row with this value, for a message."""
        return self.place_of(int(np.argmax(self.codes == code)))

    def pairs(self, number: Mapping[str, int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Of a column of tuples of names: (m,) rows and (m,) class indices, row after row."""
        sizes = np.array([len(value) for value in self.values], dtype=np.int64)
        flat = np.array([number[name] for value in self.values for name in value], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        counts = sizes[self.codes]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(np.arange(len(self.codes)), counts), flat[np.repeat(starts[self.codes], counts) + within]


RoleColumns: TypeAlias = Mapping[str, Mapping[str, Chunks]]
"""Role → the columns that have it: name → cells."""


def read_column(name: str, chunks: Chunks, row_of: RowNumber, read_cell: Callable[[str], Any]) -> LabelColumn:
    """Parse every distinct cell of a text column; a missing one is "".

    Raises
    ------
    UserError
        What `read_cell` raised, with the row, the column and the cell.
    """
    return LabelColumn.of(name, chunks, row_of).read(read_cell)


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


PROPOSED = "Classes that the answers name"
"""How the note on classes that nobody listed begins."""


def _reader_of(lines: Lines, known: Collection[str], options: ReadOptions) -> tuple[AnswerReader, list[str]]:
    """Return the reader of annotators' cells, and a note where the classes are proposed.

    Where nearly all answers are names of classes, each of them is a class. Sentences name the classes that the user
    lists, or those that are `known` from other columns, else those that are proposed.
    """
    if options.class_names:
        return AnswerReader(options.class_names, options.answers), []
    votes = lines.votes
    counts = [(count, cell) for count, cell in zip(votes.times(), votes.cells, strict=True) if cell.strip()]
    sentences = sum(count for count, cell in counts if is_sentence(cell))
    if sentences <= (1 - NEARLY_ALL) * sum(count for count, _ in counts):
        return AnswerReader((), options.answers), []
    if len(known) > 1:
        return AnswerReader(sort_names(known), options.answers), []
    who = [lines.people[worker] for worker in lines.workers.tolist()]
    classes = proposed_classes(Counter(zip(who, votes.texts(), strict=True)), options.answers)
    classes = classes if len(classes) > 1 else ()
    return AnswerReader(classes, options.answers), note_proposed(classes)


def note_proposed(classes: Sequence[str]) -> list[str]:
    """Return a sentence on classes that were proposed; none where there are none."""
    ways = "If these are not the classes, name them (--classes a,b,c)."
    return [f"{PROPOSED}: {listing(classes)}. {ways}"] if classes else []


def read_answers(lines: Lines, reader: AnswerReader) -> tuple[Lines, Counter[str]]:
    """Return lines whose answers are tuples of names, with the confidence in them, and cells that name no class.

    Raises
    ------
    UserError
        a cell that cannot be read; the row is named.
    """
    votes = lines.votes.read(reader.read, lines.separators)
    unmapped = Counter[str]()
    for cell, meaning, count in zip(votes.cells, votes.values, votes.times(), strict=True):
        if meaning is None:
            unmapped[cell] += count
    names, confidence = zip(*(((), math.nan) if one is None else one for one in votes.values), strict=True)
    return replace(lines, votes=replace(votes, values=list(names), confidence=confidence)), unmapped


def note_unmapped(unmapped: Mapping[str, int]) -> list[str]:
    """Return a sentence on the answers that name no class; none where all do."""
    if not unmapped:
        return []
    total, few = sum(unmapped.values()), sorted(unmapped.items(), key=lambda one: -one[1])[:5]
    examples = ", ".join(f"{shorten(text, 40)} ({count:,})" for text, count in few)
    start = "1 answer is" if total == 1 else f"{total:,} answers are"
    return [f"{start} no class and left out: {examples}. Map them with --answer FROM=CLASS."]


def read_truth(chunks: Chunks, row_of: RowNumber) -> LabelColumn:
    """Parse the column `true_label`; its values are names, None where the truth is not known."""

    def read_name(cell: str) -> str | None:
        if is_object(cell):
            raise UserError("the true label is one name and no object")
        return read_label(cell)

    return read_column("true_label", chunks, row_of, read_name)


def names_in(columns: Sequence[LabelColumn], class_names: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return all classes: those given, else those that occur in columns of names or tuples of names, sorted.

    Raises
    ------
    UserError
        a label that is not among those given; the row is named.
    """
    used: dict[str, tuple[LabelColumn, int]] = {}
    for column in columns:
        for code, name in column.names():
            used.setdefault(name, (column, code))
    check_class_count(len(used), "the columns of labels")
    for name, (column, code) in used.items():
        if len(name) > MAX_NAME:
            raise UserError(
                f"{column.place(code)} holds a label of {len(name):,} characters ({shorten(name)}); at most "
                f"{MAX_NAME:,} are supported. Is a quote left open?"
            )
    if not class_names:
        return sort_names(used)
    classes = set(class_names)
    for name, (column, code) in used.items():
        if name not in classes:
            raise UserError(
                f"{column.place(code)}: the label {shorten(name)} is unknown; the classes are {listing(class_names)}. "
                "Correct it, or add it to the classes."
            )
    return class_names


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
        Classes that have a column of their own; like `options.class_names` they are never merged.

    Returns
    -------
    list[str]
        A note for the user; none where no two labels have the same spelling.
    """
    counts: Counter[str] = Counter()
    for column in columns:
        rows = column.times()
        for code, name in column.names():
            counts[name] += rows[code]
    apart = {*options.class_names, *named}
    groups: dict[str, list[str]] = {}
    for name in [*counts, *(name for name in apart if name not in counts)] if options.merge else ():
        groups.setdefault(spelling(name), []).append(name)
    becomes: dict[str, str] = {}
    for group in groups.values():
        named_apart = [name for name in group if name in apart]
        if len(named_apart) < 2 < len(group) + 1:
            target = named_apart[0] if named_apart else max(sorted(group), key=counts.__getitem__)
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
    column = read_column("split", chunks, row_of, _split_cell)
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
        reader, notes = _reader_of(lines, known, options)
        lines, unmapped = read_answers(lines, reader)
        if options.class_names:
            options = replace(options, class_names=reader.classes)
        elif not (is_long or reader.classes):
            _rename_whole_numbers(lines.votes)
    votes = None if lines is None else lines.votes
    by_column: Mapping[str, Chunks] = {}
    if set_column is None and lines is None:
        by_column = columns_by_role.get("class") or columns_by_role.get("probability", {})
    if true is not None:
        others = {name for column in (set_column, votes) if column is not None for _, name in column.names()}
        notes += _without_no_answers(true, {*by_column, *others})
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


@dataclass(frozen=True, eq=False)
class Lines:
    """Answers of annotators, a line each: what columns of annotators and tables in long form both become.

    Attributes
    ----------
    tasks
        (m,) int64, the example of each line.
    workers
        (m,) int64, whose it is.
    votes
        The column of the answers.
    ids
        The examples; in columns their numbers.
    people
        The annotators.
    scores
        (m,) float64, the confidence that a column of its own says, NaN where none does.
    separators
        Of each cell of `votes`, what separates several labels.
    """

    tasks: npt.NDArray[np.int64]
    workers: npt.NDArray[np.int64]
    votes: LabelColumn
    ids: Sequence[Any]
    people: Sequence[str]
    scores: npt.NDArray[np.float64]
    separators: Sequence[str]


def lines_in(columns_by_role: RoleColumns, row_of: RowNumber) -> Lines | None:
    """Return the answers of annotators in a table; None where it has none.

    Raises
    ------
    UserError
        Long form without tasks or annotators; scores of nobody, or that are no numbers: the row is named.
    """
    task, worker, vote = (next(iter(columns_by_role.get(role, {}).values()), None) for role in LINES)
    scores, annotators = columns_by_role.get("score", {}), columns_by_role.get("annotator", {})
    if vote is None:
        return _lines_of_columns(annotators, _numbers(scores, annotators, row_of), row_of) if annotators else None
    if task is None or worker is None:
        raise UserError(
            "In long form a table has a column of tasks, one of annotators and one of labels; say which is which "
            "(task, worker, vote)."
        )
    tasks, ids = _named("task", task, row_of)
    workers, people = _named("annotator", worker, row_of)
    votes = LabelColumn.of("label", vote, row_of)
    numbers = next(iter(_numbers(scores, scores, row_of).values()), np.full(len(tasks), math.nan))
    return Lines(tasks, workers, votes, ids, people, numbers, [guess_separator(votes.cells)] * len(votes.cells))


def _lines_of_columns(
    annotators: Mapping[str, Chunks], scores: Mapping[str, npt.NDArray[np.float64]], row_of: RowNumber
) -> Lines:
    """The cells of columns, an annotator each, as lines, without those that are empty."""
    columns = [LabelColumn.of(f"{name} (an annotator)", chunks, row_of) for name, chunks in annotators.items()]
    cells, separators = list[str](), list[str]()
    tasks, codes, numbers = list[Any](), list[Any](), list[Any]()
    for name, column in zip(annotators, columns, strict=True):
        is_filled = np.array([bool(cell.strip()) for cell in column.cells])
        rows = np.flatnonzero(is_filled[column.codes])
        tasks.append(rows)
        codes.append(column.codes[rows] + len(cells))
        numbers.append(scores[name][rows] if name in scores else np.full(len(rows), math.nan))
        cells += column.cells
        separators += [guess_separator(column.cells)] * len(column.cells)
    task, worker = np.concatenate(tasks), np.repeat(np.arange(len(columns)), list(map(len, tasks)))
    votes = LabelColumn(lambda at: columns[worker[at]].place_of(task[at]), np.concatenate(codes), cells, [])
    return Lines(task, worker, votes, range(len(columns[0].codes)), [*annotators], np.concatenate(numbers), separators)


def _rename_whole_numbers(column: LabelColumn) -> None:
    """Rename class numbers written as 1.0 (because others in their column are missing) to 1."""
    names = [name for _, name in column.names()]
    if names and all(map(_NUMBER.fullmatch, names)):
        column.values[:] = [tuple(name.partition(".")[0] for name in value) for value in column.values]


def _named(name: str, chunks: Chunks, row_of: RowNumber) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Codes of a column of names of tasks or annotators, and these, trimmed, in the order of first appearance."""
    column = LabelColumn.of(name, chunks, row_of)
    place: dict[str, int] = {}
    codes = np.array([place.setdefault(cell.strip(), len(place)) for cell in column.cells], dtype=np.int64)[
        column.codes
    ]
    if "" in place:
        where = column.place_of(int(np.argmax(codes == place[""])))
        raise UserError(f"{where} is empty; every line needs its {name}.")
    return codes, list(place)


def _numbers(
    scores: Mapping[str, Chunks], answers: Collection[str], row_of: RowNumber
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the confidence of each annotator, (n,) each, NaN where there is none.

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
    numbers = {}
    for name, chunks in scores.items():
        column = read_column(f"score of {shorten(name)}", chunks, row_of, _score)
        numbers[name] = np.array(column.values, dtype=np.float64)[column.codes]
    return numbers


def _score(cell: str) -> float:
    try:
        return float(cell.replace(",", ".")) if cell.strip() else math.nan  # a decimal comma
    except ValueError:
        raise UserError("write a number, or leave the cell empty") from None


def annotations_of(lines: Lines, names: tuple[str, ...], unmapped: Counter[str]) -> Annotations:
    """Return the annotations in lines that `read_answers` returned.

    The confidence is that of a column of its own, else what the answer itself says.

    Parameters
    ----------
    names
        All classes.
    unmapped
        Of `read_answers`.
    """
    votes = lines.votes
    at, labels = votes.pairs({name: k for k, name in enumerate(names)})
    own, in_cells = lines.scores[at], np.array(votes.confidence)[votes.codes[at]]
    scores = np.where(np.isfinite(own), own, in_cells)
    return Annotations(
        lines.tasks[at],
        lines.workers[at],
        labels,
        len(lines.ids),
        names,
        tuple(lines.people),
        skipped=sum(count for count, value in zip(votes.times(), votes.values, strict=True) if not value),
        scores=scores if np.isfinite(scores).any() else None,
        unmapped=tuple(unmapped.most_common()),
    )


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
    """Return (n, columns) float64, how likely each class is; 0 in empty cells.

    Raises
    ------
    UserError
        a cell that is no probability; the row is named.
    """
    read = [read_column(name, chunks, row_of, _share) for name, chunks in columns.items()]
    return np.stack([np.array(column.values, dtype=np.float64)[column.codes] for column in read], axis=1)


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


def _share(cell: str) -> float:
    cell = cell.strip().removesuffix("%")
    try:
        share = float(cell) if cell.strip() else 0.0
    except ValueError:
        share = math.nan
    if not 0 <= share < math.inf:
        raise UserError("write a probability from 0 to 1")
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
    return bool(cell.strip()) and _mark(cell)


def _mark(cell: str) -> bool:
    try:
        return (BINARY | WORDS)[cell.strip().casefold()]
    except KeyError:
        raise UserError("write 1 for a candidate and 0 for any other class") from None

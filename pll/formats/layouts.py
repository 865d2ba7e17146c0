"""The layouts of labels in a table: a column of candidates, a column an annotator, a column a class, a line a label."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.formats.answers import sets_of
from pll.formats.base import ReadOptions
from pll.formats.cellkinds import BINARY
from pll.formats.checks import check_ids
from pll.formats.labels import (
    Chunks,
    LabelColumn,
    candidate_sets,
    class_names,
    encode,
    read_candidates,
    read_column,
    read_sets,
    read_truth,
    refuse_empty,
    true_labels,
    without_nulls,
)
from pll.formats.words import listing, shorten

_NUMBER = re.compile(r"\d{1,9}(?:\.0+)?", re.ASCII)


@dataclass(frozen=True, eq=False)
class Found:
    """The labels of a table.

    Attributes:
        class_names: all classes.
        candidates, y, annotations: as `PartialLabelDataset` has them.
        notes: what a person should know about them.
        first: (n,) in long form, the first line of each example.
        ids: (n,) in long form, the examples.
    """

    class_names: tuple[str, ...]
    candidates: CandidateSets | None = None
    y: npt.NDArray[np.int64] | None = None
    annotations: Annotations | None = None
    notes: tuple[str, ...] = ()
    first: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    ids: npt.NDArray[np.str_] | None = None


def read_labels(
    sets: Chunks | None,
    truth: Chunks | None,
    options: ReadOptions,
    row_of: Callable[[int], int],
    annotators: Mapping[str, Chunks] | None = None,
    classes: Mapping[str, Chunks] | None = None,
) -> Found:
    """The labels of a table with a row an example.

    Where there are candidates, they are the sets; else what the annotators said; else the 0/1 columns of the classes.

    Raises:
        UserError: an empty set, an unknown label, a cell that cannot be read; the row is named.
    """
    given = None if sets is None else read_candidates(sets, row_of, options.separator)
    true = None if truth is None else read_truth(truth, row_of)
    said = {
        name: read_sets(f"{name} (an annotator)", chunks, row_of, options.separator)
        for name, chunks in (annotators or {}).items()
    }
    _whole_numbers(list(said.values()))
    marks = None if given is not None or said or not classes else _read_marks(classes, row_of)
    columns = [column for column in (given, true, *said.values()) if column is not None]
    names = class_names(columns, options.class_names)
    if marks is not None:
        names, mask = _known_classes(tuple(classes or ()), names, marks, options.class_names)
        return Found(names, CandidateSets.from_mask(mask, names), None if true is None else true_labels(true, names))
    annotations, candidates, notes = None, None, []
    if said:
        annotations = _annotations(said, names)
        if annotations is None:
            notes = ["Nobody gave a label: the columns of the annotators are empty."]
    if given is not None:
        candidates = candidate_sets(given, names)
    elif annotations is not None:
        candidates, notes = sets_of(annotations, options.combine)
    y = None if true is None else true_labels(true, names)
    return Found(names, candidates, y, annotations, tuple(notes))


def read_lines(
    task: Chunks, worker: Chunks, vote: Chunks, truth: Chunks | None, options: ReadOptions, row_of: Callable[[int], int]
) -> Found:
    """The labels of a table with a line for every label an annotator gave; an empty one is an answer that was skipped.

    Raises:
        UserError: a line without task or annotator, an unknown label, no label at all; the row is named.
    """
    tasks, workers = (_named(name, chunks, row_of) for name, chunks in (("task", task), ("annotator", worker)))
    votes = read_sets("label", vote, row_of, options.separator)
    true = None if truth is None else read_truth(truth, row_of)
    names = class_names([votes] if true is None else [votes, true], options.class_names)
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
    )
    sets, notes = sets_of(annotations, options.combine)
    y = None if true is None else true_labels(true, names)[first]
    ids = check_ids(tasks.values, lambda at: row_of(int(first[at])))
    return Found(names, sets, y, annotations, tuple(notes), first, ids)


def _whole_numbers(columns: Sequence[LabelColumn]) -> None:
    """Class numbers that are written as 1.0, since others of their column are missing, become 1."""
    names = [name for column in columns for value in column.values for name in value]
    if names and all(_NUMBER.fullmatch(name) for name in names):
        for column in columns:
            column.values[:] = [tuple(name.partition(".")[0] for name in value) for value in column.values]


def _named(name: str, chunks: Chunks, row_of: Callable[[int], int]) -> LabelColumn:
    """A column of names of tasks or annotators, each as it stands, trimmed; codes in the order of first appearance."""
    codes, cells = encode(without_nulls(chunks))
    place: dict[str, int] = {}
    merged = np.array([place.setdefault(cell.strip(), len(place)) for cell in cells], dtype=np.int64)
    column = LabelColumn(name, merged[codes], list(place), row_of)
    if "" in place:
        raise UserError(f"{column.place(place[''])} is empty; every line needs its {name}.")
    return column


def _annotations(said: Mapping[str, LabelColumn], names: tuple[str, ...]) -> Annotations | None:
    """None where nobody said anything."""
    if not names:
        return None
    number = {name: k for k, name in enumerate(names)}
    pairs = [column.pairs(number) for column in said.values()]
    who = [np.full(len(rows), k, dtype=np.int64) for k, (rows, _) in enumerate(pairs)]
    n = len(next(iter(said.values())).codes)
    rows, labels = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    return Annotations(rows, np.concatenate(who), labels, n, names, tuple(said))


def _read_marks(classes: Mapping[str, Chunks], row_of: Callable[[int], int]) -> npt.NDArray[np.bool_]:
    """(n, c) bool from a 0/1 column a class."""
    columns = [read_column(name, without_nulls(chunks), row_of, _mark) for name, chunks in classes.items()]
    mask = np.stack([np.asarray(column.values, dtype=np.bool_)[column.codes] for column in columns], axis=1)
    refuse_empty(np.asarray(~mask.any(axis=1)), row_of, "the columns of the classes")
    return mask


def _known_classes(
    columns: tuple[str, ...], names: tuple[str, ...], mask: npt.NDArray[np.bool_], given: tuple[str, ...]
) -> tuple[tuple[str, ...], npt.NDArray[np.bool_]]:
    """The classes of 0/1 columns, and of truths that have no column, with a mask over all of them."""
    every = given or (*columns, *(name for name in names if name not in columns))
    unknown = [name for name in columns if name not in every]
    if unknown:
        raise UserError(f"The column of the class {shorten(unknown[0])} is unknown; the classes are {listing(every)}.")
    wide = np.zeros((len(mask), len(every)), dtype=np.bool_)
    wide[:, [every.index(name) for name in columns]] = mask
    return every, wide


def _mark(cell: str) -> bool:
    try:
        return BINARY[cell.strip().casefold()]
    except KeyError:
        raise UserError("write 1 for a candidate and 0 for any other class") from None

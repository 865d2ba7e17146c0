"""Columns of a table from a dataset; and what a format cannot hold of it, in words for a person."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pll.candidates import sort_names
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.forms import Form
from pll.formats.labels import sets_of
from pll.formats.names import LABEL_COLUMNS, marked, sample_rows
from pll.formats.reading import Column
from pll.formats.results import Results
from pll.formats.roles import roles_of
from pll.formats.tabular.cells import WHOLE, is_no_answer, join_column, spelling, write_label


@dataclass(frozen=True)
class TextColumn:
    """A column of text.

    Attributes
    ----------
    name
        Its header.
    role
        The part it plays (`pll.formats.roles.ROLES`); "ignore" for results.
    cells
        (n,) text, None where a cell is missing.
    values
        (n,) the same as JSON has it: labels as lists of names, other cells as they are; by default `cells`.
    """

    name: str
    role: str
    cells: Sequence[str | None]
    values: Sequence[Any] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self.values or self.cells)


def columns_of(dataset: PartialLabelDataset, results: Results | None = None) -> tuple[list[TextColumn], list[str]]:
    """Return every column but the features in the order written (ids, contents, labels, extra columns, results), and
    the names of the features' columns.

    Read again, each is what it is: its name is marked where it would be taken for something else.

    Parameters
    ----------
    dataset
        What is written.
    results
        Identified labels to write with it.

    Raises
    ------
    UserError
        a name or a cell that text cannot hold.
    """
    columns = own_columns(dataset)
    labels = annotator_columns(dataset)
    if dataset.candidates is not None:
        sets = [dataset.candidates.names(i) for i in range(len(dataset))]
        labels.insert(0, TextColumn("candidates", "candidates", join_column(sets), sets))
    at = sum(column.role in ("id", "text", "image") for column in columns)
    columns[at:at] = labels
    added = {} if results is None else results.aligned(dataset.row_ids.tolist())
    named = headers([*columns, *number_columns(dataset)], added)
    names, numbers = named[: len(columns)], named[len(columns) :]
    columns = [replace(column, name=name) for column, name in zip(columns, names, strict=True)]
    columns += [TextColumn(name, "ignore", cells) for name, cells in added.items()]
    check_columns(columns)
    for name in numbers:
        check_text(name)
    return columns, numbers


def own_columns(dataset: PartialLabelDataset) -> list[TextColumn]:
    """Return the columns of what an example is, without candidates, answers and features; names are not marked yet."""
    columns = [TextColumn("id", "id", dataset.row_ids.tolist())]
    if dataset.texts is not None:
        columns.append(TextColumn("text", "text", dataset.texts.tolist()))
    if dataset.pictures is not None:
        columns.append(TextColumn("image", "image", dataset.pictures.names.tolist()))
    if dataset.y is not None:
        names = class_names(dataset)
        truth = [None if k == UNKNOWN else names[k] for k in dataset.y.tolist()]
        cells = [write_label(name) for name in truth]
        as_json = [name if name in (None, cell) else [name] for name, cell in zip(truth, cells, strict=True)]
        columns.append(TextColumn("true_label", "true_label", cells, as_json))
    if dataset.is_test is not None:
        columns.append(TextColumn("split", "split", ["test" if test else "train" for test in dataset.is_test]))
    for role, fields in (("category", dataset.categories), ("keep", dataset.extras)):
        for name, values in fields.items():
            columns.append(TextColumn(name, role, [as_text(value) for value in values.tolist()], values.tolist()))
    return columns


def headers(columns: Sequence[TextColumn], taken: Collection[str] = (), form: Form | None = None) -> list[str]:
    """Return the header of each column: its name, marked where another one has it, or it would be taken for another.

    Parameters
    ----------
    columns
        Every column that is written, features too.
    taken
        Names of columns that are written beside these.
    form
        The signature of a tool by which they are read back, beside fields of its own: what is learnt from is marked.
    """
    names, seen = [column.name for column in columns], {*taken}
    seen.update(column.name for column in columns if column.role not in MARKED)
    free = {at for at, column in enumerate(columns) if column.role in MARKED}
    wrong = list[int]()
    for at in sorted(free):
        is_always = form is not None and columns[at].role != "keep"
        wrong += [at] if is_always or names[at] in seen or not _may_be_name(names[at]) else []
        seen.add(names[at])
    cells = [list(column.cells[: sample_rows(len(columns))]) for column in columns]
    while True:
        for at in wrong:
            names[at] = marked(columns[at].role, columns[at].name)
            while names[at] in seen:
                names[at] += "_again"
            seen.add(names[at])
        free -= {*wrong}
        read = roles_of(names, cells, form=form) if free else []
        wrong = [at for at in sorted(free) if not _is_as(read[at], columns[at]) or (form and read[at].guessed)]
        if not wrong:
            return names


MARKED = ("category", "keep", "feature")
"""Roles of columns that a mark in their names says; others are said by reserved names."""


def _may_be_name(name: str) -> bool:
    return name == name.strip() != "" and name.casefold() not in LABEL_COLUMNS


def _is_as(read: Column, column: TextColumn) -> bool:
    return read.role == column.role and read.display_name == column.name and read.asks is None


def annotator_columns(dataset: PartialLabelDataset) -> list[TextColumn]:
    """Return one column per annotator with their labels, and one with their confidence where there is one."""
    columns = []
    annotations, said = dataset.annotations, list(map(dict, answers_of(dataset)))
    for who, name in enumerate(() if annotations is None else annotations.annotator_names):
        answers = [one.get(name) for one in said]
        filled = iter(join_column(labels for labels in answers if labels))
        cells = [next(filled) if labels else "" for labels in answers]
        columns.append(TextColumn(marked("annotator", name), "annotator", cells, answers))
        if annotations is None or annotations.scores is None:
            continue
        own = (annotations.annotators == who) & np.isfinite(annotations.scores)
        if own.any():
            scores = [""] * annotations.n_rows  # one a row: of several labels in a row, the scores are the same
            for row, score in zip(annotations.rows[own].tolist(), annotations.scores[own].tolist(), strict=True):
                scores[row] = repr(score)
            columns.append(TextColumn(marked("score", name), "score", scores))
    return columns


def answers_of(dataset: PartialLabelDataset) -> list[list[tuple[str, list[str]]]]:
    """Return by example (annotator, labels) of everyone who answered."""
    annotations = dataset.annotations
    by_example: list[list[tuple[str, list[str]]]] = [[] for _ in range(len(dataset))]
    if annotations is None:
        return by_example
    names = class_names(dataset)
    ends = [*annotations.answer_starts[1:].tolist(), len(annotations.rows)]
    for start, end in zip(annotations.answer_starts.tolist(), ends, strict=True):
        who = annotations.annotator_names[annotations.annotators[start]]
        by_example[annotations.rows[start]].append((who, [names[k] for k in annotations.labels[start:end].tolist()]))
    return by_example


def number_columns(dataset: PartialLabelDataset) -> list[TextColumn]:
    """Return the columns of the features, with as many of their cells as are looked at; names are not marked yet."""
    names = dataset.feature_names or tuple(f"x{k}" for k in range(dataset.X[:1].size))
    if dataset.is_image:
        _, height, width = dataset.input_shape
        names = tuple(f"pixel_{k // (height * width)}_{k // width % height}_{k % width}" for k in range(len(names)))
    first = dataset.X.reshape(len(dataset), -1)[: sample_rows(len(names))]
    cells = [[None if np.isnan(value) else repr(value) for value in column] for column in first.T.tolist()]
    return [TextColumn(name, "feature", column) for name, column in zip(names, cells, strict=True)]


def records_of(
    values: Mapping[str, Sequence[Any]], numbers: Sequence[str], X: npt.NDArray[np.float32]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of columns as objects: values by name, then numbers with all their digits; a missing one is None.

    Parameters
    ----------
    values
        By name, (n,) values of JSON.
    numbers
        The names of the features.
    X
        (n, …) the features.
    """
    for i, row in enumerate(X.reshape(len(X), -1)):
        cells = (None if np.isnan(x) else x for x in row.astype(np.float64).tolist())
        yield {name: column[i] for name, column in values.items()} | dict(zip(numbers, cells, strict=True))


def number_blocks(X: npt.NDArray[np.float32]) -> list[pa.Array]:
    """Return (rows, …) features, one column each; a missing cell is null."""
    return [pa.array(column, pa.float32(), from_pandas=True) for column in X.reshape(len(X), -1).T.copy()]


def table_limitations(dataset: PartialLabelDataset, supported: Collection[str] = ()) -> list[str]:
    """Return sentences on what a table of text cannot hold.

    Parameters
    ----------
    dataset
        What is written.
    supported
        What this kind of table holds all the same, by the names of `part_limitations` and `class_limitations`; and
        "equal names", "anonymity", "types", "missing cells".
    """
    columns = [(name, values) for fields in (dataset.categories, dataset.extras) for name, values in fields.items()]
    twice = sorted({name for name in dataset.feature_names if dataset.feature_names.count(name) > 1})
    anonymous = dataset.annotations is not None and dataset.annotations.anonymous
    plain = [name for name, values in columns if not all(value is None or isinstance(value, str) for value in values)]
    empty = [name for name, values in columns if any(isinstance(value, str) and value == "" for value in values)]
    sentences = {
        "equal names": twice and f"That several features have one name: {listing(twice)}.",
        "anonymity": anonymous and "That the annotators are anonymous: each vote becomes a person.",
        "types": plain and f"That values are numbers or lists and not text: {listing(plain)}.",
        "missing cells": empty and f"The difference between an empty cell and a missing one: {listing(empty)}.",
    }
    lost = [*part_limitations(dataset, {*ALL_BUT_PIXELS, *supported}), *class_limitations(dataset, supported)]
    return lost + [sentence for part, sentence in sentences.items() if sentence and part not in supported]


def as_text(value: Any) -> str | None:
    """Return a plain value as a cell: text as it is, anything else as JSON, None where it is missing."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def check_columns(columns: Sequence[TextColumn]) -> None:
    """Raise UserError where a name or a cell cannot be written as UTF-8."""
    for column in columns:
        check_text(column.name)
        for cell in column.cells:
            if cell is not None:
                check_text(cell)


def check_text(cell: str) -> None:
    """Raise UserError where text cannot be written as UTF-8."""
    is_damaged = "\0" in cell
    if not cell.isascii():
        try:
            cell.encode()
        except UnicodeEncodeError:
            is_damaged = True
    if is_damaged:
        raise UserError(f"{cell[:200]!r} cannot be written as text (a NUL byte or half a character); rename it.")


# ---- what a format cannot hold ---------------------------------------------------------------------------------------

ALL_BUT_PIXELS = frozenset(
    ("features", "texts", "pictures", "categories", "extras", "annotations", "class names", "ids", "feature names")
) | {"split", "truth"}
"""What formats of text can hold."""


def part_limitations(dataset: PartialLabelDataset, supported: Collection[str]) -> list[str]:
    """What of a dataset is lost in a format that holds only some of its parts.

    Parameters
    ----------
    dataset
        What is written.
    supported
        The parts that are not lost, by the names below.

    Examples
    --------
    >>> part_limitations(PartialLabelDataset(np.ones((1, 1)), ids=np.array(["a"])), {"features"})
    ['The ids: rows are numbered when read.']
    """
    has_names = dataset.class_names not in ((), tuple(str(k) for k in range(dataset.n_classes)))
    has_ids = (
        "ids" not in supported
        and dataset.ids is not None
        and not np.array_equal(dataset.ids, np.arange(len(dataset)).astype(np.str_))
    )
    has_images = dataset.images is not None and not dataset.is_image
    parts = {
        "features": (dataset.X.size > 0, "The features."),
        "image shape": (dataset.is_image, "The shape of the images: every pixel becomes a column."),
        "images": (has_images, "The pictures for annotators and reviewers."),
        "texts": (dataset.texts is not None, "The texts."),
        "pictures": (dataset.pictures is not None, "The names of the pictures."),
        "categories": (bool(dataset.categories), "The columns of words."),
        "extras": (bool(dataset.extras), "The columns that are carried along."),
        "prior": (dataset.prior is not None, "The prior of the candidates."),
        "annotations": (dataset.annotations is not None, "Who gave which label."),
        "class names": (has_names, "The names of the classes: they become numbers."),
        "ids": (has_ids, "The ids: rows are numbered when read."),
        "feature names": (bool(dataset.feature_names), "The names of the features."),
        "split": (dataset.is_test is not None, "The split into a training and a test part."),
        "truth": (dataset.y is not None, "The true labels."),
    }
    return [sentence for part, (has, sentence) in parts.items() if has and part not in supported]


def class_limitations(dataset: PartialLabelDataset, supported: Collection[str] = ()) -> list[str]:
    """Return what is lost of the classes where a reader has only those that occur, sorted by name.

    Parameters
    ----------
    dataset
        What is written.
    supported
        What is not lost after all: "unused classes", "class order", "spelling".
    """
    names = class_names(dataset)
    used = used_names(dataset)
    lost = []
    unused = [name for name in names if name not in used]
    if unused and "unused classes" not in supported:
        lost.append(f"Classes that no row mentions: {listing(unused)}.")
    if list(sort_names(used)) != [name for name in names if name in used] and "class order" not in supported:
        lost.append("The order of the classes: they are sorted by name when read.")
    spelled = Counter(map(spelling, used))
    similar = sorted(name for name in used if spelled[spelling(name)] > 1)
    if similar and "spelling" not in supported:
        lost.append(f"That classes are spelled alike: {listing(similar)} become one when read.")
    given = set() if dataset.annotations is None else {names[k] for k in set(dataset.annotations.labels.tolist())}
    decimal = sorted(name for name in given if "." in name)
    if decimal and all(WHOLE.fullmatch(name) for name in given):
        lost.append(f"How classes are written that are numbers: {listing(decimal)} are read without decimals.")
    if dataset.y is not None and (dataset.candidates is not None or dataset.annotations is not None):
        candidates = used_names(replace(dataset, y=None))
        true = {names[k] for k in np.unique(dataset.y[dataset.y >= 0]).tolist()}
        if no_label := sorted(filter(is_no_answer, true - candidates)):
            lost.append(f"True labels that say there is none, where no candidate is called so: {listing(no_label)}.")
    return lost


def is_union(dataset: PartialLabelDataset) -> bool:
    """Whether every candidate set is what the annotators of the example named together, as readers make it."""
    annotations, sets = dataset.annotations, dataset.candidates
    return annotations is not None and sets is not None and sets_of(annotations)[0] == sets


def used_names(dataset: PartialLabelDataset) -> set[str]:
    """The classes that occur as a candidate, as an annotator's label or as a truth."""
    used: set[int] = set()
    if dataset.candidates is not None:
        used |= set(np.unique(dataset.candidates.indices).tolist())
    if dataset.annotations is not None:
        used |= set(np.unique(dataset.annotations.labels).tolist())
    if dataset.y is not None:
        used |= set(np.unique(dataset.y[dataset.y >= 0]).tolist())
    names = class_names(dataset)
    return {names[k] for k in used}


def class_names(dataset: PartialLabelDataset) -> list[str]:
    """All classes by name."""
    return list(dataset.class_names) or [str(k) for k in range(dataset.n_classes)]

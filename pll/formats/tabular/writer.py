"""Columns of a table from a dataset; and what a format cannot hold of it, in words for a person."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pll.annotations import Annotations
from pll.candidates import sort_names
from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats.base import TABLE
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
        (n,) the same as JSON has it: labels as lists of names, numbers of results as such, other cells as they are; by
        default `cells`.
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
    ids = dataset.row_ids.tolist()
    added = {} if results is None else results.aligned(ids)
    values = {} if results is None else results.added(ids)
    named = headers([*columns, *number_columns(dataset)], added)
    names, numbers = named[: len(columns)], named[len(columns) :]
    columns = [replace(column, name=name) for column, name in zip(columns, names, strict=True)]
    columns += [TextColumn(name, "ignore", cells, values[name]) for name, cells in added.items()]
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
        wrong = [at for at in sorted(free) if not _is_as(read[at], columns[at])]
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


def limitations(dataset: PartialLabelDataset, loses: Sequence[str]) -> list[str]:
    """Return sentences on what of a dataset is lost in a format.

    Parameters
    ----------
    dataset
        What is written.
    loses
        What the format cannot hold, by the names of `LIMITATIONS`, or of a group in `formats.toml`.

    Examples
    --------
    >>> limitations(PartialLabelDataset(np.ones((1, 1)), ids=np.array(["a"])), ["ids", "texts"])
    ['The ids: rows are numbered when read.']
    """
    said = list[str]()
    for part in [part for name in loses for part in GROUPS.get(name, [name])]:
        if found := LIMITATIONS[part](dataset):
            said.append(TABLE["sentences"][part].format(listing(found) if isinstance(found, list) else ""))
    return said


def _has_names(data: PartialLabelDataset) -> bool:
    return data.class_names not in ((), tuple(str(k) for k in range(data.n_classes)))


def _has_ids(data: PartialLabelDataset) -> bool:
    return data.ids is not None and not np.array_equal(data.ids, np.arange(len(data)).astype(np.str_))


def _with_cells(data: PartialLabelDataset, test: Callable[[Any], bool]) -> list[str]:
    """The columns of words, or that are carried along, with a cell of some kind."""
    return [name for some in (data.categories, data.extras) for name, cells in some.items() if any(map(test, cells))]


def _twice(names: Sequence[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _unused(data: PartialLabelDataset) -> list[str]:
    used = used_names(data)
    return [name for name in class_names(data) if name not in used]


def _in_order(data: PartialLabelDataset) -> bool:
    """Whether the classes that occur are sorted, as a reader does that has no others."""
    used = used_names(data)
    return list(sort_names(used)) == [name for name in class_names(data) if name in used]


def _spelled_alike(data: PartialLabelDataset) -> list[str]:
    alike = {*_twice([spelling(name) for name in used_names(data)])}
    return sorted(name for name in used_names(data) if spelling(name) in alike)


def _decimals(data: PartialLabelDataset) -> list[str]:
    """The classes that annotators write with decimals, where all are whole numbers."""
    names = class_names(data)
    given = [] if data.annotations is None else [names[k] for k in np.unique(data.annotations.labels).tolist()]
    return sorted(name for name in given if "." in name) if all(map(WHOLE.fullmatch, given)) else []


def _without_a_truth(data: PartialLabelDataset) -> list[str]:
    """The true labels that say that there is none, where no candidate is called so."""
    others = used_names(replace(data, y=None))
    return sorted(filter(is_no_answer, used_names(data) - others)) if others else []


def _cut(data: PartialLabelDataset) -> list[str]:
    """The names and texts whose ends arrays of text cut off."""
    texts = () if data.texts is None else data.texts.tolist()
    pictures = () if data.pictures is None else data.pictures.names.tolist()
    people = () if data.annotations is None else data.annotations.annotator_names
    own = (data.class_names, data.feature_names, data.row_ids.tolist(), data.categories, data.extras)
    return [text for some in (*own, texts, pictures, people) for text in some if text.endswith("\0")]


def _votes(data: PartialLabelDataset, test: Callable[[Annotations], bool]) -> bool:
    return data.annotations is not None and test(data.annotations)


GROUPS: Mapping[str, Sequence[str]] = TABLE["loses"]
"""Parts of a dataset that several formats cannot hold, by the name of the group."""
LIMITATIONS: Mapping[str, Callable[[PartialLabelDataset], bool | list[str]]] = {
    "features": lambda data: data.X.size > 0,
    "image shape": lambda data: data.is_image,
    "images": lambda data: data.images is not None,
    "texts": lambda data: data.texts is not None,
    "pictures": lambda data: data.pictures is not None,
    "categories": lambda data: bool(data.categories),
    "extras": lambda data: bool(data.extras),
    "prior": lambda data: data.prior is not None,
    "annotations": lambda data: data.annotations is not None,
    "class names": _has_names,
    "ids": _has_ids,
    "feature names": lambda data: bool(data.feature_names),
    "split": lambda data: data.is_test is not None,
    "truth": lambda data: data.y is not None,
    "unused classes": _unused,
    "class order": lambda data: not _in_order(data),
    "spelling": _spelled_alike,
    "decimals": _decimals,
    "no truth": _without_a_truth,
    "equal names": lambda data: _twice(data.feature_names),
    "anonymity": lambda data: _votes(data, lambda votes: votes.anonymous),
    "types": lambda data: _with_cells(data, lambda cell: not (cell is None or isinstance(cell, str))),
    "missing cells": lambda data: _with_cells(data, lambda cell: isinstance(cell, str) and cell == ""),
    "carriage returns": lambda data: data.texts is not None and any("\r" in text for text in data.texts.tolist()),
    "ends": _cut,
    "pixels": lambda data: data.is_image,
    "channels": lambda data: data.is_image and data.X.shape[1] not in (1, 3),
    "levels": lambda data: data.is_image and (not are_bytes(data.X)),
    "silent": lambda data: _votes(data, lambda votes: len({*votes.annotators.tolist()}) < votes.n_annotators),
    "votes beside sets": lambda data: _votes(data, lambda _: has_own_sets(data)),
    "sets beside votes": lambda data: _votes(data, lambda _: has_own_sets(data)),
    "several labels": lambda data: has_several(data),
    "nobody": lambda data: data.annotations is None,
    "annotators": lambda data: _votes(data, lambda votes: not (votes.anonymous or has_own_sets(data))),
    "tool": lambda data: (data.texts is None and data.pictures is None) or "_input_hash" in data.extras,
}
"""Whether a dataset has what may be lost, by name; or the names that the sentence on it is about."""


def has_own_sets(dataset: PartialLabelDataset) -> bool:
    """Whether the candidate sets have to be written: they are not the union of the annotators' labels."""
    if dataset.candidates is None or dataset.annotations is None:
        return dataset.candidates is not None
    named = set(dataset.annotations.labels.tolist())  # an example without annotations may have any of these
    return not is_union(dataset) or not set(dataset.candidates.indices.tolist()) <= named


def has_several(dataset: PartialLabelDataset) -> bool:
    """Whether somebody named several labels of one example."""
    return _votes(dataset, lambda votes: len(votes.rows) > votes.n_answers)


def are_bytes(X: npt.NDArray[np.float32]) -> bool:
    """Whether numbers are those of pixels: whole, from 0 to 255."""
    return bool(((X >= 0) & (X <= 255) & (np.floor(X) == X)).all())


def is_union(dataset: PartialLabelDataset) -> bool:
    """Whether every candidate set is what the annotators of the example named together, as readers make it."""
    annotations, sets = dataset.annotations, dataset.candidates
    return annotations is not None and sets is not None and sets_of(annotations)[0] == sets


def used_names(dataset: PartialLabelDataset) -> set[str]:
    """The classes that occur as a candidate, as an annotator's label or as a truth."""
    sets, votes, y = dataset.candidates, dataset.annotations, dataset.y
    used = [] if y is None else [np.unique(y[y >= 0])]
    used += [] if sets is None else [np.unique(sets.indices)]
    used += [] if votes is None else [np.unique(votes.labels)]
    names = class_names(dataset)
    return {names[k] for numbers in used for k in numbers.tolist()}


def class_names(dataset: PartialLabelDataset) -> list[str]:
    """All classes by name."""
    return list(dataset.class_names) or [str(k) for k in range(dataset.n_classes)]

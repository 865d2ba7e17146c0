"""Columns of a table from a dataset."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats.forms import Form
from pll.formats.names import LABEL_COLUMNS, marked, sample_rows
from pll.formats.reading import Column
from pll.formats.results import Results
from pll.formats.roles import roles_of
from pll.formats.tabular.cells import join_column, write_label


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


def class_names(dataset: PartialLabelDataset) -> list[str]:
    """All classes by name."""
    return list(dataset.class_names) or [str(k) for k in range(dataset.n_classes)]

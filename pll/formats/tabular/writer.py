"""Columns of a table from a dataset."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import listing
from pll.formats.limitations import ALL_BUT_PIXELS, class_limitations, class_names, part_limitations
from pll.formats.names import LABEL_COLUMNS, marked, sample_rows
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
        (n,) the same as JSON has it: labels as lists of names, other cells as they are; by default `cells`.
    """

    name: str
    role: str
    cells: Sequence[str | None]
    values: Sequence[Any] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self.values or self.cells)


def text_columns(dataset: PartialLabelDataset, results: Results | None = None) -> list[TextColumn]:
    """Return every column but the features in the order written: ids, contents, labels, extra columns, results.

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
    names = class_names(dataset)
    columns = [TextColumn("id", "id", dataset.row_ids.tolist())]
    if dataset.texts is not None:
        columns.append(TextColumn("text", "text", dataset.texts.tolist()))
    if dataset.pictures is not None:
        columns.append(TextColumn("image", "image", dataset.pictures.names.tolist()))
    if dataset.candidates is not None:
        sets = [dataset.candidates.names(i) for i in range(len(dataset))]
        columns.append(TextColumn("candidates", "candidates", join_column(sets), sets))
    columns += annotator_columns(dataset)
    if dataset.y is not None:
        truth = [None if k == UNKNOWN else names[k] for k in dataset.y.tolist()]
        cells = [write_label(name) for name in truth]
        as_json = [name if name in (None, cell) else [name] for name, cell in zip(truth, cells, strict=True)]
        columns.append(TextColumn("true_label", "true_label", cells, as_json))
    if dataset.is_test is not None:
        columns.append(TextColumn("split", "split", ["test" if test else "train" for test in dataset.is_test]))
    for role, fields in (("category", dataset.categories), ("keep", dataset.extras)):
        for name, values in fields.items():
            columns.append(TextColumn(name, role, [as_text(value) for value in values.tolist()], values.tolist()))
    columns = _marked_where_misread(columns, {*feature_column_names(dataset), *(results.columns if results else ())})
    if results is not None:
        columns += [
            TextColumn(name, "ignore", cells) for name, cells in results.aligned(dataset.row_ids.tolist()).items()
        ]
    check_columns(columns)
    return columns


def _marked_where_misread(columns: Sequence[TextColumn], taken: set[str]) -> list[TextColumn]:
    """Columns of words, marked where they would be taken for something else, or have the name of another one."""
    rows = sample_rows(len(columns))
    guesses = roles_of([column.name for column in columns], [list(column.cells[:rows]) for column in columns])
    own = {column.name for column in columns if column.role not in ("category", "keep")} | taken
    result = []
    for column, one in zip(columns, guesses, strict=True):
        name = column.name
        is_read = one.role == column.role and one.display_name == name == name.strip() != "" and one.asks is None
        if column.role in ("category", "keep") and (not is_read or name in own or name.casefold() in LABEL_COLUMNS):
            name = marked(column.role, name)
        own.add(name)
        result.append(replace(column, name=name))
    return result


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


def feature_column_names(dataset: PartialLabelDataset) -> list[str]:
    """Return a column name for every feature: its own where it is read back as a feature, else marked as one."""
    if dataset.is_image:
        _, height, width = dataset.input_shape
        return [f"pixel_{k // (height * width)}_{k // width % height}_{k % width}" for k in range(dataset.X[0].size)]
    columns: list[str] = []
    taken: set[str] = set()
    for name in dataset.feature_names or [f"x{k}" for k in range(dataset.X.shape[1])]:
        column = name if _is_read_as_feature(name) else marked("feature", name)
        while column in taken:
            column = f"{column}_again"
        taken.add(column)
        columns.append(column)
    return columns


def _is_read_as_feature(name: str) -> bool:
    guess = roles_of(["id", name], [["0"], ["1"]])[1] if name.casefold() != "id" else None
    return guess is not None and guess.role == "feature" and guess.display_name == name == name.strip() != ""


def number_blocks(dataset: PartialLabelDataset, rows: slice) -> list[pa.Array]:
    """Return the features of some rows, one column each; a missing cell is null.

    Parameters
    ----------
    dataset
        What is written.
    rows
        Which of its examples.
    """
    flat = dataset.X.reshape(len(dataset), -1)
    return [pa.array(column, pa.float32(), from_pandas=True) for column in flat[rows].T.copy()]


def table_limitations(dataset: PartialLabelDataset, supported: Collection[str] = ()) -> list[str]:
    """Return sentences on what a table of text cannot hold.

    Parameters
    ----------
    dataset
        What is written.
    supported
        What this kind of table holds all the same: `limitations.PARTS`, what `class_limitations` names, "equal names",
        "anonymity", "types", "missing cells", "parts".
    """
    columns = [(name, values) for fields in (dataset.categories, dataset.extras) for name, values in fields.items()]
    twice = sorted({name for name in dataset.feature_names if dataset.feature_names.count(name) > 1})
    anonymous = dataset.annotations is not None and dataset.annotations.anonymous
    plain = [name for name, values in columns if not all(value is None or isinstance(value, str) for value in values)]
    empty = [name for name, values in columns if any(isinstance(value, str) and value == "" for value in values)]
    misread = [] if "parts" in supported else _misread(dataset)
    sentences = {
        "equal names": twice and f"That several features have one name: {listing(twice)}.",
        "anonymity": anonymous and "That the annotators are anonymous: each vote becomes a person.",
        "types": plain and f"That values are numbers or lists and not text: {listing(plain)}.",
        "missing cells": empty and f"The difference between an empty cell and a missing one: {listing(empty)}.",
        "parts": misread and f"What these columns are (say it when you read them again): {listing(misread)}.",
    }
    lost = [*part_limitations(dataset, {*ALL_BUT_PIXELS, *supported}), *class_limitations(dataset, supported)]
    return lost + [sentence for part, sentence in sentences.items() if sentence and part not in supported]


def _misread(dataset: PartialLabelDataset) -> list[str]:
    """Return the columns that would be read as something else when all are seen together."""
    few = dataset.take(slice(0, sample_rows(len(dataset.categories) + len(dataset.extras) + dataset.X[:1].size)))
    texts = text_columns(few)
    numbers = feature_column_names(few)
    flat = few.X.reshape(len(few), -1)
    header = [column.name for column in texts] + numbers
    cells = [list(column.cells) for column in texts]
    cells += [[None if np.isnan(value) else repr(value) for value in column.tolist()] for column in flat.T]
    wanted = [column.role for column in texts] + ["feature"] * len(numbers)
    if len(set(header)) < len(header):
        return [name for name in header if header.count(name) > 1]
    try:
        guesses = roles_of(header, cells)
    except UserError:
        return header
    return [column.name for column, role in zip(guesses, wanted, strict=True) if column.role != role]


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

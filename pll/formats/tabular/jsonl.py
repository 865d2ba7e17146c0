"""JSON lines: a table whose rows are objects; a single list of objects is read as well.

Every field is a column with a role (`columns`), `candidates` a list of names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pll.dataset import UNKNOWN, PartialLabelDataset
from pll.errors import UserError
from pll.formats import json_objects
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import shorten
from pll.formats.json_objects import Record
from pll.formats.limitations import class_names
from pll.formats.results import Results, example_rows, omitted_columns
from pll.formats.tabular.builder import MAX_COLUMNS, arrow_table, build_dataset, no_rows, plan
from pll.formats.tabular.cells import write_label
from pll.formats.tabular.columns import Column, results_among, sample_rows
from pll.formats.tabular.writer import annotator_lists, feature_column_names, table_limitations, text_columns
from pll.io import Column as ObjectColumn
from pll.io import as_column

_BATCH = 4096


class JsonLines(Format):
    """JSON lines: an object for each example."""

    name = "jsonl"
    label = "JSON lines"
    tool = "your JSON lines"
    adds = "Fields with the label and how sure it is stand beside your own."
    content = "json"
    suffixes = (".jsonl", ".ndjson", ".json")
    row_note = "Rows are counted as the lines of the file, from 1."

    def sniff(self, path: Path, head: bytes) -> bool:
        return json_objects.first_record(path, head) is not None

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        lines, fields, sample = _survey(path, options)
        columns = _plan(fields, sample, options)
        batches = _arrays(path, columns, fields, lines, options)
        table, X = arrow_table(batches, columns, options, lines.__getitem__, len(lines))
        return _decoded(build_dataset(table, X, columns, options, lines.__getitem__, empty_is_missing=False))

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        """Return the role of each field.

        Raises:
            UserError: see `read`.
        """
        _, fields, sample = _survey(path, options)
        return _plan(fields, sample, options)

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        return table_limitations(dataset, {"types", "missing cells"})

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        json_objects.write(path, _records(dataset, results), as_list=False)

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return omitted_columns(results, results.beside([column.name for column in self.columns(source, options)]))

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        columns = self.columns(source, options)
        names = [column.name for column in columns]
        earlier, results = results_among(names), results.beside(names)
        example = next((column for column in columns if column.role in ("id", "task")), None)

        def lines() -> Iterator[list[Any]]:
            for _, record in json_objects.records(source):
                values = [record.get(name) for name in names]
                if example is not None:
                    values[example.at] = (_cell(values[example.at]) or "").strip()
                yield [*values, record]

        kept, examples = example_rows(lines(), columns)
        stay = {names[at] for at in kept} - earlier
        added = (
            {name: value for name, value in row[-1].items() if name in stay} | results.record(given)
            for given, row in examples
        )
        json_objects.write(path, added, as_list=json_objects.is_list(source))


def dataset_of(
    columns: Sequence[Column], values: Sequence[Sequence[Any]], rows: Sequence[int], options: ReadOptions
) -> PartialLabelDataset:
    """Return the dataset of columns of JSON values whose roles are known.

    Args:
        columns: `at` is the place in `values`.
        values: n of each column.
        rows: (n,) the number a message gives to each.

    Raises:
        UserError: values that are not what their column says; the row is named.
    """
    used = [column for column in columns if column.role != "ignore"]
    batch = {column.at: _array(values[column.at], column, rows, 0) for column in used}
    table, X = arrow_table([(batch, len(rows))], columns, options, rows.__getitem__, len(rows))
    return _decoded(build_dataset(table, X, columns, options, rows.__getitem__, empty_is_missing=False))


def _records(dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
    names = class_names(dataset)
    texts = text_columns(dataset)
    answers = iter(annotator_lists(dataset).values())
    words = iter([*dataset.categories.values(), *dataset.extras.values()])
    values: dict[str, Any] = {}
    for column in texts:
        if column.role == "candidates" and dataset.candidates is not None:
            values[column.name] = [dataset.candidates.names(i) for i in range(len(dataset))]
        elif column.role == "annotator":
            values[column.name] = [labels or None for labels in next(answers)]
        elif column.role == "true_label" and dataset.y is not None:
            known = [name if write_label(name) == name else [name] for name in names]
            values[column.name] = [None if k == UNKNOWN else known[k] for k in dataset.y.tolist()]
        elif column.role in ("category", "keep"):
            values[column.name] = next(words)
        else:
            values[column.name] = column.cells
    numbers = feature_column_names(dataset)
    flat = dataset.X.reshape(len(dataset), -1)
    for i, example in enumerate(dataset.row_ids.tolist()):
        record = {name: column[i] for name, column in values.items()}
        row = flat[i].astype(np.float64)  # float32 as float64: all its digits, and no more
        record |= dict(zip(numbers, (None if np.isnan(x) else x for x in row.tolist()), strict=True))
        yield record if results is None else record | results.record(example)


def _survey(path: Path, options: ReadOptions) -> tuple[list[int], list[str], list[list[Any]]]:
    """Return the line of each record, all fields in the order of appearance, and the first values of each."""
    lines: list[int] = []
    fields: dict[str, list[Any]] = {}
    looked_at = 0
    for line, record in json_objects.records(path):
        lines.append(line)
        for name in record:
            if name not in fields:
                fields[name] = [None] * looked_at
                if len(fields) > MAX_COLUMNS:
                    raise UserError(f"Row {line}: there are more than {MAX_COLUMNS:,} different fields.")
        if looked_at < sample_rows(len(fields)):
            looked_at += 1
            for name, values in fields.items():
                values.append(record.get(name))
    if not lines:
        raise no_rows()
    if not fields:
        raise UserError("The objects have no fields; bring what was labelled, and its labels.")
    return lines, list(fields), list(fields.values())


def _plan(fields: Sequence[str], sample: Sequence[Sequence[Any]], options: ReadOptions) -> list[Column]:
    return plan(fields, [[_cell(value) for value in values] for values in sample], options)


def _arrays(
    path: Path, columns: Sequence[Column], fields: Sequence[str], lines: Sequence[int], options: ReadOptions
) -> Iterator[tuple[dict[int, pa.Array], int]]:
    """Yield the fields of some records as Arrow arrays, and the number of records."""
    size = max(1, min(_BATCH, 1_000_000 // len(fields)))
    used = [column for column in columns if column.role != "ignore"]
    records = (record for _, record in json_objects.records(path))
    first = 0
    while some := list(islice(records, size)):
        cells = {column.at: [one.get(fields[column.at]) for one in some] for column in used}
        yield {column.at: _array(cells[column.at], column, lines, first) for column in used}, len(some)
        first += len(some)


def _array(values: Sequence[Any], column: Column, lines: Sequence[int], first: int) -> pa.Array:
    if column.role == "feature":
        if all(value is None or isinstance(value, int | float) for value in values):
            return pa.array([None if value is None else _float(value) for value in values], pa.float64())
        return pa.array([_cell(value) or "" for value in values], pa.string())
    if column.role in ("category", "keep"):
        return pa.array([json.dumps(value, ensure_ascii=False) for value in values], pa.string())
    for at, value in enumerate(values) if column.role == "true_label" else ():
        if isinstance(value, dict):
            raise UserError(
                f"Row {lines[first + at]}, field {shorten(column.name)} holds an object; the true label is one name."
            )
    try:
        return pa.array(values, pa.string())
    except (pa.ArrowTypeError, pa.ArrowInvalid):  # not text alone
        return pa.array([_cell(value) for value in values], pa.string())


def _cell(value: Any) -> str | None:
    """Return a value as a cell of a table."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        if not value:
            return ""
        # Numbers in a list of labels are names: 1 is "1".
        named = [name if isinstance(name, str) or not isinstance(name, int | float) else _cell(name) for name in value]
        return json.dumps(named, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _float(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")  # refused later, with its row


def _decoded(data: PartialLabelDataset) -> PartialLabelDataset:
    """Decode categories and extra columns, whose cells hold JSON."""
    words = {name: as_column([_word(json.loads(cell)) for cell in cells]) for name, cells in data.categories.items()}
    return replace(data, categories=words, extras=_loaded(data.extras))


def _loaded(columns: Mapping[str, ObjectColumn]) -> dict[str, ObjectColumn]:
    return {name: as_column([json.loads(cell) for cell in cells]) for name, cells in columns.items()}


def _word(value: Any) -> str | None:
    return _cell(value)

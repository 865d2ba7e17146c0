"""JSON lines: a table whose rows are objects; every other shape of `JSON_SHAPES` is read as well.

Every field is a column with a role (`columns`), `candidates` a list of names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from pll.dataset import PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats import json_objects
from pll.formats.base import ReadOptions
from pll.formats.checks import listing
from pll.formats.codebook import codes_of_fields
from pll.formats.forms import JSON_SHAPES, form_called
from pll.formats.json_objects import LEAST_KEYS, Record
from pll.formats.names import MAX_COLUMNS
from pll.formats.records import Records, json_column, no_rows, one_column
from pll.formats.results import Results, Value, free_name
from pll.formats.tabular.builder import TableFormat
from pll.formats.tabular.parquet import names_of_classes
from pll.formats.tabular.parts import joined
from pll.formats.tabular.writer import columns_of, records_of
from pll.formats.unfold import value_at

_BATCH = 4096


def _with_names(path: Path) -> Iterator[tuple[int, Record]]:
    """Yield the records of a file, of COCO its pictures; with the names of labels that have numbers."""
    names: list[Any] | None = None
    classes: Mapping[str, Sequence[str]] | None = None
    for line, record in json_objects.records(path):
        if _is_coco(record):
            yield from ((line, picture) for picture in _pictures_of(record))
            continue
        if _is_row(record):
            classes = _classes_beside(path) if classes is None else classes
            named = {name: _named(value, classes[name]) for name, value in record["row"].items() if name in classes}
            yield line, record | {"row": record["row"] | named}
            continue
        if names is None:  # once it is known that the file can be read
            labels = value_at(json_objects.fields_beside(path), "categories.label.labels")
            names = [one.get("name") for one in labels if isinstance(one, dict)] if isinstance(labels, list) else []
        annotations = record.get("annotations") if names else None
        if isinstance(annotations, list) and all(isinstance(one, dict) for one in annotations):
            numbers = [one.get("label_id") for one in annotations]
            called = [names[k] if isinstance(k, int) and 0 <= k < len(names) else None for k in numbers]
            labelled = [one | {"label": name} for one, name in zip(annotations, called, strict=True)]
            record = record | {"annotations": labelled}
        yield line, record


def _is_row(record: Record) -> bool:
    """Whether a record is a row as the viewer of Hugging Face sends it."""
    return isinstance(record.get("row"), dict) and "row_idx" in record


def _classes_beside(path: Path) -> Mapping[str, Sequence[str]]:
    """The names of the classes of each column, which stand beside such rows."""
    features = json_objects.fields_beside(path).get("features")
    listed = features if isinstance(features, list) else []
    return names_of_classes({one["name"]: one.get("type") for one in listed if isinstance(one, dict) and "name" in one})


def _named(value: Any, names: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_named(one, names) for one in value]
    return (names[value] if 0 <= value < len(names) else None) if type(value) is int else value


_COCO = ("annotations", "images", "categories")


def _is_coco(record: Record) -> bool:
    lists = [record.get(name) for name in _COCO]
    return all(isinstance(some, list) and some and all(isinstance(one, dict) for one in some) for some in lists)


def _pictures_of(coco: Record) -> Iterator[Record]:
    """Yield the pictures in a file of COCO, each with its annotations.

    Raises
    ------
    UserError
        Parts of pictures are marked, which are no answers about them.
    """
    annotations, images, categories = (coco[name] for name in _COCO)
    labels = {str(one.get("id")): one.get("name") for one in categories}
    sizes = {str(one.get("id")): [one.get("width"), one.get("height")] for one in images}
    said: dict[str, list[Record]] = {key: [] for key in sizes}
    for one in annotations:
        of, box = str(one.get("image_id")), one.get("bbox")
        if one.get("segmentation") or (isinstance(box, list) and box and box[2:] != sizes.get(of)):
            raise UserError(
                "The file is JSON of COCO that marks parts of pictures, which are not read: bring what was said of "
                "whole pictures, as a table with the columns image, annotator and label, a row for each answer."
            )
        said.setdefault(of, []).append(one | {"label": labels.get(str(one.get("category_id")))})
    yield from (one | {"annotations": said[str(one.get("id"))]} for one in images)


def _tables_in(path: Path) -> dict[str, list[Record]]:
    """The tables of a database in one file, by name: of phpMyAdmin, or an object of several lists of objects."""
    first = [record for _, record in islice(json_objects.records(path), MOST_TABLES_IN_JSON + 1)]
    if len(first) > MOST_TABLES_IN_JSON:
        return {}
    dumped = [record for record in first if record.get("type") == "table" and isinstance(record.get("name"), str)]
    tables = {record["name"]: record.get("data") for record in dumped}
    if not tables and len(first) == 1 and not _is_coco(first[0]):
        tables = dict(first[0])
    lists = {name: rows for name, rows in tables.items() if isinstance(rows, list) and len(rows) > 1}
    found = {name: rows for name, rows in lists.items() if all(isinstance(one, dict) for one in rows)}
    return found if dumped or len(found) > 1 else {}  # one list of an object is of the answers to it


def _joined_tables(path: Path) -> Records | None:
    """The tables of a database as one, with what the others say of the rows of the largest; None of any other file."""
    tables = {name: _as_records(rows) for name, rows in _tables_in(path).items()}
    left, notes = joined(tables) if len(tables) > 1 else (tables, list[str]())
    rows = {name: table.rows for name, table in left.items()}
    largest, *others = sorted(rows, key=rows.__getitem__, reverse=True) or [""]
    own = {*left[largest].names} if largest else set()  # parts of one table have the same fields
    are_parts = any(2 * len(own & {*left[name].names}) > len(own) for name in others)
    if not largest or are_parts or any(2 * rows[name] > rows[largest] for name in others):
        return None
    notes += [f"The list {largest} was read; there is also {listing(others)}."] if others else []
    return replace(left[largest], notes=(*left[largest].notes, *notes))


def _as_records(rows: Sequence[Record]) -> Records:
    names = dict.fromkeys(name for row in rows for name in row)
    return Records.of(pa.table({name: json_column([row.get(name) for row in rows]) for name in names}))


def _columns_around(fields: Record, rows: int) -> dict[str, pa.Array]:
    """The lists of as many plain values as there are records beside them, alone or in an object of one a voter."""
    lists = {name: one for field in fields.values() if isinstance(field, dict) for name, one in field.items()} | fields
    lists = {name: one for name, one in lists.items() if isinstance(one, list) and len(one) == rows >= LEAST_KEYS}
    return {name: json_column(one) for name, one in lists.items() if not any(isinstance(x, dict | list) for x in one)}


MOST_TABLES_IN_JSON = 50
"""Records of a file, at most, of which each may be a table."""


class JsonLines(TableFormat):
    """JSON lines: an object for each example."""

    def sniff(self, path: Path, head: bytes) -> bool:
        return json_objects.first_record(path, head) is not None

    def table(self, path: Path, options: ReadOptions) -> Records:
        lines: list[int] = []
        chunks: list[dict[str, pa.Array]] = []
        sizes: list[int] = []
        names: dict[str, None] = {}
        records = _with_names(path)
        while some := list(islice(records, max(1, min(_BATCH, 1_000_000 // max(len(names), 1))))):
            lines += [line for line, _ in some]
            names |= dict.fromkeys(name for _, record in some for name in record)
            if len(names) > MAX_COLUMNS:
                raise RowError(f"Row {lines[-1]}: there are more than {MAX_COLUMNS:,} different fields.")
            chunks.append({name: json_column([record.get(name) for _, record in some]) for name in names})
            sizes.append(len(some))
            options.tick("rows", len(lines), None)
        if not lines:
            raise no_rows()
        shape = json_objects.shape_of(path)
        may_be_tables = len(lines) <= MOST_TABLES_IN_JSON and shape in ("lines", "list")
        if may_be_tables and (several := _joined_tables(path)) is not None:
            return replace(several, codes=codes_of_fields(json_objects.only_record(path)) if len(lines) == 1 else {})
        if not names:
            raise UserError("The objects have no fields; bring what was labelled, and its labels.")
        columns = {name: one_column([p.get(name, n) for p, n in zip(chunks, sizes, strict=True)]) for name in names}
        form = form_called("plcifar") if shape == "keyed answers" else None
        is_bare = shape in json_objects.WITHOUT_PLACE
        around = json_objects.fields_beside(path)
        columns |= {name: one for name, one in _columns_around(around, len(lines)).items() if name not in columns}
        codes = codes_of_fields(around)
        return Records.of(
            pa.table(columns), row_of=lines.__getitem__, signature=form, may_be_empty=is_bare, codes=codes
        )

    def no_place(self, source: Path, options: ReadOptions) -> str:
        shape = json_objects.shape_of(source)
        if shape in json_objects.WITHOUT_PLACE:
            return f"The file that came in is {JSON_SHAPES[shape]}, which has no place for another field."
        if _tables_in(source):
            return "The file that came in holds several tables, of which none has a place for the label of an example."
        if _is_coco(next((record for _, record in json_objects.records(source)), {})):
            return "The file that came in is JSON of COCO, which has no place for the label of a picture."
        return super().no_place(source, options)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        json_objects.write(path, _records(dataset, results), as_list=False)

    def add(self, source: Path, path: Path, added: Mapping[str, Sequence[Value]], options: ReadOptions) -> None:
        # every character as it is, and what is known of each object in fields at its end
        taken = {name for _, record in json_objects.records(source) for name in record}
        names = [free_name(name, taken) for name in added]
        rows = zip(*added.values(), strict=True)
        known = ({name: value for name, value in zip(names, row, strict=True) if value is not None} for row in rows)
        json_objects.write_with(source, path, known)


def _records(dataset: PartialLabelDataset, results: Results | None) -> Iterator[Record]:
    texts, numbers = columns_of(dataset)
    values = {column.name: column.values for column in texts}
    for example, record in zip(dataset.row_ids.tolist(), records_of(values, numbers, dataset.X), strict=True):
        yield record if results is None else record | results.record(example)

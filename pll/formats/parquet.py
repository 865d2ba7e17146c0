"""Parquet: a table as CSV is one, with types and lists of labels.

A file of ours says in its metadata what a table cannot (`pll.formats.parquetmeta`), and comes back exactly. Files of
others are read as any table is (`pll.formats.guessing`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pll.dataset import PartialLabelDataset
from pll.formats.arrowcells import AS_THEY_ARE, to_text
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import check_unpacked_size, parsing
from pll.formats.columns import annotator_lists, check_text, number_blocks, numbers_called, table_losses, text_columns
from pll.formats.guessing import SAMPLE_ROWS
from pll.formats.parquetfile import ROWS, batches, opened
from pll.formats.parquetmeta import about_in, class_labels, restored, told, written
from pll.formats.results import Results, left_out
from pll.formats.roles import Column
from pll.formats.table import TableBuilder, no_rows, plan
from pll.images import Pictures
from pll.io import Column as ObjectColumn

_NUMBERS = ("confidence", "margin", "entropy")
_HELD = frozenset(
    ("image shape", "unused classes", "class order", "equal names", "anonymity", "types", "missing cells", "parts")
)
"""What our own tables say in their schema, and text cannot."""


class Parquet(Format):
    name = "parquet"
    label = "Parquet table"
    tool = "your Parquet table"
    adds = "Columns with the label and how sure it is stand beside your own."
    suffixes = (".parquet", ".pq")
    row_note = "Rows are counted from 0."

    def sniff(self, path: Path, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        with opened(path) as file:
            return self._read(file, path, options)

    def _read(self, file: pq.ParquetFile, path: Path, options: ReadOptions) -> PartialLabelDataset:
        schema = file.schema_arrow
        rows = file.metadata.num_rows
        check_unpacked_size(8 * rows * max(len(schema), 1), path.stat().st_size, options.max_bytes, "this table")
        if not rows:
            raise no_rows()
        about, labels = about_in(schema), class_labels(schema)
        options = told(options, about, labels, schema.names)
        columns = self._plan(file, options, labels)
        table = TableBuilder(columns, options, int, rows, empty_is_missing=False)
        for batch in batches(file, table.used, options.max_bytes, path.stat().st_size):
            cells = {}
            for column in columns:
                if column.role == "feature":
                    cells[column.at] = _numbers(batch[column.at])
                elif column.role != "ignore":
                    cells[column.at] = to_text(
                        batch[column.at], labels.get(schema.names[column.at], AS_THEY_ARE), column
                    )
            table.add(cells, len(next(iter(batch.values()))))
            options.tick("rows", table.n, rows)
        return restored(_with_pictures(table.dataset(), self._contents(file, columns)), about)

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        """What each column of a file is taken for.

        Raises:
            UserError: see `read`.
        """
        with opened(path) as file:
            schema = file.schema_arrow
            labels = class_labels(schema)
            return self._plan(file, told(options, about_in(schema), labels, schema.names), labels)

    @staticmethod
    def _plan(file: pq.ParquetFile, options: ReadOptions, labels: Mapping[str, tuple[str, ...]]) -> list[Column]:
        names = file.schema_arrow.names
        with parsing("the table"):
            first = next(file.iter_batches(SAMPLE_ROWS), None)
        if first is None:
            raise no_rows()
        first.validate(full=True)
        some = [to_text(first.column(at), labels.get(name, AS_THEY_ARE)).to_pylist() for at, name in enumerate(names)]
        return plan(names, some, options)

    @staticmethod
    def _contents(file: pq.ParquetFile, columns: Sequence[Column]) -> ObjectColumn | None:
        """The pictures that a column of pictures brings inside, as Hugging Face has them: {bytes, path}."""
        image = next((column for column in columns if column.role == "image"), None)
        if image is None or not pa.types.is_struct(file.schema_arrow.field(image.at).type):
            return None
        kind = file.schema_arrow.field(image.at).type
        if kind.get_field_index("bytes") < 0 or not _is_bytes(kind.field("bytes").type):
            return None
        found: list[bytes | None] = []
        for batch in file.iter_batches(ROWS, columns=[file.schema_arrow.names[image.at]]):
            found += pc.struct_field(batch.column(0), "bytes").to_pylist()
        return np.fromiter(found, dtype=object, count=len(found))

    def cannot_hold(self, dataset: PartialLabelDataset) -> list[str]:
        return table_losses(dataset, _HELD)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        schema, texts = self._layout(dataset, results)
        rows_at_once = max(1, min(ROWS, 4_000_000 // max(len(schema), 1)))
        with pq.ParquetWriter(path, schema) as writer:
            for start in range(0, len(dataset), rows_at_once):
                rows = slice(start, start + rows_at_once)
                arrays = [column.slice(start, rows_at_once) for column in texts] + number_blocks(dataset, rows)
                writer.write_batch(pa.record_batch(arrays, schema=schema))

    def _layout(self, dataset: PartialLabelDataset, results: Results | None) -> tuple[pa.Schema, list[pa.Array]]:
        """The schema, and every column but the features."""
        fields: list[pa.Field] = []
        arrays: list[pa.Array] = []
        roles: dict[str, str] = {}
        answers = iter(annotator_lists(dataset).values())
        words = iter([*dataset.categories.values(), *dataset.extras.values()])
        as_json = []
        for column in text_columns(dataset, results):
            if column.role == "candidates" and dataset.candidates is not None:
                array = self.sets(dataset)
            elif column.role == "annotator":
                array = self.lists(dataset, next(answers))
            elif column.role == "true_label":
                array = self.truth(dataset, column.cells)
            elif column.name in _NUMBERS and column.role == "ignore":
                array = pa.array([float(cell) if cell else None for cell in column.cells], pa.float64())
            else:
                cells = column.cells
                if column.role in ("category", "keep") and not _all_text(values := next(words)):
                    cells = [json.dumps(value, ensure_ascii=False) for value in values.tolist()]
                    as_json.append(column.name)
                array = pa.array(cells, pa.string())
            name = self.called(column.name)
            roles[name] = column.role
            fields.append(pa.field(name, array.type))
            arrays.append(array)
        for name in numbers_called(dataset):
            check_text(name)
            roles[name] = "feature"
            fields.append(pa.field(name, pa.float32()))
        about = written(dataset, roles, [self.called(name) for name in as_json])
        schema = pa.schema(fields, metadata={**about, **self.metadata(fields, dataset)})
        return schema, arrays

    def called(self, name: str) -> str:
        """What a column is called in this format."""
        return name

    def metadata(self, fields: Sequence[pa.Field], dataset: PartialLabelDataset) -> dict[bytes, str]:
        """More metadata of the schema."""
        return {}

    def sets(self, dataset: PartialLabelDataset) -> pa.Array:
        """The column of candidates."""
        sets = dataset.sets()
        flat = pa.array(sets.class_names, pa.string()).take(pa.array(sets.indices))
        return pa.ListArray.from_arrays(pa.array(sets.indptr, pa.int32()), flat)

    def lists(self, dataset: PartialLabelDataset, answers: Sequence[Sequence[str]]) -> pa.Array:
        """The column of an annotator; null where they did not answer."""
        return pa.array([list(names) or None for names in answers], pa.list_(pa.string()))

    def truth(self, dataset: PartialLabelDataset, cells: Sequence[str | None]) -> pa.Array:
        """The column of true labels."""
        return pa.array([cell or None for cell in cells], pa.string())

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return left_out(results, results.beside([column.name for column in self.columns(source, options)]))

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        columns = self.columns(source, options)
        example = next((column.at for column in columns if column.role in ("id", "task")), None)
        with opened(source, whole=False) as file:
            schema = file.schema_arrow
            results = results.beside(schema.names)
            clash = [name for name in results.columns if name in schema.names]
            kept = [at for at, name in enumerate(schema.names) if name not in clash]
            added = [pa.field(name, pa.float64() if name in _NUMBERS else pa.string()) for name in results.columns]
            wide = pa.schema([*(schema.field(at) for at in kept), *added], metadata=schema.metadata)
            row = 0
            with pq.ParquetWriter(path, wide) as writer:
                for batch in file.iter_batches(ROWS):
                    ids = [str(row + k) for k in range(len(batch))]
                    if example is not None:
                        ids = [str(cell).strip() for cell in to_text(batch.column(example), AS_THEY_ARE).to_pylist()]
                    row += len(batch)
                    new = []
                    for name, cells in results.aligned(ids).items():
                        values = [float(cell) if cell else None for cell in cells] if name in _NUMBERS else cells
                        new.append(pa.array(values, pa.float64() if name in _NUMBERS else pa.string()))
                    writer.write_batch(pa.record_batch([*(batch.column(at) for at in kept), *new], schema=wide))


def _with_pictures(data: PartialLabelDataset, contents: ObjectColumn | None) -> PartialLabelDataset:
    if contents is None or data.pictures is None or len(contents) != len(data):
        return data
    return replace(data, pictures=Pictures(data.pictures.names, None, contents))


def _numbers(column: pa.Array) -> pa.Array:
    """A column of features: numbers as they are, anything else as text that the reader will judge."""
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float64())
    return to_text(column, AS_THEY_ARE).fill_null("")


def _is_bytes(kind: pa.DataType) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _all_text(values: ObjectColumn) -> bool:
    return all(value is None or isinstance(value, str) for value in values.tolist())

"""Parquet: a table like CSV, with types and lists of labels.

A file of ours says in its metadata under `candid` what a table cannot (roles, order of the classes, shape of images)
and comes back exactly. `ClassLabel` of Hugging Face datasets is read from the metadata under `huggingface`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.base import Format, ReadOptions
from pll.formats.checks import check_unpacked_size, parsing, shorten
from pll.formats.label_frame import NUMBERS
from pll.formats.limitations import class_names
from pll.formats.results import Results, example_rows, omitted_columns
from pll.formats.tabular.builder import MAX_COLUMNS, arrow_table, build_dataset, no_rows, plan
from pll.formats.tabular.cells import write_label
from pll.formats.tabular.columns import ROLES, Column, sample_rows, shown_as
from pll.formats.tabular.writer import (
    annotator_lists,
    check_text,
    feature_column_names,
    number_blocks,
    table_limitations,
    text_columns,
)
from pll.images import SUFFIXES, Pictures
from pll.io import Column as ObjectColumn
from pll.io import as_column, pieces

ROWS = 4096
"""Rows per batch."""


@contextmanager
def open_parquet(path: Path, *, whole: bool = True) -> Iterator[pq.ParquetFile | Shards]:
    """A Parquet file, or a folder of them as one.

    Args:
        whole: it will be in memory as a whole: text is then read as dictionaries, so that one long text in many rows
            is held once. Read piece by piece, columns can stay of the type they are.

    Raises:
        UserError: a file that cannot be read.
    """
    with parsing("the Parquet file", "it is not whole: copy or export it again"):
        texts = _texts(path) if whole else []
        file = Shards(path, texts) if path.is_dir() else _opened(path, texts)
    with file:
        try:
            yield file
        except (pa.ArrowException, OSError):
            with parsing("the table"):
                raise


def batches(file: pq.ParquetFile, used: Sequence[int], max_bytes: int, packed: int) -> Iterator[dict[int, pa.Array]]:
    """Yield some columns, by their position, `ROWS` rows at a time.

    Args:
        used: positions of the columns; of the first where there are none.
        max_bytes: what their text may take in memory.
        packed: bytes of the file.

    Raises:
        UserError: text that is not UTF-8, or too much of it.
    """
    names = file.schema_arrow.names
    room = max_bytes
    with parsing("the table"):
        for batch in file.iter_batches(ROWS, columns=[names[at] for at in used] or names[:1]):
            found = {at: batch.column(k) for k, at in enumerate(used or [0])}
            for column in found.values():
                column.validate(full=True)  # text that is not UTF-8, above all
            room -= sum(_text_bytes(column) for column in found.values())
            check_unpacked_size(max_bytes - room, packed, max_bytes, "the text of this table")
            yield found


class Shards:
    """The Parquet files of a folder, in the order of their names, as one file: it has what is used of `ParquetFile`.

    Args:
        folder: see `holds_shards`.
        texts: columns to read as dictionaries.

    Raises:
        UserError: the files differ in their columns, or some are train and others test.
    """

    def __init__(self, folder: Path, texts: Sequence[str]) -> None:
        self._files, self._texts = shards(folder), texts
        parts = {re.split(r"[-_.]", file.stem.casefold())[0] for file in self._files} & {"train", "test"}
        if len(parts) > 1:
            raise UserError(
                "The names of the files say train and test; put the test files in a folder of their own (in the shell: "
                "--test FOLDER)."
            )
        self.schema_arrow: pa.Schema = pa.schema([])
        self.num_rows = 0
        for place, path in enumerate(self._files):
            with self._opened(path) as file:
                if not place:
                    self.schema_arrow = file.schema_arrow
                elif not file.schema_arrow.equals(self.schema_arrow):
                    raise UserError(
                        f"{path.name} has other columns than {self._files[0].name}: "
                        f"{_difference(self.schema_arrow, file.schema_arrow)}. All files of a folder must agree."
                    )
                self.num_rows += file.metadata.num_rows

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing stays open between two batches of different files."""

    @property
    def metadata(self) -> Shards:
        """Has `num_rows`, of all files together."""
        return self

    def iter_batches(self, batch_size: int, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one file after the other."""
        for path in self._files:
            with self._opened(path) as file:
                yield from file.iter_batches(batch_size, columns=columns)

    def _opened(self, path: Path) -> pq.ParquetFile:
        with parsing(f"the file {path.name}", "it is not whole: copy or export it again"):
            return _opened(path, self._texts)


def shards(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, sorted by name."""
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in Parquet.suffixes and file.is_file())


def holds_shards(folder: Path) -> bool:
    """Return whether this is a folder of Parquet files, with no folder or picture in it."""
    if not folder.is_dir() or not shards(folder):
        return False
    others = folder.glob("[!._]*")
    return not any(inside.is_dir() or inside.suffix.lower() in SUFFIXES for inside in others)


def _opened(path: Path, texts: Sequence[str]) -> pq.ParquetFile:
    return pq.ParquetFile(path, read_dictionary=texts, thrift_string_size_limit=2**26)


def _difference(first: pa.Schema, other: pa.Schema) -> str:
    """Return in words the first column that differs."""
    for name in dict.fromkeys([*first.names, *other.names]):
        if name not in other.names or name not in first.names:
            return f"only one of them has {shorten(name)}"
        if first.field(name) != other.field(name):
            return f"{shorten(name)} is {first.field(name).type} in one, {other.field(name).type} in the other"
    return "their order"


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    return sum(file.stat().st_size for file in (shards(path) if path.is_dir() else [path]))


def _texts(path: Path) -> list[str]:
    """Return the names of the text columns."""
    schema = pq.read_schema(shards(path)[0] if path.is_dir() else path)
    return [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]


def _text_bytes(column: pa.Array) -> int:
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths).as_py() or 0)


_KEY = b"candid"


def metadata_of(dataset: PartialLabelDataset, roles: Mapping[str, str], as_json: Sequence[str]) -> dict[bytes, str]:
    """Return the metadata that is written into a file.

    Args:
        roles: by column, its part.
        as_json: columns whose values were written as JSON.
    """
    about = {
        "roles": dict(roles),
        "class_names": class_names(dataset),
        "shape": list(dataset.input_shape) if dataset.is_image else None,
        "named_features": bool(dataset.feature_names),
        "kind": dataset.kind,
        "json": list(as_json),
        "anonymous": dataset.annotations is not None and dataset.annotations.anonymous,
    }
    return {_KEY: json.dumps(about)}


def read_metadata(schema: pa.Schema) -> dict[str, Any]:
    """Return what `metadata_of` wrote; empty for files of other programs.

    Raises:
        UserError: metadata that is none.
    """
    packed = (schema.metadata or {}).get(_KEY)
    if packed is None:
        return {}
    with parsing("the metadata under candid"):
        about = json.loads(packed)
        if not isinstance(about, dict) or not isinstance(about.get("roles", {}), dict):
            raise ValueError("not an object")
        return about


def class_labels(schema: pa.Schema) -> dict[str, tuple[str, ...]]:
    """Return by column the names of its `ClassLabel`, alone or in a list, as Hugging Face datasets writes them.

    Raises:
        UserError: metadata that is none.
    """
    packed = (schema.metadata or {}).get(b"huggingface")
    if packed is None:
        return {}
    with parsing("the metadata under huggingface"):
        about = json.loads(packed)
        features = about.get("info", about).get("features", {})
        found = {}
        for name, feature in features.items():
            while isinstance(feature, dict) and isinstance(feature.get("feature"), dict):
                feature = feature["feature"]
            if isinstance(feature, list) and feature:  # as older versions write a list
                feature = feature[0]
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
                found[str(name)] = tuple(str(label) for label in feature.get("names") or ())
        return {name: names for name, names in found.items() if names}


def with_metadata(
    options: ReadOptions, about: Mapping[str, Any], labels: Mapping[str, tuple[str, ...]], header: Sequence[str]
) -> ReadOptions:
    """Return the options, completed from the file's metadata where the user gave none.

    Args:
        about: see `read_metadata`.
        labels: see `class_labels`.
        header: the columns that there are.
    """
    roles = {name: role for name, role in (about.get("roles") or {}).items() if name in header and role in ROLES}
    kinds = {*labels.values()}  # of several, the user must choose
    names = tuple(about.get("class_names") or ()) or (kinds.pop() if len(kinds) == 1 else ())
    return replace(options, columns={**roles, **options.columns}, class_names=options.class_names or names)


def apply_metadata(data: PartialLabelDataset, about: Mapping[str, Any]) -> PartialLabelDataset:
    """Return the data with what is only in the metadata.

    Args:
        about: see `read_metadata`.

    Raises:
        UserError: metadata that is none.
    """
    if not about:
        return data
    with parsing("the metadata under candid"):
        shape = about.get("shape")
        if shape and len(shape) == 3 and np.prod(shape) == data.X.shape[1]:
            data = replace(data, X=data.X.reshape(len(data), *shape), feature_names=())
        elif not about.get("named_features", True):
            data = replace(data, feature_names=())
        if about.get("kind") in ("array", "table", "image") and not _has_missing(data.X):
            data = replace(data, kind=about["kind"])
        if about.get("anonymous") and data.annotations is not None:
            data = replace(data, annotations=replace(data.annotations, anonymous=True))
        coded = [shown_as(name) for name in about.get("json") or ()]
        data = replace(data, categories=_decoded(data.categories, coded), extras=_decoded(data.extras, coded))
    return data


def _has_missing(X: npt.NDArray[np.float32]) -> bool:
    return any(np.isnan(X[part]).any() for part in pieces(X))


def _decoded(columns: Mapping[str, ObjectColumn], coded: Collection[str]) -> dict[str, ObjectColumn]:
    """Return columns of plain values; those written as JSON are decoded."""
    return {
        name: as_column([None if cell is None else json.loads(cell) for cell in cells.tolist()])
        if name in coded
        else cells
        for name, cells in columns.items()
    }


AS_THEY_ARE: tuple[str, ...] = ()
"""Types of numbers."""

_LABELS = ("candidates", "true_label", "annotator", "vote", "id", "task")


def to_text(column: pa.Array, names: Sequence[str] = AS_THEY_ARE, part: Column | None = None) -> pa.Array:
    """Return a column as text; null stays null.

    Args:
        names: class names of the whole numbers in a column of labels.
        part: what the column is, where that is known: labels that are floats (1.0, since others are missing) become
            whole numbers then.

    Raises:
        UserError: a number without a name.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return to_text(column.dictionary_decode(), names, part)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    if pa.types.is_integer(kind):
        return _named(column, names) if names else column.cast(pa.string())
    if pa.types.is_floating(kind):
        whole = pc.all(pc.equal(column, pc.floor(column))).as_py()
        if whole is not False and (names or (part is not None and part.role in _LABELS)):
            return to_text(column.cast(pa.float64()).cast(pa.int64()), names)
        return column.cast(pa.float64()).cast(pa.string())
    if _is_list(kind) and (pa.types.is_integer(kind.value_type) or _is_text(kind.value_type)):
        return pa.array([_joined(cell, names) for cell in column.to_pylist()], pa.string())
    if pa.types.is_struct(kind) and kind.get_field_index("path") >= 0:  # a picture, as Hugging Face datasets has it
        return to_text(pc.struct_field(column, "path"))
    if pa.types.is_map(kind):
        return pa.array([None if cell is None else _as_json(dict(cell)) for cell in column.to_pylist()], pa.string())
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return pa.array([None if cell is None else _as_json(cell) for cell in column.to_pylist()], pa.string())
    return column.cast(pa.string())


def _named(column: pa.Array, names: Sequence[str]) -> pa.Array:
    """Return names in place of their numbers; in a ClassLabel, −1 means a missing label."""
    codes = pc.if_else(pc.equal(column, -1), pa.scalar(None, column.type), column)
    outside = pc.fill_null(pc.or_(pc.less(codes, 0), pc.greater_equal(codes, len(names))), False)
    if pc.any(outside).as_py():
        row = pc.index(outside, True).as_py()
        raise _no_name(codes[row].as_py(), names)
    return pa.array([write_label(name) for name in names], pa.string()).take(codes)


def _joined(cell: Sequence[Any] | None, names: Sequence[str]) -> str | None:
    if cell is None:
        return None
    if names and any(not isinstance(label, int) or not 0 <= label < len(names) for label in cell):
        raise _no_name(
            next(label for label in cell if not isinstance(label, int) or not 0 <= label < len(names)), names
        )
    labels = [names[label] if names else str(label) for label in cell if label is not None]
    return json.dumps(labels, ensure_ascii=False) if labels else ""


def _no_name(label: object, names: Sequence[str]) -> UserError:
    return UserError(
        f"A column of labels holds {label}, which is no label: as its ClassLabel says, they run from 0 to "
        f"{len(names) - 1}. Correct it."
    )


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda odd: repr(odd)[:100])


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


_HELD = frozenset(
    (
        "image shape",
        "unused classes",
        "class order",
        "spelling",
        "equal names",
        "anonymity",
        "types",
        "missing cells",
        "parts",
    )
)
"""Metadata of our own tables, which text formats cannot hold."""


class Parquet(Format):
    """Parquet files, or a folder of them as one table, read piece by piece."""

    name = "parquet"
    label = "Parquet table"
    tool = "your Parquet table"
    adds = "Columns with the label and how sure it is stand beside your own."
    content = "binary"
    suffixes = (".parquet", ".pq")
    row_note = "Rows are counted from 0."

    def sniff(self, path: Path, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        with open_parquet(path) as file:
            return self._read(file, path, options)

    def _read(self, file: pq.ParquetFile, path: Path, options: ReadOptions) -> PartialLabelDataset:
        schema = file.schema_arrow
        rows = file.metadata.num_rows
        if not path.is_dir():  # which nobody uploads; its features may be larger than memory
            check_unpacked_size(8 * rows * max(len(schema), 1), _size(path), options.max_bytes, "this table")
        if not rows:
            raise no_rows()
        about, labels = read_metadata(schema), class_labels(schema)
        options = with_metadata(options, about, labels, schema.names)
        columns = self._plan(file, options, labels)
        used = [column for column in columns if column.role != "ignore"]
        vectors = {}
        if path.is_dir():
            kinds = {column: schema.field(column.at).type for column in used if column.role == "vector"}
            vectors = {column: _Vector(column, file) for column, kind in kinds.items() if _is_list_of_numbers(kind)}
            columns = [column for column in columns if column not in vectors]
            columns += [part for vector in vectors.values() for part in vector.parts]

        def arrays(batch: Mapping[int, pa.Array]) -> dict[int, pa.Array]:
            return {
                column.at: _feature_cells(batch[column.at])
                if column.role == "feature"
                else to_text(batch[column.at], labels.get(schema.names[column.at], AS_THEY_ARE), column)
                for column in used
                if column not in vectors
            } | {at: cells for vector in vectors.values() for at, cells in vector.cells(batch[vector.at]).items()}

        found = batches(file, [column.at for column in used], options.max_bytes, _size(path))
        table, X = arrow_table(
            ((arrays(batch), len(next(iter(batch.values())))) for batch in found), columns, options, int, rows
        )
        data = build_dataset(table, X, columns, options, int, empty_is_missing=False)
        return apply_metadata(_with_pictures(data, self._contents(file, columns)), about)

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        """Return the role of each column of a file.

        Raises:
            UserError: see `read`.
        """
        with open_parquet(path) as file:
            schema = file.schema_arrow
            labels = class_labels(schema)
            return self._plan(file, with_metadata(options, read_metadata(schema), labels, schema.names), labels)

    @staticmethod
    def _plan(file: pq.ParquetFile, options: ReadOptions, labels: Mapping[str, tuple[str, ...]]) -> list[Column]:
        names = file.schema_arrow.names
        with parsing("the table"):
            first = next(file.iter_batches(sample_rows(len(names))), None)
        if first is None:
            raise no_rows()
        first.validate(full=True)
        some = [to_text(first.column(at), labels.get(name, AS_THEY_ARE)).to_pylist() for at, name in enumerate(names)]

        return plan(names, some, options)

    @staticmethod
    def _contents(file: pq.ParquetFile, columns: Sequence[Column]) -> ObjectColumn | None:
        """Return the pictures embedded in a column, as Hugging Face writes them: {bytes, path}."""
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
        return table_limitations(dataset, _HELD)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        schema, texts = self._layout(dataset, results)
        rows_at_once = max(1, min(ROWS, 4_000_000 // max(len(schema), 1)))
        with pq.ParquetWriter(path, schema) as writer:
            for start in range(0, len(dataset), rows_at_once):
                rows = slice(start, start + rows_at_once)
                arrays = [column.slice(start, rows_at_once) for column in texts] + number_blocks(dataset, rows)
                writer.write_batch(pa.record_batch(arrays, schema=schema))

    def _layout(self, dataset: PartialLabelDataset, results: Results | None) -> tuple[pa.Schema, list[pa.Array]]:
        """Return the schema, and every column but the features."""
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
            elif column.name in NUMBERS and column.role == "ignore":
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
        for name in feature_column_names(dataset):
            check_text(name)
            roles[name] = "feature"
            fields.append(pa.field(name, pa.float32()))
        about = metadata_of(dataset, roles, [self.called(name) for name in as_json])
        schema = pa.schema(fields, metadata={**about, **self.metadata(fields, dataset)})
        return schema, arrays

    def called(self, name: str) -> str:
        """Return the name of a column in this format."""
        return name

    def metadata(self, fields: Sequence[pa.Field], dataset: PartialLabelDataset) -> dict[bytes, str]:
        """Return further metadata of the schema."""
        return {}

    def sets(self, dataset: PartialLabelDataset) -> pa.Array:
        """Return the column of candidates."""
        sets = dataset.sets()
        flat = pa.array(sets.class_names, pa.string()).take(pa.array(sets.indices))
        return pa.ListArray.from_arrays(pa.array(sets.indptr, pa.int32()), flat)

    def lists(self, dataset: PartialLabelDataset, answers: Sequence[Sequence[str]]) -> pa.Array:
        """Return the column of an annotator; null where they did not answer."""
        return pa.array([list(names) or None for names in answers], pa.list_(pa.string()))

    def truth(self, dataset: PartialLabelDataset, cells: Sequence[str | None]) -> pa.Array:
        """Return the column of true labels."""
        return pa.array([cell or None for cell in cells], pa.string())

    def cannot_give_back(self, source: Path, results: Results, options: ReadOptions) -> list[str]:
        return omitted_columns(results, results.beside([column.name for column in self.columns(source, options)]))

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        columns = self.columns(source, options)
        with open_parquet(source, whole=False) as file:
            schema = file.schema_arrow
            results = results.beside(schema.names)
            kept, batches = _examples(file, columns)
            kept = [at for at in kept if schema.names[at] not in results.columns]
            added = [pa.field(name, pa.float64() if name in NUMBERS else pa.string()) for name in results.columns]
            wide = pa.schema([*(schema.field(at) for at in kept), *added], metadata=schema.metadata)
            with pq.ParquetWriter(path, wide) as writer:
                for ids, batch in batches:
                    new = []
                    for name, cells in results.aligned(ids).items():
                        values = [float(cell) if cell else None for cell in cells] if name in NUMBERS else cells
                        new.append(pa.array(values, pa.float64() if name in NUMBERS else pa.string()))
                    writer.write_batch(pa.record_batch([*(batch.column(at) for at in kept), *new], schema=wide))


def _examples(
    file: pq.ParquetFile | Shards, columns: Sequence[Column]
) -> tuple[list[int], Iterator[tuple[list[str], pa.RecordBatch]]]:
    """The places of the columns that labels go beside, and the examples in batches, with their ids."""
    task = next((column.at for column in columns if column.role == "task"), None)
    if task is None:
        return [column.at for column in columns], _numbered(file, columns)
    lines = pa.Table.from_batches(list(file.iter_batches(ROWS)), file.schema_arrow).combine_chunks()
    values = [column.to_pylist() for column in lines.columns]
    values[task] = to_text(lines.column(task).combine_chunks(), AS_THEY_ARE).to_pylist()
    kept, found = example_rows(zip(*values, range(len(lines)), strict=True), columns)
    place = {name: row[-1] for name, row in found}  # of its first line
    return kept, iter([(list(place), lines.take(list(place.values())).to_batches()[0])])


def _numbered(file: pq.ParquetFile | Shards, columns: Sequence[Column]) -> Iterator[tuple[list[str], pa.RecordBatch]]:
    example = next((column.at for column in columns if column.role == "id"), None)
    row = 0
    for batch in file.iter_batches(ROWS):
        ids = [str(row + k) for k in range(len(batch))]
        if example is not None:
            ids = [str(cell).strip() for cell in to_text(batch.column(example), AS_THEY_ARE).to_pylist()]
        row += len(batch)
        yield ids, batch


class _Vector:
    """A column of lists of numbers as columns of numbers; it is never text, as it is in smaller tables.

    Args:
        column: of lists.
        file: that has it.
    """

    def __init__(self, column: Column, file: pq.ParquetFile | Shards) -> None:
        self.at, self.name = column.at, column.name
        found = (batch.column(0) for batch in file.iter_batches(ROWS, columns=[file.schema_arrow.names[column.at]]))
        lengths = (length for cells in found for length in pc.list_value_length(cells).drop_null().to_pylist())
        self.width = next(lengths, 0)
        names = [f"{column.shown} {k}" for k in range(1, self.width + 1)]
        first = (column.at + 1) * MAX_COLUMNS
        self.parts = [Column(first + k, name, "feature", name) for k, name in enumerate(names)]

    def cells(self, lists: pa.Array) -> dict[int, pa.Array]:
        """Return by position the numbers of a batch; NaN where a list is missing.

        Raises:
            UserError: a list of another length.
        """
        lengths = pc.list_value_length(lists)
        is_here = lists.is_valid().to_numpy(zero_copy_only=False)
        if not pc.all(pc.equal(lengths, self.width)).as_py() and is_here.any():
            other = next(length for length in lengths.drop_null().to_pylist() if length != self.width)
            raise UserError(
                f"Column {shorten(self.name)} holds a list of {other} numbers, others have {self.width}; they must be "
                "equally long."
            )
        block = np.full((self.width, len(lists)), np.nan)
        numbers = pc.list_flatten(lists).cast(pa.float64()).to_numpy(zero_copy_only=False)
        block[:, is_here] = numbers.reshape(-1, self.width).T
        return {part.at: pa.array(values) for part, values in zip(self.parts, block, strict=True)}


def _is_list_of_numbers(kind: pa.DataType) -> bool:
    return _is_list(kind) and bool(pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type))


def _with_pictures(data: PartialLabelDataset, contents: ObjectColumn | None) -> PartialLabelDataset:
    if contents is None or data.pictures is None or len(contents) != len(data):
        return data
    return replace(data, pictures=Pictures(data.pictures.names, None, contents))


def _feature_cells(column: pa.Array) -> pa.Array:
    """Return a column of features: numbers as they are, anything else as text."""
    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float64())
    return to_text(column, AS_THEY_ARE).fill_null("")


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _all_text(values: ObjectColumn) -> bool:
    return all(value is None or isinstance(value, str) for value in values.tolist())

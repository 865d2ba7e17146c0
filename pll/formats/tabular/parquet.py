"""Parquet: a table like CSV, with types and lists of labels.

A file of ours says in its metadata under `candid` what a table cannot (roles, order of the classes, shape of images)
and comes back exactly. `ClassLabel` of Hugging Face datasets is read from the metadata under `huggingface`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.checks import check_unpacked_size, parsing, shorten
from pll.formats.label_frame import LABELS_CSV, NUMBERS
from pll.formats.reading import ROLES, Column
from pll.formats.records import JSON, Records, is_list, is_text, no_rows
from pll.formats.results import Results, Value, free_name
from pll.formats.tabular.builder import TableFormat, dataset_of
from pll.formats.tabular.cells import write_label
from pll.formats.tabular.writer import class_names, columns_of, number_blocks
from pll.images import PICTURE_SUFFIXES, Pictures
from pll.io import Column as ObjectColumn
from pll.io import pieces

ROWS_READ_AT_ONCE = 4096
"""Rows per batch; of wide tables fewer."""
_CELLS = 4_000_000
_BUFFER = 2**16
"""Bytes of each column that are read at once."""

_AGAIN = "it is not whole: copy or export it again"


def shards(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, sorted by name."""
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in Parquet.suffixes and file.is_file())


def holds_shards(folder: Path) -> bool:
    """Return whether this is a folder of Parquet files, with no folder or picture in it."""
    if not folder.is_dir() or not shards(folder):
        return False
    others = folder.glob("[!._]*")
    return not any(inside.is_dir() or inside.suffix.lower() in PICTURE_SUFFIXES for inside in others)


def schema_of(path: Path) -> tuple[pa.Schema, int]:
    """Return the columns of a file, or of all files of a folder, and how many rows there are together.

    Raises
    ------
    UserError
        a file that cannot be read; files that differ in their columns, or of which some are train and others test.
    """
    files = shards(path) if path.is_dir() else [path]
    splits = {re.split(r"[-_.]", file.stem.casefold())[0] for file in files} & {"train", "test"}
    if path.is_dir() and len(splits) > 1:
        raise UserError(
            "The names of the files say train and test; put the test files in a folder of their own (in the shell: "
            "--test FOLDER)."
        )
    schema, rows = pa.schema([]), 0
    for place, one in enumerate(files):
        with parsing(_called(one, path), _AGAIN), pq.ParquetFile(one, thrift_string_size_limit=2**26) as file:
            if not place:
                schema = file.schema_arrow
            elif not file.schema_arrow.equals(schema):
                raise UserError(
                    f"{one.name} has other columns than {files[0].name}: {_difference(schema, file.schema_arrow)}. All "
                    "files of a folder must agree."
                )
            rows += file.metadata.num_rows
    return schema, rows


def batches(path: Path, columns: Sequence[str] | None = None, *, texts: Sequence[str] = ()) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a file, or of the files of a folder one after the other, some thousand at a time.

    Parameters
    ----------
    path
        The file or folder.
    columns
        Names; by default all.
    texts
        Columns to read as dictionaries, so that one long text in many rows is in memory once.

    Raises
    ------
    UserError
        a file that cannot be read.
    """
    for one in shards(path) if path.is_dir() else [path]:
        with (
            parsing(_called(one, path), _AGAIN),
            # in small pieces: a group of rows is not in memory at once, and it may be the whole file
            pq.ParquetFile(
                one, read_dictionary=texts, thrift_string_size_limit=2**26, pre_buffer=False, buffer_size=_BUFFER
            ) as file,
        ):
            rows = max(1, min(ROWS_READ_AT_ONCE, _CELLS // max(len(columns or file.schema_arrow), 1)))
            for batch in file.iter_batches(rows, columns=columns):
                batch.validate(full=True)  # text that is not UTF-8, above all
                yield batch


def _called(file: Path, path: Path) -> str:
    return "the Parquet file" if file == path else f"the file {file.name}"


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


def _text_bytes(column: pa.Array) -> int:
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths).as_py() or 0)


_KEY = b"candid"


def metadata_of(dataset: PartialLabelDataset, roles: Mapping[str, str], as_json: Sequence[str]) -> dict[bytes, str]:
    """Return the metadata that is written into a file.

    Parameters
    ----------
    dataset
        What is written.
    roles
        By column, its part.
    as_json
        Columns whose values were written as JSON.
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

    Raises
    ------
    UserError
        Metadata that is none.
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

    Raises
    ------
    UserError
        Metadata that is none.
    """
    packed = (schema.metadata or {}).get(b"huggingface")
    if packed is None:
        return {}
    with parsing("the metadata under huggingface"):
        about = json.loads(packed)
        return names_of_classes(about.get("info", about).get("features", {}))


def names_of_classes(features: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return by column the names of its `ClassLabel`, alone or in a list, of all features of a Hugging Face dataset.

    Examples
    --------
    >>> label = {"names": ["no", "yes"], "_type": "ClassLabel"}
    >>> names_of_classes({"a": label, "b": {"feature": label, "_type": "List"}, "c": {"dtype": "string"}})
    {'a': ('no', 'yes'), 'b': ('no', 'yes')}
    """
    labels = {}
    for name, feature in features.items():
        while isinstance(feature, dict) and isinstance(feature.get("feature"), dict):
            feature = feature["feature"]
        if isinstance(feature, list) and feature:  # as older versions write a list
            feature = feature[0]
        if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
            labels[str(name)] = tuple(str(label) for label in feature.get("names") or ())
    return {name: names for name, names in labels.items() if names}


def apply_metadata(data: PartialLabelDataset, about: Mapping[str, Any]) -> PartialLabelDataset:
    """Return the data with what is only in the metadata.

    Parameters
    ----------
    data
        As it was read.
    about
        See `read_metadata`.

    Raises
    ------
    UserError
        Metadata that is none.
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
    return data


def _has_missing(X: npt.NDArray[np.float32]) -> bool:
    return any(np.isnan(X[part]).any() for part in pieces(X))


def _labels(column: pa.Array, names: Sequence[str]) -> pa.Array:
    """Return the names of the whole numbers in a column of labels, alone or in lists.

    Raises
    ------
    UserError
        a number without a name.
    """
    if is_list(column.type) and pa.types.is_integer(column.type.value_type):
        named = _named(column.flatten(), names)
        whole = pa.array([None if cell is None else len(cell) for cell in column.to_pylist()], pa.int64())
        starts = np.append(0, np.cumsum(whole.fill_null(0).to_numpy(zero_copy_only=False)))
        offsets = pa.array(starts, pa.int32(), mask=np.append(~whole.is_valid().to_numpy(zero_copy_only=False), False))
        return pa.ListArray.from_arrays(offsets, named)
    if pa.types.is_floating(column.type) and pc.all(pc.equal(column, pc.floor(column))).as_py() is not False:
        column = column.cast(pa.int64())
    return _named(column, [write_label(name) for name in names]) if pa.types.is_integer(column.type) else column


def _named(column: pa.Array, names: Sequence[str]) -> pa.Array:
    """Return names in place of their numbers; −1 means that there is no label, as datasets write it."""
    codes = pc.if_else(pc.equal(column, -1), pa.scalar(None, column.type), column)
    outside = pc.fill_null(pc.or_(pc.less(codes, 0), pc.greater_equal(codes, len(names))), False)
    if pc.any(outside).as_py():
        raise _no_name(codes[pc.index(outside, True).as_py()].as_py(), names)
    return pa.array(list(names), pa.string()).take(codes)


def _no_name(label: object, names: Sequence[str]) -> UserError:
    return UserError(
        f"A column of labels holds {label}, which is no label: as its ClassLabel says, they run from 0 to "
        f"{len(names) - 1}. Correct it."
    )


class Parquet(TableFormat):
    """Parquet files, or a folder of them as one table, read piece by piece.

    Attributes
    ----------
    truth
        What the column of true labels is called.
    """

    truth: ClassVar[str] = "true_label"

    def sniff(self, path: Path, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def table(self, path: Path, options: ReadOptions) -> Records:
        schema, rows = schema_of(path)
        if not path.is_dir():  # which nobody uploads; its features may be larger than memory
            check_unpacked_size(8 * rows * max(len(schema), 1), _size(path), options.max_bytes, "this table")
        if not rows:
            raise no_rows()
        about, labels = read_metadata(schema), class_labels(schema)
        texts = [field.name for field in schema if is_text(field.type)]
        coded = {name for name in about.get("json") or () if name in texts}

        def read(used: Sequence[int]) -> Iterator[pa.RecordBatch]:
            names, taken = [schema.names[at] for at in used], 0
            for batch in batches(path, names, texts=texts):
                taken += sum(map(_text_bytes, batch.columns))
                check_unpacked_size(taken, _size(path), options.max_bytes, "the text of this table")
                columns = [
                    _labels(column, labels[name]) if name in labels else _json(column) if name in coded else column
                    for name, column in zip(names, batch.columns, strict=True)
                ]
                yield pa.record_batch(columns, names=names)

        kinds, given = {*labels.values()}, about.get("roles") or {}  # of several kinds, the user must choose
        roles = {name: role for name, role in given.items() if name in schema.names and role in ROLES}
        classes = tuple(about.get("class_names") or ()) or (kinds.pop() if len(kinds) == 1 else ())
        return Records(schema.names, read, rows, roles=roles, class_names=classes)

    def dataset(self, table: Records, path: Path, options: ReadOptions) -> PartialLabelDataset:
        columns, schema = table.plan(options), schema_of(path)[0]
        data = dataset_of(table, columns, options)
        if data.pictures is not None:
            contents = _contents(path, schema, next(column for column in columns if column.role == "image"))
            if contents is not None and len(contents) == len(data):
                data = replace(data, pictures=Pictures(data.pictures.names, None, contents))
        return apply_metadata(data, read_metadata(schema))

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        schema, texts = self._layout(dataset, results)
        rows_at_once = max(1, min(ROWS_READ_AT_ONCE, 4_000_000 // max(len(schema), 1)))
        with pq.ParquetWriter(path, schema) as writer:
            for start in range(0, len(dataset), rows_at_once):
                rows = slice(start, start + rows_at_once)
                arrays = [column.slice(start, rows_at_once) for column in texts] + number_blocks(dataset.X[rows])
                writer.write_batch(pa.record_batch(arrays, schema=schema))

    def _layout(self, dataset: PartialLabelDataset, results: Results | None) -> tuple[pa.Schema, list[pa.Array]]:
        """Return the schema, and every column but the features."""
        fields: list[pa.Field] = []
        arrays: list[pa.Array] = []
        roles: dict[str, str] = {}
        as_json = []
        texts, numbers = columns_of(dataset, results)
        for column in texts:
            name = self.truth if column.role == "true_label" else column.name
            if column.role in ("candidates", "annotator"):
                array = pa.array(column.values, pa.list_(pa.string()))  # null where somebody did not answer
            elif column.role == "true_label":
                array = pa.array([cell or None for cell in column.cells], pa.string())
            elif column.name in NUMBERS and column.role == "ignore":
                kind = pa.int64() if LABELS_CSV[column.name].kind == "whole" else pa.float64()
                array = pa.array(column.values, kind)
            else:
                cells = column.cells
                if any(value is not None and not isinstance(value, str) for value in column.values):
                    cells = [json.dumps(value, ensure_ascii=False) for value in column.values]
                    as_json.append(column.name)
                array = pa.array(cells, pa.string())
            roles[name] = column.role
            fields.append(pa.field(name, array.type))
            arrays.append(array)
        for name in numbers:
            roles[name] = "feature"
            fields.append(pa.field(name, pa.float32()))
        return pa.schema(fields, metadata=metadata_of(dataset, roles, as_json)), arrays

    def add(self, source: Path, path: Path, added: Mapping[str, Sequence[Value]], options: ReadOptions) -> None:
        schema, row = schema_of(source)[0], 0
        new = {free_name(name, schema.names): _array(values) for name, values in added.items()}
        fields = [pa.field(name, array.type) for name, array in new.items()]
        wide = pa.schema([*schema, *fields], metadata=schema.metadata)
        with pq.ParquetWriter(path, wide) as writer:
            for batch in batches(source):
                more = [array.slice(row, batch.num_rows) for array in new.values()]
                writer.write_batch(pa.record_batch([*batch.columns, *more], schema=wide))
                row += batch.num_rows


def _array(values: Sequence[Value]) -> pa.Array:
    """Return added values as a column."""
    return pa.array(values, pa.float64() if any(isinstance(value, float) for value in values) else pa.string())


def _json(column: pa.Array) -> pa.Array:
    """Return a column of text that was written as JSON as what it is."""
    text = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return pa.ExtensionArray.from_storage(JSON, text.cast(pa.string()))


def _contents(path: Path, schema: pa.Schema, image: Column) -> ObjectColumn | None:
    """Return the pictures in a column of {bytes, path}, as Hugging Face writes them; None where there are none."""
    kind = schema.field(image.at).type
    if not pa.types.is_struct(kind) or kind.get_field_index("bytes") < 0 or not _is_bytes(kind.field("bytes").type):
        return None
    contents: list[bytes | None] = []
    for batch in batches(path, [image.name]):
        contents += pc.struct_field(batch.column(0), "bytes").to_pylist()
    return np.fromiter(contents, dtype=object, count=len(contents))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


class HuggingFace(Parquet):
    """Parquet as Hugging Face datasets writes it: labels are numbers, and `ClassLabel` in the metadata has their names.

    `candidates: Sequence(ClassLabel)`, `label: ClassLabel`, a column of each annotator as `candidates` is.
    """

    truth = "label"

    def sniff(self, path: Path, head: bytes) -> bool:
        if not head.startswith(b"PAR1"):
            return False
        try:
            return bool(class_labels(pq.read_schema(path)))
        except (UserError, pa.ArrowException, OSError, ValueError):  # damaged: the reader of Parquet says how
            return False

    def _layout(self, dataset: PartialLabelDataset, results: Results | None) -> tuple[pa.Schema, list[pa.Array]]:
        schema, arrays = super()._layout(dataset, results)
        names, fields, features = class_names(dataset), list(schema), dict[str, Any]()
        label = {"names": names, "_type": "ClassLabel"}
        for at, field in enumerate(schema):
            if pa.types.is_list(field.type):
                codes = pc.index_in(arrays[at].flatten(), pa.array(names, pa.string())).cast(pa.int64())
                arrays[at] = pa.ListArray.from_arrays(arrays[at].offsets, codes, mask=arrays[at].is_null())
                features[field.name] = {"feature": label, "_type": "Sequence"}
            elif field.name == self.truth and dataset.y is not None:
                arrays[at] = pa.array(dataset.y, pa.int64())  # −1 is "unknown" there too
                features[field.name] = label
            else:
                features[field.name] = {"dtype": _DTYPES.get(str(field.type), str(field.type)), "_type": "Value"}
                continue
            fields[at] = pa.field(field.name, arrays[at].type)
        about = {b"huggingface": json.dumps({"info": {"features": features}})}
        return pa.schema(fields, metadata={**schema.metadata, **about}), arrays


_DTYPES = {"float": "float32", "double": "float64"}
"""What Hugging Face datasets calls Arrow's types."""

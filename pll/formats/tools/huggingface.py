"""Parquet as Hugging Face datasets writes it: labels are numbers, and `ClassLabel` in the metadata has their names.

`candidates: Sequence(ClassLabel)`, `label: ClassLabel`, a column of each annotator as `candidates` is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.limitations import class_names
from pll.formats.tabular.parquet import Parquet, class_labels

_TRUTH = "label"


class HuggingFace(Parquet):
    """Parquet files of the Hugging Face hub."""

    def sniff(self, path: Path, head: bytes) -> bool:
        if not head.startswith(b"PAR1"):
            return False
        try:
            return bool(class_labels(pq.read_schema(path)))
        except (UserError, pa.ArrowException, OSError, ValueError):  # damaged: the reader of Parquet says how
            return False

    def called(self, name: str) -> str:
        return _TRUTH if name == "true_label" else name

    def sets(self, dataset: PartialLabelDataset) -> pa.Array:
        sets = dataset.sets()
        return pa.ListArray.from_arrays(pa.array(sets.indptr, pa.int32()), pa.array(sets.indices, pa.int64()))

    def lists(self, dataset: PartialLabelDataset, answers: Sequence[Sequence[str] | None]) -> pa.Array:
        number = {name: k for k, name in enumerate(class_names(dataset))}
        coded = [None if names is None else [number[name] for name in names] for names in answers]
        return pa.array(coded, pa.list_(pa.int64()))

    def truth(self, dataset: PartialLabelDataset, cells: Sequence[str | None]) -> pa.Array:
        assert dataset.y is not None  # there is a column of it
        return pa.array(dataset.y, pa.int64())  # −1 is "unknown" there too

    def metadata(self, fields: Sequence[pa.Field], dataset: PartialLabelDataset) -> dict[bytes, str]:
        label = {"names": class_names(dataset), "_type": "ClassLabel"}
        features: dict[str, Any] = {}
        for field in fields:
            if pa.types.is_list(field.type):
                features[field.name] = {"feature": label, "_type": "Sequence"}
            elif field.name == _TRUTH and dataset.y is not None:
                features[field.name] = label
            else:
                features[field.name] = {"dtype": _DTYPES.get(str(field.type), str(field.type)), "_type": "Value"}
        return {b"huggingface": json.dumps({"info": {"features": features}})}


_DTYPES = {"float": "float32", "double": "float64"}
"""What Hugging Face datasets calls Arrow's types."""

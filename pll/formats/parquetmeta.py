"""What the metadata of a Parquet file says: ours under `candid`, that of Hugging Face datasets under `huggingface`.

Under `candid` stands what a table cannot say: the part of each column, the order of the classes, the shape of images.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from pll.dataset import PartialLabelDataset
from pll.formats.base import ReadOptions
from pll.formats.checks import parsing
from pll.formats.losses import class_names
from pll.formats.roles import ROLES, shown_as
from pll.io import Column as ObjectColumn
from pll.io import as_column

_KEY = b"candid"


def written(dataset: PartialLabelDataset, roles: Mapping[str, str], as_json: Sequence[str]) -> dict[bytes, str]:
    """What a file of ours says of itself.

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


def about_in(schema: pa.Schema) -> dict[str, Any]:
    """What `written` said; nothing in files of others.

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
    """By column, the names of its `ClassLabel`, alone or in a list, as Hugging Face datasets writes them.

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


def told(
    options: ReadOptions, about: Mapping[str, Any], labels: Mapping[str, tuple[str, ...]], header: Sequence[str]
) -> ReadOptions:
    """The options, with what the file itself says where the user does not.

    Args:
        about: see `about_in`.
        labels: see `class_labels`.
        header: the columns that there are.
    """
    roles = {name: role for name, role in (about.get("roles") or {}).items() if name in header and role in ROLES}
    kinds = {*labels.values()}  # of several, only the user knows which is meant
    names = tuple(about.get("class_names") or ()) or (kinds.pop() if len(kinds) == 1 else ())
    return replace(options, columns={**roles, **options.columns}, class_names=options.class_names or names)


def restored(data: PartialLabelDataset, about: Mapping[str, Any]) -> PartialLabelDataset:
    """The data as it was written: what only the metadata knows.

    Args:
        about: see `about_in`.

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
        if about.get("kind") in ("array", "table", "image") and not np.isnan(data.X).any():
            data = replace(data, kind=about["kind"])
        if about.get("anonymous") and data.annotations is not None:
            data = replace(data, annotations=replace(data.annotations, anonymous=True))
        coded = [shown_as(name) for name in about.get("json") or ()]
        data = replace(data, categories=_decoded(data.categories, coded), extras=_decoded(data.extras, coded))
    return data


def _decoded(columns: Mapping[str, ObjectColumn], coded: Collection[str]) -> dict[str, ObjectColumn]:
    """Columns of plain values, those that were written as JSON read back from it."""
    return {
        name: as_column([None if cell is None else json.loads(cell) for cell in cells.tolist()])
        if name in coded
        else cells
        for name, cells in columns.items()
    }

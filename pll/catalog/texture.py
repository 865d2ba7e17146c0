"""Texture, from OpenML."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from pll.catalog.base import Entry, File, files
from pll.dataset import PartialLabelDataset
from pll.errors import UserError

_OPENML_ID = 40499
_PAGE = f"https://www.openml.org/d/{_OPENML_ID}"


def _texture(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """The ARFF file: 40 numeric attributes, then the class."""
    from scipy.io import arff

    path = paths["texture.arff"]
    limit = csv.field_size_limit()  # SciPy lifts it for the whole process, and our tables count on it
    # What SciPy raises for a file that is not, or not quite, an ARFF file (or has attributes that SciPy does not know):
    unreadable = (arff.ArffError, NotImplementedError, ValueError, LookupError, StopIteration)
    try:
        with path.open(encoding="utf-8") as stream:
            rows, about = arff.loadarff(stream)
    except unreadable as error:
        raise _wrong(path, f"it cannot be read as ARFF ({error or type(error).__name__})") from error
    finally:
        csv.field_size_limit(limit)
    *features, target = about.names()
    kinds = about.types()
    if kinds[-1] != "nominal" or set(kinds[:-1]) != {"numeric"}:
        raise _wrong(path, "its attributes are not numbers followed by a class")
    coded = [name.decode() for name in rows[target].tolist()]
    names = sorted(set(coded), key=lambda name: (len(name), name))  # the codes are whole numbers
    codes = {name: code for code, name in enumerate(names)}
    return PartialLabelDataset(
        X=np.stack([rows[name] for name in features], axis=1).astype(np.float32),
        y=np.array([codes[name] for name in coded]),
        class_names=tuple(names),
        feature_names=tuple(features),
        kind="table",
    )


def _wrong(path: Path, reason: str) -> UserError:
    return UserError(f"{path}: {reason}. Delete it and load again, or replace it by the one from {_PAGE}.")


ENTRIES = (
    Entry(
        name="texture",
        title="Texture",
        about="Eleven natural textures (grass, leather, sand, …) by forty statistics of small patches.",
        kind="table",
        n=5500,
        shape=(40,),
        c=11,
        licence="public (as OpenML states it)",
        page=_PAGE,
        needs=files(File("texture.arff", folder="texture", page=_PAGE, openml=_OPENML_ID, megabytes=2.5)),
        loader=_texture,
    ),
)

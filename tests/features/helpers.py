"""Small data of every kind, and a round trip of a featuriser through its files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pll.dataset import PartialLabelDataset
from pll.features import load_features, save_features
from pll.features.base import Featuriser
from pll.images import Pictures, encode


def words(*cells: str | None) -> npt.NDArray[np.object_]:
    return np.array(cells, dtype=object)


def table(X: object, names: tuple[str, ...] = (), **columns: npt.NDArray[np.object_]) -> PartialLabelDataset:
    return PartialLabelDataset(np.asarray(X, dtype=np.float32), feature_names=names, kind="table", categories=columns)


def texts(*cells: str | None) -> PartialLabelDataset:
    return PartialLabelDataset(np.empty((len(cells), 0)), texts=words(*cells))


def folder_of(pictures: list[npt.NDArray[np.uint8]], place: Path) -> PartialLabelDataset:
    """The pictures as files of a folder."""
    names = words(*(f"{k}.png" for k in range(len(pictures))))
    place.mkdir(parents=True, exist_ok=True)
    for name, picture in zip(names, pictures, strict=True):
        (place / name).write_bytes(encode(picture))
    return PartialLabelDataset(np.empty((len(pictures), 0)), pictures=Pictures(names, place))


def saved_and_loaded(made: Featuriser, folder: Path) -> Featuriser:
    """The featuriser as a later process finds it; its state is plain JSON and arrays."""
    settings, arrays = made.state()
    assert json.loads(json.dumps(settings, allow_nan=False)) == settings
    assert all(isinstance(array, np.ndarray) and array.dtype != object for array in arrays.values())
    save_features(made, folder)
    loaded = load_features(folder)
    assert loaded is not None and type(loaded) is type(made)
    return loaded

"""Tables of scikit-learn, of the UCI repository (text, with or without a header line), of OpenML (ARFF); .mat files."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np

from pll.catalog.files import not_published
from pll.dataset import PartialLabelDataset

_MISSING = "?"


def load_bundled(paths: Mapping[str, Path], *, name: str) -> PartialLabelDataset:
    """Return a dataset that comes with scikit-learn, under its name there.

    Parameters
    ----------
    paths
        The files, by what the catalogue calls them.
    name
        Of the data set.
    """
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    is_image = "images" in bunch
    X = bunch.images[:, None] / 16 if is_image else bunch.data  # of digits: (n, 1, 8, 8); 16 is white
    return PartialLabelDataset(
        X=X.astype(np.float32),
        y=bunch.target,
        class_names=tuple(map(str, bunch.target_names)),
        feature_names=() if is_image else tuple(map(str, bunch.feature_names)),
        kind="image" if is_image else "table",
    )


def load_mat(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """Return a partial-label dataset of a .mat file."""
    from pll import formats

    (path,) = paths.values()
    return replace(formats.read(path), kind="array")


def load_text(
    paths: Mapping[str, Path],
    *,
    features: Sequence[str],
    classes: Sequence[str],
    labels: Literal["names", "numbers", "order"],
    separator: str | None = None,
    skip: int = 0,
    note: str = "",
) -> PartialLabelDataset:
    """Return a table of numbers.

    Parameters
    ----------
    paths
        The files, by what the catalogue calls them.
    features
        Names of the columns.
    classes
        Names of the classes.
    labels
        What the last column holds: names of classes, or their numbers from 1; by "order" there is none, and the rows
        are those of the classes one after the other, equally many of each.
    separator
        Between columns; by default spaces.
    skip
        Columns in front that are left out.
    note
        For the user.

    Raises
    ------
    UserError
        Another file; the line is named.
    """
    (path,) = paths.values()
    end = skip + len(features)
    rows = _rows(path, separator, end + (labels != "order"), slice(skip, end))
    if labels == "order":
        if len(rows) % len(classes):
            raise not_published(path, f"it has {len(rows)} rows, not as many for each of {len(classes)} classes")
        y = np.repeat(np.arange(len(classes)), len(rows) // len(classes))
    else:
        y = _labels(path, rows, list(classes) if labels == "names" else [str(k + 1) for k in range(len(classes))])
    return PartialLabelDataset(
        X=np.array([_numbers(path, line, cells[skip:end]) for line, cells in rows], dtype=np.float32),
        y=y,
        class_names=tuple(classes),
        feature_names=tuple(features),
        kind="table",
        notes=(note,) if note else (),
    )


def load_arff(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """Return a table of numeric attributes, then the class.

    Raises
    ------
    UserError
        Another file.
    """
    from scipy.io import arff

    (path,) = paths.values()
    limit = csv.field_size_limit()  # SciPy lifts it for the whole process, and our tables count on it
    # SciPy's errors for files that are not valid ARFF, or have unsupported attributes:
    unreadable = (arff.ArffError, NotImplementedError, ValueError, LookupError, StopIteration)
    try:
        with path.open(encoding="utf-8") as stream:
            rows, about = arff.loadarff(stream)
    except unreadable as error:
        raise not_published(path, f"it cannot be read as ARFF ({error or type(error).__name__})") from error
    finally:
        csv.field_size_limit(limit)
    *features, target = about.names()
    kinds = about.types()
    if kinds[-1] != "nominal" or set(kinds[:-1]) != {"numeric"}:
        raise not_published(path, "its attributes are not numbers followed by a class")
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


_Row = tuple[int, list[str]]  # the number of its line in the file, and its cells


def _rows(path: Path, separator: str | None, width: int, numbers: slice) -> list[_Row]:
    """Return the rows of a text table without blank lines and header."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise not_published(path, "it is not plain text") from error
    rows = [(i, line.strip().split(separator)) for i, line in enumerate(lines, start=1) if line.strip()]
    for number, cells in rows:
        if len(cells) != width:
            raise not_published(path, f"line {number} has {len(cells)} columns where {width} are expected")
    if rows and not any(_is_number(cell) for cell in rows[0][1][numbers]):
        del rows[0]
    if not rows:
        raise not_published(path, "it has no rows")
    return rows


def _numbers(path: Path, line: int, cells: Sequence[str]) -> list[float]:
    for cell in cells:
        if not _is_number(cell):
            raise not_published(path, f"line {line} holds {cell!r} where a number is expected")
    return [math.nan if cell.strip() == _MISSING else float(cell) for cell in cells]


def _is_number(cell: str) -> bool:
    try:
        return cell.strip() == _MISSING or math.isfinite(float(cell))
    except ValueError:
        return False


def _labels(path: Path, rows: Sequence[_Row], names: Sequence[str]) -> np.ndarray:
    code = {name: k for k, name in enumerate(names)}
    for line, cells in rows:
        if cells[-1].strip() not in code:
            raise not_published(path, f"line {line} ends in {cells[-1]!r}; a class is one of {', '.join(names)}")
    return np.array([code[cells[-1].strip()] for _, cells in rows], dtype=np.int64)

"""What an .npz file holds beside numbers and labels: texts, pictures by name, words, what is carried along, answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations.data import Annotations
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.checks import parsing
from pll.formats.words import kind_of, readable
from pll.images import Pictures
from pll.io import Column, as_column

Arrays = Mapping[str, npt.NDArray[Any]]

KEYS = (
    *("texts", "picture_names", "extra_names", "extras"),
    *("category_names", "category_codes", "category_levels", "category_sizes"),
    *("answer_rows", "answer_annotators", "answer_labels", "annotator_names", "anonymous"),
)
"""Names of their arrays."""

MAX_TEXT = 2**30
"""What an array of text may occupy: numpy gives every text the room of the longest."""


def to_arrays(dataset: PartialLabelDataset) -> dict[str, npt.NDArray[Any]]:
    """Plain arrays of everything there is.

    Raises:
        UserError: a text is so long that all together would take too much.
    """
    arrays: dict[str, npt.NDArray[Any]] = {}
    if dataset.texts is not None:
        arrays["texts"] = _text_array(dataset.texts.tolist(), "texts")
    if dataset.pictures is not None:
        arrays["picture_names"] = _text_array(dataset.pictures.names.tolist(), "names of pictures")
    if dataset.categories:
        coded = [_coded(values) for values in dataset.categories.values()]
        arrays["category_names"] = np.array(list(dataset.categories), dtype=np.str_)
        arrays["category_codes"] = np.stack([codes for codes, _ in coded], axis=1)
        arrays["category_levels"] = _text_array([level for _, levels in coded for level in levels], "words")
        arrays["category_sizes"] = np.array([len(levels) for _, levels in coded])
    if dataset.extras:
        cells = [[json.dumps(v, ensure_ascii=False) for v in values.tolist()] for values in dataset.extras.values()]
        arrays["extra_names"] = np.array(list(dataset.extras), dtype=np.str_)
        arrays["extras"] = _text_array([cell for column in cells for cell in column], "columns carried along").reshape(
            len(cells), -1
        )
    said = dataset.annotations
    if said is not None:
        arrays |= {"answer_rows": said.rows, "answer_annotators": said.annotators, "answer_labels": said.labels}
        arrays["annotator_names"] = np.array(said.annotator_names, dtype=np.str_)
        arrays["anonymous"] = np.array(said.anonymous)
    return arrays


def from_arrays(arrays: Arrays, n: int, class_names: tuple[str, ...]) -> dict[str, Any]:
    """Keyword arguments of `PartialLabelDataset`.

    Raises:
        UserError: arrays that do not fit together; the array is named.
    """
    found: dict[str, Any] = {}
    if "texts" in arrays:
        found["texts"] = as_column(_texts(arrays, "texts", n))
    if "picture_names" in arrays:
        found["pictures"] = Pictures(as_column(_texts(arrays, "picture_names", n)))
    if "category_names" in arrays:
        with parsing("the arrays of categories", "save them as Candid does"):
            found["categories"] = _categories(arrays, n)
    if "extra_names" in arrays:
        with parsing("the array extras", "save it as Candid does"):
            found["extras"] = {
                name: as_column([json.loads(cell) for cell in cells])
                for name, cells in zip(_texts(arrays, "extra_names"), arrays["extras"].tolist(), strict=True)
            }
    if "annotator_names" in arrays:
        with parsing("the arrays of answers", "save them as Candid does"):
            found["annotations"] = Annotations(
                arrays["answer_rows"],
                arrays["answer_annotators"],
                arrays["answer_labels"],
                n,
                class_names,
                tuple(_texts(arrays, "annotator_names")),
                anonymous=bool(arrays["anonymous"].ravel()[0]),
            )
    return found


def texts_in(dataset: PartialLabelDataset) -> list[str]:
    """Every text that an array of text would hold."""
    found = [*dataset.categories, *dataset.extras, *(() if dataset.texts is None else dataset.texts)]
    found += () if dataset.pictures is None else dataset.pictures.names.tolist()
    found += [value for values in dataset.categories.values() for value in values if value is not None]
    return found + list(() if dataset.annotations is None else dataset.annotations.annotator_names)


def _categories(arrays: Arrays, n: int) -> dict[str, Column]:
    names = _texts(arrays, "category_names")
    codes, sizes = arrays["category_codes"], arrays["category_sizes"]
    if codes.shape != (n, len(names)) or sizes.shape != (len(names),) or codes.dtype.kind not in "iu":
        raise UserError(f"The array category_codes has the shape {codes.shape}; it must be ({n}, {len(names)}).")
    levels = as_column([*_texts(arrays, "category_levels"), None])
    starts = np.cumsum(sizes) - sizes
    if (codes < -1).any() or (codes >= sizes).any() or int(sizes.sum()) != len(levels) - 1:
        raise UserError("The array category_codes holds a number that stands for no word.")
    return {name: levels[np.where(codes[:, k] < 0, -1, codes[:, k] + starts[k])] for k, name in enumerate(names)}


def _coded(values: Column) -> tuple[npt.NDArray[np.int32], list[str]]:
    place: dict[str, int] = {}
    codes = [-1 if value is None else place.setdefault(value, len(place)) for value in values.tolist()]
    return np.array(codes, dtype=np.int32), list(place)


def _texts(arrays: Arrays, name: str, length: int | None = None) -> list[str]:
    array = arrays[name]
    if array.ndim != 1 or array.dtype.kind != "U" or (length is not None and len(array) != length):
        wanted = "" if length is None else f" of {length}"
        raise UserError(
            f"The array {name} holds {kind_of(array.dtype)} in the shape {array.shape}; it must be a list{wanted} of "
            f"text: np.array({name}, dtype=str)."
        )
    return array.tolist()


def _text_array(texts: Sequence[str], what: str) -> npt.NDArray[np.str_]:
    size = 4 * max(map(len, texts), default=0) * len(texts)
    if size > MAX_TEXT:
        raise UserError(
            f"The {what} would take {readable(size)} as an array, since each has the room of the longest; write "
            "parquet or jsonl."
        )
    return np.array(texts, dtype=np.str_)

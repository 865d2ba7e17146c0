"""What a format cannot hold of a dataset, in words for a person; and what of it has to be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations
from pll.candidates import sort_names
from pll.dataset import PartialLabelDataset
from pll.formats.base import TABLE, Format
from pll.formats.checks import listing
from pll.formats.labels import sets_of
from pll.formats.tabular.cells import WHOLE, is_no_answer, spelling
from pll.formats.tabular.writer import class_names


def cannot_hold(dataset: PartialLabelDataset, form: Format) -> list[str]:
    """Return sentences on what writing a dataset in a format would lose; none where nothing is lost.

    Parameters
    ----------
    dataset
        What is written.
    form
        The format. What it loses are names of `LIMITATIONS`, or of a group in `formats.toml`.

    Examples
    --------
    >>> from pll.formats import FORMATS
    >>> cannot_hold(PartialLabelDataset(np.ones((1, 1)), ids=np.array(["a"])), FORMATS["mat"])
    ['The ids: rows are numbered when read.']
    """
    said = list[str]()
    for part in [part for name in form.loses for part in GROUPS.get(name, [name])]:
        if found := LIMITATIONS[part](dataset):
            said.append(TABLE["sentences"][part].format(listing(found) if isinstance(found, list) else ""))
    return said


def _has_names(data: PartialLabelDataset) -> bool:
    return data.class_names not in ((), tuple(str(k) for k in range(data.n_classes)))


def _has_ids(data: PartialLabelDataset) -> bool:
    return data.ids is not None and not np.array_equal(data.ids, np.arange(len(data)).astype(np.str_))


def _with_cells(data: PartialLabelDataset, test: Callable[[Any], bool]) -> list[str]:
    """The columns of words, or that are carried along, with a cell of some kind."""
    return [name for some in (data.categories, data.extras) for name, cells in some.items() if any(map(test, cells))]


def _twice(names: Sequence[str]) -> list[str]:
    return sorted(name for name, times in Counter(names).items() if times > 1)


def _unused(data: PartialLabelDataset) -> list[str]:
    used = used_names(data)
    return [name for name in class_names(data) if name not in used]


def _in_order(data: PartialLabelDataset) -> bool:
    """Whether the classes that occur are sorted, as a reader does that has no others."""
    used = used_names(data)
    return list(sort_names(used)) == [name for name in class_names(data) if name in used]


def _spelled_alike(data: PartialLabelDataset) -> list[str]:
    alike = {*_twice([spelling(name) for name in used_names(data)])}
    return sorted(name for name in used_names(data) if spelling(name) in alike)


def _decimals(data: PartialLabelDataset) -> list[str]:
    """The classes that annotators write with decimals, where all are whole numbers."""
    names = class_names(data)
    given = [] if data.annotations is None else [names[k] for k in np.unique(data.annotations.labels).tolist()]
    return sorted(name for name in given if "." in name) if all(map(WHOLE.fullmatch, given)) else []


def _without_a_truth(data: PartialLabelDataset) -> list[str]:
    """The true labels that say that there is none, where no candidate is called so."""
    others = used_names(replace(data, y=None))
    return sorted(filter(is_no_answer, used_names(data) - others)) if others else []


def _cut(data: PartialLabelDataset) -> list[str]:
    """The names and texts whose ends arrays of text cut off."""
    texts = () if data.texts is None else data.texts.tolist()
    pictures = () if data.pictures is None else data.pictures.names.tolist()
    people = () if data.annotations is None else data.annotations.annotator_names
    own = (data.class_names, data.feature_names, data.row_ids.tolist(), data.categories, data.extras)
    return [text for some in (*own, texts, pictures, people) for text in some if text.endswith("\0")]


def _votes(data: PartialLabelDataset, test: Callable[[Annotations], bool]) -> bool:
    return data.annotations is not None and test(data.annotations)


GROUPS: Mapping[str, Sequence[str]] = TABLE["loses"]
"""Parts of a dataset that several formats cannot hold, by the name of the group."""
LIMITATIONS: Mapping[str, Callable[[PartialLabelDataset], bool | list[str]]] = {
    "features": lambda data: data.X.size > 0,
    "image shape": lambda data: data.is_image,
    "images": lambda data: data.images is not None,
    "texts": lambda data: data.texts is not None,
    "pictures": lambda data: data.pictures is not None,
    "categories": lambda data: bool(data.categories),
    "extras": lambda data: bool(data.extras),
    "prior": lambda data: data.prior is not None,
    "annotations": lambda data: data.annotations is not None,
    "class names": _has_names,
    "ids": _has_ids,
    "feature names": lambda data: bool(data.feature_names),
    "split": lambda data: data.is_test is not None,
    "truth": lambda data: data.y is not None,
    "unused classes": _unused,
    "class order": lambda data: not _in_order(data),
    "spelling": _spelled_alike,
    "decimals": _decimals,
    "no truth": _without_a_truth,
    "equal names": lambda data: _twice(data.feature_names),
    "anonymity": lambda data: _votes(data, lambda votes: votes.anonymous),
    "types": lambda data: _with_cells(data, lambda cell: not (cell is None or isinstance(cell, str))),
    "missing cells": lambda data: _with_cells(data, lambda cell: isinstance(cell, str) and cell == ""),
    "carriage returns": lambda data: data.texts is not None and any("\r" in text for text in data.texts.tolist()),
    "ends": _cut,
    "pixels": lambda data: data.is_image,
    "channels": lambda data: data.is_image and data.X.shape[1] not in (1, 3),
    "levels": lambda data: data.is_image and (not are_bytes(data.X)),
    "silent": lambda data: _votes(data, lambda votes: len({*votes.annotators.tolist()}) < votes.n_annotators),
    "votes beside sets": lambda data: _votes(data, lambda _: has_own_sets(data)),
    "sets beside votes": lambda data: _votes(data, lambda _: has_own_sets(data)),
    "several labels": lambda data: has_several(data),
    "nobody": lambda data: data.annotations is None,
    "annotators": lambda data: _votes(data, lambda votes: not (votes.anonymous or has_own_sets(data))),
    "tool": lambda data: (data.texts is None and data.pictures is None) or "_input_hash" in data.extras,
}
"""Whether a dataset has what may be lost, by name; or the names that the sentence on it is about."""


def has_own_sets(dataset: PartialLabelDataset) -> bool:
    """Whether the candidate sets have to be written: they are not the union of the annotators' labels."""
    if dataset.candidates is None or dataset.annotations is None:
        return dataset.candidates is not None
    named = set(dataset.annotations.labels.tolist())  # an example without annotations may have any of these
    return not is_union(dataset) or not set(dataset.candidates.indices.tolist()) <= named


def has_several(dataset: PartialLabelDataset) -> bool:
    """Whether somebody named several labels of one example."""
    return _votes(dataset, lambda votes: len(votes.rows) > votes.n_answers)


def are_bytes(X: npt.NDArray[np.float32]) -> bool:
    """Whether numbers are those of pixels: whole, from 0 to 255."""
    return bool(((X >= 0) & (X <= 255) & (np.floor(X) == X)).all())


def is_union(dataset: PartialLabelDataset) -> bool:
    """Whether every candidate set is what the annotators of the example named together, as readers make it."""
    annotations, sets = dataset.annotations, dataset.candidates
    return annotations is not None and sets is not None and sets_of(annotations)[0] == sets


def used_names(dataset: PartialLabelDataset) -> set[str]:
    """The classes that occur as a candidate, as an annotator's label or as a truth."""
    sets, votes, y = dataset.candidates, dataset.annotations, dataset.y
    used = [] if y is None else [np.unique(y[y >= 0])]
    used += [] if sets is None else [np.unique(sets.indices)]
    used += [] if votes is None else [np.unique(votes.labels)]
    names = class_names(dataset)
    return {names[k] for numbers in used for k in numbers.tolist()}

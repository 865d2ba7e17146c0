"""What a format cannot hold, in words for a person."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from pll.candidates import sort_names
from pll.dataset import PartialLabelDataset
from pll.formats.checks import listing
from pll.formats.labels import sets_of
from pll.formats.tabular.cells import is_no_answer, spelling

_WHOLE = re.compile(r"\d+(?:\.0+)?", re.ASCII)


ALL_BUT_PIXELS = frozenset(
    ("features", "texts", "pictures", "categories", "extras", "annotations", "class names", "ids", "feature names")
) | {"split", "truth"}
"""What formats of text can hold."""


def part_limitations(dataset: PartialLabelDataset, supported: Collection[str]) -> list[str]:
    """What of a dataset is lost in a format that holds only some of its parts.

    Parameters
    ----------
    dataset
        What is written.
    supported
        The parts that are not lost, by the names below.

    Examples
    --------
    >>> part_limitations(PartialLabelDataset(np.ones((1, 1)), ids=np.array(["a"])), {"features"})
    ['The ids: rows are numbered when read.']
    """
    has_names = dataset.class_names not in ((), tuple(str(k) for k in range(dataset.n_classes)))
    has_ids = (
        "ids" not in supported
        and dataset.ids is not None
        and not np.array_equal(dataset.ids, np.arange(len(dataset)).astype(np.str_))
    )
    has_images = dataset.images is not None and not dataset.is_image
    parts = {
        "features": (dataset.X.size > 0, "The features."),
        "image shape": (dataset.is_image, "The shape of the images: every pixel becomes a column."),
        "images": (has_images, "The pictures for annotators and reviewers."),
        "texts": (dataset.texts is not None, "The texts."),
        "pictures": (dataset.pictures is not None, "The names of the pictures."),
        "categories": (bool(dataset.categories), "The columns of words."),
        "extras": (bool(dataset.extras), "The columns that are carried along."),
        "prior": (dataset.prior is not None, "The prior of the candidates."),
        "annotations": (dataset.annotations is not None, "Who gave which label."),
        "class names": (has_names, "The names of the classes: they become numbers."),
        "ids": (has_ids, "The ids: rows are numbered when read."),
        "feature names": (bool(dataset.feature_names), "The names of the features."),
        "split": (dataset.is_test is not None, "The split into a training and a test part."),
        "truth": (dataset.y is not None, "The true labels."),
    }
    return [sentence for part, (has, sentence) in parts.items() if has and part not in supported]


def class_limitations(dataset: PartialLabelDataset, supported: Collection[str] = ()) -> list[str]:
    """Return what is lost of the classes where a reader has only those that occur, sorted by name.

    Parameters
    ----------
    dataset
        What is written.
    supported
        What is not lost after all: "unused classes", "class order", "spelling".
    """
    names = class_names(dataset)
    used = used_names(dataset)
    lost = []
    unused = [name for name in names if name not in used]
    if unused and "unused classes" not in supported:
        lost.append(f"Classes that no row mentions: {listing(unused)}.")
    if list(sort_names(used)) != [name for name in names if name in used] and "class order" not in supported:
        lost.append("The order of the classes: they are sorted by name when read.")
    spelled = Counter(map(spelling, used))
    similar = sorted(name for name in used if spelled[spelling(name)] > 1)
    if similar and "spelling" not in supported:
        lost.append(f"That classes are spelled alike: {listing(similar)} become one when read.")
    given = set() if dataset.annotations is None else {names[k] for k in set(dataset.annotations.labels.tolist())}
    decimal = sorted(name for name in given if "." in name)
    if decimal and all(_WHOLE.fullmatch(name) for name in given):
        lost.append(f"How classes are written that are numbers: {listing(decimal)} are read without decimals.")
    if dataset.y is not None and (dataset.candidates is not None or dataset.annotations is not None):
        candidates = used_names(replace(dataset, y=None))
        true = {names[k] for k in np.unique(dataset.y[dataset.y >= 0]).tolist()}
        if no_label := sorted(filter(is_no_answer, true - candidates)):
            lost.append(f"True labels that say there is none, where no candidate is called so: {listing(no_label)}.")
    return lost


def is_union(dataset: PartialLabelDataset) -> bool:
    """Whether every candidate set is what the annotators of the example named together, as readers make it."""
    annotations, sets = dataset.annotations, dataset.candidates
    return annotations is not None and sets is not None and sets_of(annotations)[0] == sets


def used_names(dataset: PartialLabelDataset) -> set[str]:
    """The classes that occur as a candidate, as an annotator's label or as a truth."""
    used: set[int] = set()
    if dataset.candidates is not None:
        used |= set(np.unique(dataset.candidates.indices).tolist())
    if dataset.annotations is not None:
        used |= set(np.unique(dataset.annotations.labels).tolist())
    if dataset.y is not None:
        used |= set(np.unique(dataset.y[dataset.y >= 0]).tolist())
    names = class_names(dataset)
    return {names[k] for k in used}


def class_names(dataset: PartialLabelDataset) -> list[str]:
    """All classes by name."""
    return list(dataset.class_names) or [str(k) for k in range(dataset.n_classes)]

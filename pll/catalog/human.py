"""Human disagreement over CIFAR-10: the votes as candidate sets.

CIFAR-10H has about 51 people's votes for each test image: a label with at least two votes is a candidate. CIFAR-10N
has three people's labels for each training image: their union is the candidate set.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations
from pll.candidates import CandidateSets
from pll.catalog import cifar
from pll.catalog.base import Entry, File, Need, files
from pll.catalog.files import damaged
from pll.dataset import PartialLabelDataset
from pll.errors import UserError

MINIMUM_VOTES = 2
"""Votes that make a label a candidate in CIFAR-10H; a single one is more often a slip than an opinion."""

_PAGE_H = "https://github.com/jcpeterson/cifar-10h"
_PAGE_N = "https://github.com/UCSC-REAL/cifar-10-100n"
_LICENCE_H = "CC BY-NC-SA 4.0 (votes)"
_LICENCE_N = "CC BY-NC 4.0 (votes)"

_BOTH = File("human_labels.npz", folder="cifar10", page="docs/datasets.md", distinctive=False)  # H and N in one
_COUNTS = File(
    name="cifar10h-counts.npy",
    folder="cifar10h",
    page=_PAGE_H,
    urls=("https://raw.githubusercontent.com/jcpeterson/cifar-10h/master/data/cifar10h-counts.npy",),
    megabytes=0.8,
)
_ANNOTATORS = File(
    name="CIFAR-10_human.pt",
    folder="cifar10n",
    page=_PAGE_N,
    urls=("https://raw.githubusercontent.com/UCSC-REAL/cifar-10-100n/main/data/CIFAR-10_human.pt",),
    megabytes=2.0,
)
_VOTES_H = Need(((_BOTH,), (_COUNTS,)))
_VOTES_N = Need(((_BOTH,), (_ANNOTATORS,)))
_TEST_IMAGES = Need(
    ((cifar.FOLDER,), (cifar.ARCHIVE,), (cifar.TEST_SPRITE, cifar.SPRITE_LABELS)),
)


def sets_from_counts(counts: npt.NDArray[Any], minimum: int = MINIMUM_VOTES) -> CandidateSets:
    """(n, 10) votes a class: every class with at least `minimum` of them is a candidate."""
    return CandidateSets.from_mask(counts >= minimum, cifar.CLASS_NAMES)


def sets_from_annotators(votes: npt.NDArray[np.integer[Any]]) -> CandidateSets:
    """(n, people) labels: the union of what they said."""
    mask = np.zeros((len(votes), len(cifar.CLASS_NAMES)), dtype=np.bool_)
    np.put_along_axis(mask, votes.astype(np.int64), True, axis=1)
    return CandidateSets.from_mask(mask, cifar.CLASS_NAMES)


def _cifar10h(paths: Mapping[str, Path]) -> PartialLabelDataset:
    counts = _counts(paths)
    if cifar.TEST_SPRITE.name in paths:
        labels = cifar.sprite_labels(paths[cifar.SPRITE_LABELS.name], "test")
        images = cifar.read_sprite(paths[cifar.TEST_SPRITE.name], len(labels))
    else:
        images, labels = cifar.published(paths, train=False)
    data = cifar.image_dataset([images], [labels], [True])
    said = Annotations.from_counts(counts, cifar.CLASS_NAMES)
    # Here the test images are what is learnt from: no split is published.
    return replace(data, candidates=sets_from_counts(counts), annotations=said, is_test=None)


def _cifar10n(paths: Mapping[str, Path]) -> PartialLabelDataset:
    images, labels = cifar.published(paths, train=True)
    data = cifar.image_dataset([images], [labels], [False])
    return _with_annotators(data, _annotators(paths))


def _cifar10n_subset(paths: Mapping[str, Path]) -> PartialLabelDataset:
    labels = cifar.sprite_labels(paths[cifar.SPRITE_LABELS.name], "train")[:10_000]
    images = cifar.read_sprite(paths[cifar.TRAIN_SPRITE.name], len(labels))
    data = cifar.image_dataset([images], [labels], [False])
    return _with_annotators(data, _annotators(paths)[: len(labels)])


def _with_annotators(data: PartialLabelDataset, votes: npt.NDArray[np.integer[Any]]) -> PartialLabelDataset:
    """The data with the union of what (n, people) votes say as candidates, and the votes themselves."""
    n, people = votes.shape
    said = Annotations(
        np.repeat(np.arange(n), people),
        np.tile(np.arange(people), n),
        votes.astype(np.int64).ravel(),
        n,
        cifar.CLASS_NAMES,
        tuple(f"annotator {person}" for person in range(1, people + 1)),
    )
    return replace(data, candidates=sets_from_annotators(votes), annotations=said, is_test=None)


def _counts(paths: Mapping[str, Path]) -> npt.NDArray[Any]:
    if _BOTH.name in paths:
        path = paths[_BOTH.name]
        return _checked(path, cifar.read_npz(path, "cifar10h_counts"), (10_000, 10), 255)
    path = paths[_COUNTS.name]
    try:
        counts = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise damaged(path, error) from error
    return _checked(path, counts, (10_000, 10), 255)


def _annotators(paths: Mapping[str, Path]) -> npt.NDArray[Any]:
    if _BOTH.name in paths:
        path = paths[_BOTH.name]
        return _checked(path, cifar.read_npz(path, "cifar10n_votes"), (50_000, 3), 9)
    path = paths[_ANNOTATORS.name]
    arrays = _load_torch_arrays(path)
    keys = [f"random_label{person}" for person in (1, 2, 3)]
    try:
        votes = np.stack([np.asarray(arrays[key]) for key in keys], axis=1)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} lacks the labels {', '.join(keys)}; get the one from {_PAGE_N}.") from error
    return _checked(path, votes, (50_000, 3), 9)


def _checked(path: Path, votes: npt.NDArray[Any], shape: tuple[int, ...], largest: int) -> npt.NDArray[Any]:
    fits = votes.shape == shape and np.issubdtype(votes.dtype, np.number)
    if not fits or votes.min() < 0 or votes.max() > largest:
        raise UserError(
            f"{path} holds {votes.dtype} votes of shape {votes.shape}; whole numbers of shape {shape} from 0 to "
            f"{largest} are expected. Replace it by the published file."
        )
    return votes


def _load_torch_arrays(path: Path) -> Mapping[str, Any]:
    """The dictionary of arrays in a torch file, with nothing allowed in it but arrays.

    CIFAR-10N is published as a pickle that torch wrote around numpy arrays. torch's restricted reader builds
    only what it is told of, which here is numpy's own reconstruction of an array, under its old and new name.
    """
    import torch

    rebuild = np.zeros(0).__reduce__()[0]
    integers = [type(np.dtype(f"{sign}int{bits}")) for sign in ("", "u") for bits in (8, 16, 32, 64)]
    allowed: list[Any] = [np.ndarray, np.dtype, *integers]
    allowed += [(rebuild, f"numpy.{core}.multiarray._reconstruct") for core in ("core", "_core")]
    try:
        with torch.serialization.safe_globals(allowed):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, OSError) as error:
        raise UserError(
            f"{path} cannot be read as arrays ({type(error).__name__}). Replace it by the one from {_PAGE_N}."
        ) from error
    if not isinstance(content, Mapping):
        raise UserError(f"{path} holds no dictionary of labels. Replace it by the one from {_PAGE_N}.")
    return content


ENTRIES = (
    Entry(
        name="cifar10h",
        title="CIFAR-10H",
        about="The test images of CIFAR-10 with the labels that at least two of about 51 people gave them.",
        kind="partial",
        n=10_000,
        shape=(3, 32, 32),
        c=10,
        licence=_LICENCE_H,
        page=_PAGE_H,
        needs=(_VOTES_H, _TEST_IMAGES),
        loader=_cifar10h,
        mean_candidates=1.35,
    ),
    Entry(
        name="cifar10n",
        title="CIFAR-10N",
        about="The training images of CIFAR-10 with the labels that three people gave each (2 % miss the truth).",
        kind="partial",
        n=50_000,
        shape=(3, 32, 32),
        c=10,
        licence=_LICENCE_N,
        page=_PAGE_N,
        needs=(_VOTES_N, cifar.PUBLISHED),
        loader=_cifar10n,
        mean_candidates=1.46,
    ),
    Entry(
        name="cifar10n-subset",
        title="CIFAR-10N, first batch",
        about="The first 10,000 images of CIFAR-10N, read from lossless sprites.",
        kind="partial",
        n=10_000,
        shape=(3, 32, 32),
        c=10,
        licence=_LICENCE_N,
        page=_PAGE_N,
        needs=(_VOTES_N, *files(cifar.TRAIN_SPRITE, cifar.SPRITE_LABELS)),
        loader=_cifar10n_subset,
        mean_candidates=1.47,
    ),
)

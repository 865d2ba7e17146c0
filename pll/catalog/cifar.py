"""CIFAR-10 and the human labels of it, CIFAR-10H and CIFAR-10N.

The images are read as published (through torchvision) or from lossless sprites. CIFAR-10H (Peterson et al., ICCV 2019)
has about 51 people's votes for each test image: a label with at least two votes is a candidate. CIFAR-10N (Wei et al.,
ICLR 2022) has three people's labels for each training image: their union is the candidate set.
"""

from __future__ import annotations

import pickle
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.annotations import Annotations
from pll.candidates import CandidateSets
from pll.catalog.files import damaged, data_folder, not_published
from pll.catalog.idx import as_pixels
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.images import torchvision

CLASS_NAMES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
TILE = 32  # pixels: the side of an image

Images = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]

FOLDER = "cifar-10-batches-py"
ARCHIVE = "cifar-10-python.tar.gz"
"""The published batches, unpacked or not."""
SPRITES = {"train": "data_batch_1.webp", "test": "test_batch.webp"}
SPRITE_LABELS = "labels.npz"
VOTES = "human_labels.npz"
"""The votes of CIFAR-10H and CIFAR-10N in one file; else in the published ones, COUNTS and ANNOTATORS."""
COUNTS, ANNOTATORS = "cifar10h-counts.npy", "CIFAR-10_human.pt"
MINIMUM_VOTES = 2
"""Votes that make a label a candidate in CIFAR-10H; a single vote is more often a mistake than an opinion."""


def load(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """Return the training and the test images, as published or the first 10,000 of each from sprites."""
    train, test = _part(paths, "train"), _part(paths, "test")
    return image_dataset([train[0], test[0]], [train[1], test[1]], [False, True])


def load_h(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """Return the test images with people's votes (CIFAR-10H)."""
    counts = _counts(paths)
    images, labels = _part(paths, "test")
    votes = Annotations.from_counts(counts, CLASS_NAMES)
    # The test images are the training data here: no split is published.
    data = replace(image_dataset([images], [labels], [True]), is_test=None)
    return replace(data, candidates=sets_from_counts(counts), annotations=votes)


def load_n(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """Return the training images, or the first 10,000 from a sprite, with three people's labels (CIFAR-10N)."""
    votes = _annotators(paths)
    images, labels = _part(paths, "train")
    votes = votes[: len(labels)].astype(np.int64)
    data = replace(image_dataset([images], [labels], [False]), is_test=None)
    names = tuple(f"annotator {person}" for person in range(1, votes.shape[1] + 1))
    annotations = Annotations.from_votes(votes, CLASS_NAMES, names)
    return replace(data, candidates=sets_from_annotators(votes), annotations=annotations)


def _part(paths: Mapping[str, Path], part: str) -> tuple[Images, Labels]:
    if SPRITES[part] not in paths:
        return published(paths, train=part == "train")
    labels = sprite_labels(paths[SPRITE_LABELS], part)[:10_000]
    return read_sprite(paths[SPRITES[part]], len(labels)), labels


def published(paths: Mapping[str, Path], *, train: bool) -> tuple[Images, Labels]:
    """Return images (n, 32, 32, 3) uint8 and labels (n,) of one part, from the published archive or its folder.

    The batches are Python pickles; torchvision compares each with its published checksum before it is read, so that
    only the original bytes are ever unpickled.

    Parameters
    ----------
    paths
        The files, by what the catalogue calls them.
    train
        Whether the training part is wanted.
    """
    folder = paths.get(FOLDER) or _unpacked(paths[ARCHIVE])
    try:
        part = torchvision().datasets.CIFAR10(folder.parent, train=train, download=False)
    except RuntimeError as error:
        raise not_published(folder, f"these are not the batches of CIFAR-10 ({error})") from error
    return part.data, np.asarray(part.targets, dtype=np.int64)


def read_sprite(path: Path, count: int) -> Images:
    """Return the first `count` tiles of a sprite, row by row, as (count, 32, 32, 3) uint8.

    Parameters
    ----------
    path
        Of the picture.
    count
        How many pictures.

    Raises
    ------
    UserError
        The file is not an image, or has fewer tiles.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            sheet = np.asarray(picture.convert("RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise damaged(path, error) from error
    rows, columns = sheet.shape[0] // TILE, sheet.shape[1] // TILE
    if sheet.shape[:2] != (rows * TILE, columns * TILE) or rows * columns < count:
        size = f"{sheet.shape[1]} × {sheet.shape[0]} pixels"
        raise not_published(path, f"it is {size}; {count} tiles of {TILE} × {TILE} are expected")
    tiles = sheet.reshape(rows, TILE, columns, TILE, 3).swapaxes(1, 2)  # (rows, columns, 32, 32, 3)
    return tiles.reshape(-1, TILE, TILE, 3)[:count]


def sprite_labels(path: Path, part: str) -> Labels:
    """Return the true labels (n,) of `"train"` or `"test"` from the sprites' labels.npz.

    Parameters
    ----------
    path
        Of the labels.
    part
        train or test.
    """
    return read_npz(path, part).astype(np.int64)


def read_npz(path: Path, name: str) -> npt.NDArray[Any]:
    """Return one array of an .npz file; pickled content is refused.

    Parameters
    ----------
    path
        Of the file.
    name
        Of the array.

    Raises
    ------
    UserError
        The file is damaged or has no such array.
    """
    # ValueError: there is a pickle in it; TypeError: it is a single array.
    unreadable = (ValueError, TypeError, OSError, EOFError, zlib.error, zipfile.BadZipFile)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            if name in arrays:
                array: npt.NDArray[Any] = arrays[name]
                return array
            names = ", ".join(arrays) or "none"
    except unreadable as error:
        raise damaged(path, error) from error
    raise not_published(path, f"it has no array {name!r}; it has {names}")


def image_dataset(images: list[Images], labels: list[Labels], is_test: list[bool]) -> PartialLabelDataset:
    """Return parts of CIFAR-10, concatenated, as a dataset.

    Parameters
    ----------
    images
        (n, …) pictures.
    labels
        (n,) classes.
    is_test
        (n,) bool.
    """
    return PartialLabelDataset(
        X=as_pixels(np.concatenate(images)),
        y=np.concatenate(labels),
        class_names=CLASS_NAMES,
        is_test=np.repeat(is_test, [len(part) for part in labels]),
        kind="image",
    )


def _unpacked(archive: Path) -> Path:
    """Unpack the verified archive into the cache; the folder appears complete or not at all."""
    home = data_folder() / "cifar10"
    target = home / FOLDER
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=home) as part:
            with tarfile.open(archive) as members:
                members.extractall(part, filter="data")
            if not target.exists():
                (Path(part) / FOLDER).replace(target)
    except tarfile.TarError as error:
        raise damaged(archive, error) from error
    except OSError as error:
        raise UserError(
            f"{archive} cannot be unpacked into {home} ({error.strerror or error}). Free some space there, or set "
            "PLL_DATA to a folder with 200 MB to spare."
        ) from error
    return target


def sets_from_counts(counts: npt.NDArray[Any]) -> CandidateSets:
    """Return candidate sets from vote counts (n, 10): the classes with at least `MINIMUM_VOTES` votes."""
    return CandidateSets.from_mask(counts >= MINIMUM_VOTES, CLASS_NAMES)


def sets_from_annotators(votes: npt.NDArray[np.integer[Any]]) -> CandidateSets:
    """Return candidate sets from labels (n, annotators): the union of the labels of each row."""
    mask = np.zeros((len(votes), len(CLASS_NAMES)), dtype=np.bool_)
    np.put_along_axis(mask, votes.astype(np.int64), True, axis=1)
    return CandidateSets.from_mask(mask, CLASS_NAMES)


def _counts(paths: Mapping[str, Path]) -> npt.NDArray[Any]:
    if VOTES in paths:
        path = paths[VOTES]
        return _checked(path, read_npz(path, "cifar10h_counts"), (10_000, 10), 255)
    path = paths[COUNTS]
    try:
        counts = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise damaged(path, error) from error
    return _checked(path, counts, (10_000, 10), 255)


def _annotators(paths: Mapping[str, Path]) -> npt.NDArray[Any]:
    if VOTES in paths:
        path = paths[VOTES]
        return _checked(path, read_npz(path, "cifar10n_votes"), (50_000, 3), 9)
    path = paths[ANNOTATORS]
    arrays = _load_torch_arrays(path)
    keys = [f"random_label{person}" for person in (1, 2, 3)]
    try:
        votes = np.stack([np.asarray(arrays[key]) for key in keys], axis=1)
    except (KeyError, TypeError, ValueError) as error:
        raise not_published(path, f"it lacks the labels {', '.join(keys)}") from error
    return _checked(path, votes, (50_000, 3), 9)


def _checked(path: Path, votes: npt.NDArray[Any], shape: tuple[int, ...], largest: int) -> npt.NDArray[Any]:
    fits = votes.shape == shape and np.issubdtype(votes.dtype, np.number)
    if not fits or votes.min() < 0 or votes.max() > largest:
        result = f"{votes.dtype} votes of shape {votes.shape}"
        raise not_published(path, f"it holds {result}; whole numbers of shape {shape} from 0 to {largest} are expected")
    return votes


def _load_torch_arrays(path: Path) -> Mapping[str, Any]:
    """Return the dictionary of arrays in a torch file; only arrays may be unpickled.

    CIFAR-10N is published as NumPy arrays pickled by torch. torch's restricted unpickler builds only the types it is
    given, here NumPy's array reconstruction under its old and new module name.
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
        raise not_published(path, f"it cannot be read as arrays ({type(error).__name__})") from error
    if not isinstance(content, Mapping):
        raise not_published(path, "it holds no dictionary of labels")
    return content

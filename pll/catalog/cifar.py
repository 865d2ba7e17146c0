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
from pll.catalog.entry import Checksum, Entry, File, Need, files
from pll.catalog.files import damaged, folder_of
from pll.catalog.mnist import as_pixels
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.images import torchvision

PAGE = "https://www.cs.toronto.edu/~kriz/cifar.html"
LICENCE = "none stated; its author asks to be cited (Krizhevsky, 2009)"
CLASS_NAMES = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
TILE = 32  # pixels: the side of an image

Images = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]

ARCHIVE = File(
    name="cifar-10-python.tar.gz",
    folder="cifar10",
    page=PAGE,
    urls=("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",),
    megabytes=170.5,
    checksum=Checksum("md5", "c58f30108f718f92721af3b95e74349a"),
)
FOLDER = File(name="cifar-10-batches-py", folder="cifar10", page=PAGE)  # the same, unpacked
PUBLISHED = Need(((FOLDER,), (ARCHIVE,)))


def _sprite_file(name: str, megabytes: float = 0.0) -> File:
    return File(name, folder="cifar10", page="docs/datasets.md", megabytes=megabytes, distinctive=False)


TRAIN_SPRITE = _sprite_file("data_batch_1.webp", 17.1)
TEST_SPRITE = _sprite_file("test_batch.webp", 17.1)
SPRITE_LABELS = _sprite_file("labels.npz", 0.03)


def published(paths: Mapping[str, Path], *, train: bool) -> tuple[Images, Labels]:
    """Return images (n, 32, 32, 3) uint8 and labels (n,) of one part, from the published archive or its folder.

    The batches are Python pickles; torchvision compares each with its published checksum before it is read, so that
    only the original bytes are ever unpickled.
    """
    folder = paths.get(FOLDER.name) or _unpacked(paths[ARCHIVE.name])
    try:
        part = torchvision().datasets.CIFAR10(folder.parent, train=train, download=False)
    except RuntimeError as error:
        raise UserError(
            f"{folder} does not hold the published batches of CIFAR-10 ({error}). Delete it and load again, or "
            f"replace it by the content of {ARCHIVE.name} from {PAGE}."
        ) from error
    return part.data, np.asarray(part.targets, dtype=np.int64)


def read_sprite(path: Path, count: int) -> Images:
    """Return the first `count` tiles of a sprite, row by row, as (count, 32, 32, 3) uint8.

    Raises:
        UserError: the file is not an image, or has fewer tiles.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as picture:
            sheet = np.asarray(picture.convert("RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise damaged(path, error) from error
    rows, columns = sheet.shape[0] // TILE, sheet.shape[1] // TILE
    if sheet.shape[:2] != (rows * TILE, columns * TILE) or rows * columns < count:
        raise UserError(
            f"{path} is {sheet.shape[1]} × {sheet.shape[0]} pixels; {count} tiles of {TILE} × {TILE} are expected."
        )
    tiles = sheet.reshape(rows, TILE, columns, TILE, 3).swapaxes(1, 2)  # (rows, columns, 32, 32, 3)
    return tiles.reshape(-1, TILE, TILE, 3)[:count]


def sprite_labels(path: Path, part: str) -> Labels:
    """Return the true labels (n,) of `"train"` or `"test"` from the sprites' labels.npz."""
    return read_npz(path, part).astype(np.int64)


def read_npz(path: Path, name: str) -> npt.NDArray[Any]:
    """Return one array of an .npz file; pickled content is refused.

    Raises:
        UserError: the file is damaged or has no such array.
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
    raise UserError(f"{path} has no array {name!r}; it has {names}. Replace it by the original.")


def image_dataset(images: list[Images], labels: list[Labels], is_test: list[bool]) -> PartialLabelDataset:
    """Return parts of CIFAR-10, concatenated, as a dataset."""
    return PartialLabelDataset(
        X=as_pixels(np.concatenate(images)),
        y=np.concatenate(labels),
        class_names=CLASS_NAMES,
        is_test=np.repeat(is_test, [len(part) for part in labels]),
        kind="image",
    )


def _cifar10(paths: Mapping[str, Path]) -> PartialLabelDataset:
    train, test = published(paths, train=True), published(paths, train=False)
    return image_dataset([train[0], test[0]], [train[1], test[1]], [False, True])


def _subset(paths: Mapping[str, Path]) -> PartialLabelDataset:
    labels = [sprite_labels(paths[SPRITE_LABELS.name], part)[:10_000] for part in ("train", "test")]
    sprites = [paths[TRAIN_SPRITE.name], paths[TEST_SPRITE.name]]
    images = [read_sprite(path, len(part)) for path, part in zip(sprites, labels, strict=True)]
    return image_dataset(images, labels, [False, True])


def _unpacked(archive: Path) -> Path:
    """Unpack the verified archive into the cache; the folder appears complete or not at all."""
    home = folder_of(FOLDER)
    target = home / FOLDER.name
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=home) as part:
            with tarfile.open(archive) as members:
                members.extractall(part, filter="data")
            if not target.exists():
                (Path(part) / FOLDER.name).replace(target)
    except tarfile.TarError as error:
        raise damaged(archive, error) from error
    except OSError as error:
        raise UserError(
            f"{archive} cannot be unpacked into {home} ({error.strerror or error}). Free some space there, or set "
            "PLL_DATA to a folder with 200 MB to spare."
        ) from error
    return target


# ---- CIFAR-10H and CIFAR-10N: people's votes on these images ----

MINIMUM_VOTES = 2
"""Votes that make a label a candidate in CIFAR-10H; a single vote is more often a mistake than an opinion."""

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
    ((FOLDER,), (ARCHIVE,), (TEST_SPRITE, SPRITE_LABELS)),
)


def sets_from_counts(counts: npt.NDArray[Any]) -> CandidateSets:
    """Return candidate sets from vote counts (n, 10): the classes with at least `MINIMUM_VOTES` votes."""
    return CandidateSets.from_mask(counts >= MINIMUM_VOTES, CLASS_NAMES)


def sets_from_annotators(votes: npt.NDArray[np.integer[Any]]) -> CandidateSets:
    """Return candidate sets from labels (n, annotators): the union of the labels of each row."""
    mask = np.zeros((len(votes), len(CLASS_NAMES)), dtype=np.bool_)
    np.put_along_axis(mask, votes.astype(np.int64), True, axis=1)
    return CandidateSets.from_mask(mask, CLASS_NAMES)


def _cifar10h(paths: Mapping[str, Path]) -> PartialLabelDataset:
    counts = _counts(paths)
    if TEST_SPRITE.name in paths:
        labels = sprite_labels(paths[SPRITE_LABELS.name], "test")
        images = read_sprite(paths[TEST_SPRITE.name], len(labels))
    else:
        images, labels = published(paths, train=False)
    data = image_dataset([images], [labels], [True])
    votes = Annotations.from_counts(counts, CLASS_NAMES)
    # Here the test images are what is learnt from: no split is published.
    return replace(data, candidates=sets_from_counts(counts), annotations=votes, is_test=None)


def _cifar10n(paths: Mapping[str, Path]) -> PartialLabelDataset:
    images, labels = published(paths, train=True)
    data = image_dataset([images], [labels], [False])
    return _with_annotators(data, _annotators(paths))


def _cifar10n_subset(paths: Mapping[str, Path]) -> PartialLabelDataset:
    labels = sprite_labels(paths[SPRITE_LABELS.name], "train")[:10_000]
    images = read_sprite(paths[TRAIN_SPRITE.name], len(labels))
    data = image_dataset([images], [labels], [False])
    return _with_annotators(data, _annotators(paths)[: len(labels)])


def _with_annotators(data: PartialLabelDataset, votes: npt.NDArray[np.integer[Any]]) -> PartialLabelDataset:
    """Return the data with labels (n, annotators) as its annotations, and their union as its candidate sets."""
    n, people = votes.shape
    annotations = Annotations(
        np.repeat(np.arange(n), people),
        np.tile(np.arange(people), n),
        votes.astype(np.int64).ravel(),
        n,
        CLASS_NAMES,
        tuple(f"annotator {person}" for person in range(1, people + 1)),
    )
    return replace(data, candidates=sets_from_annotators(votes), annotations=annotations, is_test=None)


def _counts(paths: Mapping[str, Path]) -> npt.NDArray[Any]:
    if _BOTH.name in paths:
        path = paths[_BOTH.name]
        return _checked(path, read_npz(path, "cifar10h_counts"), (10_000, 10), 255)
    path = paths[_COUNTS.name]
    try:
        counts = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise damaged(path, error) from error
    return _checked(path, counts, (10_000, 10), 255)


def _annotators(paths: Mapping[str, Path]) -> npt.NDArray[Any]:
    if _BOTH.name in paths:
        path = paths[_BOTH.name]
        return _checked(path, read_npz(path, "cifar10n_votes"), (50_000, 3), 9)
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
        raise UserError(
            f"{path} cannot be read as arrays ({type(error).__name__}). Replace it by the one from {_PAGE_N}."
        ) from error
    if not isinstance(content, Mapping):
        raise UserError(f"{path} holds no dictionary of labels. Replace it by the one from {_PAGE_N}.")
    return content


ENTRIES = (
    Entry(
        name="cifar10",
        title="CIFAR-10",
        about="Photographs of ten kinds of animals and vehicles, 32 × 32 pixels in colour.",
        kind="image",
        n=60_000,
        shape=(3, TILE, TILE),
        c=10,
        licence=LICENCE,
        page=PAGE,
        needs=(PUBLISHED,),
        loader=_cifar10,
        split="50,000 + 10,000",
    ),
    Entry(
        name="cifar10-subset",
        title="CIFAR-10, first batch",
        about="The first 10,000 training images and the test images of CIFAR-10, read from lossless sprites.",
        kind="image",
        n=20_000,
        shape=(3, TILE, TILE),
        c=10,
        licence=LICENCE,
        page=PAGE,
        needs=files(TRAIN_SPRITE, TEST_SPRITE, SPRITE_LABELS),
        loader=_subset,
        split="10,000 + 10,000",
    ),
    Entry(
        name="cifar10h",
        title="CIFAR-10H",
        about="The test images of CIFAR-10 with the labels that at least two of about 51 people gave them.",
        kind="partial",
        n=10_000,
        shape=(3, TILE, TILE),
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
        shape=(3, TILE, TILE),
        c=10,
        licence=_LICENCE_N,
        page=_PAGE_N,
        needs=(_VOTES_N, PUBLISHED),
        loader=_cifar10n,
        mean_candidates=1.46,
    ),
    Entry(
        name="cifar10n-subset",
        title="CIFAR-10N, first batch",
        about="The first 10,000 images of CIFAR-10N, read from lossless sprites.",
        kind="partial",
        n=10_000,
        shape=(3, TILE, TILE),
        c=10,
        licence=_LICENCE_N,
        page=_PAGE_N,
        needs=(_VOTES_N, *files(TRAIN_SPRITE, SPRITE_LABELS)),
        loader=_cifar10n_subset,
        mean_candidates=1.47,
    ),
)

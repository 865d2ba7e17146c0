"""CIFAR-10 as published (through torchvision), and as the lossless sprites some of it is also handed on in."""

from __future__ import annotations

import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.catalog.base import Checksum, Entry, File, Need, files
from pll.catalog.files import damaged, folder_of
from pll.catalog.idx import as_pixels
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
    """The (n, 32, 32, 3) images of one part and their labels, from the published archive or its unpacked folder.

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
    """The first `count` tiles of a picture made of tiles, row after row, as (count, 32, 32, 3) uint8.

    Raises:
        UserError: the file is no picture, or not made of that many tiles.
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
    """(n,) true labels of `"train"` or `"test"` from the sprites' labels.npz."""
    return read_npz(path, part).astype(np.int64)


def read_npz(path: Path, name: str) -> npt.NDArray[Any]:
    """One array of an npz; nothing in it is ever unpickled.

    Raises:
        UserError: the file is damaged, or has no such plain array.
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
    """Parts of CIFAR-10, one after the other, as a dataset."""
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
    """Unpack the archive (whose checksum was compared) into the cache, in one step or not at all."""
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
)

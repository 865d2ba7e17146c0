"""CIFAR-10, as published (through torchvision) or from lossless sprites."""

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

from pll.catalog.files import damaged, data_folder, not_published
from pll.catalog.idx import image_dataset
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

BATCHES_FOLDER = "cifar-10-batches-py"
ARCHIVE = "cifar-10-python.tar.gz"
"""The published batches, unpacked or not."""
SPRITES = {"train": "data_batch_1.webp", "test": "test_batch.webp"}
SPRITE_LABELS = "labels.npz"


def load(paths: Mapping[str, Path]) -> PartialLabelDataset:
    """Return the training and the test images, as published or the first 10,000 of each from sprites."""
    train, test = _part(paths, "train"), _part(paths, "test")
    return image_dataset([train[0], test[0]], [train[1], test[1]], CLASS_NAMES)


def _part(paths: Mapping[str, Path], part: str) -> tuple[Images, Labels]:
    if SPRITES[part] not in paths:
        return published_part(paths, train=part == "train")
    labels = read_npz(paths[SPRITE_LABELS], part)[:10_000].astype(np.int64)
    return read_sprite(paths[SPRITES[part]], len(labels)), labels


def published_part(paths: Mapping[str, Path], *, train: bool) -> tuple[Images, Labels]:
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
    folder = paths.get(BATCHES_FOLDER) or _unpacked(paths[ARCHIVE])
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


def _unpacked(archive: Path) -> Path:
    """Unpack the verified archive into the cache; the folder appears complete or not at all."""
    home = data_folder() / "cifar10"
    target = home / BATCHES_FOLDER
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=home) as part:
            with tarfile.open(archive) as members:
                members.extractall(part, filter="data")
            if not target.exists():
                (Path(part) / BATCHES_FOLDER).replace(target)
    except tarfile.TarError as error:
        raise damaged(archive, error) from error
    except OSError as error:
        raise UserError(
            f"{archive} cannot be unpacked into {home} ({error.strerror or error}). Free some space there, or set "
            "PLL_DATA to a folder with 200 MB to spare."
        ) from error
    return target

"""MNIST, Fashion-MNIST and Kuzushiji-MNIST, read from idx files with neither torch nor torchvision."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pll.catalog.files import damaged, open_unpacked
from pll.dataset import PartialLabelDataset
from pll.errors import UserError

_SPLITS = ("train", "t10k")


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Read an idx file of unsigned bytes, gzip-compressed or not.

    Raises
    ------
    UserError
        The file is damaged or not an idx file of bytes.
    """
    try:
        with open_unpacked(path) as stream:
            content = stream.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise damaged(path, error) from error
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":  # 8: unsigned bytes
        raise UserError(f"{path} is not an idx file of bytes. Replace it by the published one.")
    start = 4 + 4 * content[3]  # the fourth byte is the number of dimensions, each a big-endian int32
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">i4"))
    if len(content) - start != np.prod(shape, dtype=np.int64):
        raise damaged(path, f"{len(content) - start} bytes where its header promises {shape}")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape)


def as_pixels(images: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Convert grey (n, H, W) or RGB (n, H, W, 3) images from uint8 to (n, C, H, W) float32 in [0, 1]."""
    planes = images[:, None] if images.ndim == 3 else images.transpose(0, 3, 1, 2)
    pixels = np.empty(planes.shape, dtype=np.float32)
    return np.divide(planes, np.float32(255), out=pixels)


def load(paths: Mapping[str, Path], *, classes: Sequence[str]) -> PartialLabelDataset:
    """Return the images of the four files of MNIST and its successors, the training part first.

    Parameters
    ----------
    paths
        The files, by what the catalogue calls them.
    classes
        Names of the classes.
    """
    images = [read_idx(paths[f"{part}-images-idx3-ubyte.gz"]) for part in _SPLITS]
    labels = [read_idx(paths[f"{part}-labels-idx1-ubyte.gz"]) for part in _SPLITS]
    return image_dataset(images, labels, classes)


def image_dataset(
    images: Sequence[npt.NDArray[np.uint8]], labels: Sequence[npt.NDArray[Any]], classes: Sequence[str]
) -> PartialLabelDataset:
    """Return pictures as a dataset.

    Parameters
    ----------
    images, labels
        (n, H, W) or (n, H, W, 3) and (n,), of the training and of the test part.
    classes
        Names of the classes.
    """
    return PartialLabelDataset(
        X=as_pixels(np.concatenate(images)),
        y=np.concatenate(labels).astype(np.int64),
        class_names=tuple(classes),
        is_test=np.repeat([False, True], [len(part) for part in labels]),
        kind="image",
    )

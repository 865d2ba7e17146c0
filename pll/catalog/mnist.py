"""MNIST, Fashion-MNIST and Kuzushiji-MNIST, read from idx files.

File names, addresses and checksums are torchvision's (a test compares them), so that both can use the same folder.
Reading needs neither torch nor torchvision.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pll.catalog.entry import Checksum, Entry, File, Loader, files
from pll.catalog.files import damaged, open_unpacked
from pll.dataset import PartialLabelDataset
from pll.errors import UserError

_PARTS = ("train", "t10k")
_NAMES = tuple(f"{part}-{what}-ubyte" for part in _PARTS for what in ("images-idx3", "labels-idx1"))

# In the order of _NAMES.
_MNIST_CONTENT = (  # of the uncompressed files, so that recompressed copies match
    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
)
_FASHION_MD5 = (
    "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "25c81989df183df01b3e8a0aad5dffbe",
    "bef4ecab320f06d8554ea6380940ec79",
    "bb300cfdad3c16e7a12a480ee83cd310",
)
_KUZUSHIJI_MD5 = (
    "bdb82020997e1d708af4cf47b453dcf7",
    "e144d726b3acfaa3e44228e80efcd344",
    "5c965bf0a639b31b8f53240b1b52f4d7",
    "7320c461ea6c1c855c0b718fb2a4b134",
)


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Read an idx file of unsigned bytes, gzip-compressed or not.

    Raises:
        UserError: the file is damaged or not an idx file of bytes.
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


def _read(class_names: tuple[str, ...]) -> Loader:
    def load(paths: Mapping[str, Path]) -> PartialLabelDataset:
        images = [read_idx(paths[f"{part}-images-idx3-ubyte.gz"]) for part in _PARTS]
        labels = [read_idx(paths[f"{part}-labels-idx1-ubyte.gz"]) for part in _PARTS]
        return PartialLabelDataset(
            X=as_pixels(np.concatenate(images)),
            y=np.concatenate(labels).astype(np.int64),
            class_names=class_names,
            is_test=np.repeat([False, True], [len(part) for part in labels]),
            kind="image",
        )

    return load


def _entry(
    *,
    name: str,
    title: str,
    about: str,
    licence: str,
    page: str,
    mirrors: tuple[str, ...],
    checksums: tuple[Checksum, ...],
    megabytes: tuple[float, ...],
    torchvision_name: str,
    class_names: tuple[str, ...],
) -> Entry:
    def file(content: str, checksum: Checksum, size: float) -> File:
        any_copy = checksum.kind == "sha256-unpacked"
        return File(
            name=f"{content}.gz",
            folder=name,
            page=page,
            urls=tuple(f"{mirror}{content}.gz" for mirror in mirrors),
            megabytes=size,
            checksum=checksum,
            other_names=(content, content.replace("-idx", ".idx")) if any_copy else (),
            other_folders=(f"{torchvision_name}/raw", torchvision_name),
            distinctive=False,
        )

    return Entry(
        name=name,
        title=title,
        about=about,
        kind="image",
        n=70_000,
        shape=(1, 28, 28),
        c=10,
        licence=licence,
        page=page,
        needs=files(*map(file, _NAMES, checksums, megabytes)),
        loader=_read(class_names),
        split="60,000 + 10,000",
    )


ENTRIES = (
    _entry(
        name="mnist",
        title="MNIST",
        about="Handwritten digits, 28 × 28 pixels each.",
        licence="CC BY-SA 3.0",
        page="http://yann.lecun.com/exdb/mnist/",
        mirrors=("https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/"),
        checksums=tuple(Checksum("sha256-unpacked", value) for value in _MNIST_CONTENT),
        megabytes=(9.91, 0.03, 1.65, 0.005),
        torchvision_name="MNIST",
        class_names=tuple("0123456789"),
    ),
    _entry(
        name="fashion-mnist",
        title="Fashion-MNIST",
        about="Photographs of clothes from a shop's catalogue, 28 × 28 grey pixels each.",
        licence="MIT",
        page="https://github.com/zalandoresearch/fashion-mnist",
        mirrors=("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",),
        checksums=tuple(Checksum("md5", value) for value in _FASHION_MD5),
        megabytes=(26.42, 0.03, 4.42, 0.005),
        torchvision_name="FashionMNIST",
        class_names=(
            *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
            *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
        ),
    ),
    _entry(
        name="kuzushiji-mnist",
        title="Kuzushiji-MNIST",
        about="Cursive Japanese characters from old books, 28 × 28 pixels each.",
        licence="CC BY-SA 4.0",
        page="https://github.com/rois-codh/kmnist",
        mirrors=("http://codh.rois.ac.jp/kmnist/dataset/kmnist/",),
        checksums=tuple(Checksum("md5", value) for value in _KUZUSHIJI_MD5),
        megabytes=(18.17, 0.03, 3.04, 0.005),
        torchvision_name="KMNIST",
        class_names=("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"),
    ),
)

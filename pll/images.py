"""Pictures: reading them from a ZIP archive or folder, decoding, encoding, and the import of torchvision.

Only the names of pictures are kept in memory; a picture is read and decoded when it is needed. Picture files are not
trusted: the size is checked before decoding, a path never leads out of its archive or folder, and URLs are not
followed.
"""

from __future__ import annotations

import importlib
import io
import os
import threading
import warnings
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from pll.errors import UserError
from pll.extras import require_extra

PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm", ".pgm")
"""File name endings of pictures, lower case."""

DECODED_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
"""The formats that are decoded; Pillow knows many more, some of which run other programs."""

OPEN_ARCHIVES = 2
"""Number of archives that stay open between two pictures: that of the run in view, and one more."""

MAX_PIXELS = 50_000_000
"""A larger picture (some 150 MB unpacked) is refused before it is decoded."""

MAX_BYTES = 200 * 2**20
"""A larger file is refused before it is read."""

_OPERATORS = ("nms", "qnms")
_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
"""Torchvision's compiled operators, and their signature."""
_import_lock = threading.Lock()  # two threads must not define the same operator


class UnreadablePicture(UserError):
    """A file is no picture, or a damaged one: the message names it."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """n pictures by name.

    Parameters
    ----------
    names
        (n,) object array of str: a path inside `where`, or a URL.
    where
        The ZIP archive or the folder that holds them; None where they are elsewhere.
    contents
        (n,) object array of bytes or None, the files themselves, where they came inside the data.
    damaged
        Names of files that are known to be unreadable; there is nothing to see of them.
    """

    names: npt.NDArray[np.object_]
    where: Path | None = None
    contents: npt.NDArray[np.object_] | None = None
    damaged: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.names)

    def take(self, rows: npt.NDArray[np.int64]) -> Pictures:
        """Return the pictures of these (m,) row numbers."""
        contents = None if self.contents is None else self.contents[rows]
        return Pictures(self.names[rows], self.where, contents, self.damaged)

    def data(self, i: int) -> bytes | None:
        """Return the content of picture i's file; None where it cannot be reached (a URL, or no `where`).

        Raises
        ------
        UserError
            It is missing, damaged, too large, or its name leads out of the archive or folder.
        """
        if self.contents is not None:
            content: bytes | None = self.contents[i]
            return content
        if self.where is None:
            return None
        name = str(self.names[i])
        if "://" in name or name.startswith("data:"):
            return None
        check_inside(name)
        try:
            if self.where.is_dir():
                return self._from_folder(self.where, name)
            archive = _archive(self.where)
            info = archive.getinfo(name)
            _check_bytes(info.file_size, name)
            return archive.read(info)
        except KeyError as error:
            raise UserError(f"{self.where.name} holds no picture {name!r}; put it there.") from error
        # What zipfile raises of a member that is damaged, encrypted or packed in a way that it does not know:
        except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise UserError(f"The picture {name!r} of {self.where.name} cannot be read ({error}).") from error

    def __getitem__(self, i: int) -> npt.NDArray[np.uint8] | None:
        """Return picture i as (H, W) or (H, W, 3) uint8; None where it cannot be reached, or is known to be damaged.

        Raises
        ------
        UserError
            See `data` and `decode`.
        """
        if str(self.names[i]) in self.damaged:
            return None
        content = self.data(i)
        return None if content is None else decode(content, str(self.names[i]))

    @staticmethod
    def _from_folder(folder: Path, name: str) -> bytes:
        file = folder / name
        if not file.resolve().is_relative_to(folder.resolve()):
            raise UserError(f"The picture {name!r} is a link that leads out of the folder {folder}; copy it there.")
        _check_bytes(file.stat().st_size, name)
        return file.read_bytes()


def _archive(path: Path) -> zipfile.ZipFile:
    """Return the open archive, cached: reading its list of files for every picture would take most of the time.

    Several threads may read from it at once (zipfile has its own lock); a forked process opens its own, since the
    position in the file would be shared. A file that has changed is opened again.
    """
    about = path.stat()
    return _opened_archive(str(path), about.st_mtime_ns, about.st_size, os.getpid())


@lru_cache(maxsize=OPEN_ARCHIVES)
def _opened_archive(path: str, changed: int, size: int, process: int) -> zipfile.ZipFile:
    return zipfile.ZipFile(path)  # closed as soon as nobody holds it any more


def check_inside(name: str) -> None:
    """Raise UserError if a path leads out of its archive or folder.

    Examples
    --------
    >>> check_inside("cats/1.png")
    >>> check_inside("../../etc/passwd")
    Traceback (most recent call last):
        ...
    pll.errors.UserError: The path '../../etc/passwd' leads out of the archive; only paths inside it are read.
    """
    pieces = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in pieces or pieces[0].endswith(":") or "\0" in name:
        raise UserError(f"The path {name[:200]!r} leads out of the archive; only paths inside it are read.")


def check_size(file: IO[bytes], name: str) -> None:
    """Read the header of a picture and check its size.

    Parameters
    ----------
    file
        Open for reading.
    name
        Of the picture, for messages.

    Raises
    ------
    UnreadablePicture
        Not a picture.
    UserError
        It is too large.
    """
    _opened(file, name).close()


def decode(content: bytes, name: str) -> npt.NDArray[np.uint8]:
    """Return the pixels of a picture, rotated as its EXIF data says, transparency blended with white.

    Parameters
    ----------
    content
        The file.
    name
        Its name, for messages.

    Returns
    -------
    npt.NDArray[np.uint8]
        (H, W) uint8 for a grey picture, else (H, W, 3).

    Raises
    ------
    UserError
        Not a picture, damaged, or too large.
    """
    with _opened(io.BytesIO(content), name) as picture:
        try:
            upright = ImageOps.exif_transpose(picture)
            if upright.mode.startswith(("I", "F")):
                return _in_8_bits(np.asarray(upright))
            if _is_grey(upright):
                return np.asarray(upright.convert("L"))
            if upright.has_transparency_data:
                rgba = upright.convert("RGBA")
                white = Image.new("RGBA", rgba.size, "white")
                upright = Image.alpha_composite(white, rgba)
            return np.asarray(upright.convert("RGB"))
        except Exception as error:  # decoders of hostile bytes raise nearly anything
            raise UnreadablePicture(
                f"The picture {name!r} is damaged ({_reason(error)}); export or copy it again."
            ) from error


def _in_8_bits(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Grey values of 12, 16 or more bits, or fractions, as uint8: white is what so many bits can say.

    >>> _in_8_bits(np.array([[0, 2047, 4095]])).tolist(), _in_8_bits(np.array([[0.5, 1.0]])).tolist()
    ([[0, 127, 255]], [[127, 255]])
    """
    finite = np.nan_to_num(values.astype(np.float64), posinf=np.nan)
    most = float(np.nanmax(finite, initial=0))
    fractions = values.dtype.kind == "f" and most <= BRIGHTEST_FRACTION
    white = 1.0 if fractions else next((one for one in WHITES if most <= one), most)
    return np.asarray(np.clip(np.nan_to_num(finite, nan=white) / white, 0, 1) * 255).astype(np.uint8)


WHITES, BRIGHTEST_FRACTION = (255.0, 4095.0, 65535.0), 1.5
"""White of 8, 12 and 16 bits; up to which value a picture of fractions is one, whose white is 1."""


def encode(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return (H, W) or (H, W, 3) uint8 as a PNG file; `decode` returns the same pixels."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def _opened(file: IO[bytes], name: str) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Pillow's own, lower idea of too large, and of odd metadata
            picture = Image.open(file, formats=DECODED_FORMATS)
    except Image.DecompressionBombError as error:
        raise UserError(f"The picture {name!r} is too large ({_reason(error)}); make it smaller.") from error
    except Exception as error:
        raise UnreadablePicture(
            f"The file {name!r} is not a picture that can be read ({_reason(error)}); save it as PNG or JPEG."
        ) from error
    width, height = picture.size
    if width * height > MAX_PIXELS:
        picture.close()
        raise UserError(
            f"The picture {name!r} has {width:,} × {height:,} pixels; at most {MAX_PIXELS // 10**6} million are read. "
            "Make it smaller."
        )
    return picture


def _is_grey(picture: Image.Image) -> bool:
    return picture.mode in ("1", "L") and not picture.has_transparency_data


def _check_bytes(size: int, name: str) -> None:
    if size > MAX_BYTES:
        raise UserError(
            f"The picture {name!r} takes {size // 2**20:,} MB; at most {MAX_BYTES // 2**20} are read. Make it smaller."
        )


def _reason(error: Exception) -> str:
    words = str(error).strip().splitlines()
    return words[0][:120].rstrip(".") if words else type(error).__name__


def torchvision() -> ModuleType:
    """Import torchvision and return it (about 3 s the first time, torch included).

    With a CPU-only build of torch, the compiled operators of the published torchvision cannot be loaded and its import
    fails. Defining the operators' schemas first lets its Python half (datasets, transforms, models) work.

    Raises
    ------
    UserError
        Torchvision is not installed.
    ImportError
        It does not fit the installed torch.

    Examples
    --------
    >>> torchvision().datasets.CIFAR10.filename
    'cifar-10-python.tar.gz'
    """
    require_extra("torchvision")
    with _import_lock:
        try:
            return importlib.import_module("torchvision")
        except RuntimeError as error:
            if "torchvision::" not in str(error):
                raise
            _define_missing_operators()
            return importlib.import_module("torchvision")


def _define_missing_operators() -> None:
    import torch

    for name in _OPERATORS:
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(f"torchvision::{name}", _SCHEMA)

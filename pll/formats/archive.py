"""The arrays of an .npz file, opened without trusting it.

Every array's header is read and checked (type, size against what the ZIP really holds, size in memory) before any of
the array is; nothing in the file can run code.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from pll.errors import UserError
from pll.formats.checks import check_unpacked_size, parsing
from pll.formats.words import kind_of, shorten

_MAX_MEMBERS = 1000
MAX_DIRECTORY = 46 * 2**20
"""Bytes of a ZIP archive's directory: room for a million files, whose list alone takes most of a gigabyte."""

_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_END_BYTES = 2**16 + 200


def read_arrays(path: Path, wanted: Collection[str], max_bytes: int) -> tuple[dict[str, npt.NDArray[Any]], list[str]]:
    """Some of the arrays of an .npz file.

    Args:
        wanted: names of the arrays to read, where they are there.
        max_bytes: what they may take in memory together.

    Returns:
        the arrays by name, and the names of all others.

    Raises:
        UserError: not a ZIP archive, a damaged one, an array of Python objects, or more than fits; the array is named.
    """
    with parsing("the .npz file", "it is not a whole ZIP archive: copy it again, or save it with numpy.savez"):
        archive = open_zip(path)
    with archive:
        members = _members(archive)
        chosen = {name: info for name, info in members.items() if name in wanted}
        for name, info in chosen.items():
            with parsing(f"the array {name}"):
                _check_header(archive, name, info)
        check_unpacked_size(
            sum(info.file_size for info in chosen.values()),
            sum(info.compress_size for info in chosen.values()),
            max_bytes,
            "what this file holds",
        )
        arrays = {}
        for name, info in chosen.items():
            with parsing(f"the array {name}"), archive.open(info) as file:
                arrays[name] = npy.read_array(file, allow_pickle=False)
                if file.read(1):  # also makes zipfile compare the checksum
                    raise ValueError("there is more in it than its header says")
    return arrays, [name for name in members if name not in chosen]


def open_zip(path: Path) -> zipfile.ZipFile:
    """A ZIP archive, once its directory is known to be of a size that can be read.

    Raises:
        UserError: it lists too many files.
        zipfile.BadZipFile: and much else, where it is damaged.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _END_BYTES))
        end = file.read()
    sizes = [int.from_bytes(end[at + 12 : at + 16], "little") for at in (end.rfind(_END),) if at >= 0]
    sizes = [known for known in sizes if known != 0xFFFFFFFF]
    sizes += [int.from_bytes(end[at + 40 : at + 48], "little") for at in (end.rfind(_END_64),) if at >= 0]
    if max(sizes, default=0) > MAX_DIRECTORY:
        raise UserError("The archive lists more files than are read at a time (about half a million); split it.")
    return zipfile.ZipFile(path)


def first_member(head: bytes) -> str:
    """The name of the first member of a ZIP archive, from its first bytes; empty where they are no archive's."""
    if head[:4] != b"PK\x03\x04" or len(head) < 30:
        return ""
    length = int.from_bytes(head[26:28], "little")
    return head[30 : 30 + length].decode("utf-8", errors="replace")


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    infos = archive.infolist()
    if len(infos) > _MAX_MEMBERS:
        raise UserError(f"The file holds {len(infos):,} members; a dataset has a handful of arrays.")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise UserError(f"The file holds two arrays called {shorten(name)}; save it again with one.")
        members[name] = info
    return members


def _check_header(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> None:
    with archive.open(info) as file:
        shape, dtype, data_start = _header(file)
    if dtype.hasobject:
        raise UserError(
            f"The array {name} holds Python objects, which are never loaded because they can run code. Save plain "
            f"numbers or text: np.savez(…, {name}=np.array(list({name}.tolist()))) once all rows have one length "
            "and one type."
        )
    if dtype.kind not in "biufcSU":
        raise UserError(f"The array {name} holds {kind_of(dtype)}; save plain numbers or text.")
    declared = math.prod(shape) * dtype.itemsize
    if dtype.itemsize == 0 or declared != info.file_size - data_start:
        raise UserError(
            f"The array {name} is damaged: its header says {shape} of {dtype}, {declared:,} bytes, but "
            f"{info.file_size - data_start:,} bytes are there. Save or copy the file again."
        )


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Shape, dtype, and where the data begins."""
    version = npy.read_magic(file)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version} of the .npy format holds records, not plain arrays")
    shape, _, dtype = readers[version](file)
    return shape, dtype, file.tell()

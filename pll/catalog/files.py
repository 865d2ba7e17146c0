"""The files of a dataset on this machine: where they are looked for, their checksums, and unpacking archives."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from pll.catalog.entry import ChecksumKind, Entry, File, Need
from pll.errors import UserError
from pll.extras import require_extra
from pll.io import cached_by_file, write_atomically
from pll.paths import candid_home

_CHUNK = 1 << 20
_LARGEST = 2_000_000_000  # bytes: more than any file of the catalogue unpacks to; a bound for hostile archives


def data_folder() -> Path:
    """Return the folder of downloads, by Candid or by the user: `$PLL_DATA`, else `data` in `candid_home`."""
    named = os.environ.get("PLL_DATA")
    return Path(named).expanduser() if named else candid_home() / "data"


def folder_of(file: File) -> Path:
    """Return the folder of a file in the cache."""
    return data_folder() / file.folder


def search_roots() -> list[Path]:
    """Return the cache, then the folders of `$PLL_DATA_PATH` (separated as in `$PATH`), which are never written to."""
    extra = os.environ.get("PLL_DATA_PATH", "").split(os.pathsep)
    return [data_folder(), *(Path(part).expanduser() for part in extra if part)]


def locate(file: File) -> Path | None:
    """Return the path of a file under any of its names, ignoring case; None if it is not found."""
    return _look_for((file.name, *file.other_names), file)


def locate_archive(file: File) -> Path | None:
    """Return the path of a manually downloaded archive that holds the file; None if it is not found."""
    names = tuple(archive_name(url) for url in file.urls if is_archive(url, file))
    return _look_for(names, file) if names else None


def have(need: Need) -> dict[str, Path] | None:
    """Return the verified files of the first group that is complete on this machine; None if no group is.

    Raises
    ------
    UserError
        a file exists but is not the published one.
    """
    for way in need.ways:
        places = {file.name: path for file in way if (path := locate(file)) is not None}
        if len(places) == len(way):
            for file in way:
                verify(places[file.name], file)
            return places
    return None


def available(entry: Entry) -> bool:
    """Whether the dataset can be loaded without a download. Files are searched, not read."""
    return all(
        any(all(locate(file) or locate_archive(file) for file in way) for way in need.ways) for need in entry.needs
    )


def is_archive(url: str, file: File) -> bool:
    """Whether the address is that of an archive with the file in it.

    Parameters
    ----------
    url
        Where it comes from.
    file
        As the catalogue has it.
    """
    suffix = PurePosixPath(urlsplit(url).path).suffix.lower()
    return suffix in (".zip", ".rar") and not file.name.lower().endswith(suffix)


def archive_name(url: str) -> str:
    """Return the file name at the end of an address."""
    return unquote(PurePosixPath(urlsplit(url).path).name)


def verify(path: Path, file: File) -> None:
    """Verify the checksum of a file, if it has one.

    Parameters
    ----------
    path
        Where it lies.
    file
        As the catalogue has it.

    Raises
    ------
    UserError
        The file is damaged or not the published one.
    """
    problem = mismatch(path, file)
    if problem:
        raise UserError(
            f"{path} is not the published file: {problem}. Delete it and load again to download it, or replace it "
            f"by the one from {file.page}."
        )


def mismatch(path: Path, file: File) -> str:
    """Return how the file's checksum differs from the published one, in words; empty if it matches.

    Parameters
    ----------
    path
        Where it lies.
    file
        As the catalogue has it.
    """
    if file.checksum is None or path.is_dir():
        return ""
    result = checksum_of(path, file.checksum.kind)
    if result.startswith(file.checksum.value):
        return ""
    wanted = f"{'be' if len(file.checksum.value) == len(result) else 'begin with'} {file.checksum.value}"
    return f"its {file.checksum.label} is {result}, and it should {wanted}"


@cached_by_file(64)
def checksum_of(path: Path, kind: ChecksumKind) -> str:
    """Return the checksum of a file.

    Parameters
    ----------
    path
        Of the file.
    kind
        Of the hash.
    """
    if kind == "git-blob":
        digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    else:
        digest = hashlib.new(kind.removesuffix("-unpacked"), usedforsecurity=False)
    with open_unpacked(path) if kind.endswith("-unpacked") else path.open("rb") as stream:
        try:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise damaged(path, error) from error
    return digest.hexdigest()


def open_unpacked(path: Path) -> io.BufferedIOBase:
    """Open a file for reading, decompressing it if its content is gzip (its name is ignored)."""
    with path.open("rb") as stream:
        compressed = stream.read(2) == b"\x1f\x8b"
    return gzip.open(path) if compressed else path.open("rb")


def damaged(path: Path, reason: object) -> UserError:
    """Return the error for a file that cannot be read completely.

    Parameters
    ----------
    path
        Of the file.
    reason
        In words.
    """
    return UserError(f"{path} is damaged ({reason}). Delete it and load again, or replace it by a complete copy.")


def not_published(path: Path, reason: str) -> UserError:
    """Return the error for a file with unexpected content.

    Parameters
    ----------
    path
        Of the file.
    reason
        In words.
    """
    return UserError(
        f"{path} is not the published file: {reason}. Delete it and load again, or replace it by the original "
        "(`candid datasets` says where that is)."
    )


def _look_for(names: tuple[str, ...], file: File) -> Path | None:
    wanted = {name.casefold() for name in names}
    for folder in _folders(file):
        for path in _entries(folder):
            if path.name.casefold() in wanted:
                return path
    return None


def _folders(file: File) -> Iterator[Path]:
    own = {part.casefold() for part in (file.folder, *file.other_folders)}
    for root in search_roots():
        for part in (file.folder, *file.other_folders):
            yield root / part
        inside = [path for path in _entries(root) if path.is_dir()]
        yield from (path for path in inside if path.name.casefold() in own)
        if file.distinctive or root.name.casefold() in own:
            yield root
        if file.distinctive:
            yield from inside


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # missing, not a folder, or not readable
        return []


# ---- archives ----


class BadArchive(UserError):
    """Raised when an archive is damaged or does not contain the published file."""

    def __init__(self, archive: Path, file: File, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"{archive} does not give {file.name}: {reason}. Delete it and load again, or replace it by the one "
            f"from {file.page}."
        )


class NoProgram(UserError):
    """Raised when no program on this machine can unpack a compressed .rar."""

    def __init__(self, archive: Path, file: File) -> None:
        super().__init__(
            f"{archive} is here, but no program that unpacks it is: install unrar, unar, 7-Zip or bsdtar and load "
            f"again, or unpack it yourself and put {file.name} into {folder_of(file)}."
        )


def unpack(archive: Path, file: File) -> Path:
    """Extract a file from its archive into the cache and verify it; return its path.

    Parameters
    ----------
    archive
        Where it lies.
    file
        What is wanted of it.

    Raises
    ------
    BadArchive
        The archive is damaged or does not contain the published file.
    NoProgram
        No program on this machine unpacks a compressed .rar.
    OSError
        The cache cannot be written to.
    """

    def write(part: Path) -> None:
        with _opened(archive, file) as members, part.open("wb") as out:
            member = _member(members, archive, file)
            if member.file_size > _LARGEST:
                raise BadArchive(archive, file, f"it unpacks to {member.file_size} bytes")
            with members.open(member) as packed:
                shutil.copyfileobj(packed, out, _CHUNK)
        problem = mismatch(part, file)
        if problem:
            raise BadArchive(archive, file, f"it is not the published one, {problem}")

    target = folder_of(file) / file.name
    write_atomically(target, write)
    return target


@contextmanager
def _opened(archive: Path, file: File) -> Iterator[Any]:
    """Open a ZipFile or RarFile (same interface); its errors are raised as BadArchive or NoProgram."""
    if archive.suffix.lower() == ".rar":
        with _opened_rar(archive, file) as members:
            yield members
        return
    try:
        with zipfile.ZipFile(archive) as members:
            yield members
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # RuntimeError: it has a password
        raise BadArchive(archive, file, f"it is damaged ({error})") from error


@contextmanager
def _opened_rar(archive: Path, file: File) -> Iterator[Any]:
    require_extra("rarfile")
    import rarfile

    try:
        with rarfile.RarFile(archive) as members:
            yield members
    except rarfile.RarCannotExec as error:  # listing and stored members need no external program
        raise NoProgram(archive, file) from error
    except (rarfile.Error, EOFError) as error:
        raise BadArchive(archive, file, f"it is damaged ({error})") from error


def _member(members: Any, archive: Path, file: File) -> Any:
    wanted = {name.casefold() for name in (file.name, *file.other_names)}
    for member in members.infolist():
        if PurePosixPath(member.filename.replace("\\", "/")).name.casefold() in wanted:
            return member
    raise BadArchive(archive, file, "no file of that name is in it")

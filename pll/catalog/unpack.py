"""Taking a dataset's file out of the .zip or .rar it is published in."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from pll.catalog.base import File
from pll.catalog.files import folder_of, mismatch
from pll.errors import UserError, require_extra

_CHUNK = 1 << 20
_LARGEST = 2_000_000_000  # bytes: more than any file of the catalogue unpacks to; a bound for hostile archives


class BadArchive(UserError):
    """The archive is damaged, or does not hold the published file."""

    def __init__(self, archive: Path, file: File, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"{archive} does not give {file.name}: {reason}. Delete it and load again, or replace it by the one "
            f"from {file.page}."
        )


class NoProgram(UserError):
    """The archive is a compressed .rar, and nothing on this machine unpacks it."""

    def __init__(self, archive: Path, file: File) -> None:
        super().__init__(
            f"{archive} is here, but no program that unpacks it is: install unrar, unar, 7-Zip or bsdtar and load "
            f"again, or unpack it yourself and put {file.name} into {folder_of(file)}."
        )


def unpack(archive: Path, file: File) -> Path:
    """Take the file out of its archive into the cache, checked.

    Raises:
        BadArchive: the archive is damaged or holds something else.
        NoProgram: nothing on this machine unpacks a compressed .rar.
        OSError: the cache cannot be written to.
    """
    folder = folder_of(file)
    folder.mkdir(parents=True, exist_ok=True)
    with temporary(folder) as part:
        with _opened(archive, file) as members, part.open("wb") as out:
            member = _member(members, archive, file)
            if member.file_size > _LARGEST:
                raise BadArchive(archive, file, f"it unpacks to {member.file_size} bytes")
            with members.open(member) as packed:
                shutil.copyfileobj(packed, out, _CHUNK)
        problem = mismatch(part, file)
        if problem:
            raise BadArchive(archive, file, f"it is not the published one, {problem}")
        return part.replace(folder / file.name)


@contextmanager
def temporary(folder: Path, suffix: str = "") -> Iterator[Path]:
    """A file of our own, in the folder where it will be renamed; gone afterwards unless it was."""
    handle, name = tempfile.mkstemp(prefix=".part-", suffix=suffix, dir=folder)
    os.close(handle)
    path = Path(name)
    path.chmod(0o644)  # mkstemp makes it private; a data folder may be shared
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


@contextmanager
def _opened(archive: Path, file: File) -> Iterator[Any]:
    """A ZipFile or RarFile, which are used alike; their errors become ours."""
    if archive.suffix.lower() == ".rar":
        with _opened_rar(archive, file) as members:
            yield members
        return
    try:
        with zipfile.ZipFile(archive) as members:
            yield members
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:  # RuntimeError: it asks for a password
        raise BadArchive(archive, file, f"it is damaged ({error})") from error


@contextmanager
def _opened_rar(archive: Path, file: File) -> Iterator[Any]:
    require_extra("archives", "rarfile")
    import rarfile

    try:
        with rarfile.RarFile(archive) as members:
            yield members
    except rarfile.RarCannotExec as error:  # reading the list, and what is only stored, needs no program
        raise NoProgram(archive, file) from error
    except (rarfile.Error, EOFError) as error:
        raise BadArchive(archive, file, f"it is damaged ({error})") from error


def _member(members: Any, archive: Path, file: File) -> Any:
    wanted = {name.casefold() for name in (file.name, *file.other_names)}
    for member in members.infolist():
        if PurePosixPath(member.filename.replace("\\", "/")).name.casefold() in wanted:
            return member
    raise BadArchive(archive, file, "no file of that name is in it")

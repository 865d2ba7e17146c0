"""ZIP archives and folders, listed and read without trusting them."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from pll.errors import UserError
from pll.formats.checks import check_unpacked_size, parsing, shorten
from pll.images import check_inside
from pll.io import cached_by_file

MAX_DIRECTORY = 46 * 2**20
"""Maximum size in bytes of a ZIP archive's directory: a million files, whose list alone takes most of a gigabyte."""

_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_END_BYTES = 2**16 + 200


def open_zip(path: Path) -> zipfile.ZipFile:
    """A ZIP archive, once its directory is known to be of a size that can be read.

    Raises
    ------
    UserError
        It lists too many files.
    zipfile.BadZipFile
        And much else, where it is damaged.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _END_BYTES))
        end = file.read()
    sizes = [int.from_bytes(end[at + 12 : at + 16], "little") for at in (end.rfind(_END),) if at >= 0]
    sizes = [one for one in sizes if one != 0xFFFFFFFF]
    sizes += [int.from_bytes(end[at + 40 : at + 48], "little") for at in (end.rfind(_END_64),) if at >= 0]
    if max(sizes, default=0) > MAX_DIRECTORY:
        raise UserError("The archive lists more files than are read at a time (about half a million); split it.")
    return zipfile.ZipFile(path)


def key_of(path: Path) -> tuple[str, int, int, int]:
    """Return what tells a file, as it is now, from others."""
    facts = path.stat()
    return str(path.resolve()), facts.st_ino, facts.st_size, facts.st_mtime_ns


@cached_by_file(4)  # several formats ask, each more than once
def names_in(path: Path) -> tuple[str, ...]:
    """Return what a ZIP archive lists; nothing where a file is no archive that can be read.

    Raises
    ------
    UserError
        It lists too many files.
    """
    try:
        with open_zip(path) as archive:
            return tuple(archive.namelist())
    except UserError:
        raise
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):  # the last: a ZIP of a later version
        return ()


MAX_MEMBERS = 1_000_000
"""More files than this are refused: listing them alone takes a gigabyte."""

_REMEDY = "it is not a whole ZIP archive: copy it again, or pack it anew"


class Members:
    """What is inside, by path with forward slashes; to be used in a `with`.

    Parameters
    ----------
    path
        a ZIP archive or a folder.
    max_bytes
        What one file may take once it is unpacked.

    Raises
    ------
    UserError
        Not a whole archive, too many files, a path or a link that leads out.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self._archive: zipfile.ZipFile | None = None
        self._infos: dict[str, zipfile.ZipInfo] = {}
        self.sizes: dict[str, int] = {}
        if path.is_dir():
            self._list_folder()
            return
        with parsing("the ZIP archive", _REMEDY):
            self._archive = open_zip(path)
            infos = self._archive.infolist()
        self._check_count(len(infos))
        for info in infos:
            self._take(info)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._archive is not None:
            self._archive.close()

    def read(self, name: str) -> bytes:
        """The content of one file.

        Raises
        ------
        UserError
            It is damaged, too large, or grows as files do that are made to fill the memory.
        """
        if self._archive is None:
            check_unpacked_size(self.sizes[name], self.sizes[name], self.max_bytes, f"the file {shorten(name)}")
            return (self.path / name).read_bytes()
        info = self._infos[name]
        check_unpacked_size(info.file_size, info.compress_size, self.max_bytes, f"the file {shorten(name)}")
        with parsing(f"the file {shorten(name)}", _REMEDY):
            return self._archive.read(info)

    def open(self, name: str) -> IO[bytes]:
        """One file, to read its beginning."""
        if self._archive is None:
            return (self.path / name).open("rb")
        with parsing(f"the file {shorten(name)}", _REMEDY):
            return self._archive.open(self._infos[name])

    def check_total(self, names: list[str]) -> None:
        """Refuse files that together grow as those do that are made to fill the memory.

        Raises
        ------
        UserError
            They do.
        """
        unpacked = sum(self.sizes[name] for name in names)
        packed = sum(self._infos[name].compress_size for name in names) if self._archive is not None else unpacked
        check_unpacked_size(unpacked, packed, unpacked, "what is inside")

    def _take(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        if info.is_dir() or is_left_alone(name):
            return
        check_inside(name)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise UserError(f"The file {shorten(name)} is a link; pack what it points at.")
        if info.flag_bits & 0x1:
            raise UserError(f"The file {shorten(name)} is encrypted; pack it without a password.")
        if name in self._infos:
            raise UserError(f"The archive holds two files called {shorten(name)}; pack it anew.")
        self._infos[name] = info
        self.sizes[name] = info.file_size

    def _list_folder(self) -> None:
        root = self.path.resolve()
        count = 0
        for file in sorted(self.path.rglob("*")):
            count += 1
            self._check_count(count)
            name = file.relative_to(self.path).as_posix()
            if not file.is_file() or is_left_alone(name):
                continue
            if not file.resolve().is_relative_to(root):
                raise UserError(f"The file {shorten(name)} is a link that leads out of the folder; copy it there.")
            self.sizes[name] = file.stat().st_size

    @staticmethod
    def _check_count(count: int) -> None:
        if count > MAX_MEMBERS:
            raise UserError(f"There are more than {MAX_MEMBERS:,} files; bring fewer at a time.")


def is_left_alone(name: str) -> bool:
    """Whether a file is hidden, or what macOS puts beside another one."""
    return name.startswith("__MACOSX/") or any(part.startswith(".") and part != ".." for part in name.split("/"))

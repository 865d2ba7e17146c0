"""Checksums of the files of a run: `manifest.json`, by which damage is noticed wherever results are read.

    {"complete": true, "files": {"labels.csv": {"bytes": 812, "sha256": "…"}, …}, "check": "…"}

`complete` is true once a run has ended and everything is listed; the manifest is then the last file written. Before
that, it lists what the run can be resumed from. `check` is the checksum of the manifest itself.

A file that is about to be replaced or rewritten is taken off the list first, and listed again once it is written, so a
process may crash at any moment without a sound file looking damaged; of files that only grow the list has the
beginning.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal
from zipfile import BadZipFile

from pll.errors import UserError
from pll.io import cached_by_file, from_json, hash_of, write_atomically
from pll.runs.files import FRAMES, GROWING, LOG_FILE, MANIFEST_FILE, STATE_FILE, UNLISTED

What = Literal["missing", "changed", "unreadable"]


@dataclass(frozen=True)
class FileEntry:
    """What a file must be.

    Attributes
    ----------
    bytes
        Its size; of a file that may have grown since, that of its beginning.
    sha256
        Checksum of that many bytes.
    """

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Damage:
    """A file that is not what was written.

    Attributes
    ----------
    name
        Path within the folder of the run.
    what
        How it differs.
    """

    name: str
    what: What

    @property
    def words(self) -> str:
        """A clause for messages: the file and its damage."""
        texts = {
            "missing": "is missing",
            "changed": "is damaged: its content is not what was written",
            "unreadable": "cannot be read",
        }
        return f"{self.name} {texts[self.what]}"


class DamagedError(UserError):
    """Raised where a file of a run is not what was written.

    Parameters
    ----------
    folder
        Of the run.
    damage
        The file, and how it differs.
    """

    def __init__(self, folder: Path, damage: Damage) -> None:
        self.damage = damage
        super().__init__(
            f"In the run {folder}, {damage.words}. `candid check {folder}` names every damaged file; put it "
            "back from a backup, or train again."
        )


@contextmanager
def reading(file: Path) -> Iterator[None]:
    """Context manager around reading a file of a run.

    Raises
    ------
    UserError
        It is not what Candid writes; the message names it. A file that is not there stays a `FileNotFoundError`.
    """
    try:
        yield
    except (UserError, FileNotFoundError):
        raise
    except (*UNREADABLE, EOFError, BadZipFile) as error:
        raise UserError(f"{file} is damaged ({error}). Put it back from a backup, or train again.") from error


class Manifest:
    """The manifest of one run, for writers of its files; readers call `check`.

    Parameters
    ----------
    folder
        Of the run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listing = read_manifest(folder)
        self.complete = listing is not None and listing.complete
        self.files = {} if listing is None else dict(listing.files)

    def put(self, name: str, content: bytes | memoryview, *, durable: bool = False) -> None:
        """Replace a file, atomically; it is listed once that is done.

        Parameters
        ----------
        name
            Path within the folder.
        content
            Of the file.
        durable
            Also list files that are new or have grown, as `record` does, and flush all of it to the disk: what a run
            is resumed from after a power cut.
        """
        self.forget(name, durable=durable)
        write_atomically(self.folder / name, lambda part: part.write_bytes(content), durable=durable)
        self.files[name] = FileEntry(len(content), hashlib.sha256(content).hexdigest())
        if durable:
            self._record(durable=True)
        self._write(durable)

    def forget(self, *patterns: str, durable: bool = False) -> None:
        """Take files off the list that are about to be rewritten; the run is then not complete.

        Parameters
        ----------
        patterns
            As for `matches`.
        durable
            As for `put`.
        """
        files = {name: entry for name, entry in self.files.items() if not matches(name, patterns)}
        if self.complete or len(files) < len(self.files):
            self.files, self.complete = files, False
            self._write(durable)

    def record(self) -> None:
        """List files that are new or have grown, and drop those that are gone. Others are not read again."""
        self._record()
        self._write()

    def seal(self) -> None:
        """List every file: the run has ended. Called after the last file is written."""
        self.files.pop(STATE_FILE, None)
        self.complete = True
        self.record()

    def _record(self, *, durable: bool = False) -> None:
        there = [name for name in listed_files(self.folder) if self.complete or name != STATE_FILE]
        listed = {name: entry for name, entry in self.files.items() if name in set(there)}
        for name in there:
            file, entry = self.folder / name, listed.get(name)
            grows = matches(name, GROWING)
            size = file.stat().st_size
            if entry is not None and not (grows and size > entry.bytes):
                continue
            if entry is not None and hash_of(file, entry.bytes) != entry.sha256:
                continue  # damaged since it was listed: it is not listed as sound
            if durable and grows:
                with file.open("rb") as stream:
                    os.fsync(stream.fileno())
            listed[name] = FileEntry(size, hash_of(file, size))
        self.files = listed

    def _write(self, durable: bool = False) -> None:
        files = {name: asdict(entry) for name, entry in sorted(self.files.items())}
        text = json.dumps(with_checksum({"complete": self.complete, "files": files}), indent=1, ensure_ascii=False)
        path = self.folder / MANIFEST_FILE
        write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"), durable=durable)


@dataclass(frozen=True)
class Listing:
    """Content of manifest.json.

    Attributes
    ----------
    complete
        Whether the run has ended and every file is listed.
    files
        Name → what it must be.
    """

    complete: bool
    files: dict[str, FileEntry]


def read_manifest(folder: Path) -> Listing | None:
    """Return what manifest.json says; None where there is none.

    Raises
    ------
    DamagedError
        It is damaged.
    """
    try:
        return _listing(folder / MANIFEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None


@cached_by_file(500)
def _listing(file: Path) -> Listing:
    try:
        return from_json(Listing, read_with_checksum(file))
    except FileNotFoundError:
        raise
    except (*UNREADABLE, AttributeError) as error:
        raise DamagedError(file.parent, Damage(MANIFEST_FILE, "changed")) from error


def check(folder: Path, name: str) -> Path:
    """Return the path of a file of a run, once it is found to be what was written.

    A file that no manifest lists passes: it is being written. Checksums are kept
    in memory as long as size and time of a file stay.

    Parameters
    ----------
    folder
        Of the run.
    name
        Of the file in it.

    Raises
    ------
    DamagedError
        It is not; or the manifest is damaged.
    """
    tried: Listing | None = None
    for _ in range(10):
        listing = read_manifest(folder)
        damage = None if listing is None else _damage_of(folder, name, listing)
        if damage is None:
            return folder / name
        if listing == tried:  # else a writer was at work: it changes the manifest before the file
            break
        tried = listing
    assert damage is not None
    raise DamagedError(folder, damage)


def damages(folder: Path) -> list[Damage]:
    """Return all files of a run that are not what was written, by name, or that the manifest itself is not.

    No process may be at work on the run.
    """
    try:
        listing = read_manifest(folder)
    except DamagedError as error:
        return [error.damage]
    if listing is None:
        return []
    checked = (_damage_of(folder, name, listing) for name in sorted(listing.files))
    return [damage for damage in checked if damage is not None]


def is_verifiable(folder: Path) -> bool:
    """Return whether all files of a run can be compared with what was written when it ended."""
    listing = read_manifest(folder)
    return listing is not None and listing.complete


def _damage_of(folder: Path, name: str, listing: Listing) -> Damage | None:
    entry = listing.files.get(name)
    if entry is None:
        return None
    file = folder / name
    grows = matches(name, GROWING) and (not listing.complete or name == LOG_FILE)
    try:
        digest = hash_of(file, entry.bytes if grows else file.stat().st_size)
    except FileNotFoundError:
        may_go = not listing.complete and matches(name, (FRAMES,))
        return None if may_go else Damage(name, "missing")
    except OSError:
        return Damage(name, "unreadable")
    return None if digest == entry.sha256 else Damage(name, "changed")


def listed_files(folder: Path) -> Iterator[str]:
    """Yield the files of a run that its manifest lists, as paths within the folder."""
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_file() and not matches(name, UNLISTED):
            yield name


def matches(name: str, patterns: Collection[str]) -> bool:
    """Return whether a name is of one of these patterns, in which `*` matches any text.

    Parameters
    ----------
    name
        Of a file.
    patterns
        As `fnmatch` has them.

    Examples
    --------
    >>> matches("history/frames/000001.npy", ["history/*"]), matches("metrics.csv", ["history/*"])
    (True, False)
    """
    return any(fnmatchcase(name, pattern) for pattern in patterns)


UNREADABLE = (OSError, ValueError, TypeError, KeyError, RecursionError)
"""What `read_with_checksum` raises where a file cannot be read, or is not what was written."""


def with_checksum(content: dict[str, Any]) -> dict[str, Any]:
    """Return plain values of JSON with a checksum of them, as `check`; other types become text."""
    plain = json.loads(json.dumps(content, default=str))
    return {**plain, "check": _own_check(plain)}


def read_with_checksum(file: Path) -> dict[str, Any]:
    """Return the content of a file of `with_checksum`; raises one of `UNREADABLE`."""
    content = dict(json.loads(file.read_text(encoding="utf-8")))
    if content.pop("check") != _own_check(content):
        raise ValueError("its checksum differs")
    return content


def _own_check(plain: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()

"""What may go from Candid's home: `candid gc`, and once a day the server by itself (`Cleaner`).

Deleted runs that lay in the bin for some time, uploads that no run reads, and files that a process left half-written.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from pll.errors import UserError
from pll.io import PART
from pll.runs.access import access_of
from pll.runs.bin import NOTE
from pll.runs.events import LOG, log_event
from pll.runs.folder import list_runs
from pll.runs.manifest import CONFIG_FILE, MANIFEST_FILE
from pll.runs.quota import uploads_key

DAYS = 30
"""Days that deleted runs and unused uploads are kept."""
HALF_WRITTEN_DAYS = 1.0
FIRST_LOOK, LOOK = 60.0, 600.0
"""Seconds from the start of a server to its first look whether cleaning is due, and from one look to the next."""


@dataclass(frozen=True)
class Waste:
    """A file or folder that may go.

    Attributes:
        path: where it is.
        why: a clause for people.
        bytes: what it takes.
    """

    path: Path
    why: str
    bytes: int


def waste(home: Path, *, days: float = DAYS) -> list[Waste]:
    """Return what may be removed from Candid's home.

    Args:
        home: with the folders bin, runs and uploads.
        days: how long deleted runs and unused uploads are kept.
    """
    found = []
    for folder in _children(home / "bin"):
        note = folder / NOTE
        if _is_older(note if note.exists() else folder, days):
            found.append(Waste(folder, f"deleted more than {days:g} days ago", _size(folder)))
    used = _used_files(home)
    for file in sorted(file for file in (home / "uploads").rglob("*") if file.is_file()):
        if PART not in file.name and file not in used and _is_older(file, days):
            found.append(Waste(file, f"uploaded more than {days:g} days ago, and read by no run", file.stat().st_size))
    for name in ("runs", "uploads"):
        for part in sorted((home / name).rglob(f"{PART}*")):
            if _is_older(part, HALF_WRITTEN_DAYS):
                found.append(Waste(part, "left half-written by a process that ended", part.stat().st_size))
    return found


def waste_of(home: Path, person: str | None) -> list[Waste]:
    """Return what a person may remove at once: what they deleted, and their uploads that no run reads.

    Args:
        home: with the folders bin, runs and uploads.
        person: id; None where there is no login, and everything is everybody's.
    """
    found = []
    for folder in _children(home / "bin"):
        if person is None or access_of(folder).owner == person:
            found.append(Waste(folder, "deleted", _size(folder)))
    used = _used_files(home)
    uploads = home / "uploads" / ("" if person is None else uploads_key(person))
    for file in sorted(file for file in uploads.rglob("*") if file.is_file()):
        if PART not in file.name and file not in used:
            found.append(Waste(file, "uploaded, and read by no run", file.stat().st_size))
    return found


def remove(found: Sequence[Waste]) -> int:
    """Remove what `waste` found; return the bytes that are free now.

    Raises:
        UserError: something cannot be removed.
    """
    freed = 0
    for one in found:
        try:
            if one.path.is_dir():
                shutil.rmtree(one.path)
            else:
                one.path.unlink(missing_ok=True)
                with suppress(OSError):  # other files are in it
                    one.path.parent.rmdir()
        except FileNotFoundError:  # another process has just removed it
            continue
        except OSError as error:
            raise UserError(f"{one.path} cannot be removed: {error.strerror or error}.") from error
        freed += one.bytes
    return freed


class Cleaner:
    """Removes unused files once a day while a server runs; of several servers of a home one does it.

    Args:
        home: Candid's.
        days: as in `waste`; 0: never.
    """

    def __init__(self, home: Path, days: float) -> None:
        self.home = home
        self.days = days
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._attend, name="candid-cleaner", daemon=True)

    def begin(self) -> None:
        """Look for the first time in a minute, when pages are up."""
        if self.days:
            self._thread.start()

    def end(self) -> None:
        """Look no more."""
        self._ends.set()

    def _attend(self) -> None:
        wait = FIRST_LOOK
        while not self._ends.wait(wait):
            wait = LOOK
            try:
                clean_if_due(self.home, days=self.days)
            except Exception:  # a file system that is away for a moment: it must go on
                LOG.exception("Nothing could be removed from Candid's home")


def clean_if_due(home: Path, *, days: float) -> int | None:
    """Remove unused files, unless that was done within a day; what cannot be removed is logged and stays.

    Args:
        home: Candid's.
        days: as in `waste`.

    Returns:
        the bytes that are free now; None where it was not due, or another process is at it.
    """
    mark = home / "cleaned"
    if not home.is_dir() or (mark.exists() and not _is_older(mark, 1.0)):
        return None
    try:
        with FileLock(home / "cleaned.lock", timeout=0):
            if mark.exists() and not _is_older(mark, 1.0):
                return None
            freed = 0
            for one in waste(home, days=days):
                try:
                    freed += remove([one])
                    log_event("removed", path=str(one.path), why=one.why, bytes=one.bytes)
                except UserError as error:
                    LOG.warning(str(error))
            mark.touch()
            return freed
    except Timeout:
        return None


def _used_files(home: Path) -> _Used:
    """Return the files that runs read outside their folders, in the bin too."""
    used = _Used()
    for folder in (*list_runs(home / "runs"), *list_runs(home / "bin")):
        try:
            run = folder.about()["run"]
            for source in (run["source"], *run["source"].get("votes", ()), run.get("test")):
                if source and source.get("path"):
                    used.paths.add(str(Path(source["path"]).resolve()))
        except (UserError, KeyError, TypeError, AttributeError):
            used.damaged += "".join(map(_text, (folder.path / CONFIG_FILE, folder.path / MANIFEST_FILE)))
    return used


@dataclass
class _Used:
    """Files that runs read.

    Attributes:
        paths: of the files.
        damaged: all text of runs whose config cannot be read: an upload whose hash is in it may be one of theirs.
    """

    paths: set[str] = field(default_factory=set)
    damaged: str = ""

    def __contains__(self, file: Path) -> bool:
        return str(file.resolve()) in self.paths or file.parent.name in self.damaged


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _is_older(path: Path, days: float) -> bool:
    return time.time() - path.stat().st_mtime > days * 86_400


def _children(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.iterdir()) if folder.is_dir() else [])


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

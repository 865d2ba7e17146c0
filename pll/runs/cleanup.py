"""What may go from Candid's home: `candid gc`.

Deleted runs that lay in the bin for some time, uploads that no run reads, and files that a process left half-written.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pll.errors import UserError
from pll.io import PART
from pll.runs.bin import NOTE
from pll.runs.folder import list_runs

DAYS = 30
"""Days that deleted runs and unused uploads are kept."""
HALF_WRITTEN_DAYS = 1.0


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
        if PART not in file.name and str(file.resolve()) not in used and _is_older(file, days):
            found.append(Waste(file, f"uploaded more than {days:g} days ago, and read by no run", file.stat().st_size))
    for name in ("runs", "uploads"):
        for part in sorted((home / name).rglob(f"{PART}*")):
            if _is_older(part, HALF_WRITTEN_DAYS):
                found.append(Waste(part, "left half-written by a process that ended", part.stat().st_size))
    return found


def remove(found: list[Waste]) -> int:
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
        except OSError as error:
            raise UserError(f"{one.path} cannot be removed: {error.strerror or error}.") from error
        freed += one.bytes
    return freed


def _used_files(home: Path) -> set[str]:
    """Return the files that runs read outside their folders, in the bin too."""
    used: set[str] = set()
    for folder in (*list_runs(home / "runs"), *list_runs(home / "bin")):
        with suppress(UserError, KeyError, TypeError, AttributeError):
            run = folder.about()["run"]
            for source in (run["source"], *run["source"].get("votes", ()), run.get("test")):
                if source and source.get("path"):
                    used.add(str(Path(source["path"]).resolve()))
    return used


def _is_older(path: Path, days: float) -> bool:
    return time.time() - path.stat().st_mtime > days * 86_400


def _children(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.iterdir()) if folder.is_dir() else [])


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())

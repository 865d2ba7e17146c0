"""What may go from Candid's home, by hand: `candid gc`.

Deleted runs, uploads that no run reads, and files that a process left half-written. Where the settings of a run cannot
be read, all uploads stay: one may be its data.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pll.errors import UserError
from pll.io import PART, folder_bytes
from pll.runs.folder import list_runs

RECENT = 86_400.0
"""Seconds for which uploads and half-written files are kept: somebody may be at work with them."""


@dataclass(frozen=True)
class Waste:
    """A file or folder that may go.

    Attributes
    ----------
    path
        Where it is.
    why
        a clause for people.
    bytes
        What it takes.
    """

    path: Path
    why: str
    bytes: int


def waste(home: Path) -> list[Waste]:
    """Return what may be removed from Candid's home.

    Parameters
    ----------
    home
        With the folders bin, runs and uploads.
    """
    items = [Waste(folder, "deleted", folder_bytes(folder)) for folder in sorted((home / "bin").glob("*"))]
    used = _used_files(home)
    uploads = (file for file in sorted((home / "uploads").rglob("*")) if file.is_file() and PART not in file.name)
    for file in uploads:
        if used is not None and file.resolve() not in used and _is_old(file):
            items.append(Waste(file, "uploaded, and read by no run", file.stat().st_size))
    for name in ("runs", "uploads"):
        for part in sorted((home / name).rglob(f"{PART}*")):
            if _is_old(part):
                items.append(Waste(part, "left half-written by a process that ended", part.stat().st_size))
    return items


def remove(items: Sequence[Waste]) -> int:
    """Remove what `waste` found; return the bytes that are free now.

    Raises
    ------
    UserError
        Something cannot be removed.
    """
    freed = 0
    for one in items:
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


def _used_files(home: Path) -> set[Path] | None:
    """Return the files that runs read outside their folders, in the bin too; None where a run does not say."""
    used = set()
    for folder in (*list_runs(home / "runs"), *list_runs(home / "bin")):
        try:
            run = folder.about()["run"]
            for source in (run["source"], *run["source"].get("votes", ()), run.get("test")):
                if source and source.get("path"):
                    used.add(Path(source["path"]).resolve())
        except (UserError, KeyError, TypeError, AttributeError):
            return None
    return used


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > RECENT

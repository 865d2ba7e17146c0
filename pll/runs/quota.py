"""Quotas: how much of Candid's home one person may hold (`PLL_QUOTA_PER_PERSON`), and everybody together (`PLL_QUOTA`).

Runs, comparisons, experiments, uploads and what is in the bin count, for their owner (`pll.runs.access`); an upload
belongs to the owner of its folder. Without a login everything is one person's. A quota is checked before an upload is
kept and before a run starts, so running work may exceed it somewhat.
"""

from __future__ import annotations

import hashlib
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from pll.errors import UserError
from pll.paths import candid_home
from pll.runs.access import access_of
from pll.runs.process import PerProcess
from pll.runs.settings import setting

WARN_FROM = 0.8
"""Share of a quota from which there is a warning."""
ON_PAGES = "Delete runs, or free space under Storage, on Home."
IN_SHELLS = "Delete runs, or empty the bin with: candid gc --days 0"


@dataclass(frozen=True)
class Held:
    """Bytes of one person in Candid's home, by kind."""

    runs: int = 0
    experiments: int = 0
    uploads: int = 0
    bin: int = 0

    @property
    def total(self) -> int:
        """Bytes of all kinds."""
        return self.runs + self.experiments + self.uploads + self.bin

    def __add__(self, other: Held) -> Held:
        return Held(*(getattr(self, kind) + getattr(other, kind) for kind in KINDS))

    def __str__(self) -> str:
        parts = [f"{kind} {format_bytes(getattr(self, kind))}" for kind in KINDS if getattr(self, kind)]
        return format_bytes(self.total) + (f" ({', '.join(parts)})" if parts else "")


KINDS = tuple(kind.name for kind in fields(Held))


@dataclass(frozen=True)
class Standing:
    """How much of one quota is used.

    Attributes:
        held: what counts.
        limit: bytes.
        is_own: whether it is that of one person, and not of all together.
    """

    held: Held
    limit: int
    is_own: bool

    @property
    def share(self) -> float:
        """Used share, 0 or more."""
        return self.held.total / self.limit

    def __str__(self) -> str:
        whose = "You hold" if self.is_own else "Everybody together holds"
        return f"{whose} {self.held} of the {format_bytes(self.limit)} that this server allows."


def format_bytes(number: int) -> str:
    """Return a size for people, in decimal units.

    >>> format_bytes(5_000_000_000), format_bytes(12_340_000), format_bytes(300)
    ('5.0 GB', '12.3 MB', '0.3 kB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if number >= 0.9995 * unit:
            return f"{number / unit:,.1f} {name}"
    return f"{number / 1e3:,.1f} kB"


def limits() -> tuple[int, int]:
    """Return the quotas of one person and of all together in bytes; 0 for none.

    Raises:
        UserError: a setting has a value that cannot be meant.
    """
    return setting("PLL_QUOTA_PER_PERSON"), setting("PLL_QUOTA")


def uploads_key(person: str) -> str:
    """Return the name of the folder of a person's uploads.

    >>> len(uploads_key("ada@example.org"))
    24
    """
    return hashlib.sha256(person.encode()).hexdigest()[:24]


def held_by_person(home: Path) -> Mapping[str, Held]:
    """Return what everybody holds in Candid's home.

    Args:
        home: with the folders runs, experiments, uploads and bin.

    Returns:
        by id of a person; "" for what has no owner. Owners of uploads alone are listed by `uploads_key`.
    """
    found: defaultdict[str, Held] = defaultdict(Held)
    for kind in ("runs", "experiments", "bin"):
        for folder in _children(home / kind):
            found[access_of(Path(folder.path)).owner] += Held(**{kind: _measured(folder)})
    people = {uploads_key(person): person for person in found if person}
    for folder in _children(home / "uploads"):
        is_persons = len(folder.name) == len(uploads_key(""))  # others are named by the hash of a file, shorter
        person = people.get(folder.name, folder.name) if is_persons else ""
        found[person] += Held(uploads=_size(folder))
    return found


def standings(home: Path, person: str | None) -> list[Standing]:
    """Return how much of the quotas that are set is used; nothing is measured where none is.

    Args:
        person: id; "" for what has no owner; None where there is no login, and everything counts.
    """
    own, of_all = limits()
    if not own and not of_all:
        return []
    found = held_by_person(home)
    everything = sum(found.values(), Held())
    persons = everything if person is None else found.get(person, Held()) + found.get(uploads_key(person), Held())
    both = (Standing(persons, own, is_own=True), Standing(everything, of_all, is_own=False))
    return [one for one in both if one.limit]


def check_quota(home: Path, person: str | None, needed: int, what: str, *, remedy: str = ON_PAGES) -> None:
    """Refuse what a quota has no room for.

    Args:
        home: Candid's.
        person: as in `standings`.
        needed: bytes that will be written; where not known, 1.
        what: needs them, as in "A new run" or a file name.
        remedy: how to free space, in a sentence.

    Raises:
        UserError: a quota would be passed; the message names what is held.
    """
    for one in standings(home, person):
        if one.held.total + needed > one.limit:
            more = f"{what} needs {format_bytes(needed)} more" if needed > 1 else f"There is no room for {what}"
            ask = "" if one.is_own else " Or ask whoever runs this server."
            raise UserError(f"{one} {more}. {remedy}{ask}")


def check_quota_of_run(folder: Path, needed: int, what: str, *, remedy: str = ON_PAGES) -> None:
    """`check_quota` for the owner of a run, where its folder is in Candid's home; elsewhere nothing is limited.

    Args:
        folder: of the run; need not exist.
    """
    home = candid_home().absolute()
    if folder.absolute().parent == home / "runs":
        check_quota(home, access_of(folder).owner, needed, what, remedy=remedy)


_known: PerProcess[dict[str, tuple[int, int]]] = PerProcess(dict)
"""Sizes of folders, with when something in them last changed: thousands of runs are not measured each time."""


def _measured(entry: os.DirEntry[str]) -> int:
    """Return the bytes of a run or the like; measured again where it, or a file or folder in it, has changed."""
    try:
        changed = max([entry.stat().st_mtime_ns, *(inside.stat().st_mtime_ns for inside in _children(entry.path))])
    except OSError:
        return 0
    before = _known().get(entry.path)
    if before is None or before[0] != changed:
        before = _known()[entry.path] = (changed, _size(entry))
    return before[1]


def _size(entry: os.DirEntry[str]) -> int:
    """Return the bytes of a file, or of all files under a folder; what vanishes meanwhile counts 0."""
    try:
        if entry.is_dir(follow_symlinks=False):
            return sum(map(_size, _children(entry.path)))
        return entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _children(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from list(entries)
    except OSError:  # there is none, or it was deleted meanwhile
        return

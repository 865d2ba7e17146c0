"""Hash chain: each entry of a list carries the SHA-256 of itself and of the entry before.

A changed, removed or inserted entry is detected, and located, unless all later hashes are computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pll.store.tables import START, entry_hash


def chained(entries: Iterable[Mapping[str, Any]], start: str = START) -> list[dict[str, Any]]:
    """The entries with a field `hash` each."""
    found: list[dict[str, Any]] = []
    before = start
    for entry in entries:
        before = entry_hash(before, entry)
        found.append({**entry, "hash": before})
    return found


def broken_links(entries: Iterable[Mapping[str, Any]], start: str = START, *, some_without: bool = False) -> list[int]:
    """Positions of entries whose hash does not fit them and the entry before: altered, or something before is gone.

    Args:
        some_without: entries may lack a hash (events stored before there was a chain); the next one that has it binds
            them.
    """
    before, broken = start, []
    for position, entry in enumerate(entries):
        made = entry_hash(before, {name: value for name, value in entry.items() if name != "hash"})
        stated = entry.get("hash")
        if stated is None and some_without:
            before = made
            continue
        if stated != made:
            broken.append(position)
        before = str(stated)
    return broken

"""Draws of controls made on this machine, in the app or by `plan`, so that a second draw is recognised as one.

One line of JSON a draw in `draws.jsonl` of Candid's home. A draw belongs to ids and labels alone: other confidences,
groups, errors or files do not make a second look at the same labels a first one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from contextlib import suppress

import numpy as np
import numpy.typing as npt

from pll.paths import candid_home

FILE = "draws.jsonl"


def labels_key(ids: Sequence[str] | npt.NDArray[np.str_], labels: Sequence[str] | npt.NDArray[np.str_]) -> str:
    """SHA-256 (hex) of ids and labels; the order of rows does not matter.

    Examples
    --------
    >>> labels_key(["a", "b"], ["cat", "dog"]) == labels_key(["b", "a"], ["dog", "cat"])
    True
    """
    digest = hashlib.sha256()
    for one, label in sorted(zip(map(str, ids), map(str, labels), strict=True)):
        digest.update(f"{one}\x1f{label}\x1e".encode())
    return digest.hexdigest()


def earlier_draws(keys: Collection[str]) -> list[str]:
    """Hashes of the draws made of the labels with one of these keys, the oldest first; [] where none is known.

    Parameters
    ----------
    keys
        Of `labels_key`; files of before say the fingerprint of a `LabelTable` instead.
    """
    result: dict[str, None] = {}
    with suppress(OSError):
        for line in (candid_home() / FILE).read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError, AttributeError, KeyError):
                entry = json.loads(line)
                if {entry.get("fingerprint"), *entry.get("keys", ())} & set(keys):
                    result[str(entry["draw_hash"])] = None
    return list(result)


def remember_draw(keys: Collection[str], draw_hash: str, where: str) -> None:
    """Add a draw. A home that cannot be written to is no reason to fail: the promise itself does not need it.

    Parameters
    ----------
    where
        "desk" or "plan".
    """
    if draw_hash in earlier_draws(keys):
        return
    with suppress(OSError):
        candid_home().mkdir(parents=True, exist_ok=True)
        with (candid_home() / FILE).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"keys": sorted(keys), "draw_hash": draw_hash, "where": where}) + "\n")

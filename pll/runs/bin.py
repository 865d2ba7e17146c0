"""The bin: deleted runs and comparisons, kept as they were in `bin/` of Candid's home.

A deleted folder moves there under its own name, with `deleted.json` (when, and by whom) added.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pll.errors import UserError
from pll.io import write_json

NOTE = "deleted.json"


def move_to_bin(folder: Path, bin_: Path, by: str = "") -> Path:
    """Move a folder into the bin and return its new path.

    Args:
        folder: of a run or comparison.
        bin_: on the same disk.
        by: id of the person who deleted it; "" without a login.

    Raises:
        UserError: it cannot be moved; it is where it was then.
    """
    place = _free(bin_ / folder.name)
    try:
        bin_.mkdir(parents=True, exist_ok=True)
        write_json(folder / NOTE, {"at": datetime.now(UTC).isoformat(timespec="seconds"), "by": by})
        folder.rename(place)
    except OSError as error:
        (folder / NOTE).unlink(missing_ok=True)
        raise UserError(f"{folder.name} could not be deleted: {error.strerror or error}.") from error
    return place


def _free(place: Path) -> Path:
    number = 1
    while place.exists():
        number += 1
        place = place.with_name(f"{place.name.split('.')[0]}.{number}")
    return place

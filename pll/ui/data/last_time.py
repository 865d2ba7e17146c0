"""How a file with the same columns was read the last time: kept when labels are asked for, offered for the next one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.reading import Column, Reading
from pll.io import write_text
from pll.ui import login


def remember(name: str, columns: Sequence[Column], options: ReadOptions) -> None:
    """Keep what the columns of a file were taken for; what cannot be kept is not.

    Parameters
    ----------
    name
        Of the file.
    columns
        Its columns with their roles; of none nothing is kept.
    options
        How else it was read.
    """
    if not columns:
        return
    file = _file(columns)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, replace(options, name=name).reading(columns).to_json() + "\n")


def otherwise(columns: Sequence[Column]) -> Reading | None:
    """How a file with these columns was read the last time; None where there was none, or it was read as now."""
    if not columns or not _file(columns).exists():
        return None
    with suppress(UserError):
        reading = Reading.in_file(_file(columns))
        now = {column.name: column.role for column in columns}
        return reading if reading.roles.keys() == now.keys() and dict(reading.roles) != now else None
    return None


def _file(columns: Sequence[Column]) -> Path:
    """Where the reading of files with these columns is kept."""
    names = json.dumps(sorted(column.name for column in columns))
    return login.own_folder("readings") / f"{hashlib.sha256(names.encode()).hexdigest()[:24]}.json"

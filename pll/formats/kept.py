"""A reading that is kept: what was understood of a file, and the same used for a file with the same columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pll import formats
from pll.errors import UserError
from pll.formats.base import ReadOptions
from pll.formats.checks import listing
from pll.formats.reading import Reading


def options_of(reading: Reading, path: Path | str, name: str | None = None) -> dict[str, Any]:
    """Return the fields of `ReadOptions` that read a file as another one was read.

    Parameters
    ----------
    reading
        What was understood of the other file.
    path
        This file.
    name
        What a message calls it, where it is called otherwise.

    Raises
    ------
    UserError
        The file lacks columns of the reading.
    """
    options: dict[str, Any] = {"answers": dict(reading.answers), "keep": reading.keep, "accept": reading.odd}
    options |= {"sheet": reading.sheet or None, "class_names": reading.class_names}
    there = {one.name for one in formats.columns(path, name=name, options=ReadOptions(**options))}
    missing = [one for one in reading.roles if there and one not in there]
    if missing:
        raise UserError(
            f"{name or Path(path).name} lacks columns that the reading names: {listing(missing)}. Make a reading of "
            "this file (candid read FILE --save reading.json)."
        )
    return {option: value for option, value in (options | {"columns": dict(reading.roles)}).items() if value}


def read_reading(file: Path | str) -> Reading:
    """Return the reading in a file that `candid read --save` wrote.

    Raises
    ------
    UserError
        There is no such file, or it holds no reading.
    """
    try:
        return Reading.from_json(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file} cannot be read ({error}); write one with candid read FILE --save {file}.") from error
    except UserError as error:
        raise UserError(f"{file}: {error}") from error

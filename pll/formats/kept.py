"""A reading that is kept: what was understood of a file, and the same used for a file with the same columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pll import formats
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, notes_of
from pll.formats.base import ReadOptions
from pll.formats.checks import listing
from pll.formats.reading import Column, Reading, form_of, signature


def reading_of(
    columns: Sequence[Column], options: ReadOptions, data: PartialLabelDataset | None = None, *, question: str = ""
) -> Reading:
    """Return what was understood of a file.

    Parameters
    ----------
    columns : sequence of Column
        Its columns with their roles, as `formats.columns` says; none of a tool's records.
    options : ReadOptions
        What it was read with.
    data : PartialLabelDataset, optional
        What came of it; without it the classes are those that a person listed.
    question : str
        Which of several questions of a tool was read.
    """
    said = notes_of(() if data is None else data.notes, "no answer", "spellings")
    cells = {note.kind: dict(note.cells) for note in said}
    return Reading(
        form=form_of(columns),
        source=signature(columns),
        no_answer=cells.get("no answer", {}),
        spellings=cells.get("spellings", {}),
        roles={column.name: column.role for column in columns},
        class_names=options.class_names if data is None else data.class_names,
        answers=dict(options.answers),
        sheet=options.sheet or "",
        question=question,
        keep=options.keep,
        odd=options.accept,
    )


def options_of(reading: Reading, path: Path | str, name: str | None = None) -> dict[str, Any]:
    """Return the fields of `ReadOptions` that read a file as another one was read.

    Raises
    ------
    UserError
        The file lacks columns of the reading.
    """
    options: dict[str, Any] = {"answers": dict(reading.answers), "keep": reading.keep, "accept": reading.odd}
    if reading.sheet:
        options["sheet"] = reading.sheet
    there = {one.name for one in formats.columns(path, name=name, options=ReadOptions(**options))}
    missing = [one for one in reading.roles if one not in there]
    if missing:
        raise UserError(
            f"{name or Path(path).name} lacks columns that the reading names: {listing(missing)}. Make a reading of "
            "this file (candid read FILE --save reading.json)."
        )
    roles = dict(reading.roles) if reading.roles else {reading.question: "candidates"} if reading.question else {}
    return {option: value for option, value in (options | {"columns": roles}).items() if value}


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

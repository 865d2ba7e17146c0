"""File formats: one reader and writer each, behind one registry, `formats.toml`.

>>> FORMATS["csv"].label
'CSV table'
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from pll.dataset import PartialLabelDataset
from pll.errors import RowError, UserError
from pll.formats.archive import names_in
from pll.formats.arrays.npz import holds_arrays
from pll.formats.base import HEAD_BYTES, TABLE, Format, ReadOptions
from pll.formats.checks import listing, looks_like_text, refuse_no_data
from pll.formats.encodings import without_marks
from pll.formats.forms import ENDS, STRANGERS
from pll.formats.odd import refuse_odd
from pll.formats.reading import Column, Reading
from pll.formats.results import Results
from pll.formats.tabular.parquet import holds_shards
from pll.io import is_stream, write_atomically, write_text

__all__ = [
    "FORMATS",
    "Format",
    "ReadOptions",
    "Results",
    "columns",
    "detect",
    "give_back",
    "options_of",
    "read",
    "roles_there",
    "sheets",
    "write",
]


def _format(place: str) -> Format:
    module, _, kind = place.partition(":")
    form: Format = getattr(import_module(f"pll.formats.{module}"), kind)()
    return form


ENTRIES: dict[str, dict[str, Any]] = TABLE["format"]
"""What `formats.toml` says of each format."""
FIELDS: dict[str, list[list[str]]] = TABLE["fields"]
"""Fields that several formats have, by the name of the group: what each means, in Markdown."""

FORMATS: dict[str, Format] = {name: _format(entry["class"]) for name, entry in ENTRIES.items()}
"""Every format, by its name on the command line; detection tries them in this order, the more specific ones first."""

SUFFIXES = list(dict.fromkeys(suffix for form in FORMATS.values() for suffix in form.suffixes))
"""Ends of the names of all."""
_USUAL = sorted(FORMATS, key=lambda name: f".{name}" not in FORMATS[name].suffixes)
"""Which format the end of a name means, where several end so: one of that very name, else the first."""

FAILED_TO_READ = "failed"
"""Kind of an error that is a mistake in Candid."""


def detect(path: Path | str) -> Format:
    """The format of a file: by its content, else by the end of its name.

    Raises
    ------
    UserError
        No such file, a folder, an empty file, or of no format that is known.
    """
    path = Path(path)
    with _add_file_name(path.name):
        return _detect(path, path.name)


def read(
    path: Path | str,
    *,
    name: str | None = None,
    options: ReadOptions | None = None,
    format: str | None = None,
    check: bool = True,
    **changes: Any,
) -> PartialLabelDataset:
    """Read the dataset in a file of any known format.

    Parameters
    ----------
    path
        The file or folder.
    name
        What to call the dataset and the file in messages, where the path has another name (an upload); by default the
        name of the file.
    options
        What its columns are, and the like.
    format
        a name in `FORMATS`; by default what the content says.
    check
        Whether an odd reading is refused (`pll.formats.odd`); else the caller sees to that.
    **changes
        Fields of `ReadOptions`, as in `read("x.csv", columns={"colour": "keep"})`.

    Raises
    ------
    UserError
        Anything wrong with the file: its name, the place and the remedy.
    """
    path = Path(path)
    options = replace(options or ReadOptions(), **changes)
    display_name = name or options.name or path.name
    with _add_file_name(display_name):
        form = _form(path, display_name, format)
        with _add_row_note(form):
            data = form.read(path, replace(options, name=display_name))
            if check:
                refuse_odd(data, options)
            return data


def columns(path: Path | str, *, name: str | None = None, options: ReadOptions | None = None) -> list[Column]:
    """Return the role of each column of a table, before it is read; none where the format has no columns.

    Parameters
    ----------
    path
        The file.
    name
        Of the file, where it is another than that of `path`.
    options
        How it is read.

    Raises
    ------
    UserError
        See `read`.
    """
    path = Path(path)
    with _add_file_name(name or path.name):
        return _detect(path, name or path.name).columns(path, options or ReadOptions())


def roles_there(
    roles: Mapping[str, str], path: Path | str, options: ReadOptions, name: str | None = None
) -> ReadOptions:
    """Return options with those of the roles whose columns a table has; what the options say of a column stays.

    Parameters
    ----------
    roles
        Of columns, by name.
    path
        The file.
    options
        How it is read.
    name
        Of the file, where it is another than that of `path`.

    Raises
    ------
    UserError
        See `read`.
    """
    if not roles:
        return options
    there = {one.name for one in columns(path, name=name, options=options)}
    known = {column: role for column, role in roles.items() if column in there}
    return replace(options, columns=known | dict(options.columns))


def options_of(reading: Reading, path: Path | str, name: str | None = None, *, whole: bool = True) -> dict[str, Any]:
    """Return the fields of `ReadOptions` that read a file as another one was read.

    Parameters
    ----------
    reading
        What was understood of the other file.
    path
        This file.
    name
        What a message calls it, where it is called otherwise.
    whole
        Whether the file must have every column of the reading; examples to be predicted lack those of labels.

    Raises
    ------
    UserError
        The file lacks columns of the reading.
    """
    options: dict[str, Any] = {"answers": dict(reading.answers), "keep": reading.keep, "accept": reading.odd}
    options |= {"sheet": reading.sheet or None, "class_names": reading.class_names}
    there = {one.name for one in columns(path, name=name, options=ReadOptions(**options))}
    missing = [one for one in reading.roles if there and one not in there]
    if missing and whole:
        raise UserError(
            f"{name or Path(path).name} lacks columns that the reading names: {listing(missing)}. Make a reading of "
            "this file (candid read FILE --save reading.json)."
        )
    roles = {column: role for column, role in reading.roles.items() if column not in missing}
    return {option: value for option, value in (options | {"columns": roles}).items() if value}


def sheets(path: Path | str, *, name: str | None = None) -> list[str]:
    """The sheets of a workbook that hold a table, the one that is read by default first; none for other files.

    Parameters
    ----------
    path
        The file.
    name
        Of the file, where it is another than that of `path`.

    Raises
    ------
    UserError
        See `read`.
    """
    path = Path(path)
    with _add_file_name(name or path.name):
        return _detect(path, name or path.name).sheets(path, ReadOptions())


def write(
    dataset: PartialLabelDataset, path: Path | str, format: str | None = None, results: Results | None = None
) -> list[Path]:
    """Write a dataset; the file appears whole or not at all.

    What the format cannot hold is not written: `pll.formats.limitations.cannot_hold` lists it.

    Parameters
    ----------
    dataset
        What is written.
    path
        The file.
    format
        a name in `FORMATS`; by default what the end of the file's name says.
    results
        Identified labels to write with the examples.

    Returns
    -------
    list[Path]
        The files that were written: this one, and what goes with it (a labelling configuration, say).

    Raises
    ------
    UserError
        An unknown format, a folder that is not there, or data that the format cannot hold at all.
    """
    path = Path(path)
    form = _chosen(path, format)
    if form.queue and results is not None and results.uncertain_first:
        order = list(results.in_order((name, row) for row, name in enumerate(dataset.row_ids.tolist())))
        dataset = dataset.take(np.array(order, dtype=np.int64))
    with _add_file_name(path.name):
        return _write(path, lambda half: form.write(dataset, half, results), form.extra_files(dataset, results))


def give_back(
    source: Path | str,
    path: Path | str,
    results: Results,
    *,
    options: ReadOptions | None = None,
    format: str | None = None,
) -> list[Path]:
    """Write a file again with results added, everything else in it as it was.

    Parameters
    ----------
    source
        The file that the examples came from.
    path
        Where to write; not `source` itself.
    results
        What is added.
    options
        What it was read with.
    format
        a name in `FORMATS`; by default what the content of `source` says.

    Returns
    -------
    list[Path]
        The files that were written: this one, and what goes with it.

    Raises
    ------
    UserError
        As `read` and `write`.
    """
    source, path = Path(source), Path(path)
    with _add_file_name(source.name):
        form = _form(source, source.name, format)
        if path.exists() and path.samefile(source):
            raise UserError(f"{path} is the file that the labels are for; write to another.")
        read_options = options or ReadOptions()
        with _add_row_note(form):
            extra_files = form.extra_files_given_back(source, results, read_options)
            return _write(path, lambda half: form.give_back(source, half, results, read_options), extra_files)


def _write(path: Path, write: Callable[[Path], None], extra_files: Mapping[str, str]) -> list[Path]:
    """Write a file and texts beside it, whose names have these ends; return all of them."""
    if not path.parent.is_dir():
        raise UserError(f"{path.name}: there is no folder {path.parent}; make it first, or choose another.")
    if extra_files and is_stream(path):
        raise UserError(f"{path} is no file, and this format writes another file beside; give the name of a file.")
    write_atomically(path, write)
    texts = {path.with_name(path.stem + end): text for end, text in extra_files.items()}
    for other, text in texts.items():
        write_text(other, text + "\n")
    return [path, *texts]


def _form(path: Path, display_name: str, format: str | None) -> Format:
    """The format that was named, else what the content says."""
    return _detect(path, display_name) if format is None else _called(format)


def _detect(path: Path, display_name: str) -> Format:
    if not path.exists():
        raise UserError(f"There is no file {path}; check the path.")
    if path.is_dir():
        return FORMATS["npz" if holds_arrays(path) else "parquet" if holds_shards(path) else "imagezip"]
    if not path.is_file():
        raise UserError(f"{path} is not an ordinary file.")
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise UserError("The file is empty; export or copy it again.")
    refuse_no_data(head)
    if words := ENDS.get(Path(display_name).suffix.lower()):
        raise UserError(f"The file is {words}.")
    if _is_workbook(path, head):
        raise UserError(
            "The file is a workbook of LibreOffice, or of Excel in an old format (.xls, .xlsb) or with a password. "
            "Open it and save it as an Excel workbook (.xlsx) without a password, or the sheet with the examples as "
            "CSV UTF-8."
        )
    content = _content(head)
    for form in FORMATS.values():
        if form.content == content and form.sniff(path, head):
            return form
    # Unknown content: the reader of the file's suffix has the best error message.
    suffix = Path(display_name).suffix.lower()
    stranger = next((words for start, words in STRANGERS.items() if head.startswith(start)), None)
    if head.startswith(b"PK") and not zipfile.is_zipfile(path):
        raise UserError("The file is a ZIP archive that is cut off or damaged; copy, download or export it again.")
    usual = _usual(suffix)
    if usual is not None and stranger is None:
        return usual
    what = f"The file is {stranger}" if stranger is not None else "The content is of no known format"
    raise UserError(f"{what}. Files that are read: {', '.join(SUFFIXES)}.")


def _is_workbook(path: Path, head: bytes) -> bool:
    """Whether a file is a workbook that is not read: of LibreOffice, or of Excel, old, binary or encrypted."""
    if head.startswith(b"\xd0\xcf\x11\xe0"):
        return True
    names = names_in(path) if head.startswith(b"PK") else ()
    is_old = any(name.startswith("xl/") for name in names) and "xl/workbook.xml" not in names
    return is_old or b"opendocument.spreadsheet" in head


def _content(head: bytes) -> str:
    """Return the kind of content, which decides the formats to try: "text", "json" or "binary"."""
    if without_marks(head).lstrip()[:1] in (b"{", b"["):
        return "json"
    return "text" if looks_like_text(head) and not head.startswith((b"MATLAB", b"PK", b"PAR1")) else "binary"


def _chosen(path: Path, format: str | None) -> Format:
    if format is not None:
        return _called(format)
    usual = _usual(path.suffix.lower())
    if usual is None:
        ends = listing(SUFFIXES, limit=30)
        raise UserError(f"{path.name}: the end of the name says no format; use one of {ends}, or name a format.")
    return usual


def _called(format: str) -> Format:
    if format not in FORMATS:
        raise UserError(f"There is no format called {format!r}; use one of {', '.join(FORMATS)}.")
    return FORMATS[format]


def _usual(suffix: str) -> Format | None:
    return next((FORMATS[name] for name in _USUAL if suffix in FORMATS[name].suffixes), None)


@contextmanager
def _add_row_note(form: Format) -> Iterator[None]:
    """After a message that names a row, how rows are counted in this format."""
    try:
        yield
    except RowError as error:
        error.row_note = error.row_note or form.row_note
        raise


@contextmanager
def _add_file_name(display_name: str) -> Iterator[None]:
    """The name of the file before every message that lacks it, and plain words for whatever else goes wrong."""
    try:
        yield
    except UserError as error:
        error.within(display_name)
        raise
    except MemoryError as error:
        raise UserError(f"{display_name}: there is not enough memory for this file; bring a smaller one.") from error
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise UserError(f"{display_name}: {error.strerror or error}{where}.") from error
    except Exception as error:  # a mistake of ours, which no user can mend
        if type(error).__module__.startswith("pll."):  # who reads asked to stop
            raise
        raise UserError(
            f"{display_name}: Candid fails on this file ({type(error).__name__}: {str(error)[:200]}), which is a "
            "mistake in Candid: please report it. Perhaps it reads a CSV with only the columns that you need.",
            kind=FAILED_TO_READ,
        ) from error

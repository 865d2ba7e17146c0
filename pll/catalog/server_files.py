"""Access to files on the server by path, limited to the data folder and the folders of `$PLL_DATA_PATH`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pll.catalog.files import search_roots
from pll.catalog.sources import Source, holds_data
from pll.errors import UserError
from pll.formats import FORMATS

DEEPEST_FOLDER = 3
"""Depth of subfolders searched for files to offer."""
MOST_FILES_OFFERED = 300
MOST_LOOKED_AT = 20_000


def allowed_folders() -> list[Path]:
    """Return the existing ones of the data folder and the folders of `$PLL_DATA_PATH`, with symbolic links resolved."""
    result = (root.resolve() for root in search_roots())
    return [folder for folder in dict.fromkeys(result) if folder.is_dir()]


def on_server(text: str) -> Source:
    """Return the source of a path to a file or image folder, absolute or relative to an allowed folder.

    Raises
    ------
    UserError
        No such file, or a path that leads outside the allowed folders (by `..` or links); the message names the allowed
        folders.
    """
    path = Path(text.strip())
    if not text.strip():
        raise UserError(f"Give the path of a file inside {_listed(allowed_folders())}.")
    if ".." in path.parts:
        raise UserError(f"{text} leads out of its folder by '..'; give a path without it, {_inside()}.")
    if "\0" in text:
        raise UserError("The path holds a NUL character, which no path can; type it again.")
    if path.is_absolute():
        return _checked(path, text)
    for folder in allowed_folders():
        if os.path.lexists(folder / path):
            return _checked(folder / path, text)
    raise UserError(f"There is no file {text} in {_listed(allowed_folders())}; check the path.")


def _checked(path: Path, text: str) -> Source:
    allowed = allowed_folders()
    if not _within(Path(os.path.normpath(path)), [*allowed, *search_roots()]):
        # Refused before any file access, so that the message does not disclose which files exist outside.
        raise UserError(f"{text} is not in an allowed folder; put the file {_inside()}.")
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # missing, not readable, circular links
        raise UserError(f"There is no file {text} that can be read; check the path.") from None
    if not _within(real, allowed):
        raise UserError(f"{text} is a link that leads out of the allowed folders; put the file itself {_inside()}.")
    if not real.is_file() and not holds_data(real):
        raise UserError(f"{text} is neither a file nor a folder of pictures or arrays; name a file inside it.")
    if not os.access(real, os.R_OK):
        raise UserError(f"{text} may not be read by the server; change the permissions of the file.")
    return Source(real.name, str(real))


def offered() -> list[str]:
    """Return paths in the allowed folders with the suffix of a known format, at most `MOST_FILES_OFFERED`."""
    endings = {suffix for form in FORMATS.values() for suffix in form.suffixes}
    result: list[str] = []
    for at, file in enumerate(_files(allowed_folders())):
        if at >= MOST_LOOKED_AT or len(result) >= MOST_FILES_OFFERED:
            break
        if file.suffix.lower() in endings and not file.is_symlink():
            result.append(str(file))
    return result


def _files(folders: Iterable[Path], depth: int = 0) -> Iterator[Path]:
    """Yield files, a folder's own before those of its subfolders; links to folders are not followed."""
    for folder in folders:
        try:
            inside = sorted(folder.iterdir())
        except OSError:  # removed meanwhile, or not readable
            continue
        visible = [path for path in inside if not path.name.startswith(".")]
        yield from (path for path in visible if path.is_file())
        if depth < DEEPEST_FOLDER:
            yield from _files((path for path in visible if path.is_dir() and not path.is_symlink()), depth + 1)


def _within(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _inside() -> str:
    return f"inside {_listed(allowed_folders())}"


def _listed(folders: list[Path]) -> str:
    if not folders:
        return "an allowed folder (none is there: whoever runs the server names some in PLL_DATA_PATH)"
    return " or ".join(str(folder) for folder in folders)

"""All files at once: loose in a folder, and in one ZIP with a README on how to use each."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pll.errors import UserError
from pll.export.parts import EXPORTS, exporters_of
from pll.export.programs import NotExportable
from pll.export.readme import readme
from pll.export.source import ExportSource
from pll.io import write_atomically, write_text

README_FILE, ARCHIVE_END = "README.md", "-export.zip"
BEGUN_FILE = ".candid-export"
"""Written before all else, and removed once there is the archive: a folder with either of them holds an export."""
NAMES = (README_FILE, *(part.file_name for part in EXPORTS.values()))

FilesDone = Callable[[int, int, str], None]
"""Called with (files done, files in all, name of the next one; at the end the archive's)."""

_ALREADY_PACKED = {".npz", ".parquet", ".pt2"}


@dataclass(frozen=True)
class ExportResult:
    """What there is now.

    Attributes
    ----------
    files
        The loose files, README included, in the order of `EXPORTS`.
    zip_path
        The archive of all of them.
    notes
        What could not be made and why, and other warnings.
    """

    files: tuple[Path, ...]
    zip_path: Path
    notes: tuple[str, ...]


def export_all(source: ExportSource, out_dir: Path | str, *, progress: FilesDone | None = None) -> ExportResult:
    """Write every file this source can give, a README.md, and `<name>-export.zip` that holds them all.

    Each file is written atomically and replaces that of an earlier export, be it one that was stopped (features that
    this model does not have go); nothing else in the folder is touched.

    Parameters
    ----------
    source
        What is exported.
    out_dir
        Made if it is missing.
    progress
        Called before each file.

    Raises
    ------
    UserError
        The folder cannot be written to, or holds a file of such a name that no export wrote.
    """
    folder = Path(out_dir)
    _check_free(folder)
    archive = folder / archive_name(source)
    tell = progress or (lambda done, total, name: None)
    exporters = exporters_of(source)
    total = len(exporters) + 2
    files: list[Path] = []
    notes: list[str] = []
    stale: list[str] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / BEGUN_FILE, "Candid is writing an export here. Where it was stopped, export again.\n")
        for part in EXPORTS.values():
            if part not in exporters.values():  # of another model, and wrong for this one
                (folder / part.file_name).unlink(missing_ok=True)
        for done, part in enumerate(exporters.values()):
            tell(done, total, part.file_name)
            path = folder / part.file_name
            try:
                part.write(source, path)
                files.append(path)
            except NotExportable as error:
                notes.append(f"{part.file_name}: {error}")
                if path.exists():
                    stale.append(f"The {part.file_name} in {folder} is of an earlier export, not of this model.")
        tell(total - 2, total, README_FILE)
        files.append(folder / README_FILE)
        write_text(files[-1], readme(source, {path.name for path in files}, notes))
        tell(total - 1, total, archive.name)
        write_atomically(archive, lambda temporary: _pack(files, temporary))
        (folder / BEGUN_FILE).unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"The export cannot be written to {folder}: {error.strerror or error}.") from error
    tell(total, total, archive.name)
    return ExportResult(tuple(files), archive, (*notes, *stale))


def _check_free(folder: Path) -> None:
    """Raise UserError where a file that an export writes or deletes is there, and no export was made or begun."""
    there = next((name for name in NAMES if (folder / name).exists()), None)
    is_export = (folder / BEGUN_FILE).exists() or any(folder.glob(f"*{ARCHIVE_END}"))
    if there is not None and not is_export:
        raise UserError(f"{folder} holds {there}, which is of no export, and would be lost; choose another folder.")


def archive_name(source: ExportSource) -> str:
    """`<name>-export.zip`."""
    return f"{source.slug}{ARCHIVE_END}"


def archive_data(source: ExportSource) -> bytes:
    """Return the content of the archive, made now: `data` of a download button, called when it is pressed."""
    with tempfile.TemporaryDirectory() as folder:
        return export_all(source, folder).zip_path.read_bytes()


def _pack(files: list[Path], path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            packed = file.suffix in _ALREADY_PACKED
            archive.write(file, file.name, zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED)

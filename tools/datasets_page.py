"""Write docs/datasets.md from the catalogue and templates/datasets.md.jinja: `python -m tools.pages`."""

from __future__ import annotations

from pathlib import Path

from benchmarks.marked import table
from pll.catalog import CATALOG
from pll.catalog.entry import Entry, File
from pll.catalog.files import archive_name, is_archive
from tools.templates import rendered

PATH = Path(__file__).parents[1] / "docs" / "datasets.md"


def markdown() -> str:
    """The whole page."""
    columns = ("name", "what it is", "kind", "examples", "features", "classes", "candidates", "split", "MB")
    sets = table([*columns, "licence", "source"], [_set_row(entry) for entry in CATALOG.values()])
    places = table(["folder", "file", "for", "from", "checked by"], _file_rows())
    return rendered("datasets", sets=sets, places=places)


def _set_row(entry: Entry) -> list[str]:
    return [
        f"`{entry.name}`",
        entry.about,
        entry.kind,
        f"{entry.n:,}",
        " × ".join(map(str, entry.shape)),
        str(entry.c),
        "" if entry.mean_candidates is None else f"{entry.mean_candidates:.2f}",
        entry.split,
        _size(entry),
        entry.licence,
        f"[{entry.title}]({entry.page})",
    ]


def _file_rows() -> list[list[str]]:
    users: dict[File, list[str]] = {}
    for entry in CATALOG.values():
        for file in (file for need in entry.needs for way in need.ways for file in way):
            users.setdefault(file, []).append(f"`{entry.name}`")
    return [
        [f"`{file.folder}`", f"`{file.name}`", ", ".join(names), _source(file), _proof(file)]
        for file, names in users.items()
    ]


def _size(entry: Entry) -> str:
    if entry.embedded:
        return "in scikit-learn"
    return f"{entry.size_mb:.1f}" if entry.size_mb >= 0.1 else f"{entry.size_mb:.2f}"


def _source(file: File) -> str:
    if not file.urls:
        return f"[page]({file.page})" if "://" in file.page else "by hand"
    url = file.urls[0]
    return f"[{archive_name(url)}]({url})" if is_archive(url, file) else f"[file]({url})"


def _proof(file: File) -> str:
    if file.checksum is not None:
        return f"{file.checksum.label} `{file.checksum.value[:12]}…`"
    return "MD5 of OpenML" if file.openml is not None else "content"

"""Files that are brought at once: what one archive holds that they could have come in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pll.errors import UserError
from pll.formats import detect
from pll.formats.archive import Members
from pll.formats.base import ReadOptions
from pll.formats.images import TABLES, ImageZip
from pll.formats.tabular.builder import TableFormat
from pll.formats.tabular.parts import are_one_a_person
from pll.formats.tools.records import RecordFormat
from pll.images import PICTURE_SUFFIXES


def in_one_archive(paths: Sequence[Path]) -> dict[str, bytes] | None:
    """Return what one archive of some files holds, by name within; None where they are not read as one.

    They are tables with the answers of a person each; or pictures that nothing says the labels of, and tables.
    """
    try:
        tables, pictures = {}, dict[str, bytes]()
        for path in paths:
            form = detect(path)
            if isinstance(form, TableFormat) and not isinstance(form, RecordFormat):
                tables[path.name] = form.table(path, ReadOptions())
            elif pictures or not isinstance(form, ImageZip) or not (pictures := _without_labels(path)):
                return None
        if len(tables) + bool(pictures) == len(paths) and tables and (pictures or are_one_a_person([*tables.values()])):
            return {**pictures, **{path.name: path.read_bytes() for path in paths if path.name in tables}}
    except UserError:
        pass  # the error comes when the files are read
    return None


def _without_labels(archive: Path) -> dict[str, bytes]:
    """The pictures of an archive without a table and without folders that sort them; of any other none."""
    with Members(archive, ReadOptions().max_bytes) as members:
        names = [name for name in members.sizes if name.lower().endswith(PICTURE_SUFFIXES)]
        has_table = any(name.lower().endswith(TABLES) for name in members.sizes)
        if has_table or len({PurePosixPath(name).parent for name in names}) != 1:
            return {}
        return {name: members.read(name) for name in names}

"""Files that are brought at once: what one archive holds that they could have come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from pll.errors import UserError
from pll.formats import detect
from pll.formats.archive import Members
from pll.formats.base import ReadOptions
from pll.formats.images import TABLES, ImageZip
from pll.formats.tabular.builder import TableFormat
from pll.formats.tabular.parts import people_among
from pll.formats.tools.records import RecordFormat
from pll.images import PICTURE_SUFFIXES


def in_one_archive(paths: Sequence[Path]) -> dict[str, bytes] | None:
    """Return what one archive of some files holds, by name within; None where they are not read as one.

    They are tables with the answers of a person each, and perhaps one of what these answered about; or pictures that
    nothing says the labels of, and tables. Files of one name are numbered.
    """
    try:
        tables, pictures = {}, dict[str, bytes]()
        times = Counter(path.name for path in paths)
        names = [path.name if times[path.name] == 1 else f"{k}/{path.name}" for k, path in enumerate(paths, start=1)]
        for name, path in zip(names, paths, strict=True):
            form = detect(path)
            if isinstance(form, TableFormat) and not isinstance(form, RecordFormat):
                tables[name] = form.table(path, ReadOptions())
            elif pictures or not isinstance(form, ImageZip) or not (pictures := _without_labels(path)):
                return None
        people = {} if pictures else people_among([*tables.values()])
        are_of_people = len(people) > 1 and len(people) >= len(tables) - 1
        if len(tables) + bool(pictures) == len(paths) and tables and (pictures or are_of_people):
            read = {name: path.read_bytes() for name, path in zip(names, paths, strict=True) if name in tables}
            return {**pictures, **read}
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

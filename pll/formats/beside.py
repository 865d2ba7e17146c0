"""Files of one example each in an archive or a folder: its record in JSON, perhaps of each person, or its text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path, PurePosixPath

from pll.formats import json_objects
from pll.formats.archive import Members
from pll.formats.checks import MAX_RECORD_BYTES
from pll.formats.encodings import as_utf8
from pll.formats.json_objects import Record
from pll.formats.records import Records
from pll.formats.results import free_name
from pll.formats.tabular.cells import NEARLY_ALL
from pll.images import SUFFIXES

TEXTS = (".txt", ".md")
"""Ends of the names of texts."""
_PAGES = (".html", ".htm")
WHO = "annotator"
"""Name of the column of the folder that says whose a file is."""
MOST_OTHERS, LEAST_FILES = 3, 10
"""Files, at most, beside those of a record each; of these without pictures, at least."""


# ---- a record each ---------------------------------------------------------------------------------------------------


def one_a_file(files: Mapping[str, Path], pictures: Sequence[str]) -> dict[str, Record]:
    """Return the record of each file, by name, where files hold one of the same kind each; else nothing.

    They are called as pictures are, or hold lists and objects: several flat ones are answers of a person each.

    Parameters
    ----------
    files
        Where each file is for the time being, by its name in the archive.
    pictures
        The pictures beside them.

    Raises
    ------
    UserError
        A file that is no JSON.
    """
    if len(files) < 2 or any(file.suffix != ".json" for file in files.values()):
        return {}
    of_end = by_end(pictures)
    read = {n: one for n, file in files.items() if (one := _only_record(file, shown=picture_of(n, of_end)))}
    keys = Counter(key for record in read.values() for key in record)
    usual = {key for key, times in keys.items() if 2 * times > len(read)}
    found = {name: record for name, record in read.items() if 2 * len(usual & record.keys()) > len(usual)}
    are_of_pictures = all(picture_of(name, of_end) for name in found)
    are_nested = all(any(isinstance(one, list | dict) for one in record.values()) for record in found.values())
    is_clear = are_of_pictures or (are_nested and len(found) >= LEAST_FILES)
    return found if found and is_clear and len(found) >= len(files) - MOST_OTHERS else {}


def _only_record(file: Path, *, shown: str) -> Record:
    """The record in a file that holds one; of a picture, the object that it is, be there but one list in it."""
    if shown and file.stat().st_size <= MAX_RECORD_BYTES:
        with suppress(ValueError, RecursionError):
            value = json.loads(file.read_text("utf-8-sig"))
            return value if isinstance(value, dict) else {}
    first = [record for _, record in islice(json_objects.records(file), 2)]
    return first[0] if len(first) == 1 and json_objects.shape_of(file) == "lines" else {}


def table_of_files(records: Mapping[str, Record], pictures: Sequence[str]) -> Records:
    """Return records of a file each as a table, with which file or picture each is about, and whose it is.

    Where files of one name lie in several folders, these are people.

    Parameters
    ----------
    records
        By the name of the file.
    pictures
        The pictures beside them.
    """
    fields = dict.fromkeys(key for record in records.values() for key in record)
    file, who, image = (free_name(name, fields) for name in ("file", WHO, "image"))
    names, of_end = [PurePosixPath(name).stem for name in records], by_end(pictures)
    columns: dict[str, list[object]] = {file: [*names]}
    roles = {file: "id"}
    if len({*names}) < len(names):
        people = dict(zip(own := [*filter(records.get, records)], people_in(own), strict=True))
        columns[who], roles = [people.get(name) for name in records], {file: "task", who: "worker"}
    if all(shown := [picture_of(name, of_end) for name in records]):
        columns[image], roles[image] = [*shown], "image"
    columns |= {key: [record.get(key) for record in records.values()] for key in fields}
    return Records.of(columns, roles=roles, may_be_empty=True)


def people_in(paths: Sequence[str]) -> list[str]:
    """Return whose each file is: the last folder that files of one name do not share.

    Examples
    --------
    >>> people_in(["ann/by/amy/pool/1.json", "ann/by/bo/pool/1.json", "ann/gold/pool/1.json"])
    ['amy', 'bo', 'gold']
    """
    folders = [PurePosixPath(path).parts[:-1] for path in paths]
    first, last = min(folders), max(folders)
    start = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(map(len, folders)))
    ends = [parts[start:][::-1] for parts in folders]
    same = next((k for k in range(min(map(len, ends))) if len({parts[k] for parts in ends}) > 1), min(map(len, ends)))
    return [next(iter(parts[same:]), "") for parts in ends]


def picture_of(name: str, of_end: Mapping[str, str]) -> str:
    """Return the picture that a file is of, by its name: `a.json` or `a.jpg.json` of `a.jpg`; "" of none.

    Parameters
    ----------
    name
        Of the file.
    of_end
        The pictures, as `by_end` returns them.
    """
    stem = PurePosixPath(name).stem
    return next((of_end[one] for one in (stem, *(stem + end for end in SUFFIXES)) if of_end.get(one)), "")


def by_end(names: Sequence[str]) -> dict[str, str]:
    """Return files by every end of their path, from a folder on or the name alone; "" where several have it.

    Examples
    --------
    >>> by_end(["a/x.png", "b/x.png"])
    {'a/x.png': 'a/x.png', 'x.png': '', 'b/x.png': 'b/x.png'}
    """
    found: dict[str, str] = {}
    for name in names:
        parts = name.split("/")
        for at in range(len(parts)):
            end = "/".join(parts[at:])
            found[end] = "" if end in found else name
    return found


def texts_without(records: Mapping[str, Record], members: Members) -> dict[str, Record]:
    """Return an empty record for each text that none of some records is of, where others of its folder have one.

    Parameters
    ----------
    records
        By the name of the file.
    members
        The archive or folder.
    """
    texts = _texts_in(members)
    used = {name for name in _named([*records], _by_stem(texts)) if name}
    folders = {name.rpartition("/")[0] for name in used}
    return {name: {} for name in texts if name not in used and name.rpartition("/")[0] in folders}


# ---- a text each -----------------------------------------------------------------------------------------------------


def with_texts(table: Records, members: Members) -> Records:
    """Return a table with what stands in the texts beside it, where a column names one for nearly every row.

    Parameters
    ----------
    table
        The table.
    members
        The archive or folder.

    Raises
    ------
    UserError
        The texts are too large, or damaged.
    """
    texts = _texts_in(members)
    if len(texts) < 2 or any(name.casefold() == "text" for name in table.names):
        return table
    found = _by_stem(texts)
    for at, column in enumerate(table.sample()):
        if sum(map(bool, _named(column, found))) < NEARLY_ALL * len(column):
            continue
        of = _named(list(table.texts(at)), found)
        if len({*of}) > 1:
            used = sorted({*of} - {""})
            members.check_total(used)
            said = {name: _text_in(members, name) for name in used}
            added = table.with_columns({"text": [said.get(name) for name in of]})
            folders = {name.rpartition("/")[0] for name in used}
            spare = sum(name.rpartition("/")[0] in folders for name in texts) - len(used)
            are = "1 text is in no row; it was" if spare == 1 else f"{spare:,} texts are in no row; they were"
            notes = [f"{are} left out."] if spare else []
            roles = {**table.roles, "text": "text"}
            return replace(added, roles=roles, signature=table.signature, notes=(*table.notes, *notes))
    return table


def _texts_in(members: Members) -> list[str]:
    """The texts in an archive; none beside pictures, whose boxes stand in texts of their names."""
    if any(name.lower().endswith(SUFFIXES) for name in members.sizes):
        return []
    return [name for name in members.sizes if name.lower().endswith((*TEXTS, *_PAGES))]


def _by_stem(texts: Sequence[str]) -> dict[str, str]:
    """Texts by their names, with and without each end; "" where several have it."""
    found: dict[str, str] = {}
    for name in texts:
        for stem in _stems(name):
            found[stem] = "" if found.get(stem, name) != name else name
    return found


def _named(cells: Sequence[str | None], found: Mapping[str, str]) -> list[str]:
    """The text that each cell names; "" where it names none."""
    return [next((found[one] for one in _stems(cell or "") if found.get(one)), "") for cell in cells]


def _stems(name: str) -> Iterator[str]:
    """Yield a name without its folders, and then without one end after the other."""
    stem = PurePosixPath(name.replace("\\", "/")).name
    while stem:
        yield stem
        stem, dot, _ = stem.rpartition(".")
        if not dot:
            return


def _text_in(members: Members, name: str) -> str:
    text = as_utf8(members.read(name)).decode("utf-8", "replace")
    if not name.lower().endswith(_PAGES):
        return text.strip()
    page = _Page()
    page.feed(text)
    return " ".join(" ".join(page.said).split())


class _Page(HTMLParser):
    """What there is to read in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._silent = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent = self._silent or (tag if tag in ("title", "script", "style") else "")

    def handle_endtag(self, tag: str) -> None:
        self._silent = "" if tag == self._silent else self._silent

    def handle_data(self, data: str) -> None:
        self.said += [] if self._silent else [data]

"""Files of JSON in an archive or a folder that are called as the pictures or texts beside them: a record of each."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath

from pll.errors import UserError
from pll.formats import json_objects
from pll.formats.archive import Members
from pll.formats.base import ReadOptions
from pll.formats.encodings import as_utf8
from pll.formats.json_objects import Record
from pll.formats.records import Records
from pll.formats.results import Value, free_name
from pll.formats.tabular.jsonl import JsonLines
from pll.images import PICTURE_SUFFIXES

WHO = "annotator"
"""Name of the column of the folder that says whose a file is."""
_PAGES, _TEXTS = (".html", ".htm"), (".txt", ".md")
_ENDS = {".json", ".ann", ".plain", *_PAGES, *_TEXTS, *PICTURE_SUFFIXES}


class OneRecord(JsonLines):
    """A file that is one object, whatever lists there are in it."""

    def add(self, source: Path, path: Path, added: Mapping[str, Sequence[Value]], options: ReadOptions) -> None:
        taken, fields = json_objects.only_record(source), Record()
        for name, (value,) in added.items():
            fields |= {free_name(name, taken): value} if value is not None else {}
        path.write_text(json_objects.with_fields(source.read_text("utf-8-sig").rstrip(), fields), "utf-8")


def of_pictures_and_texts(members: Members, names: Sequence[str]) -> dict[str, str]:
    """Return the picture or text that each of some files of JSON is called as; nothing where few files are.

    Parameters
    ----------
    members
        The archive or folder.
    names
        The files.
    """
    json = [name for name in names if name.lower().endswith(".json")]
    shown = _shown(members) if json else {}
    found = {name: shown[stem] for name in json if shown.get(stem := _stem(name))}
    return found if len({*found.values()}) > 1 and 2 * len(found) > len(names) else {}


def _shown(members: Members) -> dict[str, str]:
    """The pictures, or else the texts, of an archive by their names; "" where several are called so."""
    for ends in (PICTURE_SUFFIXES, (*_PAGES, *_TEXTS)):
        found: dict[str, str] = {}
        for name in members.sizes:
            if name.lower().endswith(ends):
                stem = _stem(name)
                found[stem] = "" if stem in found else name
        if found:
            return found
    return {}


def _stem(name: str) -> str:
    """Return what a file is called without the ends that say what it holds.

    Examples
    --------
    >>> _stem("ds0/ann/a.1.jpg.json"), _stem("plain.html/pool/a.1.txt.plain.html")
    ('a.1', 'a.1')
    """
    path = PurePosixPath(name)
    while path.suffix.lower() in _ENDS:
        path = path.with_suffix("")
    return path.name


def table_of(files: Mapping[str, Path], of: Mapping[str, str], members: Members) -> Records:
    """Return the records of files as a table, with what each is about, and whose it is where several have one name.

    Pictures and texts of which there is no record are rows without one.

    Parameters
    ----------
    files
        Where each file is for the time being.
    of
        What each is of, by `of_pictures_and_texts`.
    members
        The archive or folder, with these.

    Raises
    ------
    UserError
        A file that is no JSON, or a text that is too large.
    """
    records = dict[str, Record]()
    for name in of:
        try:
            records[name] = json_objects.only_record(files[name])
        except UserError as error:
            raise error.within(name) from None
    folders = {shown.rpartition("/")[0] for shown in of.values()}
    others = [n for n in _shown(members).values() if n not in {*of.values()} and n and n.rpartition("/")[0] in folders]
    shown, rows = [*of.values(), *others], [*records.values(), *(Record() for _ in others)]
    fields = dict.fromkeys(key for record in rows for key in record)
    file, who, image, text = (free_name(name, fields) for name in ("file", WHO, "image", "text"))
    columns: dict[str, list[object]] = {file: [_stem(name) for name in shown]}
    roles = {file: "id"}
    if len({*of.values()}) < len(of):
        columns[who], roles = [*people_in([*of]), *(None for _ in others)], {file: "task", who: "worker"}
    if shown[0].lower().endswith(PICTURE_SUFFIXES):
        columns[image], roles[image] = [*shown], "image"
    else:
        members.check_total([*{*shown}])
        said = {name: _text_in(members, name) for name in {*shown}}
        columns[text], roles[text] = [said[name] for name in shown], "text"
    columns |= {key: [record.get(key) for record in rows] for key in fields}
    return Records.of(columns, roles=roles, may_be_empty=True)


def people_in(paths: Sequence[str]) -> list[str]:
    """Return whose each file is: the last folder that files of one name do not share.

    Examples
    --------
    >>> people_in(["ann/by/amy/pool/1.json", "ann/by/bo/pool/1.json", "ann/gold/pool/1.json"])
    ['amy', 'bo', 'gold']
    """
    folders = [PurePosixPath(path).parts[:-1] for path in paths]
    start = _in_common(folders)
    ends = [parts[start:][::-1] for parts in folders]
    same = _in_common(ends)
    return ["".join(parts[same : same + 1]) for parts in ends]


def _in_common(paths: Sequence[Sequence[str]]) -> int:
    """How many parts paths begin with together."""
    return sum(1 for _ in takewhile(lambda parts: len({*parts}) == 1, zip(*paths, strict=False)))


def _text_in(members: Members, name: str) -> str:
    said = as_utf8(members.read(name)).decode("utf-8", "replace")
    if name.lower().endswith(_PAGES):
        _, mark, body = said.partition("<body")
        said = " ".join(html.unescape(re.sub("<[^<>]*>", " ", mark + body or said)).split())
    return said.strip()

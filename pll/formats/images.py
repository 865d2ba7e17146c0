"""A ZIP archive or a folder: pictures with a table whose column `image` names them, or a folder a class set; or tables.

Without a picture inside, its tables are read as one: a file a person, or parts of one export (`tabular.parts`).

Only the names of the pictures are read, and every header is looked at; features are made of them later. A folder
called `cat|dog` (or `cat;dog`) holds pictures of cats or dogs; folders `train` and `test` around them are the split.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from pll.dataset import PartialLabelDataset
from pll.errors import MissingPictures, Note, RowError, UserError
from pll.formats import json_objects
from pll.formats.archive import Members, names_in
from pll.formats.base import HEAD_BYTES, Format, ReadOptions
from pll.formats.beside import WHO, OneRecord, of_pictures_and_texts, table_of
from pll.formats.checks import MAX_RECORD_BYTES, check_ids, listing, refuse_no_data, shorten
from pll.formats.codebook import codes_beside, codes_in
from pll.formats.encodings import as_utf8, without_marks
from pll.formats.forms import WORDS
from pll.formats.limitations import are_bytes
from pll.formats.proposal import Codes
from pll.formats.reading import LABELLED, Column
from pll.formats.records import Records
from pll.formats.results import Results
from pll.formats.tabular.builder import TableFormat, build, dataset_of, examples_of
from pll.formats.tabular.cells import NEARLY_ALL, guess_separator, split_cell
from pll.formats.tabular.csv import Csv, Tsv, write_table
from pll.formats.tabular.jsonl import JsonLines
from pll.formats.tabular.parquet import Parquet
from pll.formats.tabular.parts import (
    are_one_a_person,
    facts_among,
    joined,
    of_nobody,
    once_each,
    people_of,
    settled_apart,
    several_people,
    stacked,
    with_items,
)
from pll.formats.tabular.writer import columns_of
from pll.formats.tabular.xlsx import Xlsx
from pll.formats.texts_inside import names_of_texts, tables_in_texts
from pll.formats.tools.exports import Argilla, LabelStudio
from pll.formats.tools.models import asked_of, with_answers
from pll.formats.tools.records import RecordFormat
from pll.formats.unfold import unfolded
from pll.images import PICTURE_SUFFIXES, Pictures, UnreadablePicture, check_size, decode, encode
from pll.io import as_column

T = TypeVar("T")
PICTURE_TABLE = "table.csv"
"""What the table is called in archives that we write."""

_TABLES: dict[str, TableFormat] = {
    suffix: form for form in (Csv(), Tsv(), JsonLines(), Parquet(), Xlsx()) for suffix in form.suffixes
}
_EXPORTS: tuple[RecordFormat, ...] = (LabelStudio(), Argilla())
MISSING_PICTURES = "missing-pictures"
"""What `ReadOptions.accept` has where rows without their picture are to be left out."""
MOST_TABLES = 1000
"""Tables in an archive that are read as one."""
TABLES = tuple(_TABLES)
"""Ends of the names of tables."""


class ImageZip(Format):
    """A ZIP archive of pictures, a folder for each class, or with a table of labels."""

    def sniff(self, path: Path, head: bytes) -> bool:
        if path.is_dir():
            return True
        if not head.startswith(b"PK\x03\x04") or not (names := names_in(path)):
            return False
        if any(name.lower().endswith((*PICTURE_SUFFIXES, *_TABLES, ".xml")) for name in names):
            return True
        return holds_tables(path)

    def read(self, path: Path, options: ReadOptions) -> PartialLabelDataset:
        with Members(path, options.max_bytes) as members:
            names = _tables(members, options)
            if not names:
                return _without_damaged(_from_folders(members, options), members)
            with _stacked(members, names, options) as (table, files):
                if len(files) > 1:
                    data = dataset_of(table, table.plan(options), options)
                else:
                    ((file, form, _),) = files.values()
                    data = _named(names[0], lambda: form.dataset(table, file, options))
            if _pictures(members) or all(name.lower().endswith(PICTURE_TABLE) for name in names):
                data = _with_pictures(data, members, names[0], options)
            return _without_damaged(data, members)

    def columns(self, path: Path, options: ReadOptions) -> list[Column]:
        with Members(path, options.max_bytes) as members:
            if not (names := _tables(members, options)):
                return []
            with _stacked(members, names, options) as (table, _):
                return table.plan(options)

    def write(self, dataset: PartialLabelDataset, path: Path, results: Results | None = None) -> None:
        names = _names(dataset)
        table = replace(_without_pixels(dataset), pictures=Pictures(as_column(names)))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for i, name in enumerate(names):
                content = _content(dataset, i)
                if content is not None:
                    archive.writestr(zipfile.ZipInfo(name), content)
            _add_table(archive, table, results)

    def give_back(self, source: Path, path: Path, results: Results, options: ReadOptions) -> None:
        with Members(source, options.max_bytes) as members, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            names = _tables(members, options)
            with ExitStack() as stack:
                table, files = stack.enter_context(_stacked(members, names, options)) if names else (None, {})
                for name in members.sizes:
                    if name not in files:
                        archive.writestr(zipfile.ZipInfo(name), members.read(name))
                if table is None:
                    _add_table(archive, self.read(source, options), results)
                    return
                added, start = results.in_own_file().added(_examples(table, members, options)), 0
                for name, (file, form, rows) in files.items():
                    new = file.with_name(f"new-{file.name}")
                    if isinstance(form, RecordFormat):
                        ids = results.ids if "id" in table.names else [str(int(row) - start) for row in results.ids]
                        form.give_back(file, new, replace(results, ids=ids, uncertain_first=False), options)
                    else:
                        part = {column: values[start : start + rows] for column, values in added.items()}
                        form.add(file, new, part, options)
                    archive.writestr(zipfile.ZipInfo(name), new.read_bytes(), zipfile.ZIP_DEFLATED)
                    start += rows


def _examples(table: Records, members: Members, options: ReadOptions) -> list[str]:
    """The ids of the rows of a table: the names of the pictures beside it where it has none itself."""
    columns = table.plan(options)
    image = [column for column in columns if column.role == "image"][:1]
    is_named = any(column.role in ("id", "task") for column in columns)
    cells = table.cells(image)[0].to_pylist() if image and _pictures(members) and not is_named else []
    if cells and (ids := _ids_of([cell or "" for cell in cells])) is not None:
        return [str(one) for one in ids]
    return examples_of(table, columns)


# ---- in --------------------------------------------------------------------------------------------------------------


@contextmanager
def _unpacked(members: Members, names: Sequence[str], texts: Mapping[str, bytes]) -> Iterator[dict[str, Path]]:
    """Some files of an archive, or tables that its texts are, as files whose names end as what they hold does."""
    members.check_total([name for name in names if name not in texts])
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for at, name in enumerate(names):
            content, end = texts.get(name), ".csv"
            if content is None:
                content, end = members.read(name), _end(members, name)
            elif b"\t" in content.partition(b"\n")[0]:
                end = ".tsv"
            files[name] = Path(folder) / f"{at}{end}"
            files[name].write_bytes(content)
        yield files


def holds_tables(path: Path) -> bool:
    """Whether an archive or a folder holds a table, be it JSON in a file without an end to its name."""
    with suppress(UserError), Members(path, HEAD_BYTES) as members:
        return bool(names_of_texts(members)) or any(_end(members, name) in _TABLES for name in members.sizes)
    return False


def _end(members: Members, name: str) -> str:
    """The end of a file's name in small letters, which says what it holds; `.json` of one without where it is JSON."""
    end = PurePosixPath(name).suffix.lower()
    if end or not members.sizes[name]:
        return end
    with members.open(name) as file:
        return ".json" if without_marks(file.read(64)).lstrip()[:1] in (b"{", b"[") else ""


def _tables(members: Members, options: ReadOptions) -> list[str]:
    """The tables of an archive in their order: beside pictures the outermost, workbooks only where there is no other.

    Without any of these, JSON that says of the pictures what they are. A file of no byte is what a person who was given
    nothing has.

    Raises
    ------
    UserError
        More tables than are read as one, or files that are no data.
    """
    if _pictures(members):
        beside = {*_TABLES} - {".json"}  # which is somebody's annotations of pictures, most often
        tables = [name for name in members.sizes if PurePosixPath(name).suffix.lower() in beside]
        tables = [name for name in tables if not name.lower().endswith(Xlsx.suffixes)] or tables
        depth = min((name.count("/") for name in tables), default=0)
        return [name for name in tables if name.count("/") == depth] or _annotations(members, options)
    found = [name for name, size in members.sizes.items() if size and _end(members, name) in _TABLES]
    _refuse_no_data(members, [name for name in members.sizes if name in found or name.lower().endswith(".xml")])
    if len(found) > MOST_TABLES:
        raise UserError(f"There are {len(found):,} tables inside; put them together, or bring fewer.")
    return found or [*tables_in_texts(members)[0]]


def _annotations(members: Members, options: ReadOptions) -> list[str]:
    """Files of JSON that say what the pictures are: one a picture, called so, or one that names most of them.

    Raises
    ------
    UserError
        What is wrong with it, where the folders of the pictures tell no labels either.
    """
    every = [name for name in members.sizes if name.lower().endswith(".json")]
    pictures = _pictures(members)
    own = [*of_pictures_and_texts(members, every)]
    found = [own] if own else [[name] for name in every if _names_most(members, name)]
    folders = {name.rpartition("/")[0] for name in pictures}
    for names in found:
        try:
            with _stacked(members, names, options) as (table, _):
                columns = table.plan(options)
        except UserError:
            if len(folders) == 1:
                raise
            continue
        is_about_labels = any(one.role in (*LABELLED, "true_label") for one in columns)
        is_about_labels = is_about_labels or (len(folders) == 1 and any(one.asks for one in columns))
        if is_about_labels and any(one.role == "image" for one in columns):
            return names
    return []


def _names_most(members: Members, name: str) -> bool:
    """Whether most of the pictures stand in a file by their names."""
    some = [PurePosixPath(one).name for one in _pictures(members)[:MOST_PICTURES_LOOKED_FOR]]
    content = members.read(name) if members.sizes[name] <= MAX_RECORD_BYTES else b""
    return 2 * sum(one.encode() in content for one in some) > len(some)


MOST_PICTURES_LOOKED_FOR = 50
"""Pictures whose names are looked for in a file."""


def _refuse_no_data(members: Members, names: Sequence[str]) -> None:
    for name in names[:MOST_TABLES]:
        with members.open(name) as file:
            refuse_no_data(file.read(HEAD_BYTES))


@contextmanager
def _stacked(
    members: Members, names: Sequence[str], options: ReadOptions
) -> Iterator[tuple[Records, dict[str, tuple[Path, TableFormat, int]]]]:
    """The tables of an archive as one; and where each is for the time being, its format and its rows."""
    texts, left_out = tables_in_texts(members)
    with _unpacked(members, names, texts) as unpacked:
        if (export := _export(unpacked)) is not None:
            counts = {name: sum(1 for _ in json_objects.records(file)) for name, file in unpacked.items()}
            table = unfolded(export.table_of_all(unpacked), options.columns)
            yield table, {name: (unpacked[name], export, counts[name]) for name in names}
            return
        if of := of_pictures_and_texts(members, names):
            table = unfolded(table_of(unpacked, of, members), options.columns)
            yield settled_apart(table, WHO), {name: (unpacked[name], OneRecord(), 1) for name in of}
            return
        files: dict[str, tuple[Path, TableFormat, int]] = {}
        tables, codes, books = dict[str, Records](), _codes_in_texts(members), dict[str, Codes]()
        requests = dict[str, Records]()
        for name, file in unpacked.items():
            form = _TABLES[file.suffix]
            table = _named(name, partial(form.table, file, options))
            if table.form is not None and table.form.name in ("samples", "batch"):
                asked = asked_of(table) if len(names) > 1 else None  # beside the results
                table = _named(name, partial(with_answers, table)) if asked is None else asked
                requests |= {} if asked is None else {name: asked}
            if len(names) > 1 and (told := codes_in(name, [list(table.names), *zip(*table.sample(), strict=True)])):
                books[name] = told
            tables[name] = table
            files[name] = file, form, sum(len(batch) for batch in table.batches([0]))
        for name in books if len(books) < len(tables) else ():  # a table of labels is called so, too
            codes |= books[name]
            del tables[name], files[name]
        beside = facts_among(tables, {name: size for name, (_, _, size) in files.items()})
        tables = {name: table for name, table in tables.items() if name not in beside}
        if len(requests) > 1 and (results := [name for name in tables if name not in requests]):  # of several models
            answers = {results[0]: stacked(results, [tables[name] for name in results])}
            left, notes = joined(answers | {listing([*requests], limit=1): once_each([*requests.values()])})
            people = results
        elif people := several_people(tables):  # whose answers are one table, to which others may say more
            answers = dict(zip(people_of(people), (tables[name] for name in people), strict=True))
            left, notes = with_items(answers, {n: table for n, table in tables.items() if n not in people})
            people = people if len(left) == 1 else []
        if not people:
            left, notes = joined(tables)
            largest = max(left, key=lambda name: files[name][2])
            columns = dict(zip(left[largest].names, left[largest].sample(), strict=True))
            for name in [*left]:  # what says nothing of the things may say what codes mean
                rows = [list(left[name].names), *map(list, zip(*left[name].sample(), strict=True))]
                if name != largest and (told := codes_beside(columns, rows)):
                    codes |= told
                    del left[name]
            nobodys = [name for name in of_nobody(tables) if name in left]
            left = {name: table for name, table in left.items() if name not in nobodys}
            notes += [f"Left out, since nothing says whose the labels are: {listing(nobodys)}."] if nobodys else []
        files = {name: files[name] for name in people or left}
        tables = left
        parts = [*tables.values()]
        if len(parts) > 1 and _pictures(members) and not are_one_a_person(parts):
            several = listing(list(files))
            raise UserError(f"There are several tables ({several}); leave the one that names the pictures.")
        table = parts[0] if len(parts) == 1 else stacked(people_of(list(files)), parts)
        notes += [f"Left out, since each says one thing of the others: {listing(beside)}."] if beside else []
        notes += left_out
        codes = {**table.codes, **codes}
        yield unfolded(replace(table, codes=codes, notes=(*table.notes, *notes)), options.columns), files


def _codes_in_texts(members: Members) -> dict[str, Mapping[str, str]]:
    """What texts beside the tables say that codes mean, a line each: `1 = good`."""
    found: dict[str, Mapping[str, str]] = {}
    for name, size in members.sizes.items():
        if not name.lower().endswith((".txt", ".md")) or size > HEAD_BYTES:
            continue
        lines = as_utf8(members.read(name)).decode("utf-8", "replace").splitlines()
        found |= codes_in(PurePosixPath(name).stem, [[line] for line in lines if line.strip()])
    return found


def _export(files: Mapping[str, Path]) -> RecordFormat | None:
    """The tool that all files are from, if its records say who answered: files are not a person each then."""

    def is_of(form: RecordFormat, file: Path) -> bool:
        with file.open("rb") as opened:
            return form.sniff(file, opened.read(HEAD_BYTES))

    return next((form for form in _EXPORTS if all(is_of(form, file) for file in files.values())), None)


def _named(name: str, read: Callable[[], T]) -> T:
    """What is read of a file of an archive, whose name stands in its errors."""
    try:
        return read()
    except UserError as error:
        raise error.within(name) from None


def _by_end(names: Sequence[str]) -> dict[str, str]:
    """Return files by every end of their path, from a folder on or the name alone; "" where several have it.

    Examples
    --------
    >>> _by_end(["a/x.png", "b/x.png"])
    {'a/x.png': 'a/x.png', 'x.png': '', 'b/x.png': 'b/x.png'}
    """
    found: dict[str, str] = {}
    for name in names:
        parts = name.split("/")
        for at in range(len(parts)):
            end = "/".join(parts[at:])
            found[end] = "" if end in found else name
    return found


def _with_pictures(
    data: PartialLabelDataset, members: Members, table: str, options: ReadOptions
) -> PartialLabelDataset:
    """The data of a table, or of several beside it, with the pictures that it names."""
    folder = table.rpartition("/")[0]
    of_end = _by_end(_pictures(members))
    if data.pictures is None and data.ids is not None:  # examples may be called as their pictures
        found = [_member_of(str(one), folder, members, of_end) is not None for one in data.ids]
        if 2 * sum(found) > len(data):
            data = replace(data, pictures=Pictures(as_column(list(map(str, data.ids)))))
    if data.pictures is None:
        raise UserError(f"The table {table} has no column image that names the pictures; add it.")
    cells = data.pictures.names.tolist()
    members_of = [_member_of(cell, folder, members, of_end) for cell in cells]
    silent = cells.count("") if cells.count("") <= (1 - NEARLY_ALL) * len(cells) else 0
    missing = [cell for cell, member in zip(cells, members_of, strict=True) if member is None and (cell or not silent)]
    notes = [f"{silent:,} rows of {table} name no picture; they were left out."] if silent else []
    if missing:
        which = f"{len(missing):,} of {len(cells):,} pictures that {table} names are not in the archive"
        named = listing([shorten(cell) for cell in missing])
        if MISSING_PICTURES not in options.accept or not any(members_of):
            raise MissingPictures(
                f"{which}: {named}. Put them there, or leave their rows out.",
                kind=MISSING_PICTURES,
                shell=f"--accept {MISSING_PICTURES}",
            )
        notes.append(f"{which}; their rows were left out: {named}.")
    if notes:
        ids = data.ids if data.ids is not None else _ids_of(cells)
        data = replace(data, ids=data.row_ids if ids is None else ids)  # rows keep their names and numbers
        data = data.take(np.array([member is not None for member in members_of]))
    assert data.pictures is not None
    names = [member for member in members_of if member is not None]
    spare = len(set(_pictures(members)) - set(names))
    if spare:
        notes.append(f"{spare:,} pictures are in no row of {table}; they were left out.")
    where = None if any("://" in name for name in names) and not set(names) & set(members.sizes) else members.path
    ids = data.ids if data.ids is not None else _ids_of(data.pictures.names.tolist())
    return replace(data, pictures=Pictures(as_column(names), where), ids=ids, notes=(*data.notes, *notes))


def _ids_of(cells: list[str]) -> npt.NDArray[np.str_] | None:
    """The names of pictures as ids, where each stands once and none is an address."""
    if len(set(cells)) < len(cells) or not all(cells) or any("://" in cell or "data:" in cell for cell in cells):
        return None
    return check_ids(cells, int)


def _member_of(cell: str, folder: str, members: Members, of_end: Mapping[str, str]) -> str | None:
    """The file that a cell means: beside the table, from the top, or the only one that ends so."""
    if "://" in cell or cell.startswith("data:"):
        return cell
    plain = cell.replace("\\", "/").removeprefix("./")
    in_folder = f"{folder}/{plain}" if folder else plain
    return next((name for name in (in_folder, plain) if name in members.sizes), of_end.get(plain) or None)


def _from_folders(members: Members, options: ReadOptions) -> PartialLabelDataset:
    names = sorted(_pictures(members))
    if not names:
        raise UserError("There is neither a table nor a picture inside; bring pictures in a folder for each label.")
    paths = [PurePosixPath(name).parts[:-1] for name in names]
    while all(paths) and len({path[0] for path in paths}) == 1 and all(len(path) > 1 for path in paths):
        paths = [path[1:] for path in paths]  # one folder around everything
    split = None
    if all(len(path) > 1 and path[0].casefold() in WORDS["train"] | WORDS["test"] for path in paths):
        split = np.array([path[0].casefold() in WORDS["test"] for path in paths])
        paths = [path[1:] for path in paths]
    if not any(paths):  # what they show is said elsewhere
        unsorted = Records.of({"id": names, "image": names}, roles={"id": "id", "image": "image"})
        data = build(unsorted, unsorted.plan(options), options)
        text = (
            "Nothing says what the pictures show; put them in folders called after their labels, or add a table with a "
            "column image."
        )
        hint = "--votes FILE, of a table that names them"
        notes = (Note(text, kind="labels", hint=hint),)
        return replace(data, pictures=Pictures(as_column(names), members.path), kind="array", notes=notes)
    for name, path in zip(names, paths, strict=True):
        if not path:
            raise UserError(
                f"The picture {shorten(name)} is in no folder that says its label, and there is no table; put pictures "
                "in folders called after their labels, or add a table with a column image."
            )
    if split is None and (records := _sorted_by_people(names, paths, members)) is not None:
        data = build(records, records.plan(options), options)
        of = {PurePosixPath(name).name: name for name in names}
        people = listing(list(dict.fromkeys(path[0] for path in paths if len(path) > 1)))
        note = f"The same pictures are in the folders of {people}: in each, a folder is the answer of one person."
        pictures = Pictures(as_column([of[str(one)] for one in data.row_ids]), members.path)
        return replace(data, pictures=pictures, kind="array", notes=(note, *data.notes))
    folders = [path[-1] for path in paths]
    mark = guess_separator(set(folders))
    sets = {folder: split_cell(folder, mark) for folder in set(folders)}
    if len(sets) == 1:  # which says nothing of any picture, but what is beside may
        _refuse_no_data(members, [name for name in members.sizes if name.lower().endswith(".xml")])
    empty = [folder for folder, labels in sets.items() if not labels]
    if empty:
        raise UserError(f"The folder {shorten(empty[0])} names no label; call it after the labels of its pictures.")
    cells = {"id": names, "image": names, "candidates": [sets[folder] for folder in folders]}
    records = Records.of(cells, roles={name: name for name in cells})
    data = build(records, records.plan(options), options)
    note = f"The folders were taken for the candidates: {listing(sorted(sets))}."
    pictures = Pictures(as_column(names), members.path)
    return replace(data, pictures=pictures, is_test=split, kind="array", notes=(note, *data.notes))


def _sorted_by_people(names: Sequence[str], paths: Sequence[tuple[str, ...]], members: Members) -> Records | None:
    """The answers of people who sorted the same pictures, each into a folder of their own for each label; else None.

    Pictures in folders that hold no others are what people sorted, and nobody's answers.
    """
    pictures, seen = [PurePosixPath(name).name for name in names], dict[tuple[str, int], set[str]]()
    for name, picture, path in zip(names, pictures, paths, strict=True):
        seen.setdefault((picture, members.sizes[name]), set()).update(path[:-1][:1])
    once = len({*zip(pictures, (path[0] for path in paths), strict=True)}) == len(names)  # sorted into one folder
    people = {path[0] for path in paths if len(path) > 1}
    several = sum(len(who) > 1 for who in seen.values())
    if not once or len(seen) > len({*pictures}) or len(people) < 2 or 2 * several < len(seen):
        return None
    who = [path[0] if path[0] in people else None for path in paths]
    said = [path[-1] if path[0] in people else None for path in paths]
    cells = {"picture": pictures, "annotator": who, "label": said}
    return Records.of(cells, roles={"picture": "task", "annotator": "worker", "label": "vote"})


CHECKED_BYTES = 64 * 2**20
"""Pictures that take no more together are decoded once when they are read; of larger sets only the headers are."""


def _without_damaged(data: PartialLabelDataset, members: Members) -> PartialLabelDataset:
    """Look at every picture: what cannot be read is named now, and not in the midst of a run.

    A few damaged ones stay examples, without anything to see: one bad file in a thousand shall not stop the others.

    Raises
    ------
    UserError
        a picture that is too large, or half of them or more that cannot be read.
    """
    if data.pictures is None or data.pictures.where is None:
        return data
    names = list(dict.fromkeys(name for name in data.pictures.names.tolist() if name in members.sizes))
    members.check_total(names)
    whole = sum(members.sizes[name] for name in names) <= CHECKED_BYTES
    damaged: dict[str, UnreadablePicture] = {}
    for name in names:
        try:
            with members.open(name) as file:
                check_size(file, name)
            if whole:
                decode(members.read(name), name)
        except UnreadablePicture as error:
            damaged[name] = error
    if not damaged:
        return data
    if 2 * len(damaged) >= len(names):
        raise next(iter(damaged.values()))
    note = (
        f"{len(damaged):,} of {len(names):,} pictures cannot be read. A model sees the mean of the others instead, "
        f"which says little: look at these labels, or repair or remove {listing(list(damaged))}."
    )
    pictures = replace(data.pictures, damaged=frozenset(damaged))
    return replace(data, pictures=pictures, notes=(*data.notes, note))


def _pictures(members: Members) -> list[str]:
    return [name for name in members.sizes if name.lower().endswith(PICTURE_SUFFIXES)]


# ---- out -------------------------------------------------------------------------------------------------------------


def _add_table(archive: zipfile.ZipFile, data: PartialLabelDataset, results: Results | None) -> None:
    file = BytesIO()
    write_table(file, ",", *columns_of(data, results), data.X)
    archive.writestr(zipfile.ZipInfo(PICTURE_TABLE), file.getvalue(), zipfile.ZIP_DEFLATED)


def _names(dataset: PartialLabelDataset) -> list[str]:
    """Where each picture goes: where it came from, if that is a path of its own.

    Raises
    ------
    UserError
        There is no picture, or only names of pictures that are elsewhere.
    """
    pictures = dataset.pictures
    if pictures is None and dataset.images is None and not dataset.is_image:
        raise UserError("There are no pictures to write; write a table (csv, parquet, jsonl).")
    names: list[str] = []
    taken = {PICTURE_TABLE}
    for i in range(len(dataset)):
        name = "" if pictures is None else str(pictures.names[i])
        if pictures is not None and pictures.where is None and pictures.contents is None and "://" not in name:
            raise RowError(
                f"The picture {shorten(name)} of row {i} is not here, only its name; bring a ZIP that holds it, or "
                "write a table (csv, parquet, jsonl)."
            )
        if "://" not in name:
            safe = name.lower().endswith(PICTURE_SUFFIXES) and not name.startswith(("/", "."))
            if not safe or name in taken or any(unsafe in name for unsafe in ("..", "\\", ":", "//")):
                name = f"images/{i}.png"
        taken.add(name)
        names.append(name)
    return names


def _content(dataset: PartialLabelDataset, i: int) -> bytes | None:
    content = None if dataset.pictures is None else dataset.pictures.data(i)
    if content is not None:
        return content
    if dataset.is_image and dataset.X.shape[1] in (1, 3) and are_bytes(dataset.X):
        pixels = dataset.X[i].astype(np.uint8)
        return encode(pixels[0] if len(pixels) == 1 else np.ascontiguousarray(pixels.transpose(1, 2, 0)))
    picture = dataset.picture(i)
    return None if picture is None else encode(np.ascontiguousarray(picture))


def _without_pixels(dataset: PartialLabelDataset) -> PartialLabelDataset:
    if not dataset.is_image:
        return dataset
    return replace(dataset, X=np.empty((len(dataset), 0), dtype=np.float32), feature_names=(), kind="array")

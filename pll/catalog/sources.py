"""Data sources: the catalogue name or file that a run reads, in a form that config.json can hold."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from pll import catalog, formats
from pll.annotations import SetRule, resolve
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.formats.arrays.npz import FEATURES, holds_arrays, is_array
from pll.formats.classes import with_classes
from pll.formats.images import TABLES, holds_tables
from pll.formats.odd import OddReading, refuse_odd
from pll.formats.tabular.parquet import holds_shards
from pll.formats.votes import VOTES_FORMAT, kind_of, read_votes, roles_beside_answers, with_votes
from pll.images import PICTURE_SUFFIXES
from pll.io import Progress, hash_of, is_stream

MOST_FILES_LOOKED_AT = 1000
"""Files of a folder that are examined for their suffixes."""

COPY_UP_TO = 100 * 2**20
"""Largest source file in bytes that a run copies; of larger files it keeps path and hash."""


_IN_MEMORY: WeakValueDictionary[str, PartialLabelDataset] = WeakValueDictionary()
"""Datasets read from files and still referenced in this process, so that a page and its runs share one copy.

Safe because no code changes a dataset in place.
"""


@dataclass(frozen=True)
class Source:
    """A catalogue entry or a file, with the options to read it.

    Parameters
    ----------
    name
        Catalogue name, or original file name.
    path
        Path of the file; None for the catalogue.
    format
        Name of a registered format; None to detect it by content.
    sha256
        Hash of the file, if known.
    options
        Fields of `pll.formats.ReadOptions`, as plain values.
    rule
        How annotators' labels become candidate sets (`pll.annotations.SetRule.parse`); "" for the candidate sets of the
        data.
    classes
        What becomes of the file's classes (`pll.formats.classes.Edits`): merged, renamed, dropped.
    votes
        Files of votes (`pll.formats.votes`), joined with the examples on the id. Where the format is `"votes"`, the
        file itself holds votes too, and there are no other examples.
    answers
        Answer that names no class, in these files or of an annotator in the data → class, mapped by the user; "" for no
        answer.
    """

    name: str
    path: str | None = None
    format: str | None = None
    sha256: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    rule: str = ""
    classes: dict[str, str | None] = field(default_factory=dict)
    votes: tuple[Source, ...] = ()
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def vote_files(self) -> tuple[Source, ...]:
        """All files of votes, including the file itself if it has votes alone."""
        return ((self,) if self.format == VOTES_FORMAT else ()) + self.votes

    def load(self, progress: Progress | None = None) -> PartialLabelDataset:
        """Read the data; a missing dataset of the catalogue is downloaded.

        Parameters
        ----------
        progress
            Called with ("bytes", "bytes checked" or "rows", number done, number in total or None). An exception raised
            by it stops reading or downloading; partial files are removed.

        Raises
        ------
        UserError
            Unknown name, or a file that cannot be read or has changed.
        """
        data = self.checked(self.read(progress))
        return by_rule(data, SetRule.parse(self.rule)) if self.rule else data

    def checked(self, data: PartialLabelDataset) -> PartialLabelDataset:
        """Return the data as `read` returned it with its classes merged, renamed and dropped.

        Parameters
        ----------
        data
            As it was read.

        Raises
        ------
        OddReading
            Something about it is odd then, and the user has not accepted that.
        """
        data = with_classes(data, self.classes)
        if self.classes and data.reading:
            data = replace(data, reading={**data.reading, "classes": dict(self.classes)})
        if self.path is not None or self.vote_files:
            named = filter(None, self.classes.values())  # by the user, who wants these classes
            keep = (*self.options.get("keep", ()), *named)
            try:
                refuse_odd(data, formats.ReadOptions(**{**self.options, "keep": keep}))
            except OddReading as error:
                raise error.within(self.name) from None
        return data

    def read(self, progress: Progress | None = None) -> PartialLabelDataset:
        """Read the data whatever is odd about it, with the classes that its files have; see `load`.

        Parameters
        ----------
        progress
            As for `load`.
        """
        return self._with_votes(progress) if self.vote_files else self._read(progress)

    def _with_votes(self, progress: Progress | None) -> PartialLabelDataset:
        """Read the examples and the votes."""
        for file in self.votes:
            file.check_unchanged()
        if self.format == VOTES_FORMAT:
            self.check_unchanged()
        data = None if self.format == VOTES_FORMAT else self._read(progress)
        classes = tuple(self.options.get("class_names", ()))
        known = classes if data is None else data.class_names
        votes = read_votes([str(file.path) for file in self.vote_files], known, data)
        return with_votes(data, votes, answers=self.answers, classes=classes, name=self.name)

    def _read(self, progress: Progress | None) -> PartialLabelDataset:
        if self.path is None:
            return catalog.load(self.name, progress=None if progress is None else partial(progress, "bytes"))
        self.check_unchanged()
        key = self._in_memory_as()
        data = _IN_MEMORY.get(key)
        if data is None:
            options = formats.ReadOptions(**self.options, answers=self.answers, progress=progress)
            data = formats.read(self.path, name=self.name, options=options, format=self.format, check=False)
            if Path(self.path).is_file() and key == self._in_memory_as():  # a folder's time is no key
                _IN_MEMORY[key] = data
        return data

    def _in_memory_as(self) -> str:
        """Return the key of this data in memory: the identity of the file and the options to read it."""
        facts = Path(str(self.path)).stat()
        file = [str(Path(str(self.path)).resolve()), facts.st_ino, facts.st_size, facts.st_mtime_ns]
        read = [self.name, self.format, self.options, self.answers]
        return json.dumps([file, *read], sort_keys=True, default=str)

    def check_unchanged(self) -> None:
        """Raise UserError if the file is missing or differs from its recorded hash."""
        if self.path is None:
            return
        file = Path(self.path)
        if not file.exists():
            raise UserError(f"{self.name} is no longer at {self.path}; put it back there, or start a new run.")
        if self.sha256 is not None and file_hash(file) != self.sha256:
            raise UserError(f"{self.name} at {self.path} has changed since the run was made; start a new run.")

    def hashed(self) -> Source:
        """Return the source with the hashes of its files."""
        votes = tuple(one.hashed() for one in self.votes)
        return replace(self, sha256=None if self.path is None else file_hash(Path(self.path)), votes=votes)

    def copied_to(self, folder: Path) -> Source:
        """Return the source with its file hashed, and copied into `folder` if it is small enough.

        Raises
        ------
        UserError
            The file does not exist.
        """
        own = folder / VOTES_FORMAT  # files of votes and data may have the same name
        votes = tuple(one.copied_to(own / str(k)) for k, one in enumerate(self.votes))
        if self.path is None:
            return replace(self, votes=votes)
        file = Path(self.path).resolve()
        if not file.is_file() and not holds_data(file):
            raise UserError(f"There is no file {self.path}; check the path.")
        digest = file_hash(file)
        if file.is_file() and file.stat().st_size <= COPY_UP_TO:
            folder.mkdir(parents=True, exist_ok=True)
            copy = folder / file.name
            if copy != file:
                shutil.copyfile(file, copy)
            file = copy
        return replace(self, path=str(file), sha256=digest, votes=votes)

    def relocated(self, folder: Path) -> Source:
        """Return the source reading the copy in `folder` if its own path is gone (the run was moved)."""
        own = folder / VOTES_FORMAT
        here = replace(self, votes=tuple(one.relocated(own / str(k)) for k, one in enumerate(self.votes)))
        if self.path is None or Path(self.path).exists():
            return here
        copy = folder / Path(self.path).name
        return replace(here, path=str(copy)) if copy.is_file() else here


def source_of(data: str, rule: str = "") -> Source:
    """Return the source of a command-line argument: a file if one exists, else a catalogue name.

    Parameters
    ----------
    data
        A name of the catalogue, or a path.
    rule
        See `Source`.

    Raises
    ------
    UserError
        Neither a file nor a catalogue name, or an unknown rule.
    """
    if rule:
        SetRule.parse(rule)
    return replace(_source_of(data), rule=rule)


def _source_of(data: str) -> Source:
    file = Path(data)
    if file.name == FEATURES and holds_arrays(file.parent):
        file = file.parent.resolve()
    if file.is_file():
        return Source(file.name, str(file))
    if data in catalog.CATALOG:
        return Source(data)
    if is_stream(file):
        raise UserError(f"{data} is a pipe or a device, which cannot be read; save its content to a file first.")
    if file.is_dir():
        if holds_data(file):
            return Source(file.resolve().name, str(file))
        raise UserError(
            f"{data} is a folder without pictures, tables or arrays ({FEATURES} and what goes with it); name a "
            "file inside it."
        )
    if file.suffix or len(file.parts) > 1:
        raise UserError(f"There is no file {data}; check the path.")
    try:
        return Source(catalog.find(data).name)  # `MNIST` is mnist
    except UserError as error:  # its message lists names and suggests one
        raise UserError(f"There is no file {data}. {error}") from error


def with_own_votes(source: Source) -> Source:
    """Return the source of a file as what its content is: data, votes, or a tool's examples with votes of models.

    A tool's examples that a person answered are data; the votes of models in them are read where the file is named
    among the files of votes too.
    """
    if source.path is None or source.format is not None or not Path(source.path).is_file():
        return source
    kind = "" if is_array(Path(source.path)) else kind_of(Path(source.path))  # beside data, an array is votes
    if kind == VOTES_FORMAT:
        return replace(source, format=VOTES_FORMAT)
    if kind != "both":
        return source
    kept, given = roles_beside_answers(Path(source.path)), dict(source.options.get("columns", {}))
    if any(given.get(name, role) != role for name, role in kept.items()):  # said to be something else: no votes beside
        return source
    roles = kept | given
    return counting_votes(replace(source, options={**source.options, "columns": roles}) if roles else source)


def counting_votes(source: Source) -> Source:
    """Return the source with the votes of models in its own file among its votes."""
    own = Source(source.name, source.path, sha256=source.sha256)
    return replace(source, votes=(own, *source.votes))


def joined_votes(files: Sequence[Source], data: Source | None = None) -> Source:
    """Return the source of files of votes, beside data or alone.

    Parameters
    ----------
    files
        At least one where there is no data.
    data
        What they are joined with; may hold votes itself.
    """
    if data is None:
        return replace(files[0], format=VOTES_FORMAT, votes=tuple(files[1:]))
    paths = {one.path for one in data.vote_files}
    votes = (*data.votes, *(one for one in files if one.path not in paths))
    return replace(data, votes=votes)


def by_rule(data: PartialLabelDataset, rule: SetRule) -> PartialLabelDataset:
    """Return the data with candidate sets made from annotators' labels; `unanswered` marks examples without one.

    Parameters
    ----------
    data
        With annotations.
    rule
        How annotators' labels become sets; "" for the sets of the data.

    Raises
    ------
    UserError
        The data has no annotations.
    """
    if data.annotations is None:
        raise UserError(f"{data.name} has no annotators' labels to apply the rule {rule} to; leave the rule out.")
    return data.resolved_to(resolve(data.annotations, rule), replace(data.annotations, joint=rule.how == "voters"))


def holds_files(folder: Path, suffixes: Sequence[str]) -> bool:
    """Whether this is a folder with files whose names end so, at any depth.

    Parameters
    ----------
    folder
        To look through.
    suffixes
        Endings of names.
    """
    return folder.is_dir() and any(
        file.suffix.lower() in suffixes for file in islice(folder.rglob("*"), MOST_FILES_LOOKED_AT)
    )


def holds_data(folder: Path) -> bool:
    """Whether this is a folder of arrays (`pll.formats.arrays.npz`), of Parquet files, with images, or of tables."""
    if not folder.is_dir():
        return False
    found = holds_arrays(folder) or holds_shards(folder) or holds_files(folder, (*PICTURE_SUFFIXES, *TABLES))
    return found or holds_tables(folder)


def file_hash(file: Path) -> str:
    """Return the SHA-256 of a file's content, or of the names and contents of all files in a folder."""
    if file.is_dir():
        digest = hashlib.sha256()
        for inside in sorted(file.rglob("*")):
            if inside.is_file():
                digest.update(f"{inside.relative_to(file).as_posix()}\x00{file_hash(inside)}\n".encode())
        return digest.hexdigest()
    return hash_of(file, file.stat().st_size)

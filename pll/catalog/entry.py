"""Catalogue entries: a dataset's files, their addresses and checksums, its expected size and its loader.

Declarations only, read from datasets.toml. `files` finds and verifies files on disk, `download` transfers them.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from pll.dataset import PartialLabelDataset
from pll.errors import UserError

DownloadProgress = Callable[[int, int | None], None]
"""Called as bytes arrive, with (bytes done, bytes in total or None). An exception raised by it stops the download."""

Loader = Callable[..., PartialLabelDataset]
"""Reads a dataset from the files of its entry, a mapping from `File.name` to path; more arguments are in the table."""


ChecksumKind = Literal["sha256", "md5", "git-blob", "sha256-unpacked"]
"""Kinds of checksums."""


@dataclass(frozen=True)
class Checksum:
    """The published checksum of a file, or that of a verified copy.

    Parameters
    ----------
    kind
        `"sha256"` or `"md5"` of the file, `"git-blob"` (its object id in git), or `"sha256-unpacked"`, of the
        decompressed content of a .gz (of the file itself if it is not compressed).
    value
        Lower-case hexadecimal digits, all or the first ones.
    """

    kind: ChecksumKind
    value: str

    @property
    def label(self) -> str:
        """Name of the kind for messages."""
        return {
            "sha256": "SHA-256",
            "md5": "MD5",
            "git-blob": "git blob id",
            "sha256-unpacked": "SHA-256 (of the uncompressed bytes)",
        }[self.kind]


@dataclass(frozen=True)
class File:
    """One file of a dataset.

    Parameters
    ----------
    name
        File name in the cache, and key in the `Loader`'s mapping.
    folder
        Folder in the cache, named after the entry that owns the file.
    page
        Web page of the file, for messages.
    urls
        Download addresses, tried in order; one that ends in .zip or .rar is an archive with the file in it.
    openml
        OpenML data id; the address and the checksum then come from OpenML.
    megabytes
        Approximate download size, for messages and progress bars.
    checksum
        None if none is published; then only `Entry.check` verifies the content.
    other_names
        Other file names in use.
    other_folders
        Other folders in use (torchvision's `MNIST/raw`).
    distinctive
        Whether the name alone identifies the file. MNIST and its successors share file names and are therefore searched
        only in folders of their own.
    """

    name: str
    folder: str
    page: str
    urls: tuple[str, ...] = ()
    openml: int | None = None
    megabytes: float = 0.0
    checksum: Checksum | None = None
    other_names: tuple[str, ...] = ()
    other_folders: tuple[str, ...] = ()
    distinctive: bool = True

    @property
    def downloadable(self) -> bool:
        """Whether a download address is known."""
        return bool(self.urls) or self.openml is not None


@dataclass(frozen=True)
class Need:
    """Alternative groups of files of which a dataset needs one; the first group found complete is used."""

    ways: tuple[tuple[File, ...], ...]

    @property
    def download(self) -> tuple[File, ...]:
        """The first group that can be downloaded, else the first group (to be downloaded by the user)."""
        return next((way for way in self.ways if all(file.downloadable for file in way)), self.ways[0])


def files(*several: File) -> tuple[Need, ...]:
    """Return needs for files that are all required, without alternatives."""
    return tuple(Need(((file,),)) for file in several)


@dataclass(frozen=True, kw_only=True)
class Needed:
    """What is made of published files (`download.obtain`): a dataset, or the weights of a network.

    Parameters
    ----------
    title
        What people call it.
    needs
        Its files; empty for datasets bundled with scikit-learn.
    """

    title: str
    needs: tuple[Need, ...] = ()

    @property
    def files(self) -> tuple[File, ...]:
        """Files to download, by Candid or by the user."""
        return tuple(file for need in self.needs for file in need.download)


@dataclass(frozen=True, kw_only=True)
class Entry(Needed):
    """One dataset of the catalogue.

    Parameters
    ----------
    name
        Name in the shell and in `load`.
    title, needs
        As in `Needed`.
    about
        One-sentence description.
    kind
        `"image"` or `"table"` (true labels only; candidate sets are synthesised), or `"partial"`.
    n
        Number of examples, training and test together.
    shape
        Shape of one example, (d,) or (C, H, W).
    c
        Number of classes.
    licence
        In words.
    page
        Web page of the source.
    loader
        Reads the files.
    mean_candidates
        Mean size of the candidate sets, rounded to two decimals; None without candidate sets.
    class_sizes
        Number of examples of each class, if the source states them.
    split
        Published training/test split, in words; empty if there is none.
    """

    name: str
    about: str
    kind: Literal["image", "table", "partial"]
    n: int
    shape: tuple[int, ...]
    c: int
    licence: str
    page: str
    loader: Loader = field(repr=False, compare=False)
    mean_candidates: float | None = None
    class_sizes: tuple[int, ...] = ()
    split: str = ""

    @property
    def d(self) -> int:
        """Number of features of one example."""
        return math.prod(self.shape)

    @property
    def embedded(self) -> bool:
        """Whether no files are needed."""
        return not self.needs

    @property
    def downloadable(self) -> bool:
        """Whether all needed files can be downloaded."""
        return all(file.downloadable for file in self.files)

    @property
    def size_mb(self) -> float:
        """Approximate download size in megabytes (10⁶ bytes)."""
        return round(sum(file.megabytes for file in self.files), 2)

    @property
    def urls(self) -> tuple[str, ...]:
        """All download addresses."""
        return tuple(url for file in self.files for url in file.urls)

    def check(self, data: PartialLabelDataset) -> None:
        """Verify that the data has the size, classes and candidate sets of this dataset.

        Raises
        ------
        UserError
            The numbers of examples, features, classes or candidates differ from the expected ones.
        """
        for what, result, expected in self._facts(data):
            if result != expected:
                raise UserError(
                    f"This is not the published {self.title}: it has {result} {what} where {expected} are "
                    f"expected. Replace the file by the one from {self.page}{_places(self)}."
                )

    def _facts(self, data: PartialLabelDataset) -> list[tuple[str, object, object]]:
        facts: list[tuple[str, object, object]] = [
            ("examples", len(data), self.n),
            ("features (shape of an example)", data.input_shape, self.shape),
            ("classes", data.n_classes, self.c),
        ]
        if self.class_sizes:
            sizes = () if data.y is None else tuple(np.bincount(data.y, minlength=self.c).tolist())
            facts.append(("examples a class", sizes, self.class_sizes))
        if self.mean_candidates is not None:
            mean = round(float(data.sets().sizes.mean()), 2)
            facts.append(("candidates on average", mean, self.mean_candidates))
        return facts


def _places(entry: Entry) -> str:
    names = ", ".join(file.name for file in entry.files)
    return f" ({names})" if names else ""


def entries_of(table: Path, loaders: Mapping[str, Loader]) -> dict[str, Entry]:
    """Return the datasets of a TOML table by name, in its order.

    Parameters
    ----------
    table
        Datasets.toml; its first lines describe the fields.
    loaders
        By the name that `read` has in it.
    """
    tables = tomllib.loads(table.read_text("utf-8"))
    file_of = {place: _file(place, **about) for place, about in tables.pop("files").items()}

    def entry(name: str, read: str, needs: Sequence[Any] = (), **about: Any) -> Entry:
        groups = [[[need]] if isinstance(need, str) else need for need in needs]
        ways = tuple(Need(tuple(tuple(file_of[place] for place in way) for way in group)) for group in groups)
        loader = partial(loaders[read], **about.pop("with", {}))
        facts: dict[str, Any] = {key: _frozen(value) for key, value in about.items()}
        return Entry(name=name, needs=ways, loader=loader, **facts)

    return {name: entry(name, **about) for name, about in tables.items()}


def _file(place: str, checksum: str = "", **about: Any) -> File:
    folder, _, name = place.partition("/")
    kind, _, digits = checksum.partition(":")
    facts: dict[str, Any] = {key: _frozen(value) for key, value in about.items()}
    return File(name, folder, checksum=Checksum(cast(ChecksumKind, kind), digits) if checksum else None, **facts)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

"""What the catalogue says of a dataset: where it comes from, what it must look like, how to read it.

Nothing here touches the network or reads data; see `files` (looking and checking) and `fetch` (downloading).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from pll.dataset import PartialLabelDataset
from pll.errors import UserError

Progress = Callable[[int, int | None], None]
"""Called as bytes arrive: (bytes done, bytes in all or None). What it raises stops the download."""

Loader = Callable[[Mapping[str, Path]], PartialLabelDataset]
"""Reads the files of an entry, given by `File.name`."""


@dataclass(frozen=True)
class Checksum:
    """A published checksum, or one of a file that is known to be the original.

    Args:
        kind: `"sha256"` or `"md5"` of the file, `"git-blob"` (the id git gives it), or `"sha256-unpacked"`, of the
            bytes inside a .gz (or of the file itself where it is not compressed).
        value: in lower-case hexadecimal.
    """

    kind: Literal["sha256", "md5", "git-blob", "sha256-unpacked"]
    value: str

    @property
    def label(self) -> str:
        """What kind it is, for a person."""
        return {
            "sha256": "SHA-256",
            "md5": "MD5",
            "git-blob": "git blob id",
            "sha256-unpacked": "SHA-256 (of the uncompressed bytes)",
        }[self.kind]


@dataclass(frozen=True)
class File:
    """One file a dataset is made from.

    Args:
        name: what it is called in the cache, and in `Loader`'s mapping.
        folder: its folder in the cache: the name of the entry that owns it.
        page: where a person finds it.
        urls: where a program finds it, best first; one that ends in .zip or .rar holds the file.
        openml: the OpenML data id, where OpenML says what the address and the checksum are.
        megabytes: about how large the download is; only for a person and a progress bar.
        checksum: None where none is published; the content is then judged by `Entry.check` alone.
        other_names: what else it is called in the wild.
        other_folders: where else it lies by custom (torchvision's `MNIST/raw`).
        distinctive: whether its name alone says what it is. MNIST and its successors share theirs, and are
            therefore looked for only in folders of their own.
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
        """Whether it is known where to download it from."""
        return bool(self.urls) or self.openml is not None


@dataclass(frozen=True)
class Need:
    """Something a dataset needs, and the ways to have it: the first complete one is used."""

    ways: tuple[tuple[File, ...], ...]

    @property
    def download(self) -> tuple[File, ...]:
        """The way that can be downloaded; else the first one (which then must be put there by hand)."""
        return next((way for way in self.ways if all(file.downloadable for file in way)), self.ways[0])


def files(*several: File) -> tuple[Need, ...]:
    """Files that are all needed, without a choice."""
    return tuple(Need(((file,),)) for file in several)


class Wanted(Protocol):
    """Anything made of files: a dataset, or the weights of a network."""

    @property
    def title(self) -> str: ...

    @property
    def needs(self) -> tuple[Need, ...]: ...


@dataclass(frozen=True)
class Entry:
    """One dataset of the catalogue.

    Args:
        name: what it is called in the shell and in `load`.
        title: what it is called on a page.
        about: what it is, in one sentence.
        kind: `"image"` or `"table"` (true labels only: candidates are to be synthesised), or `"partial"`.
        n: number of examples, training and test together.
        shape: of one example: (d,) or (C, H, W).
        c: number of classes.
        licence: in words.
        page: where it comes from.
        needs: its files; none where it is part of scikit-learn.
        loader: reads these files.
        mean_candidates: average size of the candidate sets, to two decimals, where the data has them.
        class_sizes: examples of each class, where the source states them.
        split: the published split into training and test part, in words; empty where there is none.
    """

    name: str
    title: str
    about: str
    kind: Literal["image", "table", "partial"]
    n: int
    shape: tuple[int, ...]
    c: int
    licence: str
    page: str
    loader: Loader = field(repr=False, compare=False)
    needs: tuple[Need, ...] = ()
    mean_candidates: float | None = None
    class_sizes: tuple[int, ...] = ()
    split: str = ""

    @property
    def d(self) -> int:
        """Number of features of one example."""
        return math.prod(self.shape)

    @property
    def embedded(self) -> bool:
        """Whether it needs no file at all."""
        return not self.needs

    @property
    def files(self) -> tuple[File, ...]:
        """The files that a download brings, or that have to be put in place by hand."""
        return tuple(file for need in self.needs for file in need.download)

    @property
    def downloadable(self) -> bool:
        """Whether everything it needs can be downloaded."""
        return all(file.downloadable for file in self.files)

    @property
    def size_mb(self) -> float:
        """About how large the download is, in megabytes (10⁶ bytes)."""
        return round(sum(file.megabytes for file in self.files), 2)

    @property
    def urls(self) -> tuple[str, ...]:
        """Every address that a download may use."""
        return tuple(url for file in self.files for url in file.urls)

    def check(self, data: PartialLabelDataset) -> None:
        """Refuse data that is not this dataset, by what is known of it.

        Raises:
            UserError: another number of examples, features or classes, or other candidates, than it must have.
        """
        for what, found, expected in self._facts(data):
            if found != expected:
                raise UserError(
                    f"This is not the published {self.title}: it has {found} {what} where {expected} are "
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

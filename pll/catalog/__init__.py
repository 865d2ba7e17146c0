"""Catalogue of datasets: those of the paper and a few more, loaded by name.

>>> data = load("digits")
>>> data.X.shape, data.n_classes
((1797, 1, 8, 8), 10)

Files are searched in `$PLL_DATA` (default `data` in `$PLL_HOME`), in the folder of their dataset, and in the folders
of `$PLL_DATA_PATH`. Missing files are downloaded into `$PLL_DATA`. docs/datasets.md lists all datasets and files.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pll.catalog import cifar, idx, newsgroups, text_tables
from pll.catalog.download import obtain
from pll.catalog.entry import DownloadProgress, Entry, File, Loader, entries_of
from pll.catalog.files import available, data_folder
from pll.dataset import PartialLabelDataset
from pll.errors import UserError, unknown

__all__ = ["CATALOG", "Entry", "File", "DownloadProgress", "available", "data_folder", "find", "load"]

LOADERS: dict[str, Loader] = {
    "scikit-learn": text_tables.load_bundled,
    "text": text_tables.load_text,
    "arff": text_tables.load_arff,
    "mat": text_tables.load_mat,
    "idx": idx.load,
    "cifar10": cifar.load,
    "newsgroups": newsgroups.load,
}
"""A loader for each kind of file, by its name in datasets.toml."""

CATALOG: dict[str, Entry] = entries_of(Path(__file__).with_name("datasets.toml"), LOADERS)
"""Every dataset of the catalogue, by name."""


def find(name: str) -> Entry:
    """Return the entry of that name; case, spaces and hyphens are ignored.

    Raises
    ------
    UserError
        No such entry; the message suggests similar names.

    Examples
    --------
    >>> find("Fashion MNIST").name
    'fashion-mnist'
    """
    plain = {_plain(entry.name): entry for entry in CATALOG.values()}
    entry = plain.get(_plain(name))
    if entry is not None:
        return entry
    raise unknown("dataset of the catalogue", name, CATALOG)


def load(name: str, *, progress: DownloadProgress | None = None, download: bool = True) -> PartialLabelDataset:
    """Load a dataset of the catalogue; missing files are downloaded and cached.

    Parameters
    ----------
    name
        As in `CATALOG`.
    progress
        Called during a download with (bytes done, bytes in total or None). An exception raised by it stops the
        download; partial files are removed.
    download
        If False, the network is never used.

    Returns
    -------
    PartialLabelDataset
        The dataset under its catalogue name; `is_test` marks the published test part, if any.

    Raises
    ------
    UserError
        Unknown name, no network, no disk space, or a file that differs from the published one. The message says which
        file to put where.
    """
    entry = find(name)
    obtained = obtain(entry, progress, download)
    try:
        data = entry.loader(obtained.paths)
        entry.check(data)
    except UserError:
        # A new download that is not the dataset (a login page, say) must not be found in the cache next time.
        for path in obtained.unproven:
            path.unlink(missing_ok=True)
        raise
    return replace(data, name=entry.name)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())

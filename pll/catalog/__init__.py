"""The datasets of the paper and a few more, by name.

>>> data = load("digits")
>>> data.X.shape, data.n_classes
((1797, 1, 8, 8), 10)

Files are looked for in `$PLL_DATA` (by default `~/.candid/data`), each in the folder of its dataset, and in the
folders of `$PLL_DATA_PATH`; what is missing is downloaded into the first. docs/datasets.md lists everything.
"""

from __future__ import annotations

import difflib
from dataclasses import replace

from pll.catalog import cifar, embedded, mnist, newsgroups, real_world, uci_openml
from pll.catalog.download import obtain
from pll.catalog.entry import Entry, File, Progress
from pll.catalog.files import available, data_folder
from pll.dataset import PartialLabelDataset
from pll.errors import UserError

__all__ = ["CATALOG", "Entry", "File", "Progress", "available", "data_folder", "find", "load"]

CATALOG: dict[str, Entry] = {
    entry.name: entry
    for module in (embedded, mnist, cifar, uci_openml, newsgroups, real_world)
    for entry in module.ENTRIES
}
"""Every dataset of the catalogue, by name."""


def find(name: str) -> Entry:
    """The entry of that name; upper case, spaces and hyphens do not matter.

    Raises:
        UserError: there is none; the message names those that are alike.

    >>> find("Fashion MNIST").name
    'fashion-mnist'
    """
    plain = {_plain(entry.name): entry for entry in CATALOG.values()}
    entry = plain.get(_plain(name))
    if entry is not None:
        return entry
    close = [plain[match].name for match in difflib.get_close_matches(_plain(name), plain, n=3)]
    hint = f"; did you mean {' or '.join(close)}?" if close else "."
    raise UserError(f"There is no dataset called {name!r} in the catalogue{hint} It has {', '.join(CATALOG)}.")


def load(name: str, *, progress: Progress | None = None, download: bool = True) -> PartialLabelDataset:
    """A dataset of the catalogue: from this machine where its files are here, else downloaded and kept.

    Args:
        name: as in `CATALOG`.
        progress: called with (bytes done, bytes in all or None) as a download goes on; what it raises stops the
            download and leaves nothing behind.
        download: False never touches the network.

    Returns:
        The dataset, called by its name in the catalogue; `is_test` marks the published test part, where there is one.

    Raises:
        UserError: no such name, no network, no space, or a file that is not the published one; the message says
            which file belongs where.
    """
    entry = find(name)
    obtained = obtain(entry, progress, download)
    try:
        data = entry.loader(obtained.paths)
        entry.check(data)
    except UserError:
        # What was downloaded just now and is of no use (a login page, say) must not be found again tomorrow.
        for path in obtained.unproven:
            path.unlink(missing_ok=True)
        raise
    return replace(data, name=entry.name)


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())

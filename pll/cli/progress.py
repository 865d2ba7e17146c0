"""Progress of reading, downloads and the like on the command line: a bar with rate and time left, on stderr."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.io import Progress

PATIENCE = 0.7
"""Seconds before a bar appears."""


@contextmanager
def bar() -> Iterator[Progress]:
    """Yield a progress callback that shows one bar for each kind of thing counted, one after the other."""
    bars: dict[str, Any] = {}

    def show(what: str, done: int, total: int | None) -> None:
        if what not in bars:
            for other in bars.values():
                other.close()
            bars[what] = tqdm(
                total=total,
                unit="B" if what.startswith("bytes") else f" {what}",
                unit_scale=True,
                delay=PATIENCE,
                leave=False,
            )
        now = bars[what]
        if total is not None:
            now.total = total
        now.update(done - now.n)

    try:
        yield show
    finally:
        for one in bars.values():
            one.close()


def load(source: Source) -> PartialLabelDataset:
    """Load the data of a source, with a bar where it takes a while; Ctrl-C stops it and leaves nothing behind.

    Raises
    ------
    UserError
        See `Source.load`.
    """
    with bar() as progress:
        return source.load(progress)

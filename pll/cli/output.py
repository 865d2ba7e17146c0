"""What every command says: notes and a bar with rate and time left on stderr, and one line of JSON at the end."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tqdm import tqdm

from pll.catalog.sources import Source
from pll.dataset import PartialLabelDataset
from pll.errors import Note

BAR_AFTER_SECONDS = 0.7
"""Seconds before a bar appears."""
COUNTED_ONE_BY_ONE = 10_000
"""Of so many or more a bar shows thousands and millions."""


def note(messages: Sequence[str]) -> None:
    """Print notes, which are not errors, to stderr."""
    for message in messages:
        text = message.with_hint if isinstance(message, Note) else message
        print(f"candid: note: {text}", file=sys.stderr)


def print_result(**values: Any) -> None:
    """Print the line of JSON that every command which ends well prints last; a number that is not finite is null."""
    print(json.dumps(_json_value(values), ensure_ascii=False, allow_nan=False))


def _json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _json_value(one) for key, one in value.items()}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


class Bars:
    """Progress on stderr: a bar for what is at work, with rate and time left, gone when the next thing begins.

    Nothing is shown of what takes less than `BAR_AFTER_SECONDS`.
    """

    def __init__(self) -> None:
        self._what = ""
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the bar, before something else is printed."""
        if self._bar is not None:
            self._bar.close()
        self._what, self._bar = "", None

    def show(self, what: str, done: int, total: int | None, said: str = "") -> None:
        """Say how far something is; what was done when it began does not count in the rate.

        Parameters
        ----------
        what
            What is counted: rows, epochs, bytes …
        done, total
            How many, of how many; None where nobody knows.
        said
            What is shown behind it.
        """
        if what != self._what:
            self.clear()
            in_bytes = what.startswith("bytes")
            self._what = what
            self._bar = tqdm(
                total=total,
                initial=done,
                desc=what,
                unit="B" if in_bytes else "",
                unit_scale=in_bytes or total is None or total >= COUNTED_ONE_BY_ONE,
                delay=BAR_AFTER_SECONDS,
                leave=False,
            )
        if total is not None:
            self._bar.total = total
        self._bar.set_postfix_str(said, refresh=bool(said) and done == self._bar.n)
        self._bar.update(done - self._bar.n)


def load(source: Source) -> PartialLabelDataset:
    """Load the data of a source, with a bar where it takes a while; Ctrl-C stops it and leaves nothing behind.

    Raises
    ------
    UserError
        See `Source.load`.
    """
    with Bars() as bars:
        return source.load(bars.show)

"""Long work on the command line: a bar with rate and time left, on stderr, and signals that end it in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from tqdm import tqdm

from pll.catalog.sources import Source
from pll.cli import INTERRUPTED
from pll.dataset import PartialLabelDataset
from pll.training.metrics import StopTraining

BAR_AFTER_SECONDS = 0.7
"""Seconds before a bar appears."""
COUNTED_ONE_BY_ONE = 10_000
"""Of so many or more a bar shows thousands and millions."""
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that end work before its end: Docker and Slurm send SIGTERM, a connection that is lost SIGHUP."""


class Stop:
    """Whether a signal stops the work.

    Attributes
    ----------
    event
        Set once there was a signal.
    status
        The exit status then, 128 + the number of the signal.
    """

    def __init__(self) -> None:
        self.event = threading.Event()
        self.status = INTERRUPTED

    def hook(self) -> None:
        """Raise `StopTraining` once there was a signal."""
        if self.event.is_set():
            raise StopTraining


@contextmanager
def stopped_by_signals() -> Iterator[Stop]:
    """Let a signal end the work in order; the second one ends it at once."""
    stop = Stop()
    before: dict[int, Any] = {}

    def on_signal(number: int, _: object) -> None:
        stop.status = 128 + number
        stop.event.set()
        for name, earlier in before.items():
            signal.signal(name, earlier)

    if threading.current_thread() is threading.main_thread():
        for name in SIGNALS:
            if signal.getsignal(name) is not signal.SIG_IGN or name == signal.SIGINT:  # `nohup` ignores SIGHUP
                before[name] = signal.signal(name, on_signal)
    try:
        yield stop
    finally:
        for name, earlier in before.items():
            signal.signal(name, earlier)


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

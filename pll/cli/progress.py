"""Long work on the command line: a bar with rate and time left, on stderr, and signals that end it in order."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from pll.catalog.sources import Source
from pll.cli import INTERRUPTED
from pll.dataset import PartialLabelDataset
from pll.io import Progress
from pll.training.metrics import StopTraining

BAR_AFTER_SECONDS = 0.7
"""Seconds before a bar appears."""
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
                delay=BAR_AFTER_SECONDS,
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

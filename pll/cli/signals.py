"""Signals that end long work on the command line in order: Ctrl-C, and those of Docker, Slurm and lost connections."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pll.cli import INTERRUPTED
from pll.training.metrics import StopTraining

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

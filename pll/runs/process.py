"""Processes: objects that live as long as one, created at first use and shared by all threads; workers of another."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """Singleton of the process. Calling it returns the object, which the first call creates.

    Keep one at module level for what must outlive every session. Streamlit's caches do not: any client can clear
    them.

    Args:
        make: creates the object. Its exceptions are passed on, and the next call tries again.

    >>> shared = PerProcess(list)
    >>> shared() is shared()
    True
    """

    _all: ClassVar[list[PerProcess[Any]]] = []

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: list[T] = []  # empty, or the object
        PerProcess._all.append(self)

    def __call__(self) -> T:
        """Return the object."""
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    @classmethod
    def forget_all(cls) -> None:
        """Drop all objects, so that the next call creates new ones; for tests."""
        for one in cls._all:
            with one._lock:
                one._made.clear()


def begin_worker(parent: int) -> None:
    """Set a worker process up: the terminal's Ctrl-C is for its parent, and without that it ends.

    Args:
        parent: process id.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, name="candid-parent", daemon=True).start()

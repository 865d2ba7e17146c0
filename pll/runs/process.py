"""Processes: objects that live as long as one, the server of a home, processes that end with their parent."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from filelock import FileLock, Timeout

from pll.errors import UserError
from pll.io import write_json

T = TypeVar("T")


class PerProcess(Generic[T]):
    """Singleton of the process. Calling it returns the object, which the first call creates.

    Keep one at module level for what must outlive every session. Streamlit's caches do not: any client can clear
    them.

    Parameters
    ----------
    make
        Creates the object. Its exceptions are passed on, and the next call tries again.

    Examples
    --------
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


_OWN: list[FileLock] = []
"""Lock of the home that this process serves; the system releases it when the process ends, however that happens."""


def own(home: Path) -> None:
    """Take the one place of a server in Candid's home.

    Raises
    ------
    UserError
        Another server is running there, or the home cannot be written to.
    """
    lock, file = FileLock(home / "server.lock", thread_local=False), home / "server.json"
    try:
        home.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        write_json(file, {"host": socket.gethostname(), "pid": os.getpid()})
    except Timeout:
        by = ""
        with suppress(OSError, ValueError, KeyError, TypeError):
            content = json.loads(file.read_text(encoding="utf-8"))
            by = f" (process {content['pid']} on {content['host']})"
        raise UserError(
            f"A server is running in {home} already{by}. Stop it, or give this one a home of its own in PLL_HOME."
        ) from None
    except OSError as error:
        raise UserError(f"The home {home} cannot be written to: {error.strerror or error}.") from error
    _OWN.append(lock)


def end_with_parent(parent: int) -> None:
    """Set up a process that another one started: Ctrl-C is for its parent, and it ends with that.

    Parameters
    ----------
    parent
        Process id.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, name="candid-parent", daemon=True).start()

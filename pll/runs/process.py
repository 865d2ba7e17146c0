"""Objects that live as long as the process: made once, at their first use, and shared by all threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """An object of which a process has one. Calling it returns the object, made by the first call.

    Keep one at module level for whatever must outlive every session. Streamlit's caches are no place for it: any
    client can empty them.

    Args:
        make: makes the object. What it raises is passed on, and the next call tries again.

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
        """Forget every such object, so that the next call makes a new one: each test begins as a new process does."""
        for one in cls._all:
            with one._lock:
                one._made.clear()

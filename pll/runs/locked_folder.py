"""A folder that one process at a time is at work on, with a log: of a run, of an experiment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from pll.errors import UserError
from pll.io import writing_to
from pll.runs.files import LOG_FILE

GLANCE = 0.5
"""Seconds to wait for the lock, which `is_locked` of another process may hold for a moment."""


class LockedFolder:
    """The lock and the log of a folder.

    Parameters
    ----------
    path
        The folder.
    lock_name
        Of its file for the lock, which the system releases when a process ends.
    """

    def __init__(self, path: Path, lock_name: str) -> None:
        self.path = path
        self._lock_file = path / lock_name
        self._lock: FileLock | None = None

    def lock(self) -> None:
        """Claim the folder for this process.

        Raises
        ------
        UserError
            Another process or thread is at work on it, or the folder cannot be made.
        """
        with writing_to(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._lock_file, thread_local=False)  # a new one: the same one could be acquired twice
        try:
            lock.acquire(timeout=GLANCE, poll_interval=0.01)
        except Timeout as error:
            raise UserError(f"Another process is at work on {self.path}; wait for it or stop it.") from error
        self._lock = lock

    def unlock(self) -> None:
        """Release the lock of this process, where it holds it."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release(force=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Context manager that holds the lock; see `lock`."""
        self.lock()
        try:
            yield
        finally:
            self.unlock()

    def is_locked(self) -> bool:
        """Return whether a process, this one included, is at work on the folder."""
        if self._lock is not None:
            return True
        if not self._lock_file.exists():  # asking for the lock would make the folder, also where it was just deleted
            return False
        probe = FileLock(self._lock_file, thread_local=False)
        try:
            probe.acquire(timeout=0)
        except Timeout:
            return True
        except OSError:  # not writable: no process can be at work on it
            return False
        probe.release()
        return False

    def log(self, message: str) -> None:
        """Append a line to log.txt, with the time."""
        stamp = datetime.now(UTC).isoformat(timespec="seconds")
        with (self.path / LOG_FILE).open("a", encoding="utf-8") as stream:
            stream.write(f"{stamp} {message}\n")

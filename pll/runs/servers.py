"""Servers that share one home: each is seen by the others, takes their orders, and may take over from the dead.

servers/<id>.json    of a server: host, process, when it was last alive, what is at work in it
servers/<id>.lock    held as long as that process runs

A server is dead once no process holds its lock and, where it ran on another machine (whose locks may not be visible
here), it has given no sign of life for `DEAD_AFTER` seconds.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from pll.errors import UserError
from pll.io import PART, write_json
from pll.runs import control
from pll.runs.events import LOG, log_event
from pll.runs.registry import MOST_ALIVE, RunRegistry, Work

POLL = 0.5
"""Seconds between two looks for orders."""
BEAT = 5.0
"""Seconds between two signs of life, and between two looks at other servers."""
DEAD_AFTER = 30.0
"""Seconds without a sign of life after which a server on another machine is dead."""


@dataclass(frozen=True)
class ServerState:
    """What a server says of itself.

    Attributes:
        id: name of its file.
        host, pid: its process.
        started: when it began, in seconds since 1970.
        beat: its last sign of life.
        work: what is at work in it.
        asked: whether its work is to be taken over once it is dead.
    """

    id: str
    host: str
    pid: int
    started: float
    beat: float
    work: tuple[Work, ...] = ()
    asked: bool = False

    def to_json(self) -> dict[str, object]:
        """Return what its file holds."""
        return asdict(self) | {"work": [asdict(one) for one in self.work]}


def servers(home: Path) -> list[ServerState]:
    """Return all servers of a home that run, or crashed with work to do; the oldest first."""
    found = [_read(file) for file in (home / "servers").glob("*.json") if not file.name.startswith(PART)]
    return sorted((one for one in found if one is not None), key=lambda one: one.started)


def is_dead(home: Path, server: ServerState) -> bool:
    """Return whether a server is dead."""
    with _locked(home, server) as dead:
        return dead


def ask_to_take_over(home: Path, server: ServerState) -> bool:
    """Let running servers continue the work of a dead one; return whether it is dead.

    Where none runs, the next one to start does it.
    """
    with _locked(home, server) as dead:
        if dead and (now := _read(_file(home, server.id))) is not None:
            write_json(_file(home, server.id), replace(now, asked=True).to_json())
        return dead


class Server:
    """This process among the servers of its home.

    Args:
        registry: of its runs.
        home: which servers share.
        takes_over: whether it continues the work of every dead server.
    """

    def __init__(self, registry: RunRegistry, home: Path, *, takes_over: bool) -> None:
        self.registry = registry
        self.home = home
        self.takes_over = takes_over
        now = time.time()
        self.state = ServerState(f"{int(now)}-{secrets.token_hex(6)}", socket.gethostname(), os.getpid(), now, now)
        self._lock = FileLock(_lock_file(home, self.state.id), thread_local=False)
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._attend, name="candid-server", daemon=True)
        self._others: list[ServerState] = []

    def begin(self) -> None:
        """Be seen from now on, look for orders, and look after other servers."""
        try:
            (self.home / "servers").mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            self._beat()
        except OSError as error:
            LOG.warning(f"Other servers cannot see this one: {error.strerror or error}.")
            return
        known = control.identity()
        known.server, known.takes = self.state.id, control.ALL
        self.registry.count_elsewhere = self._count_elsewhere
        self._thread.start()

    def end(self) -> None:
        """Leave the list of servers. Work that still runs then can be taken over."""
        if not self._thread.is_alive():
            return
        self._ends.set()
        self._thread.join(2 * POLL)
        known = control.identity()
        known.server, known.takes = "", ()
        with suppress(OSError):
            if self.registry.alive():
                self._beat()
            else:
                _file(self.home, self.state.id).unlink(missing_ok=True)
        self._lock.release(force=True)
        if not _file(self.home, self.state.id).exists():
            _lock_file(self.home, self.state.id).unlink(missing_ok=True)

    def _attend(self) -> None:
        beat_at = 0.0
        while not self._ends.wait(POLL):
            try:
                self._obey()
                due = time.monotonic() - beat_at > BEAT
                if due or tuple(self.registry.work()) != self.state.work:
                    self._beat()
                if due:
                    beat_at = time.monotonic()
                    self._look_after_others()
            except Exception:  # a full disk, a file system that is away for a moment: it must go on
                LOG.exception("The servers of this home cannot be looked after")
                self._ends.wait(BEAT)

    def _obey(self) -> None:
        for worker in self.registry.alive():
            for what in worker.obey():
                log_event(f"told to {what}", run=worker.id)

    def _beat(self) -> None:
        self.state = replace(self.state, beat=time.time(), work=tuple(self.registry.work()))
        write_json(_file(self.home, self.state.id), self.state.to_json())

    def _count_elsewhere(self, visitor: str) -> int:
        return sum(work.visitor == visitor for server in self._others for work in server.work)

    def _look_after_others(self) -> None:
        alive = []
        for server in servers(self.home):
            if server.id == self.state.id:
                continue
            with _locked(self.home, server) as dead:
                if not dead:
                    alive.append(server)
                elif (now := _read(_file(self.home, server.id))) is not None:
                    self._inherit(now)
                else:  # another one has just done it
                    _lock_file(self.home, server.id).unlink(missing_ok=True)
        self._others = alive

    def _inherit(self, server: ServerState) -> None:
        """Take over the work of a dead server if ordered to, and remove its entry at the end. Its lock is held."""
        left = []
        for work in server.work:
            if not self.registry.is_interrupted(work.id):
                continue  # it was resumed or deleted meanwhile
            if not (self.takes_over or server.asked) or len(self.registry.alive()) >= MOST_ALIVE:
                left.append(work)
                continue
            try:
                self.registry.take_over(work, died_at=server.beat)
                log_event("run taken over", run=work.id, host=server.host, pid=server.pid)
            except UserError as error:
                log_event("run not taken over", run=work.id, why=str(error))
        if left:
            if len(left) < len(server.work):
                write_json(_file(self.home, server.id), replace(server, work=tuple(left)).to_json())
        else:
            _file(self.home, server.id).unlink(missing_ok=True)
            _lock_file(self.home, server.id).unlink(missing_ok=True)


@contextmanager
def _locked(home: Path, server: ServerState) -> Iterator[bool]:
    """Whether a server is dead; as long as its lock is held here, no other server takes over from it."""
    lock = FileLock(_lock_file(home, server.id), thread_local=False)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        yield False
        return
    try:
        is_here = server.host == socket.gethostname()
        yield is_here or time.time() - server.beat > DEAD_AFTER
    finally:
        lock.release(force=True)


def _file(home: Path, server_id: str) -> Path:
    return home / "servers" / f"{server_id}.json"


def _lock_file(home: Path, server_id: str) -> Path:
    return home / "servers" / f"{server_id}.lock"


def _read(file: Path) -> ServerState | None:
    """What a server has said; None where its file is gone or damaged."""
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        work = tuple(Work(**one) for one in known["work"])
        return replace(ServerState(**known), id=file.stem, work=work)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None

"""Processes on this machine that train a run together: this one leads, the others begin and end with it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import torch
from torch.distributed import TCPStore  # type: ignore[attr-defined]  # public, but its stub does not export it

import pll
from pll.errors import UserError
from pll.training.distributed import Ranks, RanksError

HOST = "127.0.0.1"
LOOK = 0.1
"""Seconds between two looks whether all processes have begun."""
START = 300.0
"""Seconds in which all processes begin; on a busy machine the imports alone take long."""
FAREWELL = 10.0
"""Seconds in which the others end by themselves."""
_BUSY = threading.Lock()
"""torch connects a process with others once at a time."""


def most_processes() -> int:
    """Return how many processes can train one run on this machine: as many as GPUs, else as many as cores."""
    return torch.cuda.device_count() if torch.cuda.is_available() else os.cpu_count() or 1


@contextmanager
def other_processes(size: int) -> Iterator[Ranks]:
    """Context manager with size - 1 further processes, which `follow` what this one trains.

    Args:
        size: of them all, at least 2.

    Raises:
        UserError: more than this machine has cores or GPUs.
        RanksError: one of them has ended, or this process leads others already.
    """
    if size > most_processes():
        raise UserError(f"{size} processes are too many: this machine has {most_processes()} cores or GPUs.")
    if not _BUSY.acquire(blocking=False):
        raise RanksError(
            "Another run that trains in several processes is at work or paused in this server. Resume this one once "
            "the other has ended, or in one process."
        )
    others: list[subprocess.Popen[bytes]] = []
    ranks = None
    try:
        store = TCPStore(HOST, 0, size, is_master=True, wait_for_workers=False)
        others += [_begin(store.port, rank, size) for rank in range(1, size)]
        deadline = time.monotonic() + START
        while not all(store.check([_here(rank)]) for rank in range(1, size)):
            for rank, other in enumerate(others, 1):
                if other.poll() is not None:
                    raise RanksError(f"Process {rank + 1} of {size} ended at its start; the server's log says why.")
            if time.monotonic() > deadline:
                raise RanksError(f"Of {size} processes not all have begun within {START:.0f} s; resume the run.")
            time.sleep(LOOK)
        ranks = Ranks.connect(store, 0, size)
        yield ranks
    finally:
        if ranks is not None and not ranks.told:
            with suppress(UserError):
                ranks.tell(None)
        _end(others, patience=0.0 if ranks is None else FAREWELL)
        if ranks is not None:
            ranks.close()
        _BUSY.release()


def joined(port: int, rank: int, size: int) -> Ranks:
    """Return the ranks, in a process that `other_processes` has started."""
    store = TCPStore(HOST, port, size, is_master=False, wait_for_workers=False)
    store.set(_here(rank), socket.gethostname())
    return Ranks.connect(store, rank, size)


def _here(rank: int) -> str:
    return f"candid/{rank}"


def _begin(port: int, rank: int, size: int) -> subprocess.Popen[bytes]:
    places = [str(Path(pll.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "pll.runs.follower", *map(str, (port, rank, size, os.getpid()))],
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(filter(None, places)),
            "LOCAL_WORLD_SIZE": str(size),
            "OMP_NUM_THREADS": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


def _end(others: list[subprocess.Popen[bytes]], patience: float) -> None:
    deadline = time.monotonic() + patience
    for other in others:
        with suppress(subprocess.TimeoutExpired):
            other.wait(max(0.0, deadline - time.monotonic()))
        other.kill()
        other.wait()

"""Several processes on this machine that train one run: this one leads (rank 0), the others `follow`.

Each of the others is `python -m pll.runs.ranks PORT RANK SIZE PARENT`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from torch.distributed import TCPStore  # type: ignore[attr-defined]  # public, but its stub does not export it

import pll
from pll.devices import gpus
from pll.errors import UserError, explain
from pll.io import json_text
from pll.methods.deep import DeepEstimator
from pll.runs.config import RunConfig, new_estimator
from pll.runs.folder import RunFolder
from pll.runs.process import end_with_parent
from pll.runs.run_data import splits_of
from pll.training.distributed import Ranks, RanksError

HOST = "127.0.0.1"
LOOK_SECONDS = 0.1
"""Seconds between two looks whether all processes have begun."""
START_SECONDS = 300.0
"""Seconds in which all processes begin; on a busy machine the imports alone take long."""
FAREWELL = 10.0
"""Seconds in which the others end by themselves."""
_BUSY = threading.Lock()
"""torch connects a process with others once at a time."""


def most_processes() -> int:
    """Return how many processes can train one run on this machine: as many as GPUs, else as many as cores."""
    return len(gpus()) or os.cpu_count() or 1


def send_run(ranks: Ranks, folder: RunFolder, config: RunConfig, fingerprint: str) -> None:
    """On rank 0: let the others read the data and make their trainers, as they do in `follow`.

    Parameters
    ----------
    config
        With the settings that the estimator has here.
    fingerprint
        Of the training data.
    ranks
        The processes.
    folder
        Of the run.
    fingerprint
        Of the data.

    Raises
    ------
    UserError
        One of them cannot.
    """
    message = {"folder": str(folder.path.resolve()), "run": config.to_json(), "fingerprint": fingerprint}
    ranks.broadcast_text(json_text(message))
    ranks.agree(None)


def follow(ranks: Ranks) -> None:
    """On a rank other than 0: train what rank 0 trains, until it ends.

    Raises
    ------
    UserError
        This rank does not have the same data, or another rank has ended.
    """
    text = ranks.broadcast_text(None)
    if text is None:  # rank 0 has nothing to train
        return
    message = json.loads(text)
    estimator, task, problem = None, None, None
    try:
        config = RunConfig.from_json(message["run"])
        splits = splits_of(RunFolder(Path(message["folder"])))
        if splits.identity != message["fingerprint"]:
            raise UserError(f"{splits.train.name} is not the data that rank 0 has read.")
        estimator = new_estimator(config, is_table=splits.train.kind == "table")
        task = replace(splits.task(), X_test=None, y_test=None)
        del splits
    except Exception as error:  # rank 0 says it
        problem = explain(error)
    ranks.agree(problem)
    assert isinstance(estimator, DeepEstimator) and task is not None
    estimator.follow(task, ranks)


@contextmanager
def other_processes(size: int) -> Iterator[Ranks]:
    """Context manager with size - 1 further processes, which `follow` what this one trains.

    Parameters
    ----------
    size
        Of them all, at least 2.

    Raises
    ------
    UserError
        More than this machine has cores or GPUs.
    RanksError
        One of them has ended, or this process leads others already.
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
        deadline = time.monotonic() + START_SECONDS
        while not all(store.check([_name(rank)]) for rank in range(1, size)):
            for rank, other in enumerate(others, 1):
                if other.poll() is not None:
                    raise RanksError(f"Process {rank + 1} of {size} ended at its start; the server's log says why.")
            if time.monotonic() > deadline:
                raise RanksError(
                    f"Of {size} processes not all have begun within {START_SECONDS:.0f} s; resume the run."
                )
            time.sleep(LOOK_SECONDS)
        ranks = Ranks.connect(store, 0, size)
        yield ranks
    finally:
        if ranks is not None and not ranks.has_broadcast:
            with suppress(UserError):
                ranks.broadcast_text(None)
        _end(others, patience=0.0 if ranks is None else FAREWELL)
        if ranks is not None:
            ranks.close()
        _BUSY.release()


def _name(rank: int) -> str:
    """Return the key by which a process says in the store that it is here."""
    return f"candid/{rank}"


def _begin(port: int, rank: int, size: int) -> subprocess.Popen[bytes]:
    places = [str(Path(pll.__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "pll.runs.ranks", *map(str, (port, rank, size, os.getpid()))],
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


def _main(port: int, rank: int, size: int, parent: int) -> int:
    """Follow rank 0 until it ends the training; return the exit status."""
    end_with_parent(parent)
    for name in ("SIGTERM", "SIGHUP"):  # meant for the server, which then writes a checkpoint
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    try:
        store = TCPStore(HOST, port, size, is_master=False, wait_for_workers=False)
        store.set(_name(rank), socket.gethostname())
        ranks = Ranks.connect(store, rank, size)
        try:
            follow(ranks)
        finally:
            ranks.close()
    except UserError as error:
        sys.stderr.write(f"candid: process {rank + 1} of {size}: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(*map(int, sys.argv[1:])))

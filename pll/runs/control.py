"""Requests to the process that trains a run, from any other. Both files lie in the folder of the run.

process.json  who is at work on the run and takes requests; written once it is locked, removed before it is unlocked
control/      requests, a file each, addressed to that one holder; it takes the oldest first

`fit` in a shell takes requests, between mini-batches; pages send them.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, get_args

from pll.errors import UserError
from pll.io import PART, write_json
from pll.runs.folder import RunFolder

HOLDER_FILE, REQUESTS = "process.json", "control"
What = Literal["pause", "resume", "step", "stop"]
ALL: tuple[What, ...] = get_args(What)
MOST_STEPS = 10**6
ANSWER = 2.0
"""Seconds to wait until a request is taken."""


@dataclass(frozen=True)
class Holder:
    """Content of process.json: who is at work on a run.

    Attributes
    ----------
    id
        Of this one piece of work; requests are addressed to it.
    run
        Id of the run, or of the comparison that it is a lane of.
    host, pid
        Of the process.
    takes
        The requests it takes.
    since
        When it began, in seconds since 1970.
    """

    id: str
    run: str
    host: str
    pid: int
    takes: tuple[What, ...] = ()
    since: float = field(default_factory=time.time)

    @property
    def where(self) -> str:
        """The process, for messages."""
        return f"process {self.pid} on {self.host}"


def announce(folder: Path, run: str, *, takes: tuple[What, ...] = ()) -> Holder:
    """Write the process at work on a run, whose lock the caller holds, and drop requests to the one before.

    Parameters
    ----------
    folder
        Of the run.
    run
        Id of the run, or of the comparison that it is a lane of.
    takes
        The requests that this process takes.
    """
    made = Holder(
        id=secrets.token_hex(8),
        run=run,
        host=socket.gethostname(),
        pid=os.getpid(),
        takes=takes,
    )
    with suppress(OSError):  # of a full disk: then it trains without taking requests
        for file in _requests(folder):
            file.unlink(missing_ok=True)
        write_json(folder / HOLDER_FILE, asdict(made))
    return made


def withdraw(folder: Path) -> None:
    """Remove process.json when work has ended. A file that cannot be removed does no harm."""
    with suppress(OSError):
        (folder / HOLDER_FILE).unlink(missing_ok=True)


def holder_of(folder: Path) -> Holder | None:
    """Return the process at work on a run that takes requests; None for none, or where the file is damaged."""
    try:
        content = json.loads((folder / HOLDER_FILE).read_text(encoding="utf-8"))
        holder = Holder(**content | {"takes": tuple(what for what in content["takes"] if what in ALL)})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return holder if holder.takes and RunFolder(folder).is_locked() else None


@dataclass(frozen=True)
class ControlRequest:
    """What another process asks of a run.

    Attributes
    ----------
    what
        Pause, resume, step or stop.
    to
        `Holder.id`.
    epochs, batches
        Of a step; None for no limit.
    """

    what: What
    to: str
    epochs: int | None = None
    batches: int | None = None


def send(folder: Path, holder: Holder, what: What, *, epochs: int | None = None, batches: int | None = None) -> None:
    """Send a request, and wait until it is taken.

    Raises
    ------
    UserError
        The holder does not take such a request, has not taken it yet, or the disk is full.
    """
    if what not in holder.takes:
        raise UserError(f"This run is trained by another process ({holder.where}), which cannot be asked to {what}.")
    file = folder / REQUESTS / f"{time.time_ns():020d}-{secrets.token_hex(4)}.json"
    try:
        write_json(file, asdict(ControlRequest(what, holder.id, epochs, batches)))
    except OSError as error:
        raise UserError(f"Cannot write to {folder}: {error.strerror or error}.") from error
    deadline = time.monotonic() + ANSWER
    while file.exists():
        if time.monotonic() > deadline:
            raise UserError(
                f"This run is trained by another process ({holder.where}), which has been asked to {what} and has not "
                "answered yet. It will after its mini-batch; if it has died, the run can be resumed here."
            )
        time.sleep(0.02)


def take(folder: Path, holder: Holder) -> list[ControlRequest]:
    """Return the requests to a holder, the oldest first; each is returned once."""
    requests = []
    for file in _requests(folder):
        request = _read(file)
        file.unlink(missing_ok=True)
        if request is not None and request.to == holder.id:
            requests.append(request)
    return requests


def _requests(folder: Path) -> list[Path]:
    try:
        files = sorted((folder / REQUESTS).iterdir())
    except OSError:  # there has been none
        return []
    return [file for file in files if not file.name.startswith(PART)]


def _read(file: Path) -> ControlRequest | None:
    try:
        request = ControlRequest(**json.loads(file.read_text(encoding="utf-8")))
        steps = (request.epochs, request.batches)
        sound = all(step is None or (type(step) is int and 1 <= step <= MOST_STEPS) for step in steps)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return request if sound and request.what in ALL else None

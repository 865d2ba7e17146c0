"""How the server is: open tabs, file descriptors, disk and database; the routes `/health` and `/ready`.

`/health` says that the process answers, `/ready` that it can serve one more person.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import pll
from pll.errors import UserError
from pll.paths import candid_home
from pll.runs.process import PerProcess
from pll.ui.server_settings import setting

MOST_DESCRIPTORS = 65_536
"""Descriptors a server asks for, where it may."""
SPARE_DESCRIPTORS = 64
"""Descriptors kept for files, the database and runs; a new tab takes three or four."""
LEAST_FREE_DISK = 200 * 10**6
"""Bytes below which a server is not ready: a checkpoint or an upload would fail."""


@dataclass
class Load:
    """What is counted while a server runs: open websockets, one a tab."""

    tabs: int = 0


load = PerProcess(Load)


def raise_descriptor_limit() -> None:
    """Allow this process as many descriptors as it may have, up to `MOST_DESCRIPTORS`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


def open_descriptors() -> int:
    """Return the number of descriptors in use; 0 where the system does not say."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return sum(1 for _ in Path(folder).iterdir())
        except OSError:
            continue
    return 0


def is_full() -> str:
    """Return why no further tab can be opened, in a sentence; "" where one can."""
    most = setting("PLL_MOST_SESSIONS")
    if most and load().tabs >= most:
        return f"{load().tabs} tabs are open, the limit of this server."
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and open_descriptors() > soft - SPARE_DESCRIPTORS:
        return "This server has no file descriptor left for another tab."
    return ""


def obstacles() -> list[str]:
    """Return why the server cannot serve one more person as it should; nothing where it can."""
    reasons = [reason] if (reason := is_full()) else []
    home = candid_home()
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=home) as file:
            file.write(b"ready")
        free = shutil.disk_usage(home).free
        if free < LEAST_FREE_DISK:
            reasons.append(f"The disk of PLL_HOME has {free / 1e6:,.0f} MB left.")
    except OSError as error:
        reasons.append(f"PLL_HOME cannot be written to: {error.strerror or error}.")
    try:
        from pll.review.store import reading
        from pll.ui.review.service import database  # opens it

        with reading(database(), "") as reader:
            reader.review()
    except UserError as error:
        reasons.append(str(error))
    return reasons


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok", "version": pll.__version__}, headers=NO_STORE)


async def _ready(_: Request) -> Response:
    reasons = await run_in_threadpool(obstacles)
    body = {"status": "not ready" if reasons else "ready", "obstacles": reasons}
    return JSONResponse(body, status_code=503 if reasons else 200, headers=NO_STORE)


NO_STORE = {"Cache-Control": "no-store"}
HEALTH_ROUTES = [Route("/health", _health), Route("/ready", _ready)]

"""How the server is: open tabs, file descriptors, disk and database; the routes `/health`, `/ready` and `/metrics`.

`/health` says that the process answers, `/ready` that it can serve one more person, `/metrics` the figures, for
Prometheus, to clients with `PLL_METRICS_TOKEN`.
"""

from __future__ import annotations

import hmac
import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Scope

import pll
from pll.errors import UserError
from pll.paths import candid_home
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry
from pll.ui.pace import pace
from pll.ui.server_settings import setting

MOST_DESCRIPTORS = 65_536
"""Descriptors a server asks for, where it may."""
SPARE_DESCRIPTORS = 64
"""Descriptors kept for files, the database and runs; a new tab takes three or four."""
LEAST_FREE_DISK = 200 * 10**6
"""Bytes below which a server is not ready: a checkpoint or an upload would fail."""


@dataclass
class Load:
    """What is counted while a server runs: open websockets, one a tab, and tabs that were turned away."""

    tabs: int = 0
    refused: int = 0


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


def is_allowed(authorization: str) -> bool:
    """Whether this header may read figures of the server."""
    token = setting("PLL_METRICS_TOKEN")
    return bool(token) and hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode())


def authorization_of(scope: Scope) -> str:
    """The header `Authorization` of a request."""
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"), "")


def metrics() -> str:
    """Return the figures as Prometheus reads them."""
    runs = Counter(worker.snapshot().state for worker in default_registry().alive())
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    figures: dict[str, tuple[str, float | Mapping[str, float]]] = {
        "candid_info": ("Version.", {f'{{version="{pll.__version__}"}}': 1}),
        "candid_tabs": ("Open tabs.", load().tabs),
        "candid_tabs_limit": ("Open tabs at most; 0: as descriptors allow.", setting("PLL_MOST_SESSIONS")),
        "candid_refresh_seconds": (
            "Seconds between two refreshes of a live page, at least, for the number of tabs.",
            round(pace().interval(0.0), 3),
        ),
        "candid_tabs_refused_total": ("Tabs turned away.", load().refused),
        "candid_runs": (
            "Runs and comparisons in memory, by state.",
            {f'{{state="{state}"}}': runs[state] for state in ("queued", "running", "paused")},
        ),
        "candid_disk_free_bytes": ("Free space of PLL_HOME.", _free(candid_home())),
        "process_open_fds": ("Open file descriptors.", open_descriptors()),
        "process_max_fds": ("File descriptors at most.", soft),
        "process_resident_memory_bytes": ("Memory.", _memory()),
    }
    lines = []
    for name, (about, value) in figures.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        samples = value if isinstance(value, Mapping) else {"": value}
        lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{of} {number}" for of, number in samples.items()]
    return "\n".join(lines) + "\n"


def _free(home: Path) -> int:
    try:
        return shutil.disk_usage(home).free
    except OSError:
        return 0


def _memory() -> int:
    """Resident bytes now where the system says, else their maximum."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok", "version": pll.__version__}, headers=NO_STORE)


async def _ready(_: Request) -> Response:
    reasons = await run_in_threadpool(obstacles)
    body = {"status": "not ready" if reasons else "ready", "obstacles": reasons}
    return JSONResponse(body, status_code=503 if reasons else 200, headers=NO_STORE)


async def _metrics(request: Request) -> Response:
    if not is_allowed(authorization_of(request.scope)):
        return PlainTextResponse("Needs the token of PLL_METRICS_TOKEN.\n", status_code=403)
    text = await run_in_threadpool(metrics)
    return Response(text, media_type="text/plain; version=0.0.4", headers=NO_STORE)


NO_STORE = {"Cache-Control": "no-store"}
ROUTES = [Route("/health", _health), Route("/ready", _ready), Route("/metrics", _metrics)]

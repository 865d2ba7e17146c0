"""Routes by which Label Studio uses a run as its model: `/labelstudio/<run>/health`, `setup`, `predict`, `webhook` …

Label Studio knows one way of showing who it is, user and password (Basic), and sends them with every request; they are
checked against the hash of the run's own secret (`pll.export.connections`). The page's login is not needed.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import time
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import pll
from pll.errors import BusyError, UserError, explain
from pll.runs.process import PerProcess
from pll.runs.registry import default_registry

if TYPE_CHECKING:
    from pll.export.labelstudio import Backend

PREFIX = "/labelstudio"
_LOG = logging.getLogger("candid")
MOST_REQUEST_BYTES = 50 * 2**20
"""Bytes of a request; Label Studio sends tasks in parts that are far smaller."""
RECENT_REQUESTS = 20


@dataclass(frozen=True)
class RequestRecord:
    """A request of Label Studio, for the list on the export page.

    Attributes
    ----------
    time : datetime
        UTC.
    request : str
        Method and last part of the path.
    status : int
    seconds : float
    outcome : str
        What was done, or why not.
    """

    time: datetime
    request: str
    status: int
    seconds: float
    outcome: str


_recent: PerProcess[defaultdict[str, deque[RequestRecord]]] = PerProcess(
    lambda: defaultdict(lambda: deque(maxlen=RECENT_REQUESTS))
)
_backends: PerProcess[dict[str, Backend]] = PerProcess(dict)
_work = PerProcess(lambda: ThreadPoolExecutor(max_workers=1, thread_name_prefix="candid-labelstudio"))


def _note(run: str, request: str, status: int, began: float, outcome: str) -> None:
    _recent()[run].append(RequestRecord(datetime.now(UTC), request, status, time.perf_counter() - began, outcome))


def recent_requests(run: str) -> list[RequestRecord]:
    """Return the last requests to a run since the server started, the newest first."""
    return list(reversed(_recent()[run]))


def backend(run_id: str) -> Backend:
    """Return the backend of a run; its review is begun where it was not.

    Raises
    ------
    UserError
        There is no such run, it has no result, or its data is gone.
    """
    forget_deleted()
    backends = _backends()
    existing = backends.get(run_id)
    if existing is None:
        from pll.export.labelstudio import Backend
        from pll.ui.review.service import queue_of

        run = default_registry().get(run_id)
        existing = backends.setdefault(run_id, Backend(run, queue_of(run, show_progress=False)))
    return existing


def forget_deleted() -> None:
    """Forget runs that were deleted: model, examples and review."""
    for deleted in [name for name, one in list(_backends().items()) if not one.run.folder.exists()]:
        _backends().pop(deleted, None)


# ---- what each request is answered with: all but `health` within a thread, since they read files and the database ----


def _health(run: str, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
    return {"status": "UP", "model_class": f"Candid {pll.__version__}"}, "up"


def _versions(run: str, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
    return {"versions": [backend(run).version]}, "versions"


def _setup(run: str, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Address and token, which Label Studio sends too, are not looked at."""
    return backend(run).setup(str(body.get("schema") or "")), f"project {body.get('project')}"


def _predict(run: str, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
    tasks = body.get("tasks")
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise UserError("The request has no list of tasks.")
    results = backend(run).predict(tasks, str(body.get("label_config") or ""))
    return {"results": results, "model_version": backend(run).version}, f"{len(results)} tasks predicted"


def _webhook(run: str, body: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Answered at once, since Label Studio waits a second and does not ask again; done in the order of arrival."""
    action = str(body.get("action", ""))
    _work().submit(_receive, run, action, body)
    return {}, f"{action or 'No action'}: received"


def _receive(run: str, action: str, body: dict[str, Any]) -> None:
    began, status = time.perf_counter(), 201
    try:
        outcome = backend(run).receive(body)
    except UserError as error:
        outcome, status = explain(error), 400
    except Exception as error:  # nobody waits for this thread's result: what was not stored must be listed
        outcome, status = explain(error), 500
        _LOG.exception("What Label Studio sent about the run %s was not stored.", run)
    _note(run, action, status, began, outcome)


def _opens(run: str, user: str, secret: str) -> bool:
    from pll.export.connections import opens
    from pll.ui.review.service import database

    return opens(database(), run, user, secret)


HANDLERS: dict[str, tuple[str, int, Callable[[str, dict[str, Any]], tuple[dict[str, Any], str]]]] = {
    "health": ("GET", 200, _health),
    "versions": ("GET", 200, _versions),
    "setup": ("POST", 200, _setup),
    "predict": ("POST", 200, _predict),
    "webhook": ("POST", 201, _webhook),
}
"""Last part of the path → method, status where it goes well, what answers."""


async def _answer(request: Request) -> Response:
    began, run, name = time.perf_counter(), request.path_params["run"], request.path_params["name"]
    method, status, make = HANDLERS.get(name, ("", 404, _health))
    if request.method != method:
        return JSONResponse({"error": "Not found."}, 404)
    user, secret = _credentials(request.headers.get("authorization", ""))
    if not await run_in_threadpool(_opens, run, user, secret):
        answer: dict[str, Any] = {"error": "Wrong user or secret for this run."}
        return JSONResponse(answer, 401, {"WWW-Authenticate": 'Basic realm="Candid"'})
    try:
        body = await _body(request) if method == "POST" else {}
        answer, outcome = await run_in_threadpool(make, run, body)
    except UserError as error:
        outcome = explain(error)
        answer, status = {"error": outcome}, 503 if isinstance(error, BusyError) else 400
    _note(run, f"{method} {name}", status, began, outcome)
    return JSONResponse(answer, status, {"Cache-Control": "no-store"})


async def _body(request: Request) -> dict[str, Any]:
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MOST_REQUEST_BYTES:
            raise UserError(f"The request is larger than {MOST_REQUEST_BYTES // 2**20} MB.")
    try:
        body = json.loads(content or b"{}")
    except (ValueError, RecursionError) as error:
        raise UserError("The request is not JSON.") from error
    if not isinstance(body, dict):
        raise UserError("The request is no JSON object.")
    return body


def _credentials(header: str) -> tuple[str, str]:
    """User and secret of the header `Authorization: Basic …`; "" where there are none."""
    scheme, _, coded = header.partition(" ")
    if scheme.lower() != "basic":
        return "", ""
    try:
        user, _, secret = base64.b64decode(coded, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return user, secret


LABEL_STUDIO_ROUTES = [Route(f"{PREFIX}/{{run}}/{{name}}", _answer, methods=["GET", "POST"])]

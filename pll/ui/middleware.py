"""What the server does with a request or message before Streamlit sees it, and with an answer after."""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress

from google.protobuf.message import DecodeError
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg

from pll.ui import login, server_health
from pll.ui.server_settings import setting


class Layer:
    """ASGI middleware in front of an app: what is of its kind goes through `layer`, all else past it."""

    kind = "http"

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Do what this layer is for."""
        await (self.layer if scope["type"] == self.kind else self.app)(scope, receive, send)

    async def layer(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


class DropMessages(Layer):
    """ASGI middleware that drops messages which no page of Candid sends, or not for this person.

    - Those by which a browser empties Streamlit's caches, for everybody, or writes files of instructions for
      programming assistants into the server's folder: the developer's menu sends them. Nothing is lost where one gets
      through, since what must live as long as the process is no cache (`pll.runs.process`), but every page would read
      its data again.
    - Frames of text, for each of which Streamlit logs a traceback: its messages are bytes.
    - A request to make a download that is on somebody else's page (`LoginGate` refuses the file itself).
    """

    kind = "websocket"

    async def layer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""

        async def checked() -> Message:
            while _is_unwanted(message := await receive(), scope):
                pass
            return message

        await self.app(scope, checked, send)


def _is_unwanted(message: Message, scope: Scope) -> bool:
    if message["type"] != "websocket.receive":
        return False
    content = message.get("bytes")
    if not content:
        return content is None
    try:
        sent = BackMsg.FromString(content)
    except DecodeError:  # Streamlit answers it
        return False
    if sent.WhichOneof("type") != "backend_operation_request":
        return bool(sent.WhichOneof("type") == "clear_cache")
    request = sent.backend_operation_request
    if request.WhichOneof("payload") == "deferred_file":
        file = request.deferred_file.file_id
        return login.login_is_set_up() and not login.may_make_file(file, login.who_asks(HTTPConnection(scope)))
    return request.WhichOneof("payload") in ("install_skills", "dismiss_skills_nudge")


class SecurityHeaders(Layer):
    """ASGI middleware that tells browsers whose content a page may load, and who may show it in a frame.

    Streamlit's own scripts need inline styles, `eval` (its charts compile expressions) and modules from blobs (its
    components). Nothing is loaded from elsewhere, so that injected pictures and requests have no effect.
    """

    async def layer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to every answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(security_headers())
            await send(message)

        await self.app(scope, receive, with_headers)


def security_headers() -> dict[str, str]:
    """Return the headers that every answer carries."""
    ancestors = setting("PLL_FRAME_ANCESTORS")
    policy = (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "media-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        f"frame-ancestors {' '.join(ancestors)}",
    )
    old = {("'none'",): "DENY", ("'self'",): "SAMEORIGIN"}.get(ancestors)  # old browsers do not support a list
    return {
        "Content-Security-Policy": "; ".join(policy),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",  # addresses hold the ids of runs
    } | ({"X-Frame-Options": old} if old else {})


STREAM_PATH, HEALTH_PATH, METRICS_PATH = "/_stcore/stream", "/_stcore/health", "/_stcore/metrics"
FULL_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Candid is full</title><meta http-equiv="refresh" content="30">
<meta name="viewport" content="width=device-width"><style>:root {{ color-scheme: light dark }} body {{ font: 1rem/1.6
system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1rem }}</style></head>
<body><h1>Candid is full</h1><p>{} Nothing is lost: runs go on. This page tries again in half a minute.</p></body>
</html>
"""


class SessionLimit(Layer):
    """ASGI middleware that counts open tabs and turns further ones away, with a plain page, before anything breaks.

    Streamlit's own health route then says so too; its figures are closed.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what there is room for."""
        path = str(scope.get("path", ""))
        if scope["type"] == "websocket" and path.endswith(STREAM_PATH):
            await self._tab(scope, receive, send)
        elif scope["type"] == "http" and path.endswith(METRICS_PATH):
            await PlainTextResponse("Closed.\n", 403)(scope, receive, send)
        elif (
            scope["type"] == "http"
            and (path.endswith(HEALTH_PATH) or _is_page(scope))
            and (why := server_health.is_full())
        ):
            body = why if path.endswith(HEALTH_PATH) else FULL_PAGE.format(why)
            kind = PlainTextResponse if path.endswith(HEALTH_PATH) else HTMLResponse
            await kind(body, 503, {"Retry-After": "30", "Cache-Control": "no-store"})(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _tab(self, scope: Scope, receive: Receive, send: Send) -> None:
        load = server_health.load()
        if server_health.is_full():
            await receive()
            await send({"type": "websocket.close", "code": 1013, "reason": "This server is full."})
            return
        load.tabs += 1
        try:
            # Streamlit closes a socket that the browser may have closed just before.
            with suppress(WebSocketDisconnected):
                await self.app(scope, receive, send)
        finally:
            load.tabs -= 1


PERSONAL_FILES = re.compile(
    r"(?<!/static)/(media|component|_stcore/bidi-components|_stcore/upload_file)/(.+)", re.DOTALL
)
"""Paths under which Streamlit serves and takes files of whoever has a page open; its fonts are in /static/media."""


class LoginGate(Layer):
    """ASGI middleware that refuses files of pages to people who have not logged in, where a login is set up.

    Streamlit itself checks nothing: the address of a picture, a download or an upload is enough. Here it takes
    the cookie of the login too, an upload goes only to a tab of one's own, and what is on a page of others, and not on
    one's own, is theirs.
    """

    async def layer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is allowed."""
        match = PERSONAL_FILES.search(str(scope["path"]))
        if match is not None and login.login_is_set_up() and (refusal := _refusal(scope, *match.groups())):
            await PlainTextResponse(f"{refusal}\n", 403, {"Cache-Control": "no-store"})(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def _refusal(scope: Scope, kind: str, rest: str) -> str:
    """Why a person may not load or send a file; "" where they may."""
    person = login.who_asks(HTTPConnection(scope))
    readers = login.who_sees_file(posixpath.splitext(rest)[0]) if kind == "media" else set()
    if "" in readers:  # on the page of the login
        return ""
    if not person:
        return "Log in first."
    if kind == "_stcore/upload_file" and login.who_has_session(rest.split("/")[0]) != person:
        return "That tab is not yours."
    return "That file is not yours." if readers and person not in readers else ""


def _is_page(scope: Scope) -> bool:
    """Whether a page is requested, and not a part of one."""
    accepts = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    return scope["method"] == "GET" and accepts.startswith(b"text/html") and "/_stcore/" not in scope["path"]

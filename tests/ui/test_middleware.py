from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg

from pll.runs.process import PerProcess
from pll.ui import login, server_health
from pll.ui.middleware import DropMessages, LoginGate, SecurityHeaders, SessionLimit

HEARTBEAT, CLEAR = BackMsg(app_heartbeat=True), BackMsg(clear_cache=True)


def through(messages: Sequence[Message], kind: str = "websocket") -> list[Message]:
    """What an application behind the middleware receives."""
    waiting = iter(messages)
    seen: list[Message] = []

    async def receive() -> Message:
        return next(waiting)

    async def send(message: Message) -> None:
        raise AssertionError("nothing is sent")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while not seen or seen[-1]["type"].endswith("receive"):
            seen.append(await receive())

    asyncio.run(DropMessages(app)({"type": kind}, receive, send))
    return seen


def sent(content: bytes) -> Message:
    return {"type": "websocket.receive", "bytes": content}


@pytest.mark.parametrize("payload", ["install_skills", "dismiss_skills_nudge"])
def test_nobody_has_the_server_write_files(payload: str) -> None:
    message = BackMsg()
    getattr(message.backend_operation_request, payload).SetInParent()
    last = {"type": "websocket.disconnect"}
    assert through([sent(message.SerializeToString()), last]) == [last]


@pytest.mark.parametrize("content", [HEARTBEAT.SerializeToString(), b"", b"\xff\xff"])
def test_only_the_message_that_empties_the_caches_is_dropped(content: bytes) -> None:
    messages = [sent(content), sent(CLEAR.SerializeToString()), sent(content), {"type": "websocket.disconnect"}]
    assert through(messages) == [messages[0], messages[2], messages[3]]


def test_frames_of_text_are_dropped() -> None:
    last = {"type": "websocket.disconnect"}
    assert through(
        [{"type": "websocket.receive", "text": "hello"}, {"type": "websocket.receive", "bytes": None}, last]
    ) == [last]


@pytest.mark.parametrize(("asks", "is_made"), [("ada", True), ("eve", False), ("", False)])
def test_a_download_is_made_only_for_who_has_it_on_a_page(
    asks: str, is_made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = SimpleNamespace(_deferred_callables={"file": {"session_id": "tab of ada"}})
    monkeypatch.setattr(login, "get_instance", lambda: SimpleNamespace(media_file_mgr=manager))
    monkeypatch.setattr(login, "who_has_session", lambda session: session.removeprefix("tab of "))
    monkeypatch.setattr(login, "who_asks", lambda connection: asks)
    message = BackMsg()
    message.backend_operation_request.deferred_file.file_id = "file"
    last = {"type": "websocket.disconnect"}
    monkeypatch.setattr(login, "login_is_set_up", lambda: True)
    assert through([sent(message.SerializeToString()), last])[:-1] == [sent(message.SerializeToString())] * is_made
    monkeypatch.setattr(login, "login_is_set_up", lambda: False)
    assert len(through([sent(message.SerializeToString()), last])) == 2


# ---- headers, limits and routes, of the real app without its pages ---------------------------------------------------


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The routes and middleware of the app around a page that says hello."""
    monkeypatch.setenv("PLL_HOME", str(tmp_path))
    PerProcess.forget_all()

    async def hello(_: Request) -> Response:
        return PlainTextResponse("hello")

    async def stream(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.receive()

    routes = [*server_health.HEALTH_ROUTES, WebSocketRoute("/_stcore/stream", stream), Route("/{path:path}", hello)]
    layers = (SecurityHeaders, SessionLimit, LoginGate, DropMessages)
    yield TestClient(Starlette(routes=routes, middleware=[Middleware(layer) for layer in layers]))
    PerProcess.forget_all()


PAGE = {"Accept": "text/html,application/xhtml+xml"}


def test_every_answer_says_who_may_frame_it_and_what_it_may_load(client: TestClient) -> None:
    for path in ("/", "/train", "/health", "/_stcore/metrics"):
        headers = client.get(path).headers
        assert headers["X-Frame-Options"] == "SAMEORIGIN" and headers["X-Content-Type-Options"] == "nosniff"
        policy = headers["Content-Security-Policy"]
        assert "frame-ancestors 'self'" in policy and "default-src 'self'" in policy and "http" not in policy


def test_a_full_server_says_so_before_anything_breaks(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLL_MOST_SESSIONS", "2")
    with client.websocket_connect("/_stcore/stream"), client.websocket_connect("/_stcore/stream"):
        assert server_health.load().tabs == 2
        page = client.get("/train", headers=PAGE)
        assert page.status_code == 503 and "Candid is full" in page.text and page.headers["Retry-After"]
        assert client.get("/_stcore/health").status_code == client.get("/ready").status_code == 503
        assert client.get("/health").status_code == client.get("/static/js").status_code == 200
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/_stcore/stream"):
            pass
    assert server_health.load().tabs == 0
    assert client.get("/train", headers=PAGE).text == "hello"


def test_ready_tells_what_is_wrong(client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/ready").json() == {"status": "ready", "obstacles": []}
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLL_HOME", str(tmp_path / "file"))
    PerProcess.forget_all()
    answer = client.get("/ready")
    assert answer.status_code == 503 and "PLL_HOME" in answer.json()["obstacles"][0]


# ---- with a login ----------------------------------------------------------------------------------------------------


@pytest.fixture
def gated(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A login is set up, and the cookie is the name of somebody."""
    monkeypatch.setattr(login, "login_is_set_up", lambda: True)
    monkeypatch.setattr(login, "who_asks", lambda connection: connection.cookies.get("who", ""))
    monkeypatch.setattr(login, "who_has_session", {"hers": "ada", "of-nobody": ""}.get)
    seen_by = {"hers": {"ada", None}, "logo": {"", "ada"}, "gone": {None}}
    monkeypatch.setattr(login, "who_sees_file", lambda file_id: seen_by.get(file_id, set()))
    return client


@pytest.mark.parametrize(
    ("path", "expected"),
    [  # nobody, Eve, Ada
        ("/media/hers.csv", (403, 403, 200)),
        ("/base/media/hers.csv", (403, 403, 200)),
        ("/media/logo.svg", (200, 200, 200)),  # on the page of the login too
        ("/media/gone.csv", (403, 403, 403)),  # of a tab that has just been closed
        ("/media/replaced.png", (403, 200, 200)),
        ("/_stcore/upload_file/hers/1", (403, 403, 200)),
        ("/_stcore/upload_file/of-nobody/1", (403, 403, 403)),
        ("/_stcore/upload_file/unknown/1", (403, 403, 403)),
        ("/component/x/index.html", (403, 200, 200)),
        ("/_stcore/bidi-components/x/index.js", (403, 200, 200)),
        ("/train", (200, 200, 200)),  # the empty shell, in which one logs in
        ("/static/js/index.js", (200, 200, 200)),
        ("/static/media/font.woff2", (200, 200, 200)),
        ("/base/static/media/font.woff2", (200, 200, 200)),
    ],
)
def test_files_of_pages_need_the_login(gated: TestClient, path: str, expected: tuple[int, ...]) -> None:
    for who, status in zip(("", "eve", "ada"), expected, strict=True):
        assert gated.get(path, headers={"Cookie": f"who={who}"}).status_code == status, (path, who)

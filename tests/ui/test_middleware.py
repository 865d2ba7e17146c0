from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from pll.ui.middleware import IgnoreClearCache

HEARTBEAT, CLEAR = BackMsg(app_heartbeat=True), BackMsg(clear_cache=True)


def through(messages: Sequence[Message], kind: str = "websocket") -> list[Message]:
    """What an application behind the middleware receives."""
    waiting, seen = iter(messages), []

    async def receive() -> Message:
        return next(waiting)

    async def send(message: Message) -> None:
        raise AssertionError("nothing is sent")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while not seen or seen[-1]["type"].endswith("receive"):
            seen.append(await receive())

    asyncio.run(IgnoreClearCache(app)({"type": kind}, receive, send))
    return seen


def sent(content: bytes) -> Message:
    return {"type": "websocket.receive", "bytes": content}


@pytest.mark.parametrize("content", [HEARTBEAT.SerializeToString(), b"", b"\xff\xff", None])
def test_only_the_message_that_empties_the_caches_is_dropped(content: bytes) -> None:
    messages = [sent(content), sent(CLEAR.SerializeToString()), sent(content), {"type": "websocket.disconnect"}]
    assert through(messages) == [messages[0], messages[2], messages[3]]


def test_a_message_that_says_it_in_another_way_is_dropped() -> None:
    last = {"type": "websocket.disconnect"}
    both = HEARTBEAT.SerializeToString() + CLEAR.SerializeToString()  # of two, the last one counts
    assert through([sent(both), last]) == [last]


def test_a_request_is_left_alone() -> None:
    assert through([{"type": "http.request"}], kind="http") == [{"type": "http.request"}]

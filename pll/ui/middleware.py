"""What the server does with a message before Streamlit sees it."""

from __future__ import annotations

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg


class IgnoreClearCache:
    """ASGI middleware that drops the message by which a browser empties Streamlit's caches, for everybody.

    The developer's menu of Streamlit sends it; any client can. Nothing is lost where it gets through, since what must
    live as long as the process is no cache (`pll.runs.process`), but every page would read its data again.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything else on."""
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return

        async def checked() -> Message:
            while _clears_cache(message := await receive()):
                pass
            return message

        await self.app(scope, checked, send)


def _clears_cache(message: Message) -> bool:
    content = message.get("bytes")
    if message["type"] != "websocket.receive" or not content:
        return False
    try:
        return bool(BackMsg.FromString(content).WhichOneof("type") == "clear_cache")
    except DecodeError:  # Streamlit answers it
        return False

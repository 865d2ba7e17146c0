"""What the browser sends when something is pressed: each message counts once, and what goes wrong with it is said."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from pll.errors import UserError

Message = Mapping[str, Any]


class Listener(ABC):
    """Who is told what was pressed.

    Attributes:
        ack: the last message that has been dealt with.
        said: what came of it, for those who do not see it; problem: what went wrong.
        storing: the kind of message that brings decisions.
    """

    ack: str
    said: str
    problem: str
    storing: ClassVar[str]

    def act(self, message: object) -> None:
        """What was pressed. A message that comes twice, or is none, changes nothing."""
        if not isinstance(message, Mapping) or not isinstance(message.get("nonce"), str):
            return
        nonce = message["nonce"][:80]
        if nonce == self.ack:
            return
        self.said = self.problem = ""
        try:
            self.do(message, nonce)
        except UserError as error:
            lost = " Nothing was stored; give it again." if message.get("what") == self.storing else ""
            self.problem = f"{error}{lost}"
        self.ack = nonce

    @abstractmethod
    def do(self, message: Message, nonce: str) -> None:
        """What it asks for.

        Raises:
            UserError: that cannot be done.
        """


def seconds_of(message: Message) -> float | None:
    """The time spent, as the browser says; None where that makes no sense.

    >>> seconds_of({"seconds": 2}), seconds_of({"seconds": -1}), seconds_of({"seconds": "2"})
    (2.0, None, None)
    """
    seconds = message.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < 86_400 else None

"""Messages from the browser count once, and what goes wrong is said."""

from __future__ import annotations

import pytest

from pll.errors import UserError
from pll.ui.review.messages import Listener, Message


class Counting(Listener):
    storing = "say"

    def __init__(self) -> None:
        self.ack = self.said = self.problem = ""
        self.done: list[str] = []

    def do(self, message: Message, nonce: str) -> None:
        self.done.append(nonce)
        if message.get("fails"):
            raise UserError("The disk is full.")


def test_a_message_counts_once_and_is_acknowledged() -> None:
    heard = Counting()
    for nonce in ("a", "a", "b" * 100, "b" * 100):
        heard.act({"nonce": nonce, "what": "say"})
    for nothing in (None, "a", {"what": "say"}, {"nonce": 3}):
        heard.act(nothing)
    assert heard.done == ["a", "b" * 80] and heard.ack == "b" * 80


@pytest.mark.parametrize(
    ("what", "problem"),
    [("say", "The disk is full. Nothing was stored; give it again."), ("back", "The disk is full.")],
)
def test_what_went_wrong_is_said_until_the_next_message(what: str, problem: str) -> None:
    heard = Counting()
    heard.act({"nonce": "a", "what": what, "fails": True})
    assert (heard.problem, heard.ack) == (problem, "a")
    heard.act({"nonce": "b", "what": what})
    assert heard.problem == ""

"""What becomes of the keys pressed at a desk."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pll.errors import UserError
from pll.review import database
from pll.ui.review.payload import ordered
from pll.ui.review.review_tab import Message, MessageHandler, ReviewTab

_nonces = (f"n{k}" for k in itertools.count())


def press(tab: ReviewTab, what: str, **more: Any) -> None:
    tab.act({"nonce": next(_nonces), "what": what, **more})


def say(tab: ReviewTab, kind: str, label: str | None = None) -> None:
    assert tab.given is not None
    press(tab, "say", kind=kind, label=label, token=tab.given.token, seconds=1.5)


def pick(tab: ReviewTab, k: int = 0) -> tuple[int, str]:
    """Press a number; which example that was, and which label."""
    assert tab.given is not None
    row, label = tab.given.row, ordered(tab, tab.given)[k].label
    say(tab, "pick", label)
    return row, label


def label_of(tab: ReviewTab, row: int) -> str | None:
    return tab.manager.review.state.outcome(row).label


def test_a_second_press_cannot_label_the_next_example(tab: ReviewTab) -> None:
    assert tab.given is not None
    message = {"nonce": "a", "what": "say", "kind": "unsure", "label": None, "token": tab.given.token, "seconds": 1}
    tab.act(message)
    after = tab.given
    tab.act(message)  # sent again
    tab.act(message | {"nonce": "b"})  # pressed again before the answer was there
    assert tab.given is after
    assert len(tab.desk.history()) == 1
    assert tab.ack == "b"  # the browser is not left waiting


@pytest.mark.parametrize(
    "message",
    [
        None,
        "pick",
        {},
        {"nonce": 7, "what": "undo"},
        {"nonce": "x", "what": "say", "kind": ["pick"], "label": "ant"},
        {"nonce": "x", "what": "say", "kind": "pick", "label": {"a": 1}},
        {"nonce": "x", "what": "explode"},
    ],
)
def test_what_is_no_message_changes_nothing(tab: ReviewTab, message: object) -> None:
    before = tab.given
    if isinstance(message, dict) and before is not None:
        message = message | {"token": before.token}
    tab.act(message)
    assert tab.given is before and not tab.desk.history()


def test_undo_goes_back_across_five_examples_and_each_can_be_decided_anew(tab: ReviewTab) -> None:
    picked = [pick(tab) for _ in range(5)]
    for row, _ in reversed(picked):
        press(tab, "undo")
        assert tab.given is not None and tab.given.row == row
        assert label_of(tab, row) is None
    press(tab, "undo")
    assert "nothing left to undo" in tab.problem
    row, label = pick(tab, 1)
    assert row == picked[0][0] and label_of(tab, row) == label


def test_the_order_is_made_anew_after_some_decisions(tab: ReviewTab) -> None:
    before = tab.manager.review.order[1].copy()
    for _ in range(8):
        pick(tab, 1)
    tab.manager.wait()
    assert tab.manager.review.order[0] == "learning"
    assert (tab.manager.review.order[1] != before).any()


class Counting(MessageHandler):
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


def test_a_decision_waits_on_the_page_while_another_program_has_the_database(
    tab: ReviewTab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WRITE_SECONDS", 0.1)
    given, before = tab.given, tab.ack
    assert given is not None
    message = {"nonce": "kept", "what": "say", "kind": "pick", "label": given.choices[0].label, "token": given.token}
    with closing(sqlite3.connect(tmp_path / "reviews.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            tab.act(message)
            assert "keeps the database" in tab.problem and "sent again by itself" in tab.problem
            assert (tab.given, tab.ack) == (given, before)  # not acknowledged: the browser sends it again
    tab.act(message)
    tab.act(message)
    assert (tab.problem, tab.ack) == ("", "kept") and len(tab.desk.history()) == 1

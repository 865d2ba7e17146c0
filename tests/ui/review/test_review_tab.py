"""What becomes of the keys pressed at a desk."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pll.errors import UserError
from pll.review import database
from pll.review.desk import Desk
from pll.review.similar import figure
from pll.ui.review.batch import LookAlikeBatch
from pll.ui.review.payload import ordered
from pll.ui.review.review_tab import Message, ReviewTab

_nonces = (f"n{k}" for k in itertools.count())


def press(tab: ReviewTab, what: str, **more: Any) -> None:
    tab.act({"nonce": next(_nonces), "what": what, **more})


def decide(tab: ReviewTab, kind: str, label: str | None = None) -> None:
    assert tab.assignment is not None
    press(tab, "decide", kind=kind, label=label, token=tab.assignment.token, seconds=1.5)


def pick(tab: ReviewTab, k: int = 0) -> tuple[int, str]:
    """Press a number; which example that was, and which label."""
    assert tab.assignment is not None
    row, label = tab.assignment.row, ordered(tab, tab.assignment)[k].label
    decide(tab, "pick", label)
    return row, label


def label_of(tab: ReviewTab, row: int) -> str | None:
    return tab.review.state.outcome(row).label


def test_a_second_press_cannot_label_the_next_example(tab: ReviewTab) -> None:
    assert tab.assignment is not None
    message = {
        "nonce": "a",
        "what": "decide",
        "kind": "unsure",
        "label": None,
        "token": tab.assignment.token,
        "seconds": 1,
    }
    tab.act(message)
    after = tab.assignment
    tab.act(message)  # sent again
    tab.act(message | {"nonce": "b"})  # pressed again before the answer was there
    assert tab.assignment is after
    assert len(tab.desk.history()) == 1
    assert tab.ack == "b"  # the browser is not left waiting


NO_MESSAGES: tuple[object, ...] = (
    None,
    "pick",
    {},
    {"nonce": 7, "what": "undo"},
    {"nonce": "x", "what": "decide", "kind": ["pick"], "label": "ant"},
    {"nonce": "y", "what": "decide", "kind": "pick", "label": {"a": 1}},
    {"nonce": "z", "what": "explode"},
)


def test_what_is_no_message_changes_nothing(tab: ReviewTab) -> None:
    before = tab.assignment
    assert before is not None
    for message in NO_MESSAGES:
        tab.act(message | {"token": before.token} if isinstance(message, dict) else message)
        assert tab.assignment is before and not tab.desk.history(), message


def test_undo_goes_back_across_five_examples_and_each_can_be_decided_anew(tab: ReviewTab) -> None:
    picked = [pick(tab) for _ in range(5)]
    for row, _ in reversed(picked):
        press(tab, "undo")
        assert tab.assignment is not None and tab.assignment.row == row
        assert label_of(tab, row) is None
    press(tab, "undo")
    assert "nothing left to undo" in tab.problem
    row, label = pick(tab, 1)
    assert row == picked[0][0] and label_of(tab, row) == label


def test_the_order_is_made_anew_after_some_decisions(tab: ReviewTab) -> None:
    before = tab.review.order[1].copy()
    for _ in range(8):
        pick(tab, 1)
    tab.queue.wait()
    assert tab.review.order[0] == "learning"
    assert (tab.review.order[1] != before).any()


def test_a_message_counts_once_and_is_acknowledged(tab: ReviewTab) -> None:
    nonces: list[str] = []
    for nonce in ("a", "a", "b" * 100, "b" * 100):
        tab.act({"nonce": nonce, "what": "accept"}, lambda message, nonce: nonces.append(nonce))
    assert nonces == ["a", "b" * 80] and tab.ack == "b" * 80


@pytest.mark.parametrize(
    ("what", "problem"),
    [("accept", "The disk is full. Nothing was stored; give it again."), ("other", "The disk is full.")],
)
def test_what_went_wrong_is_shown_until_the_next_message(tab: ReviewTab, what: str, problem: str) -> None:
    def fail(message: Message, nonce: str) -> None:
        raise UserError("The disk is full.")

    tab.act({"nonce": "a", "what": what}, fail)
    assert (tab.problem, tab.ack) == (problem, "a")
    press(tab, "now")
    assert tab.problem == ""


def test_a_decision_waits_on_the_page_while_another_program_has_the_database(
    tab: ReviewTab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WRITE_SECONDS", 0.1)
    given, before = tab.assignment, tab.ack
    assert given is not None
    message = {"nonce": "kept", "what": "decide", "kind": "pick", "label": given.choices[0].label, "token": given.token}
    with closing(sqlite3.connect(tmp_path / "reviews.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            tab.act(message)
            assert "keeps the database" in tab.problem and "sent again by itself" in tab.problem
            assert (tab.assignment, tab.ack) == (given, before)  # not acknowledged: the browser sends it again
    tab.act(message)
    tab.act(message)
    assert (tab.problem, tab.ack) == ("", "kept") and len(tab.desk.history()) == 1


def test_a_group_of_look_alikes_is_of_the_chosen_examples(tab: ReviewTab) -> None:
    tab.only = np.arange(0, 96, 2), "chosen"
    group = LookAlikeBatch(tab)
    group.fill()
    assert group.tiles and all(tile.row % 2 == 0 for tile in group.tiles)


def test_a_group_that_was_accepted_is_back_with_its_marks_after_undo(tab: ReviewTab) -> None:
    group = LookAlikeBatch(tab)
    group.fill()
    rows, label, marked = [tile.row for tile in group.tiles], group.label, group.tiles[1]
    weights = [tile["weight"] for tile in group.payload()["tiles"]]
    tokens = [tile.token for tile in group.tiles if tile is not marked]
    message = {"what": "accept", "token": group.token, "tokens": tokens, "marked": [marked.token]}
    tab.act({"nonce": "a"} | message, group.do)
    assert tab.message == f"Saved: {len(rows) - 1} examples are {label}; of 1 {label} is ruled out."
    assert len(tab.desk.history()) == len(rows) and [tile.row for tile in group.tiles] != rows
    assert tab.review.state.outcome(marked.row).eliminated == {label}
    assert group.payload()["marked"] == []
    tab.queue.compute_order()  # the labels follow what is undone next
    tab.act({"nonce": "b", "what": "undo"}, group.do)
    sent = group.payload()
    assert not tab.desk.history() and ([tile.row for tile in group.tiles], group.label) == (rows, label)
    assert sent["marked"] == [group.tiles[1].token]
    assert [tile["weight"] for tile in sent["tiles"]] == weights and all(weights)


def test_after_the_undo_of_a_group_that_another_reviewer_has_there_is_another_group(
    tab: ReviewTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    group, bob = LookAlikeBatch(tab), Desk(tab.review, "Bob")
    group.fill()
    rows = [tile.row for tile in group.tiles]
    message = {"what": "accept", "token": group.token, "tokens": [tile.token for tile in group.tiles]}
    tab.act({"nonce": "a"} | message, group.do)
    monkeypatch.setattr(tab.desk, "release", lambda: (Desk.release(tab.desk), bob.batch(rows)))  # between two strokes
    tab.act({"nonce": "b", "what": "undo"}, group.do)
    assert group.tiles and not {tile.row for tile in group.tiles} & set(rows)


def test_a_marked_example_is_not_offered_with_the_label_that_was_ruled_out(tab: ReviewTab) -> None:
    """Also before the labels have followed, and it is taken in where its next label is proposed."""
    group = LookAlikeBatch(tab)
    group.fill()
    label, rest = group.label, [tile.row for tile in group.tiles[1:] if len(tile.choices) > 2]
    tab.only = np.array([tile.row for tile in group.tiles]), "chosen"
    tab.desk.accept(group.tiles[:1], label, marked=group.tiles[1:])
    proposed = {}
    while not group.fill() and group.tiles:
        assert all(group.label not in tab.review.state.outcome(tile.row).eliminated for tile in group.tiles)
        proposed |= {tile.row: group.label for tile in group.tiles}
    assert rest and all(proposed[row] != label for row in rest)


def test_small_rows_of_numbers_have_the_names_of_their_columns(tab: ReviewTab) -> None:
    data, group = tab.queue.data, LookAlikeBatch(tab)
    group.fill()
    tile, row = group.payload()["tiles"][0], group.tiles[0].row
    first, *_, last = tile["whole"].splitlines()
    assert first == tile["text"].splitlines()[0] == f"{data.column_names[0]} {figure(data.X[row, 0])}"
    assert last == f"{data.column_names[-1]} {figure(data.X[row, -1])}"


def test_a_run_that_was_deleted_takes_no_more_decisions_and_says_so(tab: ReviewTab) -> None:
    pick(tab)
    tab.queue.runs.delete(tab.review.root.run)
    pick(tab)
    assert "deleted" in tab.problem and not tab.message
    assert len(tab.desk.history()) == 1

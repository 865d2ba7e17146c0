"""What becomes of the keys pressed at a desk."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from pll.review.orders import DEFAULT
from pll.ui.review.payload import ordered
from pll.ui.review.sitting import Sitting

_nonces = (f"n{k}" for k in itertools.count())


def press(sitting: Sitting, what: str, **more: Any) -> None:
    sitting.act({"nonce": next(_nonces), "what": what, **more})


def say(sitting: Sitting, kind: str, label: str | None = None) -> None:
    assert sitting.given is not None
    press(sitting, "say", kind=kind, label=label, token=sitting.given.token, seconds=1.5)


def pick(sitting: Sitting, k: int = 0) -> tuple[int, str]:
    """Press a number; which example that was, and which label."""
    assert sitting.given is not None
    row, label = sitting.given.row, ordered(sitting, sitting.given)[k].label
    say(sitting, "pick", label)
    return row, label


def label_of(sitting: Sitting, row: int) -> str | None:
    return sitting.guide.reviewing.state.verdict(row).label


def test_a_key_stores_the_decision_and_brings_the_next_example(sitting: Sitting) -> None:
    row, label = pick(sitting)
    assert label_of(sitting, row) == label
    assert sitting.given is not None and sitting.given.row != row
    assert sitting.said.startswith("Saved: ") and label in sitting.said
    (event,) = sitting.desk.history()
    assert (event.seconds, event.blind, event.reviewer) == (1.5, False, "Ada")


def test_a_second_press_cannot_label_the_next_example(sitting: Sitting) -> None:
    assert sitting.given is not None
    message = {"nonce": "a", "what": "say", "kind": "unsure", "label": None, "token": sitting.given.token, "seconds": 1}
    sitting.act(message)
    after = sitting.given
    sitting.act(message)  # sent again
    sitting.act(message | {"nonce": "b"})  # pressed again before the answer was there
    assert sitting.given is after
    assert len(sitting.desk.history()) == 1
    assert sitting.ack == "b"  # the browser is not left waiting


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
def test_what_is_no_message_changes_nothing(sitting: Sitting, message: object) -> None:
    before = sitting.given
    if isinstance(message, dict) and before is not None:
        message = message | {"token": before.token}
    sitting.act(message)
    assert sitting.given is before and not sitting.desk.history()


def test_a_label_that_cannot_be_is_explained_and_nothing_is_stored(sitting: Sitting) -> None:
    before = sitting.given
    say(sitting, "pick", "unicorn")
    assert "unicorn" in sitting.problem and sitting.given is before
    say(sitting, "explode")
    assert "explode" in sitting.problem and not sitting.desk.history()


def test_undo_goes_back_across_five_examples_and_each_can_be_decided_anew(sitting: Sitting) -> None:
    picked = [pick(sitting) for _ in range(5)]
    for row, _ in reversed(picked):
        press(sitting, "undo")
        assert sitting.given is not None and sitting.given.row == row
        assert label_of(sitting, row) is None
    press(sitting, "undo")
    assert "nothing left to undo" in sitting.problem
    row, label = pick(sitting, 1)
    assert row == picked[0][0] and label_of(sitting, row) == label


def test_looking_back_and_forward_changes_nothing(sitting: Sitting) -> None:
    picked = [pick(sitting) for _ in range(3)]
    open_ = sitting.given
    seen = []
    for _ in range(4):  # once more than there is
        press(sitting, "back")
        assert sitting.given is not None
        seen.append((sitting.place, sitting.given.row))
    assert seen == [(1, picked[2][0]), (2, picked[1][0]), (3, picked[0][0]), (3, picked[0][0])]
    press(sitting, "forward")
    assert sitting.place == 2
    press(sitting, "now")
    assert sitting.given is open_ and sitting.place == 0
    assert [label_of(sitting, row) for row, _ in picked] == [label for _, label in picked]
    pick(sitting)  # and the open one is still in hand


def test_an_earlier_decision_is_changed_and_the_open_example_comes_back(sitting: Sitting) -> None:
    row, label = pick(sitting)
    open_ = sitting.given
    press(sitting, "back")
    assert sitting.given is not None and sitting.given.mine == label
    changed = pick(sitting, 1)
    assert changed[0] == row and label_of(sitting, row) == changed[1] != label
    assert open_ is not None and sitting.given is not None and sitting.given.row == open_.row
    pick(sitting)
    with sitting.guide.reviewing.store.read(sitting.guide.reviewing.id) as reader:
        assert len(reader.claims()) == 1  # nothing else was taken in hand


def test_ruling_out_keeps_the_example_until_one_label_is_left(sitting: Sitting) -> None:
    while sitting.given is not None and len(sitting.given.choices) < 3:
        say(sitting, "skip")
    assert sitting.given is not None
    row, names = sitting.given.row, [choice.label for choice in sitting.given.choices]
    for name in names[:-2]:
        say(sitting, "eliminate", name)
        assert sitting.given is not None and sitting.given.row == row
    assert [choice.label for choice in sitting.given.choices if choice.eliminated] == names[:-2]
    say(sitting, "eliminate", names[-2])
    assert label_of(sitting, row) == names[-1]
    assert sitting.given is None or sitting.given.row != row


def test_another_label_may_be_new(sitting: Sitting) -> None:
    assert sitting.given is not None
    row = sitting.given.row
    say(sitting, "other", "wasp")
    assert label_of(sitting, row) == "wasp"


def test_the_order_is_made_anew_after_some_decisions(sitting: Sitting) -> None:
    before = sitting.guide.reviewing.order[1].copy()
    for _ in range(8):
        pick(sitting, 1)
    sitting.guide.wait()
    assert sitting.guide.reviewing.order[0] == DEFAULT
    assert (sitting.guide.reviewing.order[1] != before).any()


def test_when_all_is_decided_nothing_is_in_hand(sitting: Sitting) -> None:
    rows = set()
    while sitting.given is not None:
        rows.add(pick(sitting)[0])
    assert len(rows) == 96
    press(sitting, "undo")
    assert sitting.given is not None

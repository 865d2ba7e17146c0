"""What a reviewer says at a desk, and what is stored of it, on SQLite and on PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pll.errors import UserError
from pll.review.session import ReviewSession
from tests.review_helpers import Clock, close, given, open_with, top


def test_the_least_certain_comes_first_with_its_candidates_by_weight(review: ReviewSession) -> None:
    one = given(review.desk("Ann"))
    assert one.row == int(np.argmin(review.root.sharp.confidence))
    assert [choice.label for choice in one.choices] == list(review.root.weights_of(one.row))
    weights = [choice.weight for choice in one.choices]
    assert weights == sorted(weights, reverse=True) and sum(weights) == pytest.approx(1, abs=1e-6)
    assert (one.example, one.identified) == (f"example {one.row}", top(one))


def test_a_decision_is_stored_with_everything_around_it(review: ReviewSession, clock: Clock) -> None:
    desk = review.desk("Ann", verified=True)
    one = given(desk)
    step = desk.decide(one, "pick", one.choices[1].label, seconds=2.5, blind=True, note="blurred")
    with review.store.read("review") as reader:
        (event,) = reader.events()
    assert event == step.event and step.stored
    assert (event.reviewer, event.verified, event.kind, event.label) == ("Ann", True, "pick", one.choices[1].label)
    assert (event.before, event.after) == (one.identified, one.choices[1].label)
    assert (event.run, event.round, event.row, event.example) == ("first", 1, one.row, one.example)
    assert (event.seconds, event.blind, event.note, event.at) == (2.5, True, "blurred", clock.at)
    assert (event.queue, event.position, event.control) == ("confidence", 0, False)
    assert [label for label, _ in event.shown] == [choice.label for choice in one.choices]
    assert step.next is not None and step.next.row != one.row


def test_the_same_decision_sent_again_is_stored_once(review: ReviewSession, database_url: str, clock: Clock) -> None:
    desk = review.desk("Ann")
    one = given(desk)
    first = desk.decide(one, "pick", top(one))
    again = desk.decide(one, "pick", one.choices[1].label)  # a double press
    other = open_with(database_url, clock=clock)
    after_restart = other.desk("Ann").decide(one, "pick", top(one))
    assert (first.stored, again.stored, after_restart.stored) == (True, False, False)
    assert first.next == again.next == after_restart.next
    assert len(other.state.all_events) == 1
    close(other)


def test_every_kind_of_answer_closes_the_example(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    for kind, label, status in (
        ("other", "lynx", "label"),
        ("none", None, "none"),
        ("unsure", None, "unsure"),
    ):
        one = given(desk)
        step = desk.decide(one, kind, label)  # type: ignore[arg-type]
        assert step.next is not None and step.next.row != one.row
        assert (review.state.verdict(one.row).status, review.state.verdict(one.row).label) == (status, label)
        assert step.event is not None
        assert step.event.after == (one.identified if kind == "unsure" else label)


def test_eliminating_stays_with_the_example_until_one_is_left(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    review.set_order("three", [row for row in range(40) if review.root.candidates.sizes[row] == 3])
    one = given(desk)
    first = desk.decide(one, "eliminate", top(one), stay=True)
    assert first.next is not None and first.next.row == one.row and first.next.token != one.token
    assert [choice.eliminated for choice in first.next.choices] == [True, False, False]
    assert first.event is not None and first.event.after == one.identified
    pressed_twice = desk.decide(one, "eliminate", top(one), stay=True)
    assert not pressed_twice.stored
    second = desk.decide(first.next, "eliminate", one.choices[2].label, stay=True)
    assert second.next is not None and second.next.row != one.row
    assert review.state.verdict(one.row).label == one.choices[1].label
    assert second.event is not None and second.event.after == one.choices[1].label


def test_eliminating_and_going_on_leaves_it_open(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    review.set_order("three", [row for row in range(40) if review.root.candidates.sizes[row] == 3])
    one = given(desk)
    step = desk.decide(one, "eliminate", top(one))
    assert step.next is not None and step.next.row != one.row
    assert review.state.verdict(one.row).status == "open"
    assert review.decided().eliminated is not None
    assert given(review.desk("Bob")).row == one.row  # it is still to be decided


def test_a_conflict_has_no_label_until_it_is_settled(database_url: str) -> None:
    review = open_with(database_url, overlap=2)
    ann, bob = review.desk("Ann"), review.desk("Bob")
    hers = given(ann)
    ann.decide(hers, "pick", hers.choices[0].label)
    his = given(bob)
    assert his.row == hers.row
    step = bob.decide(his, "pick", his.choices[1].label)
    assert step.event is not None and step.event.after == hers.identified  # the model's again
    assert [row for row, _ in review.conflicts()] == [hers.row]
    assert hers.row not in review.decisions()
    settled = review.desk("Cy").settle(hers.row, his.choices[1].label)
    assert settled.after == his.choices[1].label
    assert review.conflicts() == []
    decision = review.decisions()[hers.row]
    assert (decision.label, decision.reviewer) == (his.choices[1].label, "Cy")
    review.desk("Cy").undo()
    assert [row for row, _ in review.conflicts()] == [hers.row]
    close(review)


def test_a_batch_is_accepted_but_for_the_marked_and_undone_in_one_stroke(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    grid = desk.batch([2, 4, 6, 8])
    assert [one.row for one in grid] == [2, 4, 6, 8]
    assert not {2, 4, 6, 8} & {given(review.desk("Bob")).row}
    events = desk.accept([one for one in grid if one.row != 6], "cat", seconds=9.0)
    assert [event.row for event in events] == [2, 4, 8]
    assert {event.batch for event in events} != {None} and {event.seconds for event in events} == {3.0}
    assert desk.accept(grid[:2], "cat") == []  # stored already
    assert {row: made.label for row, made in review.decisions().items()} == {2: "cat", 4: "cat", 8: "cat"}
    step = desk.undo()
    assert step.stored and review.decisions() == {}
    assert sorted(one.row for one in review.desk("Bob").batch([2, 4, 8])) == [2, 4, 8]


def test_what_makes_no_sense_is_refused_and_nothing_is_stored(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    one = given(desk)
    outside = next(name for name in ("ant", "bee", "cat", "dog") if name not in review.root.candidates.names(one.row))
    for kind, label, says in (
        ("pick", outside, "not a candidate"),
        ("pick", None, "needs a label"),
        ("unsure", "cat", "takes no label"),
        ("guess", None, "no decision called 'guess'"),
        ("other", "a\x00b", "NUL"),
        ("accept", "cat", "Desk.accept"),
    ):
        with pytest.raises(UserError, match=says):
            desk.decide(one, kind, label)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="rows run from 0 to 39"):
        desk.show(40)
    with pytest.raises(UserError, match="needs a name"):
        review.desk("  ")
    with pytest.raises(UserError, match="at most 100"):
        desk.decide(replace(one, queue="q" * 101), "pick", top(one))
    assert review.state.all_events == []

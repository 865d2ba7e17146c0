"""What a reviewer says at a desk, and what is stored of it, on SQLite and on PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from pll.review.desk import Desk
from pll.review.session import ReviewSession
from pll.review.store import reading
from pll.weights import normalise
from tests.review_helpers import Clock, close, given, open_with, top


def test_a_decision_is_stored_with_everything_around_it(review: ReviewSession, clock: Clock) -> None:
    desk = Desk(review, "Ann", verified=True)
    one = given(desk)
    step = desk.decide(one, "pick", one.choices[1].label, seconds=2.5, blind=True, note="blurred")
    with reading(review.database, "review") as reader:
        (event,) = reader.events()
    assert event == step.event and step.stored
    assert (event.reviewer, event.verified, event.kind, event.label) == ("Ann", True, "pick", one.choices[1].label)
    assert (event.before, event.after) == (one.identified, one.choices[1].label)
    assert (event.run, event.version, event.row, event.example) == ("first", 1, one.row, one.example)
    assert (event.seconds, event.blind, event.note, event.at) == (2.5, True, "blurred", clock.at)
    assert (event.queue, event.position, event.control) == ("confidence", 0, False)
    assert [label for label, _ in event.weights] == [choice.label for choice in one.choices]
    assert step.next is not None and step.next.row != one.row


def test_labels_that_followed_meanwhile_are_not_those_that_the_reviewer_met(review: ReviewSession) -> None:
    desk = Desk(review, "Ann")
    one = given(desk)
    weights = normalise(1 / review.current.weights, review.current.candidates)  # the most likely one is the least
    review.follow(replace(review.current, weights=weights, held_out=weights))
    assert review.label_of(one.row) != one.identified
    step = desk.decide(one, "pick", one.identified)
    assert step.event is not None and (step.event.before, step.event.after) == (one.identified, one.identified)
    again = desk.decide(desk.show(one.row), "pick", one.choices[1].label)
    assert again.event is not None and again.event.before == one.identified  # what a person said last


def test_the_same_decision_sent_again_is_stored_once(review: ReviewSession, database_url: str, clock: Clock) -> None:
    desk = Desk(review, "Ann")
    one = given(desk)
    first = desk.decide(one, "pick", top(one))
    again = desk.decide(one, "pick", one.choices[1].label)  # a double press
    other = open_with(database_url, clock=clock)
    after_restart = Desk(other, "Ann").decide(one, "pick", top(one))
    assert (first.stored, again.stored, after_restart.stored) == (True, False, False)
    assert first.next == again.next == after_restart.next
    assert "in another window" in again.notice and not after_restart.notice
    assert len(other.state.all_events) == 1
    close(other)


def test_every_kind_of_answer_closes_the_example(review: ReviewSession) -> None:
    desk = Desk(review, "Ann")
    for kind, label, status in (
        ("other", "lynx", "label"),
        ("none", None, "none"),
        ("unsure", None, "unsure"),
    ):
        one = given(desk)
        step = desk.decide(one, kind, label)  # type: ignore[arg-type]
        assert step.next is not None and step.next.row != one.row
        assert (review.state.outcome(one.row).status, review.state.outcome(one.row).label) == (status, label)
        assert step.event is not None
        assert step.event.after == (one.identified if kind == "unsure" else label)


def test_eliminating_stays_with_the_example_until_one_is_left(review: ReviewSession) -> None:
    desk = Desk(review, "Ann")
    review.order = ("three", np.flatnonzero(review.root.candidates.sizes == 3))
    one = given(desk)
    first = desk.decide(one, "eliminate", top(one))
    assert first.next is not None and first.next.row == one.row and first.next.token != one.token
    assert [choice.eliminated for choice in first.next.choices] == [True, False, False]
    left = [choice.label for choice in one.choices[1:]]
    assert first.event is not None and (first.event.before, first.event.after) == (top(one), left[0])
    assert first.next.identified == left[0] and [choice.label for choice in first.next.choices[1:]] == left
    weights = [choice.weight for choice in first.next.choices]
    assert weights[0] == 0 and sum(weights) == pytest.approx(1)
    assert weights[1] / weights[2] == pytest.approx(one.choices[1].weight / one.choices[2].weight)
    assert review.state.was_wrong(one.row)
    pressed_twice = desk.decide(one, "eliminate", top(one))
    assert not pressed_twice.stored
    second = desk.decide(first.next, "eliminate", one.choices[2].label)
    assert second.next is not None and second.next.row != one.row
    assert review.state.outcome(one.row).label == one.choices[1].label
    assert second.event is not None and second.event.after == one.choices[1].label


def test_what_is_ruled_out_of_the_other_labels_leaves_it_open_whether_the_model_is_right(review: ReviewSession) -> None:
    desk = Desk(review, "Ann")
    review.order = ("three", np.flatnonzero(review.root.candidates.sizes == 3))
    one = given(desk)
    step = desk.decide(one, "eliminate", one.choices[2].label)
    assert step.event is not None and step.event.after == one.identified
    assert review.state.was_wrong(one.row) is None
    assert step.next is not None
    desk.decide(step.next, "pick", one.identified)
    assert review.state.was_wrong(one.row) is False


def test_a_conflict_has_no_label_until_it_is_settled(database_url: str) -> None:
    review = open_with(database_url, overlap=2)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    hers = given(ann)
    ann.decide(hers, "pick", hers.choices[0].label)
    his = given(bob)
    assert his.row == hers.row
    step = bob.decide(his, "pick", his.choices[1].label)
    assert step.event is not None and step.event.after == hers.identified  # the model's again
    assert [row for row, _ in review.conflicts()] == [hers.row]
    assert hers.row not in review.state.decisions() and review.state.rows_as_run == {hers.row}
    settled = Desk(review, "Cy").settle(hers.row, his.choices[1].label)
    assert settled.after == his.choices[1].label
    assert review.conflicts() == []
    decision = review.state.decisions()[hers.row]
    assert (decision.label, decision.reviewer) == (his.choices[1].label, "Cy")
    assert not review.state.rows_as_run
    Desk(review, "Cy").undo()
    assert [row for row, _ in review.conflicts()] == [hers.row]
    close(review)


def test_a_batch_is_accepted_but_for_the_marked_and_undone_in_one_stroke(review: ReviewSession) -> None:
    desk = Desk(review, "Ann")
    grid = desk.batch([2, 4, 6, 8])
    assert [one.row for one in grid] == [2, 4, 6, 8]
    assert not {2, 4, 6, 8} & {given(Desk(review, "Bob")).row}
    events = desk.accept([one for one in grid if one.row != 6], "cat", seconds=9.0)
    assert [event.row for event in events] == [2, 4, 8]
    assert {event.batch for event in events} != {None} and {event.seconds for event in events} == {3.0}
    assert desk.accept(grid[:2], "cat") == []  # stored already
    assert {row: made.label for row, made in review.state.decisions().items()} == {2: "cat", 4: "cat", 8: "cat"}
    step = desk.undo()
    assert step.stored and review.state.decisions() == {}
    assert sorted(one.row for one in Desk(review, "Bob").batch([2, 4, 8])) == [2, 4, 8]


def test_the_label_is_ruled_out_of_the_marked_ones_of_a_batch_and_undone_with_it(review: ReviewSession) -> None:
    desk, n = Desk(review, "Ann"), {row: len(review.root.candidates.names(row)) for row in range(40)}
    having = [row for row in range(40) if "cat" in review.root.candidates.names(row)]
    two, three = (next(row for row in having if n[row] == size) for size in (2, 3))
    without = next(row for row in range(40) if row not in having)
    first = next(row for row in having if row not in (two, three))
    grid = desk.batch([first, two, three, without])
    events = desk.accept(grid[:1], "cat", marked=grid[1:], seconds=8.0, blind=True)
    assert [(event.row, event.kind, event.label) for event in events] == [
        (first, "accept", "cat"),
        (two, "eliminate", "cat"),
        (three, "eliminate", "cat"),
    ]
    assert len({event.batch for event in events}) == 1 and {(one.seconds, one.blind) for one in events} == {(2.0, True)}
    assert set(review.state.decisions()) == {first, two} and review.state.outcome(three).eliminated == {"cat"}
    assert desk.accept(grid[:1], "cat", marked=grid[1:3]) == []  # sent again
    bob = Desk(review, "Bob").batch([first, two, three])  # what is open is anybody's
    assert [one.row for one in bob] == [three]
    assert desk.undo().stored and not desk.history()
    assert review.state.decisions() == {} and not review.state.outcome(three).eliminated
    assert [one.row for one in desk.batch([first, two, three])] == [first, two]


def test_the_only_label_that_is_left_is_not_ruled_out_of_a_marked_example(url: str) -> None:
    review = open_with(url, overlap=2)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    row = next(row for row in range(40) if len(review.root.candidates.names(row)) == 2)
    first, second = review.root.candidates.names(row)
    grid = bob.batch([row])
    ann.decide(ann.show(row), "eliminate", second)  # while Bob looks at it
    assert bob.accept([], first, marked=grid) == []
    assert len(bob.accept(grid, first)) == 1
    close(review)


def test_filters_and_what_to_look_at_first(review: ReviewSession) -> None:
    desk = Desk(review, "Ann")
    only = np.zeros(40, dtype=np.bool_)
    only[[5, 9]] = True
    desk.restrict(only)
    desk.look_at([30], "changed")
    one = given(desk)
    assert (one.row, one.queue) == (30, "changed")
    rows = []
    step = desk.decide(one, "pick", top(one))
    while step.next is not None:
        rows.append(step.next.row)
        step = desk.decide(step.next, "pick", top(step.next))
    assert sorted(rows) == [5, 9]
    desk.restrict(None)
    assert given(desk).row not in (5, 9, 30)


def test_two_reviewers_never_hold_the_same_example(review: ReviewSession, database_url: str, clock: Clock) -> None:
    other = open_with(database_url, clock=clock)  # another process
    desks = [Desk(review, "Ann"), Desk(other, "Bob")]
    seen: list[int] = []
    hands = [given(desk) for desk in desks]
    while hands:
        assert len({one.row for one in hands}) == len(hands)
        for k in reversed(range(len(hands))):
            seen.append(hands[k].row)
            step = desks[k].decide(hands[k], "pick", top(hands[k]))
            assert step.stored
            if step.next is None:
                del hands[k], desks[k]
            else:
                hands[k] = step.next
    assert sorted(seen) == list(range(40))
    close(other)


def test_many_threads_decide_every_example_once(review: ReviewSession) -> None:
    def work(name: str) -> list[int]:
        desk, rows = Desk(review, name), []
        coming = desk.next()
        while coming is not None:
            step = desk.decide(coming, "pick", top(coming))
            assert step.stored
            rows.append(coming.row)
            coming = step.next
        return rows

    with ThreadPoolExecutor(4) as pool:
        done = [row for rows in pool.map(work, ("Ann", "Bob", "Cy", "Di")) for row in rows]
    assert sorted(done) == list(range(40))


def test_what_is_left_lying_goes_to_the_others(review: ReviewSession, clock: Clock) -> None:
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    one = given(ann)
    clock.go_on(599)
    assert given(bob).row != one.row
    bob.release()
    ann.renew()
    clock.go_on(599)
    assert given(bob).row != one.row  # Ann was heard of
    bob.release()
    clock.go_on(2)
    assert given(bob).row == one.row


def test_a_late_answer_is_refused_where_another_has_it(review: ReviewSession, clock: Clock) -> None:
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    one = given(ann)
    clock.go_on(601)
    his = given(bob)
    assert his.row == one.row
    step = ann.decide(one, "pick", top(one))
    assert not step.stored and step.event is None and "Bob is looking at this example now" in step.notice
    assert step.next is not None and step.next.row != one.row
    assert bob.decide(his, "pick", top(his)).stored
    assert "Bob has answered this example now" in ann.decide(one, "pick", top(one)).notice
    assert len(review.state.all_events) == 1


def test_another_window_of_the_same_reviewer_cannot_answer_twice(review: ReviewSession) -> None:
    one_window, other_window = Desk(review, "Ann"), Desk(review, "Ann")
    one = given(one_window)
    assert given(other_window) == one
    one_window.decide(one, "pick", one.choices[0].label)
    step = other_window.decide(one, "pick", one.choices[1].label)
    assert not step.stored
    assert review.state.decisions()[one.row].label == one.choices[0].label


def test_undo_goes_back_example_by_example(review: ReviewSession) -> None:
    desk = Desk(review, "Ann")
    rows = []
    for _ in range(5):
        one = given(desk)
        rows.append(one.row)
        desk.decide(one, "pick", one.choices[-1].label)
    back = []
    for _ in range(5):
        step = desk.undo()
        assert step.stored and step.next is not None
        assert step.event is not None and (step.event.kind, step.event.after) == ("undo", step.next.identified)
        back.append(step.next.row)
    assert back == rows[::-1]
    assert review.state.decisions() == {} and desk.history() == []
    assert len(review.state.all_events) == 10  # nothing is ever deleted
    nothing = desk.undo()
    assert not nothing.stored and nothing.notice
    assert nothing.next is not None and nothing.next.row == rows[0]


def test_deciding_again_replaces_and_undo_brings_the_first_back(review: ReviewSession) -> None:
    desk = Desk(review, "Ann")
    one = given(desk)
    desk.decide(one, "pick", one.choices[0].label)
    seen_again = desk.show(one.row)
    assert seen_again.mine == one.choices[0].label
    step = desk.decide(seen_again, "pick", one.choices[1].label)
    assert step.event is not None
    assert (step.event.before, step.event.after) == (one.choices[0].label, one.choices[1].label)
    assert review.state.decisions()[one.row].label == one.choices[1].label
    back = desk.undo()
    assert back.next is not None and back.next.row == one.row and back.next.mine == one.choices[0].label
    assert review.state.decisions()[one.row].label == one.choices[0].label
    final = desk.decide(back.next, "pick", one.choices[1].label)
    assert final.stored and review.state.decisions()[one.row].label == one.choices[1].label

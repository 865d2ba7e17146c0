"""Taking back what was said, on SQLite and on PostgreSQL."""

from __future__ import annotations

from pll.review.session import ReviewSession
from tests.review_helpers import given, top


def test_undo_goes_back_example_by_example(review: ReviewSession) -> None:
    desk = review.desk("Ann")
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
    assert review.decisions() == {} and desk.history() == []
    assert len(review.state.all_events) == 10  # nothing is ever deleted
    nothing = desk.undo()
    assert (nothing.stored, nothing.notice) == (False, "There is nothing left to undo.")
    assert nothing.next is not None and nothing.next.row == rows[0]


def test_undo_of_an_earlier_decision_leaves_the_later_ones(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    events = []
    for _ in range(3):
        one = given(desk)
        events.append(desk.decide(one, "pick", top(one)).event)
    assert events[0] is not None
    step = desk.undo(events[0].id)
    assert step.next is not None and step.next.row == events[0].row
    assert sorted(review.decisions()) == sorted(event.row for event in events[1:] if event)


def test_undo_sent_again_undoes_nothing_more(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    for _ in range(3):
        one = given(desk)
        desk.decide(one, "pick", top(one))
    assert desk.undo(token="undo-1").stored
    assert not desk.undo(token="undo-1").stored
    assert len(review.decisions()) == 2


def test_nobody_undoes_what_another_said(review: ReviewSession) -> None:
    one = given(review.desk("Ann"))
    event = review.desk("Ann").decide(one, "pick", top(one)).event
    assert event is not None
    assert not review.desk("Bob").undo(event.id).stored
    assert len(review.decisions()) == 1


def test_deciding_again_replaces_and_undo_brings_the_first_back(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    one = given(desk)
    desk.decide(one, "pick", one.choices[0].label)
    seen_again = desk.show(one.row)
    assert seen_again.mine == one.choices[0].label
    step = desk.decide(seen_again, "pick", one.choices[1].label)
    assert step.event is not None
    assert (step.event.before, step.event.after) == (one.choices[0].label, one.choices[1].label)
    assert review.decisions()[one.row].label == one.choices[1].label
    back = desk.undo()
    assert back.next is not None and back.next.row == one.row and back.next.mine == one.choices[0].label
    assert review.decisions()[one.row].label == one.choices[0].label
    final = desk.decide(back.next, "pick", one.choices[1].label)
    assert final.stored and review.decisions()[one.row].label == one.choices[1].label


def test_undoing_the_elimination_that_decided_opens_the_example_again(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    three = [row for row in range(40) if review.root.candidates.sizes[row] == 3]
    review.set_order("three", three)
    one = given(desk)
    again = desk.decide(one, "eliminate", one.choices[0].label, stay=True).next
    assert again is not None
    desk.decide(again, "eliminate", one.choices[1].label)
    assert review.decisions()[one.row].label == one.choices[2].label
    step = desk.undo()
    assert step.next is not None and step.next.row == one.row and review.decisions() == {}
    assert [choice.eliminated for choice in step.next.choices] == [True, False, False]
    desk.release()
    bobs = given(review.desk("Bob"))
    assert bobs.row == one.row
    assert review.desk("Bob").decide(bobs, "pick", one.choices[1].label).stored

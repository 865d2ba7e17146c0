"""A control that stays open holds up those behind it: who has it is said, and it can be freed."""

from __future__ import annotations

from datetime import timedelta

from pll.review import certification
from pll.review.blocking import BlockingControl, ControlHolder, free_control, waiting
from pll.review.desk import Desk
from pll.review.rounds import Guarantee
from pll.ui.review.blocking_notice import format_blocking
from tests.review_helpers import Clock, close, given, open_with


def answer(desk: Desk) -> None:
    one = given(desk)
    desk.decide(one, "pick", one.identified)
    desk.release()


def test_a_control_in_other_hands_is_waited_for_and_can_be_freed(url: str, clock: Clock) -> None:
    review = open_with(url, clock=clock, mix=1.0)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    held = given(ann)
    assert waiting(review) is None  # nothing is held up by it
    answer(bob)
    answer(bob)
    clock.go_on(120)
    minutes = timedelta(minutes=1)
    assert waiting(review) == BlockingControl(2, (ControlHolder("Ann", 8 * minutes, 28 * minutes),), (), 1)
    assert certification.controls_answered(review) == 0
    assert not free_control(review, "Ann")  # one's own stays
    assert free_control(review, "Bob") and not free_control(review, "Bob")
    assert waiting(review) == BlockingControl(2, (), (), 1)
    assert given(bob).row == held.row
    answer(bob)
    assert certification.controls_answered(review) == 3 and waiting(review) is None
    assert not ann.decide(held, "pick", held.identified).stored  # it is Bob's now
    close(review)


def test_controls_that_the_queue_asked_about_before_their_turn_are_not_held_up(url: str) -> None:
    review = open_with(url, mix=0.0)
    ann = Desk(review, "Ann")
    for row in review.round.controls[1:4]:
        one = ann.show(row)
        ann.decide(one, "pick", one.identified)
    assert waiting(review) is None
    close(review)


def test_controls_of_an_earlier_draw_are_not_held_up_in_this_one(url: str) -> None:
    review = open_with(url, mix=1.0)
    ann = Desk(review, "Ann")
    for _ in range(8):
        answer(ann)
    assert certification.controls_answered(review) == 8
    certification.change_guarantee(review, Guarantee(share=1.0, max_error=0.3))
    assert certification.controls_answered(review) < 8 and waiting(review) is None
    close(review)


def test_who_was_only_slow_may_still_answer_what_was_freed(url: str) -> None:
    review = open_with(url, mix=1.0)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    held = given(ann)
    answer(bob)
    assert free_control(review, "Bob")
    assert ann.decide(held, "pick", held.identified).stored
    assert certification.controls_answered(review) == 2
    close(review)


def test_a_page_left_open_does_not_hold_an_example_for_ever(url: str, clock: Clock) -> None:
    review = open_with(url, clock=clock, mix=1.0)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    held = given(ann)
    for _ in range(15):  # half an hour of two minutes each
        clock.go_on(120)
        ann.renew()
    assert given(bob).row != held.row
    bob.release()
    clock.go_on(601)
    ann.renew()
    assert given(bob).row == held.row
    close(review)


def test_what_was_skipped_can_be_brought_back(url: str) -> None:
    review = open_with(url, mix=1.0)
    ann = Desk(review, "Ann")
    first = given(ann)
    ann.decide(first, "skip")
    for _ in range(3):
        one = given(ann)
        assert one.row != first.row
        ann.decide(one, "pick", one.identified)
    found = waiting(review)
    assert found == BlockingControl(3, (), (), 1) and len(ann.skipped) == 1
    ann.bring_back_skipped()
    ann.release()
    assert given(ann).row == first.row
    close(review)


def test_a_control_that_asks_for_two_waits_for_the_second(url: str) -> None:
    review = open_with(url, mix=1.0, overlap=2)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    first = given(ann)
    ann.decide(first, "pick", first.identified)
    for _ in range(2):
        ann.decide(given(ann), "unsure")
    ann.release()
    second = given(bob)
    assert second.row == first.row
    bob.decide(second, "skip")
    for _ in range(2):
        one = given(bob)
        bob.decide(one, "unsure")
    bob.release()
    found = waiting(review)
    assert found == BlockingControl(2, (), ("Ann",), 2)
    assert "Ann is needed" in format_blocking(found, "Ann") and "2 reviewers" in format_blocking(found, "Ann")
    assert "Ann" not in format_blocking(found, "Bob")
    close(review)


def test_nobody_is_told_that_what_they_have_in_hand_is_a_control() -> None:
    minute = timedelta(minutes=1)
    found = BlockingControl(1, (ControlHolder("Ann", 3 * minute, 9 * minute),), (), 1)
    for_bob, for_ann = format_blocking(found, "Bob"), format_blocking(found, "Ann")
    assert for_bob.startswith("1 answered control") and all(part in for_bob for part in ("Ann", "3 min", "9 min"))
    assert for_ann.startswith("1 answered control") and "Ann" not in for_ann and "min" not in for_ann

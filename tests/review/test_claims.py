"""What reviewers are given, and what they hold, on SQLite and on PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from pll.review.assignment import Assignment
from pll.review.session import ReviewSession
from tests.review_helpers import Clock, close, given, open_with, subject, top


def test_all_examples_are_handed_out_once_and_then_nothing(review: ReviewSession) -> None:
    desk, seen, one = review.desk("Ann"), [], given(review.desk("Ann"))
    coming: Assignment | None = one
    while coming is not None:
        seen.append(coming.row)
        coming = desk.decide(coming, "pick", top(coming)).next
    assert seen == np.argsort(review.root.sharp.confidence, kind="stable").tolist()
    assert len(review.decisions()) == 40


def test_what_is_held_comes_back_after_a_reload(review: ReviewSession, database_url: str, clock: Clock) -> None:
    one = given(review.desk("Ann"))
    other = open_with(database_url, clock=clock)
    assert given(other.desk("Ann")) == one
    close(other)


def test_what_was_skipped_comes_back_last(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    review.set_order("few", [3, 5, 7])
    assert given(desk).row == 3
    step = desk.decide(given(desk), "skip")
    rows = []
    while step.next is not None and len(rows) < 5:
        rows.append(step.next.row)
        step = desk.decide(step.next, "pick", top(step.next))
    assert rows == [5, 7, 3] and step.next is None


def test_filters_and_what_to_look_at_first(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    only = np.zeros(40, dtype=np.bool_)
    only[[5, 9]] = True
    desk.only(only)
    desk.look_at([30], "changed")
    one = given(desk)
    assert (one.row, one.queue) == (30, "changed")
    rows = []
    step = desk.decide(one, "pick", top(one))
    while step.next is not None:
        rows.append(step.next.row)
        step = desk.decide(step.next, "pick", top(step.next))
    assert sorted(rows) == [5, 9]
    desk.only(None)
    assert given(desk).row not in (5, 9, 30)


def test_a_new_order_takes_effect_with_the_next_example(review: ReviewSession) -> None:
    desk = review.desk("Ann")
    one = given(desk)
    review.set_order("reverse", np.arange(40)[::-1])
    step = desk.decide(one, "pick", top(one))
    assert step.next is not None and (step.next.row, step.next.queue) == (39, "reverse")


def test_a_batch_leaves_out_what_others_have(review: ReviewSession) -> None:
    bobs = given(review.desk("Bob")).row
    assert [one.row for one in review.desk("Ann").batch([bobs, 1])] == [1]


def test_an_answered_example_that_is_looked_at_stays_answered(review: ReviewSession, clock: Clock) -> None:
    desk = review.desk("Ann")
    one = given(desk)
    desk.decide(one, "pick", top(one))
    desk.show(one.row)
    clock.go_on(10_000)
    assert given(review.desk("Bob")).row != one.row


def test_two_reviewers_never_hold_the_same_example(review: ReviewSession, database_url: str, clock: Clock) -> None:
    other = open_with(database_url, clock=clock)  # another process
    desks = [review.desk("Ann"), other.desk("Bob")]
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
        desk, rows = review.desk(name), []
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
    ann, bob = review.desk("Ann"), review.desk("Bob")
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


def test_a_late_answer_counts_where_nobody_else_has_the_example(review: ReviewSession, clock: Clock) -> None:
    desk = review.desk("Ann")
    one = given(desk)
    clock.go_on(100_000)
    assert desk.decide(one, "pick", top(one)).stored


def test_a_late_answer_is_refused_where_another_has_it(review: ReviewSession, clock: Clock) -> None:
    ann, bob = review.desk("Ann"), review.desk("Bob")
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
    one_window, other_window = review.desk("Ann"), review.desk("Ann")
    one = given(one_window)
    assert given(other_window) == one
    one_window.decide(one, "pick", one.choices[0].label)
    step = other_window.decide(one, "pick", one.choices[1].label)
    assert not step.stored
    assert review.decisions()[one.row].label == one.choices[0].label


def test_what_another_holds_can_only_be_looked_at(review: ReviewSession) -> None:
    one = given(review.desk("Ann"))
    bob = review.desk("Bob")
    seen = bob.show(one.row)
    assert (seen.row, seen.token) == (one.row, "")
    assert not bob.decide(seen, "pick", top(seen)).stored


def test_with_overlap_each_example_goes_to_so_many_different_reviewers(database_url: str) -> None:
    review = open_with(database_url, subject(8), overlap=2)
    seen: dict[int, list[str]] = {}
    desks = {name: review.desk(name) for name in ("Ann", "Bob", "Cy")}
    while any(hands := {name: desk.next() for name, desk in desks.items()}.values()):
        for name, one in zip(desks, hands, strict=True):
            if one is not None:
                assert desks[name].decide(one, "pick", top(one)).stored
                seen.setdefault(one.row, []).append(name)
    assert set(seen) == set(range(8))
    assert all(len(names) == len(set(names)) == 2 for names in seen.values())
    close(review)


def test_overlap_on_a_share_only(database_url: str) -> None:
    review = open_with(database_url, subject(400), overlap=3, overlap_share=0.25)
    assert set(review.asked.tolist()) == {1, 3}
    assert 0.15 < (review.asked == 3).mean() < 0.35
    again = open_with(database_url, subject(400))
    assert np.array_equal(again.asked, review.asked)  # every process asks alike
    close(review, again)

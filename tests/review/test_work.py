"""What everybody has done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pll.review.desk import Desk
from pll.review.session import ReviewSession
from pll.review.work import PAUSE, last_work_session, recent_rate, work_by_reviewer
from tests.review_helpers import Clock, close, given, open_with, snapshot


@pytest.fixture
def review(url: str, clock: Clock) -> Iterator[ReviewSession]:
    made = open_with(url, snapshot(400), clock)
    yield made
    close(made)


def answer(review: ReviewSession, clock: Clock, many: int, *, wrong: int = 0, name: str = "Ann") -> None:
    desk = Desk(review, name)
    for k in range(many):
        clock.go_on(3)
        one = given(desk)
        desk.decide(one, "pick", one.choices[-1 if k < wrong else 0].label, seconds=3)


def test_what_everybody_has_done(review: ReviewSession, clock: Clock) -> None:
    answer(review, clock, 10)
    clock.go_on(10 * PAUSE)  # lunch does not count as work
    answer(review, clock, 4, name="Bob")
    desk = Desk(review, "Bob")
    desk.undo()
    desk.decide(given(desk), "unsure", seconds=3)
    ann, bob, everybody = work_by_reviewer(review)
    assert (ann.name, ann.decisions, ann.labels, ann.unsure, ann.undone) == ("Ann", 10, 10, 0, 0)
    assert (bob.decisions, bob.labels, bob.unsure, bob.undone) == (4, 3, 1, 1)
    assert ann.seconds == pytest.approx(30) and ann.per_minute == pytest.approx(20)
    assert (everybody.name, everybody.decisions) == ("", 14)
    assert everybody.seconds == pytest.approx(ann.seconds + bob.seconds)
    assert recent_rate(review.state, "Ann") == pytest.approx(20)


def test_a_sitting_in_figures_and_words(url: str, clock: Clock) -> None:
    review = open_with(url, clock=clock)
    desk = Desk(review, "Ann")
    assert last_work_session(review, "Ann") is None
    first = desk.show(0)
    desk.decide(first, "pick", first.identified)
    clock.go_on(2000)  # lunch: what follows is another sitting
    begun = clock.at
    for row, kind in ((1, "right"), (2, "right"), (3, "wrong"), (4, "unsure"), (5, "none"), (6, "wrong")):
        one = desk.show(row)
        if kind in ("unsure", "none"):
            desk.decide(one, kind)  # type: ignore[arg-type]
        else:
            desk.decide(one, "pick", one.choices[0 if kind == "right" else 1].label)
        clock.go_on(30)
    desk.undo()  # row 6
    found = last_work_session(review, "Ann")
    assert found is not None
    assert (found.begun, found.decisions, found.undone) == (begun, 5, 1)
    assert (found.confirmed, found.corrected, found.unsure, found.none) == (2, 1, 1, 1)
    three = review.root.weights_of(3)
    before, given = list(three)[:2]
    assert found.mistaken == ((before, given, 1),)
    assert found.words.startswith("5 decisions in 3 min:") and f"{before} to {given} (1×)" in found.words
    assert last_work_session(review, "Bob") is None
    close(review)

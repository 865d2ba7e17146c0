from __future__ import annotations

from pll.review.desk import Desk
from pll.review.summary import last_work_session
from tests.review_helpers import Clock, close, open_with


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

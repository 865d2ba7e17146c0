"""The promise about all labels on the pages: made, kept at the desk, taken away, verified elsewhere."""

from __future__ import annotations

from typing import Any

from pll.review import certification
from pll.review.desk import Desk
from pll.runs.run import Run
from pll.ui.review import promise_panel
from tests.page_helpers import begun, button, entered, labels, turned_to


def test_a_promise_can_be_made_later(open_page: Any, finished: Run) -> None:
    review = begun(finished).review
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert not page.get("progress")
    certification.promise_all_labels(review, 0.1, by="Ada")
    desk = Desk(review, "Ada")
    for _ in range(12):
        one = desk.next()
        assert one is not None
        desk.decide(one, "pick", one.identified)
    page = turned_to(page, finished, "One by one")
    page = turned_to(page, finished)
    assert not page.exception
    found = promise_panel.standing_of(page.session_state["review-tab"], review.promise)
    assert found.words.startswith("Check about") and found.words.endswith("10 in 100 are wrong (sure to 95 %).")
    assert found.note
    assert "Start checking" not in labels(page)  # in a popover, closed
    assert len(review.rounds) == 1

    page.session_state[promise_panel.BOX] = True
    assert not button(page.run(), "Start checking").disabled  # 5 %; 10 % are promised already

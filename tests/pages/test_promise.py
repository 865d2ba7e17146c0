"""The promise about all labels on the pages: made, kept at the desk, taken away, verified elsewhere."""

from __future__ import annotations

from typing import Any

from pll.review import certification
from pll.review.desk import Desk
from pll.runs.run import Run
from pll.ui.review import promise_panel, service
from tests.page_helpers import begun, button, entered, labels, said, turned_to


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
    found = promise_panel.standing_of(page.session_state["review-sitting"][1], review.promise)
    assert found.words.startswith("Check about") and found.words.endswith("10 in 100 are wrong (sure to 95 %).")
    assert found.note
    assert "Start checking" not in labels(page)  # in a popover, closed
    assert len(review.rounds) == 1

    page.session_state[promise_panel.BOX] = True
    assert not button(page.run(), "Start checking").disabled  # 5 %; 10 % are promised already


def test_whether_people_look_or_certify_is_kept(open_page: Any, finished: Run) -> None:
    review = begun(finished).review
    certification.promise_all_labels(review, 0.05, by="Ada")
    page = entered(open_page("review", run=finished.id))
    page.session_state[promise_panel.BOX] = True  # offered at the desk too
    page = page.run()
    (goal,) = page.radio
    assert goal.value == "certify" and "Begun 2 times" in said(page)
    assert button(page, "Start checking").disabled  # the same promise again
    page = goal.set_value("look").run()
    page = button(page, "Look").click().run()
    assert not page.exception and review.promise is None and not page.session_state["review-sitting"][1].hides
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert not page.get("progress")
    assert "before these labels are certified" in said(open_page("export", run=finished.id))  # it is not forgotten
    page.session_state[promise_panel.BOX] = True
    page = page.run().radio[0].set_value("certify").run()
    page = button(page, "Certify").click().run()
    made = service.manager_of(finished).review.promise
    assert not page.exception and made is not None and made.promise.draw_number == 1

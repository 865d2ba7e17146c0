"""The certificate of all labels on the pages: begun beside a review that is under way."""

from __future__ import annotations

from typing import Any

from pll.review.desk import Desk
from pll.runs.run import Run
from pll.ui.review import certify_panel
from tests.page_helpers import begun, button, entered, labels, said, turned_to


def test_a_certificate_can_be_begun_later(open_page: Any, finished: Run) -> None:
    review = begun(finished).review
    page = turned_to(entered(open_page("review", run=finished.id)), finished)
    assert not page.get("progress")
    review.certify(0.1)
    desk = Desk(review, "Ada")
    for _ in range(12):
        one = desk.next()
        assert one is not None
        desk.decide(one, "pick", one.identified)
    page = turned_to(page, finished, "One by one")
    page = turned_to(page, finished)
    assert not page.exception
    standing = certify_panel.standing_of(page.session_state["review-tab"], review.certification)
    assert standing.words.endswith("at most 10 in 100 are wrong (sure to 95 %).")
    status = page.session_state["review-tab"].queue.status()
    assert status.checks is not None and status.decided == 12
    left = review.certification.plan.controls - status.checks.controls
    assert left in (11, 12)  # the first was on the page before the draw, and may be no control
    assert status.checks.controls <= status.checks.likely
    assert standing.words.startswith(status.checks.sentence) and status.sentence in said(page)
    assert standing.note
    assert "Start checking" not in labels(page)  # in a popover, closed
    assert len(review.versions) == 1

    page.session_state[certify_panel.box_key(review)] = True
    assert not button(page.run(), "Start checking").disabled  # 5 %; that of 10 % is under way
    page.session_state[f"review-all-{review.id}-error"] = 0.1
    assert "Start checking" not in labels(page.run()) and "This is under way." in said(page)

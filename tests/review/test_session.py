"""The review as a whole: several processes, what people said, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from pll.errors import UserError
from pll.review.desk import Desk
from tests.review_helpers import answer, close, given, open_with


def test_what_one_process_writes_the_other_takes_in(url: str) -> None:
    review, other = open_with(url), open_with(url)
    desk = Desk(review, "Ann")
    for _ in range(3):
        answer(desk, given(desk), right=True)
    desk.undo()
    other.refresh()
    assert other.state.decisions() == review.state.decisions() and len(other.state.decisions()) == 2
    other.configure(overlap=2)
    assert review.record.overlap == 1
    review.refresh()
    assert (review.record.overlap, set(review.state.required.tolist())) == (2, {2})
    close(review, other)


def test_the_next_write_notices_what_another_process_changed(url: str) -> None:
    review, other = open_with(url), open_with(url)
    desk = Desk(review, "Ann")
    one = given(desk)
    other.certify(0.3, 0.8)
    step = desk.decide(one, "unsure")
    assert step.next is not None and step.next.is_control
    desk.decide(step.next, "unsure")
    assert review.certification is not None
    close(review, other)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"overlap": 0}, "1 to 100 reviewers"),
        ({"overlap_share": 1.5}, "overlap_share is 1.5"),
        ({"goal": "rest"}, "no goal called 'rest'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], says: str, url: str) -> None:
    review = open_with(url)
    with pytest.raises(UserError, match=says):
        review.configure(**settings)
    close(review)

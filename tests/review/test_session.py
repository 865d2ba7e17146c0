"""The review as a whole: several processes, what people said, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pll.errors import UserError
from pll.review import certification
from pll.review.decided import OUTSIDE
from pll.review.desk import Desk
from pll.review.follow import teaching_decisions
from pll.review.label_snapshot import LabelSnapshot
from pll.review.session import ReviewSession, Settings
from pll.review.tables import Event, Opened
from tests.review_helpers import answer, close, given, open_with, snapshot


def test_other_examples_are_refused(url: str) -> None:
    review = open_with(url)
    with pytest.raises(UserError, match="are of 40 examples, but it has 30"):
        open_with(url, snapshot(30))
    close(review)


def test_what_one_process_writes_the_other_takes_in(url: str) -> None:
    review, other = open_with(url), open_with(url)
    desk = Desk(review, "Ann")
    for _ in range(3):
        answer(desk, given(desk), right=True)
    desk.undo()
    other.refresh()
    assert other.decisions() == review.decisions() and len(other.decisions()) == 2
    other.configure(overlap=2)
    assert review.record.overlap == 1
    review.refresh()
    assert (review.record.overlap, set(review.asked.tolist())) == (2, {2})
    close(review, other)


def test_decisions_as_the_orders_see_them(url: str) -> None:
    review = open_with(url)
    desk = Desk(review, "Ann")
    sets = review.root.candidates
    rows = [row for row in range(40) if sets.sizes[row] == 3][:4]
    picked, none, other, struck = (desk.show(row) for row in rows)
    desk.decide(picked, "pick", picked.choices[1].label)
    desk.decide(none, "none")
    desk.decide(other, "other", "lynx")
    desk.decide(struck, "eliminate", struck.choices[0].label)
    found = teaching_decisions(review.state, review.own.candidates)
    label = sets.class_names.index(picked.choices[1].label)
    assert dict(zip(found.rows.tolist(), found.labels.tolist(), strict=True)) == {
        picked.row: label,
        none.row: OUTSIDE,
        other.row: OUTSIDE,
    }
    closed = sets.class_names.index(struck.choices[0].label)
    marked = np.flatnonzero(~found.open)
    assert [(int(sets.rows[at]), int(sets.indices[at])) for at in marked] == [(struck.row, closed)]
    close(review)


def test_an_order_of_other_rows_is_refused(url: str) -> None:
    review: ReviewSession = open_with(url)
    with pytest.raises(UserError, match="rows outside 0 … 39"):
        review.set_order("far", [40])
    close(review)


def test_the_next_write_notices_what_another_process_changed(url: str) -> None:
    review, other = open_with(url), open_with(url)
    desk = Desk(review, "Ann")
    one = given(desk)
    certification.promise_all_labels(other, 0.3, level=0.8)
    step = desk.decide(one, "unsure")
    assert step.next is not None and not step.next.is_control  # noticed while it was being stored
    desk.decide(step.next, "unsure")
    assert review.promise is not None
    close(review, other)


def test_an_event_has_the_run_and_the_number_of_one_round(url: str) -> None:
    """Also while the labels of a new round are being read, which takes a while."""
    first, second = snapshot(), snapshot(run="second", seed=1)
    meanwhile: list[Event] = []

    def load(run: str) -> LabelSnapshot:
        step = desk.decide(one, "unsure")  # after the rounds were read, and before the labels are
        assert step.event is not None
        meanwhile.append(step.event)
        return second

    review, other = open_with(url, first, load=load), open_with(url, first, load=lambda _: second)
    desk = Desk(review, "Ann")
    one = given(desk)
    certification.adopt(other, second, Opened("taught", "Bob"))
    assert review.refresh() and meanwhile
    after = desk.decide(given(desk), "unsure").event
    assert after is not None
    rounds = {(record.run, record.number) for record in review.rounds}
    assert {(event.run, event.round) for event in (*meanwhile, after)} <= rounds
    assert (after.run, after.round) == ("second", 2)
    close(review, other)


def test_a_round_whose_labels_cannot_be_read_changes_nothing(url: str) -> None:
    review, other = open_with(url), open_with(url, load=lambda _: snapshot(run="second", seed=1))
    certification.adopt(other, snapshot(run="second", seed=1), Opened("taught", "Bob"))
    for _ in range(2):  # it is not forgotten the second time
        with pytest.raises(UserError, match="second"):
            review.refresh()
        assert (review.round.number, review.round.run, review.current.run) == (1, "first", "first")
    close(review, other)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Settings(overlap=0), "1 to 100 reviewers"),
        (Settings(overlap_share=1.5), "overlap_share is 1.5"),
        (Settings(hold=0), "above 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: Settings, says: str, url: str) -> None:
    review = None
    with pytest.raises(UserError, match=says):
        review = open_with(url, **vars(settings))
    assert review is None

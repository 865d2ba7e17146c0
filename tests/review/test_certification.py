"""What a review says about the labels as they are: controls, promises, the certificate, calibrated confidence."""

from __future__ import annotations

import numpy as np
import pytest

from pll.analysis.intervals import hypergeometric
from pll.candidates import with_sets
from pll.errors import UserError
from pll.review import certification
from pll.review.certificate import certify
from pll.review.desk import Desk
from pll.review.label_snapshot import LabelSnapshot
from pll.review.rounds import Guarantee, default_guarantee, miss_rate_of, more_controls, new_round, reachable
from pll.store.store import now
from pll.store.tables import Opened
from tests.review_helpers import NAMES, answer, close, given, open_with, snapshot

# ---- controls --------------------------------------------------------------------------------------------------------


def test_controls_are_drawn_once_and_kept(url: str) -> None:
    review, again = open_with(url), open_with(url)
    assert review.round == again.round
    assert len(set(review.round.controls)) == len(review.round.controls) == 8
    assert review.round.thresholds == tuple(sorted(review.round.thresholds, reverse=True))
    close(review, again)


def test_who_began_and_who_promised_something_else_is_kept(url: str) -> None:
    review = open_with(url, begun_by="Ann", verified=True)
    assert review.round.opened == Opened("first", "Ann", verified=True)
    certification.change_guarantee(review, Guarantee(share=0.5, max_error=0.2), by="Bob")
    again = open_with(url, begun_by="Cy")  # comes too late
    assert [record.opened for record in again.rounds] == [
        Opened("first", "Ann", verified=True),
        Opened("new promise", "Bob"),
    ]
    close(review, again)


def test_controls_are_handed_out_as_drawn_to_whoever_comes(url: str) -> None:
    review = open_with(url, mix=1.0)
    desks = [Desk(review, "Ann"), Desk(review, "Bob")]
    rows = []
    for turn in range(8):
        one = given(desks[turn % 2])
        assert one.is_control and one.queue == "control"
        rows.append(one.row)
        answer(desks[turn % 2], one, right=True)
    assert rows[0] == review.round.controls[0] and sorted(rows) == sorted(review.round.controls)
    assert certification.controls_answered(review) == 8
    after = given(desks[0])
    assert not after.is_control  # the rest of the queue follows
    close(review)


def test_controls_tell_how_many_sets_miss_the_right_label(url: str) -> None:
    review = open_with(url, mix=1.0)
    sets, desk = review.root.candidates, Desk(review, "Ann")
    assert miss_rate_of(review.round, sets, review.state, review.asked) is None
    for turn in range(8):
        one = given(desk)
        outside = next(name for name in NAMES if name not in sets.names(one.row))
        if turn == 0:
            desk.decide(one, "none")
        elif turn == 1:
            desk.decide(one, "other", outside)
        elif turn == 2:
            desk.decide(one, "unsure")
        else:
            answer(desk, one, right=True)
    found = miss_rate_of(review.round, sets, review.state, review.asked)
    assert found is not None and (found.answered, found.missing, found.unknown) == (8, 2, 1)
    assert (found.low, found.high) == hypergeometric(2, 8, 40, unknown=1)
    close(review)


def test_about_the_share_asked_for_is_mixed_in(url: str) -> None:
    review = open_with(url, snapshot(400), mix=0.25)
    desk, controls = Desk(review, "Ann"), 0
    for _ in range(200):
        one = given(desk)
        controls += one.is_control
        answer(desk, one, right=True)
    assert 45 <= controls <= 55
    close(review)


def test_the_certificate_reads_the_answers_up_to_the_first_that_is_open(url: str) -> None:
    review = open_with(url, mix=1.0)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    first = given(ann)  # Ann keeps the first control in her hands
    for _ in range(3):
        answer(bob, given(bob), right=True)
    assert certification.controls_answered(review) == 0
    answer(ann, first, right=False)
    assert certification.controls_answered(review) == 4
    found = certification.certificate(review)
    expected = certify(
        review.root.sharp.confidence,
        np.array(review.round.controls),
        np.array([False, True, True, True]),
        max_error=0.3,
        thresholds=review.round.thresholds,
    )
    assert found == expected
    ann.undo()
    assert certification.controls_answered(review) == 0
    close(review)


@pytest.mark.parametrize("kind", ["unsure", "none"])
def test_unsure_and_none_of_these_count_as_wrong(kind: str, url: str) -> None:
    review = open_with(url, mix=1.0)
    desk = Desk(review, "Ann")
    desk.decide(given(desk), kind)  # type: ignore[arg-type]
    assert (certification.controls_answered(review), certification.certificate(review).steps[-1].wrong) == (1, 1)
    close(review)


def test_a_control_cannot_be_left_out_by_skipping_it(url: str) -> None:
    review = open_with(url, mix=1.0)
    desk = Desk(review, "Ann")
    skipped = given(desk)
    desk.decide(skipped, "skip")
    answer(desk, given(desk), right=True)
    assert certification.controls_answered(review) == 0
    bobs = given(Desk(review, "Bob"))
    assert bobs.row == skipped.row and bobs.is_control
    close(review)


def test_a_control_that_the_queue_asked_about_is_answered_from_the_record(url: str) -> None:
    review = open_with(url)
    desk = Desk(review, "Ann")
    one = desk.show(review.round.controls[0])
    answer(desk, one, right=True)
    assert certification.controls_answered(review) == 1
    close(review)


def test_a_certificate_comes_when_enough_controls_are_right(url: str) -> None:
    review = open_with(url, snapshot(300), mix=1.0, guarantee=Guarantee(share=0.3, max_error=0.1))
    desk = Desk(review, "Ann")
    assert certification.certificate(review).threshold is None
    for _ in range(90):
        answer(desk, given(desk), right=True)
    found = certification.certificate(review)
    assert found.accepted == 300 and found.bound == 30 and "Accept all 300 labels" in found.explanation
    close(review)


def test_with_overlap_a_control_counts_once_all_have_answered(url: str) -> None:
    review = open_with(url, mix=1.0, overlap=2)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    hers = given(ann)
    answer(ann, hers, right=True)
    assert certification.controls_answered(review) == 0
    answer(bob, given(bob), right=False)
    assert (certification.controls_answered(review), certification.certificate(review).steps[-1].wrong) == (
        1,
        1,
    )  # a conflict is not right
    Desk(review, "Cy").settle(hers.row, hers.identified)
    assert certification.certificate(review).steps[-1].wrong == 0
    close(review)


# ---- promises --------------------------------------------------------------------------------------------------------


def test_more_controls_go_on_in_the_same_order_and_every_process_knows_them(url: str) -> None:
    review, other = open_with(url), open_with(url)
    before = review.round
    assert certification.draw_more(review, 0.5) == 12
    assert review.round.controls[:8] == before.controls and len(set(review.round.controls)) == 20
    assert review.round.thresholds == before.thresholds
    other.refresh()
    assert other.round == review.round
    with pytest.raises(UserError, match="20 controls are drawn already"):
        certification.draw_more(other, 0.5)
    close(review, other)


def test_controls_follow_each_other_also_where_the_draw_cannot_be_repeated() -> None:
    made = snapshot(50)
    record = new_round(1, made, Guarantee(share=0.2, max_error=0.3), now(), seed=1)
    foreign = type(record)(**(vars(record) | {"controls": tuple(reversed(record.controls))}))
    further = more_controls(foreign, 50, 0.6)
    assert len(further) == 20 and not set(further) & set(foreign.controls) and len(set(further)) == 20


def test_a_new_promise_has_a_draw_of_its_own(url: str) -> None:
    review = open_with(url)
    first = review.round
    certification.change_guarantee(review, Guarantee(share=0.5, max_error=0.2))
    assert (review.round.number, review.round.max_error, len(review.round.controls)) == (2, 0.2, 20)
    assert review.rounds[0] == first
    close(review)


def test_a_new_promise_leaves_the_queue_as_it_is(url: str) -> None:
    review = open_with(url)
    review.set_order("margin", np.arange(40)[::-1])
    certification.change_guarantee(review, Guarantee(share=0.5, max_error=0.2))
    name, rows = review.order
    assert name == "margin" and rows.tolist() == list(range(40))[::-1]
    close(review)


def test_a_promise_is_of_what_is_under_review_and_made_once(url: str) -> None:
    runs = {"taught": snapshot(run="taught", seed=1)}
    review, other = (open_with(url, load=runs.__getitem__) for _ in range(2))
    guarantee = Guarantee(share=0.5, max_error=0.2)
    certification.change_guarantee(review, guarantee, instead_of=1)
    with pytest.raises(UserError, match="has changed in the meantime"):
        certification.change_guarantee(review, guarantee, instead_of=1)
    assert certification.adopt(review, runs["taught"], Opened("taught"))
    with pytest.raises(UserError, match="has changed in the meantime"):
        certification.change_guarantee(other, guarantee)  # it would throw the taught labels out again
    assert other.refresh() and other.current.run == "taught"
    assert [record.run for record in other.rounds] == ["first", "first", "taught"]
    close(review, other)


def test_what_can_be_promised_by_default(url: str) -> None:
    assert reachable(1437, 0.1) == 0.06
    for n in (2, 5, 30, 200):
        assert 0 < reachable(n, 0.1) <= 0.5
        assert 0 < default_guarantee(n).max_error <= 0.1 <= default_guarantee(n).share <= 0.5
    review = open_with(url, snapshot(30), guarantee=Guarantee())
    assert review.round.max_error == 0.1 < reachable(30, 0.1)  # nobody chose worse than 10 %
    close(review)


# ---- other labels, calibration --------------------------------------------------------------------------------------


def test_labels_that_changed_get_a_round_of_their_own(url: str) -> None:
    review = open_with(url, snapshot(seed=0))
    changed = snapshot(seed=0)
    changed = type(changed)(changed.run, changed.ids, changed.candidates, np.roll(changed.weights, 1))
    again = open_with(url, changed)
    assert again.round.number == 2 and again.round.fingerprint == changed.fingerprint
    assert again.round.opened == Opened("run went on")  # nobody did that
    review.refresh()
    with pytest.raises(UserError, match="have changed since its controls were drawn"):
        certification.certificate(review)
    close(review, again)


def test_calibration_rests_on_the_controls_alone(url: str) -> None:
    review = open_with(url, snapshot(400), mix=1.0)
    desk = Desk(review, "Ann")
    with pytest.raises(UserError, match="at least 30"):
        certification.calibration(review)
    for turn in range(40):
        answer(desk, given(desk), right=turn % 4 == 0)
    found = certification.calibration(review)
    assert found.decisions == 40 and found.temperature is not None and found.temperature > 1
    close(review)


def test_calibration_leaves_out_what_the_model_has_learnt_from(url: str) -> None:
    first = snapshot(400)
    taught = dict.fromkeys(range(0, 400, 2), (0,))
    sets = with_sets(first.candidates, taught)
    second = LabelSnapshot("second", first.ids, sets, sets.uniform_weights())
    review = open_with(url, first, load=lambda run: second)
    how = Opened("taught", "Ann", verified=True)
    assert certification.adopt(review, second, how) and not certification.adopt(review, second, how)
    assert review.round.opened == how
    review.configure(mix=1.0)
    desk = Desk(review, "Ann")
    for _ in range(80):
        desk.decide(given(desk), "unsure")
    learnt_from = sum(row in taught for row in review.round.controls)
    assert certification.calibration(review).decisions == 80 - learnt_from
    close(review)

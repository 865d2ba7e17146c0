"""Certification at the desk: what is handed out, when it ends, what certificate and controls say."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa

from pll.analysis.intervals import hypergeometric
from pll.errors import UserError
from pll.export.audit import altered_events, audit_rows
from pll.review import schema
from pll.review.certificate import verify_document
from pll.review.certification import Certification, answered_sample, miss_rate_of
from pll.review.desk import Desk
from pll.review.session import ReviewSession
from pll.review.store import reading
from tests.review_helpers import NAMES, Clock, answer, close, given, open_with, snapshot

N = 120


def wrong_rows(review: ReviewSession) -> np.ndarray:
    """The less sure, the more often wrong; the same for every desk."""
    confidence = review.current.certainty.confidence
    rank = np.argsort(np.argsort(confidence)) / len(confidence)
    return np.random.default_rng(0).random(len(confidence)) < 0.5 * (1 - rank) ** 2


def work(desk: Desk, wrong: np.ndarray, most: int = 1000, *, blind: bool = True) -> list[tuple[int, str]]:
    """Answer what is handed out until nothing is; (row, queue) of each."""
    handed: list[tuple[int, str]] = []
    while len(handed) < most and (one := desk.next()) is not None:
        handed.append((one.row, one.queue))
        label = one.identified
        if wrong[one.row]:
            label = next(choice.label for choice in one.choices if choice.label != one.identified)
        desk.decide(one, "pick", label, blind=blind)
    return handed


def in_force(review: ReviewSession) -> Certification:
    certification = review.certification
    assert certification is not None
    return certification


def test_a_review_from_start_to_certificate(url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.randbits", lambda _: 5)
    review = open_with(url, snapshot(N), clock=clock)
    assert review.certification is None
    review.certify(0.1, 0.9)
    certification, wrong = in_force(review), wrong_rows(review)
    handed = work(Desk(review, "Ann"), wrong)
    rows = [row for row, _ in handed]
    status = certification.status(review.state)
    assert len(rows) == len(set(rows)) < N and status.done and status.answered == len(status.controls)
    queues = [queue for _, queue in handed]
    assert queues == ["control"] * len(certification.controls) + ["certify"] * (len(rows) - len(certification.controls))
    with reading(review.database, review.id) as reader:
        audit = reader.last_hash()
    decisions = certification.decisions(review.state)
    document = certification.certified(
        decisions, drawn={certification.plan.draw_hash}, name="ants", audit=audit
    ).document
    result = document["result"]
    assert isinstance(result, dict)
    assert result["complete"] and result["looked_at"] == len(rows) and result["accepted_unseen"] == N - len(rows)
    assert result["bound"] == 12
    assert verify_document(json.loads(json.dumps(document))) == []
    other = open_with(url, snapshot(N), clock=clock)  # another process sees the same
    assert in_force(other).status(other.state).done
    assert in_force(other).controls.tolist() == certification.controls.tolist()
    close(review, other)


def test_an_undo_takes_the_answer_back(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock)
    review.certify(0.1, 0.9)
    desk, wrong = Desk(review, "Ann"), wrong_rows(review)
    work(desk, wrong)
    certification = in_force(review)
    assert certification.status(review.state).done
    last = next(event for event in desk.history() if event.control)
    desk.undo(last.id)
    status = certification.status(review.state)
    fresh = Certification(certification.plan, certification.table).status(review.state)
    assert status.answered == len(status.controls) - 1
    assert (status.done, status.remaining.tolist()) == (fresh.done, fresh.remaining.tolist())
    close(review)


def test_unsure_conflicts_and_overlap_count_as_wrong(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock, overlap=2)
    review.certify(0.1, 0.9)
    certification = in_force(review)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    row = int(certification.controls[0])
    one = ann.show(row)
    ann.decide(one, "pick", one.identified)
    assert certification.status(review.state).answered == 0  # two are asked
    other = bob.show(row)
    bob.decide(other, "pick", next(c.label for c in other.choices if c.label != other.identified))
    status = certification.status(review.state)
    assert (status.answered, status.wrong) == (1, 1)
    decision = {one.id: one for one in certification.decisions(review.state)}[one.example]
    assert decision.label is None
    ann.settle(row, one.identified)
    assert certification.status(review.state).wrong == 0
    second = int(certification.controls[1])
    for desk in (ann, bob):
        desk.decide(desk.show(second), "unsure")
    status = certification.status(review.state)
    assert (status.answered, status.wrong, status.unsure.sum()) == (2, 1, 1)
    close(review)


def test_a_label_that_one_of_two_reviewers_decided_was_looked_at_where_nobody_is_asked(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock, overlap=2)
    review.certify(0.1, 0.9)
    certification, ann = in_force(review), Desk(review, "Ann")
    before = certification.status(review.state)
    free = [row for row in np.flatnonzero(before.accepted).tolist() if row not in certification.controls]
    behind = [row for row in np.flatnonzero(~before.accepted).tolist() if row not in certification.controls]
    for row in [*free[:1], *behind[:1]]:
        one = ann.show(row)
        ann.decide(one, "pick", one.identified)
    after = certification.status(review.state)
    assert after.unseen == before.unseen - 1 and after.accepted.tolist() == before.accepted.tolist()
    assert after.remaining.tolist() == before.remaining.tolist()  # where two are asked, one is not enough
    decided = [one.id for one in certification.decisions(review.state)]
    assert decided == [str(certification.table.ids[free[0]])]
    close(review)


def test_the_audit_trail_is_a_chain_that_shows_what_was_altered(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock)
    desk = Desk(review, "Ann")
    for _ in range(6):
        answer(desk, given(desk), right=True)
    desk.undo()
    with reading(review.database, review.id) as reader:
        rows = audit_rows(reader.events(), reader.versions())
    rows = json.loads(json.dumps(rows))
    assert altered_events(rows) == [] and len({row["hash"] for row in rows}) == len(rows)
    rows[3]["label"] = "cow"
    assert [row["event"] for row in altered_events(rows)] == [rows[3]["event"]]
    del rows[3]
    assert [row["event"] for row in altered_events(rows)] == [rows[3]["event"]]
    close(review)


def test_a_plan_that_was_altered_in_the_database_is_refused(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock)
    review.certify(0.1, 0.9)
    plan = in_force(review).plan
    other = replace(plan, tolerated=plan.tolerated + 10)
    documents = [plan.to_json() | {"tolerated": other.tolerated}, other.to_json()]  # its hash, and one of its own
    for document, says in zip(documents, ("draw_hash", "not valid"), strict=True):
        with review.database.write() as connection:
            connection.execute(sa.update(schema.plan).values(document=document))
        with pytest.raises(UserError, match=says):
            in_force(open_with(url, snapshot(N), clock=clock))
    close(review)


def test_controls_tell_how_many_sets_miss_the_right_label(url: str) -> None:
    review = open_with(url)
    sets, desk, controls = review.root.candidates, Desk(review, "Ann"), np.arange(10, 20)
    assert miss_rate_of(controls, sets, review.state) is None
    for turn, row in enumerate(controls[:8].tolist()):
        one = desk.show(row)
        outside = next(name for name in NAMES if name not in sets.names(one.row))
        if turn == 0:
            desk.decide(one, "none")
        elif turn == 1:
            desk.decide(one, "other", outside)
        elif turn == 2:
            desk.decide(one, "unsure")
        else:
            answer(desk, one, right=True)
    rate = miss_rate_of(controls, sets, review.state)
    assert rate is not None and (rate.answered, rate.missing, rate.unknown) == (8, 2, 1)
    assert (rate.low, rate.high) == hypergeometric(2, 8, 40, unknown=1)
    close(review)


def test_controls_that_were_looked_at_for_another_reason_count_once_those_before_them_are_answered(url: str) -> None:
    review = open_with(url)
    desk, controls = Desk(review, "Ann"), np.arange(10, 20)
    for row, n in ((13, 0), (17, 0), (10, 1), (11, 2), (12, 4)):
        answer(desk, desk.show(row), right=True)
        assert answered_sample(controls, review.state).tolist() == controls[:n].tolist()
    close(review)

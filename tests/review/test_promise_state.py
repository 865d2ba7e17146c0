"""The promise about all labels at the desk: what is handed out, when it ends, what the certificate says."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pll.errors import UserError
from pll.export.audit import altered_events, audit_rows
from pll.review import certification
from pll.review import dataset_certificate as dc
from pll.review.desk import Desk
from pll.review.promise_state import PromiseInForce
from pll.review.session import ReviewSession
from tests.review_helpers import Clock, answer, close, open_with, snapshot

N = 120


def wrong_rows(review: ReviewSession) -> np.ndarray:
    """The less sure, the more often wrong; the same for every desk."""
    confidence = review.current.sharp.confidence
    rank = np.argsort(np.argsort(confidence)) / len(confidence)
    return np.random.default_rng(0).random(len(confidence)) < 0.5 * (1 - rank) ** 2


def work(desk: Desk, wrong: np.ndarray, most: int = 1000, *, blind: bool = True) -> list[tuple[int, str]]:
    """Answer what is handed out until nothing is; (row, queue) of each."""
    handed = []
    while len(handed) < most and (one := desk.next()) is not None:
        handed.append((one.row, one.queue))
        label = one.identified
        if wrong[one.row]:
            label = next(choice.label for choice in one.choices if choice.label != one.identified)
        desk.decide(one, "pick", label, blind=blind)
    return handed


def in_force(review: ReviewSession) -> PromiseInForce:
    found = review.promise
    assert found is not None
    return found


@pytest.mark.parametrize("reranked", [False, True])
def test_a_review_under_a_promise_from_start_to_certificate(url: str, clock: Clock, reranked: bool) -> None:
    review = open_with(url, snapshot(N), clock=clock)
    assert review.promise is None
    certification.promise_all_labels(review, 0.1, level=0.9, reranked=reranked, by="Ann")
    promise, wrong = in_force(review), wrong_rows(review)
    handed = work(Desk(review, "Ann"), wrong)
    rows = [row for row, _ in handed]
    status = promise.status(review.state, review.asked)
    assert len(rows) == len(set(rows)) < N and status.done and status.answered == status.controls
    queues = [queue for _, queue in handed]
    assert "promise" in queues[: 1 + max(k for k, queue in enumerate(queues) if queue == "control")]  # mixed
    with review.store.read(review.id) as reader:
        audit = reader.last_hash()
    document = promise.certificate(review.state, review.asked, name="ants", audit=audit)
    result = document["result"]
    assert result["complete"] and result["looked_at"] == len(rows) and result["accepted_unseen"] == N - len(rows)
    assert result["bound"] == 12
    assert dc.verify_document(json.loads(json.dumps(document))) == []
    other = open_with(url, snapshot(N), clock=clock)  # another process sees the same
    assert in_force(other).status(other.state, other.asked).done
    assert in_force(other).controls.tolist() == promise.controls.tolist()
    close(review, other)


def test_an_undo_takes_the_answer_back(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock)
    certification.promise_all_labels(review, 0.1, level=0.9, reranked=True)
    desk, wrong = Desk(review, "Ann"), wrong_rows(review)
    work(desk, wrong)
    promise = in_force(review)
    assert promise.status(review.state, review.asked).done
    last = next(event for event in desk.history() if event.control)
    desk.undo(last.id)
    status = promise.status(review.state, review.asked)
    fresh = PromiseInForce(promise.record, review.current).status(review.state, review.asked)
    assert status.answered == status.controls - 1
    assert (status.done, status.left.tolist()) == (fresh.done, fresh.left.tolist())
    close(review)


def test_unsure_conflicts_and_overlap_count_as_wrong(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock, overlap=2)
    certification.promise_all_labels(review, 0.1, level=0.9)
    promise = in_force(review)
    ann, bob = Desk(review, "Ann"), Desk(review, "Bob")
    row = int(promise.controls[0])
    one = ann.show(row)
    ann.decide(one, "pick", one.identified)
    assert promise.status(review.state, review.asked).answered == 0  # two are asked
    other = bob.show(row)
    bob.decide(other, "pick", next(c.label for c in other.choices if c.label != other.identified))
    status = promise.status(review.state, review.asked)
    assert (status.answered, status.wrong) == (1, 1)
    said = {one.id: one for one in promise.decisions(review.state, review.asked)}[one.example]
    assert said.second and dc.label_of(said) is None
    ann.settle(row, one.identified)
    assert promise.status(review.state, review.asked).wrong == 0
    second = int(promise.controls[1])
    for desk in (ann, bob):
        desk.decide(desk.show(second), "unsure")
    status = promise.status(review.state, review.asked)
    assert (status.answered, status.wrong, status.unsure) == (2, 1, 1)
    close(review)


def test_nodding_is_found_out(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(400), clock=clock)
    certification.promise_all_labels(review, 0.05)
    promise, wrong = in_force(review), np.arange(400) % 3 == 0
    desk = Desk(review, "Ann")
    assert promise.nodding(review.state).p is None
    for k, row in enumerate(promise.controls[:60].tolist()):
        one = desk.show(row)
        blind = k % 2 == 0
        right = not wrong[row] or not blind  # with the label in sight they nod
        label = one.identified if right else next(c.label for c in one.choices if c.label != one.identified)
        desk.decide(one, "pick", label, blind=blind)
    found = promise.nodding(review.state)
    assert found.sighted == (0, 30) and found.blind[1] == 30 and found.suspected
    close(review)


def test_another_promise_and_other_labels(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock)
    first = certification.promise_all_labels(review, 0.1)
    with pytest.raises(UserError, match="changed in the meantime"):
        certification.promise_all_labels(review, 0.2)
    second = certification.promise_all_labels(review, 0.2, instead_of=first.number)
    assert in_force(review).record == second and in_force(review).promise.draw_number == 2
    assert first.seed != second.seed
    with pytest.raises(UserError, match="have changed"):
        PromiseInForce(second, snapshot(N, seed=5))
    close(review)


def test_the_audit_trail_is_a_chain_that_shows_what_was_altered(url: str, clock: Clock) -> None:
    review = open_with(url, snapshot(N), clock=clock)
    desk = Desk(review, "Ann")
    for _ in range(6):
        answer(desk, desk.next(), right=True)
    desk.undo()
    with review.store.read(review.id) as reader:
        rows = audit_rows(reader.events(), reader.rounds())
    rows = json.loads(json.dumps(rows))
    assert altered_events(rows) == [] and len({row["hash"] for row in rows}) == len(rows)
    rows[3]["label"] = "cow"
    assert [row["event"] for row in altered_events(rows)] == [rows[3]["event"]]
    del rows[3]
    assert [row["event"] for row in altered_events(rows)] == [rows[3]["event"]]
    close(review)

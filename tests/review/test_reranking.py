"""Re-ranking while people review: an honest ranking makes valid certificates, a peeking one does not."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.certificate import leaving_order
from pll.annotations.data import Annotations
from pll.dataset import PartialLabelDataset
from pll.review.certificate import draw_controls, label_order, plan_controls
from pll.review.reranking import Pool, pool_features, rank_pool

N = 400


def review(rng, n=N):
    """Confidence that means little, and labels one of which is mostly wrong."""
    labels = rng.choice(["a", "b", "c"], n)
    confidence = np.round(rng.beta(5, 2, n), 1)
    wrong = rng.random(n) < np.where(labels == "c", 0.5, 0.06) * np.where(confidence < 0.7, 1.5, 0.8)
    return labels, confidence, wrong


def prepared(seed=0, n=N):
    labels, confidence, wrong = review(np.random.default_rng(seed), n)
    order = label_order(confidence, seed, [str(i) for i in range(n)])
    return pool_features(order, confidence, labels), wrong


def test_it_learns_which_labels_are_wrong():
    rows, wrong = prepared()
    leaving = leaving_order(rows, lambda left: wrong[left])
    assert sorted(leaving.tolist()) == list(range(N))
    half = N // 2
    assert wrong[leaving[:half]].sum() > wrong[rows.order[::-1][:half]].sum() + 5


def test_the_order_depends_on_the_answers_of_what_has_left_alone():
    """Why certificates are valid: change any answer inside, and nothing changes until that row has left."""
    rows, wrong = prepared(1)
    leaving = leaving_order(rows, lambda left: wrong[left])
    cut = 150
    other = wrong.copy()
    other[leaving[cut:]] = ~other[leaving[cut:]]
    again = leaving_order(rows, lambda left: other[left])
    last = 40 + 8 * ((cut - 40) // 8)  # the last order that was made before the first changed answer
    assert np.array_equal(leaving[: last + 8], again[: last + 8])


def test_features_texts_and_votes_are_used_and_may_be_missing_or_constant():
    rng = np.random.default_rng(0)
    _labels, _confidence, wrong = review(rng, 120)
    order = np.arange(120)
    features = np.column_stack([wrong, np.zeros(120)]).astype(np.float32)
    texts = ["bad word" if w else "good word" for w in wrong]
    rows, voters = np.tile(np.arange(120), 2), np.repeat([0, 1], 120)
    votes = Annotations(rows, voters, np.concatenate([np.zeros(120, int), wrong]), 120, ("a", "b"), ("ann", "bob"))
    base = {"order": order, "confidence": np.full(120, 0.5), "labels": np.full(120, "a")}
    nothing = np.zeros((120, 0), np.float32)
    for data in (
        PartialLabelDataset(features),
        PartialLabelDataset(nothing, texts=np.array(texts, dtype=object)),
        PartialLabelDataset(nothing, annotations=votes),
    ):
        pool = pool_features(**base, data=data)
        left = order[::-1][:60]
        ranked = rank_pool(pool, left, wrong[left])
        k = int(wrong[:60].sum())
        assert wrong[ranked[:k]].mean() > 0.7
    same = PartialLabelDataset(nothing, texts=np.array(["x"] * 120, dtype=object))
    assert len(rank_pool(pool_features(**base, data=same), left, wrong[left])) == 60


def breaks(sims, leaving_of):
    """Share of reviews in which more than A labels stay wrong."""
    n, broken = N, 0
    plan = plan_controls(n, 0.08)
    rng = np.random.default_rng(5)
    _, wrong = prepared(2)
    for _ in range(sims):
        inside = np.zeros(n, dtype=bool)
        inside[rng.choice(n, plan.controls, replace=False)] = True
        order = leaving_of(wrong, inside)[::-1]
        hits = np.flatnonzero((wrong & inside)[order])
        cut = n if len(hits) <= plan.tolerated else hits[plan.tolerated]
        accepted = order[:cut]
        broken += wrong[accepted].sum() - (wrong & inside)[accepted].sum() > plan.allowed
    return broken / sims


def test_an_honest_ranking_makes_valid_certificates():
    rows, wrong = prepared(2)
    leaving = leaving_order(rows, lambda left: wrong[left])
    assert breaks(2000, lambda *_: leaving) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)


def test_a_peeking_ranking_does_not():
    """It sees which rows inside are controls with a wrong label, and lets these leave first."""
    rows, _ = prepared(2)

    def peek(wrong, inside):
        by_confidence = rows.order[::-1]
        return by_confidence[np.argsort(~(wrong & inside)[by_confidence], kind="stable")]

    assert breaks(200, peek) > 0.12


def test_the_pool_goes_on_as_answers_come_and_stops_with_few_wrong_controls_inside():
    rows, wrong = prepared(3)
    plan = plan_controls(N, 0.08)
    controls = draw_controls(plan.controls, 3, [str(i) for i in range(N)])
    answers = np.full(N, -1, dtype=np.int8)
    answers[controls] = np.where(wrong[controls], 0, 1)
    pool = Pool(rows, controls, plan.tolerated)
    looked = 0
    while True:
        pool.advance(answers)
        if pool.done:
            break
        row = pool.waiting[0]
        assert answers[row] == -1
        answers[row] = 0 if wrong[row] else 1
        looked += 1
    inside = np.setdiff1d(np.arange(N), pool.left)
    assert wrong[np.intersect1d(inside, controls)].sum() == plan.tolerated
    assert looked + len(controls) < N
    leaving = leaving_order(rows, lambda left: wrong[left])
    assert pool.left == leaving[: len(pool.left)].tolist()  # the draw has no say in the order
    at_once = Pool(rows, controls, plan.tolerated)
    at_once.advance(answers)
    assert at_once.left == pool.left

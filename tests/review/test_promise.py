"""The promise about all labels: the plan, the draw, the rule."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from pll.errors import UserError
from pll.review import promise
from pll.review.promise import RIGHT, UNANSWERED, WRONG, DatasetPlan, cut_of, plan_dataset

IDS = [f"r{i}" for i in range(400)]


@pytest.mark.parametrize(
    ("n", "error", "expected"),
    [
        (2299, 0.03, (13, 549)),
        (2299, 0.05, (17, 426)),
        (2299, 0.10, (29, 339)),
        (10_000, 0.03, (36, 1381)),
        (10_000, 0.05, (52, 1164)),
        (10_000, 0.10, (84, 913)),
    ],
)
def test_plans_are_those_of_the_prototype(n, error, expected):
    plan = plan_dataset(n, error)
    assert (plan.tolerated, plan.controls) == expected


@settings(max_examples=25)
@given(st.integers(1, 400), st.floats(0.005, 0.6), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_risk_of_a_plan_is_within_alpha_and_that_of_scipy(n, error, level):
    plan = plan_dataset(n, error, level)
    m = plan.allowed + 1 + plan.tolerated
    if m > n:
        assert plan.attained == 0
        return
    reference = hypergeom.cdf(plan.tolerated, n, m, plan.controls)
    assert plan.attained == pytest.approx(reference, rel=1e-7, abs=1e-12)
    assert plan.attained <= 1 - level + 1e-9


@pytest.mark.parametrize("n_wrong", range(7))
def test_no_dataset_of_six_breaks_the_promise_more_often_than_attained(n_wrong):
    """Every draw of every arrangement of wrong labels, counted."""
    n, K = 6, 4
    plan = DatasetPlan(n, 0.2, 0.6, K, 1)
    bar = Fraction(round(plan.attained * math.comb(n, K)), math.comb(n, K))
    order = np.arange(n)
    for wrong_rows in itertools.combinations(range(n), n_wrong):
        wrong = np.isin(order, wrong_rows)
        broken = 0
        for drawn in itertools.combinations(range(n), K):
            controls = np.array(drawn)
            answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
            cut = cut_of(order, controls, answers, plan.tolerated)
            broken += int(wrong[: cut.accepted].sum()) - cut.wrong_inside > plan.allowed
        assert Fraction(broken, math.comb(n, K)) <= bar


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1), st.integers(0, 5))
def test_the_cut(seed, rate, tolerated):
    rng = np.random.default_rng(seed)
    n = 60
    order, controls = rng.permutation(n), rng.permutation(n)[:20]
    wrong = rng.random(n) < rate
    answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
    cut = cut_of(order, controls, answers, tolerated)
    accepted = set(order[: cut.accepted].tolist())
    assert cut.wrong_inside == sum(wrong[c] for c in controls if c in accepted) <= tolerated
    assert cut.unseen == len(accepted - set(controls.tolist()))
    assert set(cut.left.tolist()) == set(range(n)) - accepted and not len(cut.waiting)
    if cut.accepted < n:  # it ends at the wrong control after those tolerated
        assert order[cut.accepted] in controls and wrong[order[cut.accepted]] and cut.wrong_inside == tolerated
    hidden = answers.copy()
    hidden[rng.random(20) < 0.4] = UNANSWERED
    partly = cut_of(order, controls, hidden, tolerated)
    assert partly.accepted >= cut.accepted  # what is missing is waited for
    assert set(partly.waiting.tolist()) == {
        c
        for c, a in zip(controls, hidden, strict=False)
        if a == UNANSWERED and c in set(order[: partly.accepted].tolist())
    }


def simulate(n, wrong_at, plan, sims, seed, shared=None):
    """How often the promise is broken, written without the library's rule.

    Args:
        shared: a function that makes the order from the draw's membership: what must not happen.
    """
    rng = np.random.default_rng(seed)
    broken = 0
    for _ in range(sims):
        inside = np.zeros(n, dtype=bool)
        inside[rng.choice(n, plan.controls, replace=False)] = True
        wrong, member = wrong_at, inside
        if shared is not None:
            order = shared(wrong_at, inside, rng)
            wrong, member = wrong_at[order], inside[order]
        hits = np.flatnonzero(wrong & member)
        cut = n if len(hits) <= plan.tolerated else hits[plan.tolerated]
        broken += (wrong[:cut].sum() - (wrong & member)[:cut].sum()) > plan.allowed
    return broken / sims


def test_one_stream_for_ties_and_draw_breaks_the_promise():
    """All confidences are tied; the order is made of the numbers that drew the controls: those not drawn lead."""
    n, plan = 500, plan_dataset(500, 0.05)
    wrong = np.arange(n) % 5 == 0

    def same_stream(_, inside, rng):
        return np.argsort(inside + 0.5 * rng.random(n), kind="stable")

    assert simulate(n, wrong, plan, 300, 2, same_stream) > 0.5
    ids = [f"r{i}" for i in range(n)]  # the library's: which rows are controls says nothing about their place
    places = []
    for seed in range(60):
        order = promise.dataset_order(np.ones(n), seed, ids)
        place = np.argsort(order)
        places.append(place[promise.draw_dataset_controls(plan, seed, ids)].mean())
    assert abs(np.mean(places) - (n - 1) / 2) < 4 * np.std(places) / math.sqrt(60) + 1


def test_file_order_does_not_leak_the_truth_into_ties():
    """A file sorted by truth (wrong labels last): with ties in file order the cut would be nearly an oracle's."""
    ids, n = IDS, len(IDS)
    confidence = np.full(n, 0.9)
    order = promise.dataset_order(confidence, 7, ids)
    wrong = np.arange(n) >= 300
    assert abs(np.argsort(order)[wrong].mean() - n / 2) < 40
    shuffled = np.random.default_rng(0).permutation(n)  # the same file, sorted otherwise: the same order of ids
    again = promise.dataset_order(confidence, 7, [ids[i] for i in shuffled])
    assert [ids[i] for i in order] == [ids[shuffled[i]] for i in again]
    plan = plan_dataset(n, 0.05)
    drawn = {ids[i] for i in promise.draw_dataset_controls(plan, 7, ids)}
    assert drawn == {ids[shuffled[i]] for i in promise.draw_dataset_controls(plan, 7, [ids[i] for i in shuffled])}


@pytest.mark.parametrize(
    ("values", "words"),
    [((0, 0.05), "no labels"), ((100, 0), "between 0 and 1"), ((100, 1.5), "between 0 and 1")],
)
def test_impossible_plans_are_refused(values, words):
    with pytest.raises(UserError, match=words):
        plan_dataset(*values)


def test_too_few_controls_are_refused_with_the_number_that_would_do():
    with pytest.raises(UserError, match="Draw at least 57"):
        plan_dataset(2000, 0.05, controls=20)
    assert plan_dataset(2000, 0.05, controls=57).tolerated == 0
    with pytest.raises(UserError, match="Draw 1 to 10"):
        plan_dataset(10, 0.05, controls=11)


def test_the_commitment_binds_seed_labels_and_plan():
    plan = plan_dataset(100, 0.1)
    one = promise.commitment(1, "f", plan)
    assert one == promise.commitment(1, "f", plan)
    assert (
        len(
            {
                one,
                promise.commitment(2, "f", plan),
                promise.commitment(1, "g", plan),
                promise.commitment(1, "f", plan_dataset(100, 0.2)),
            }
        )
        == 4
    )

"""The expected number of checks: near the truth early on, exact at the end."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from benchmarks.certificate import accepted_and_unseen
from pll.review.certificate import RIGHT, UNANSWERED, WRONG, count_accepted, draw_controls, label_order, plan_controls
from pll.review.expected_checks import evenly, expected_checks

N = 800
PLAN = plan_controls(N, 0.05)


@cache
def review(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Order, confidences, controls and which labels are wrong; how far confidences can be trusted differs by review."""
    rng = np.random.default_rng(seed)
    confidence = rng.beta(rng.uniform(2, 6), rng.uniform(0.5, 1.5), N)
    doubt = logit(np.clip(1 - confidence, 1e-3, 1 - 1e-3))
    wrong = rng.random(N) < expit(rng.normal(0, 0.35) + rng.normal(0.9, 0.3) * doubt)
    ids = [str(row) for row in range(N)]
    order = label_order(confidence, seed, ids)
    return order, confidence, draw_controls(PLAN.controls, seed, ids), wrong


def answered(controls: np.ndarray, wrong: np.ndarray, first: int) -> np.ndarray:
    answers = np.full(N, UNANSWERED, dtype=np.int8)
    answers[controls[:first]] = np.where(wrong[controls[:first]], WRONG, RIGHT)
    return answers


@pytest.mark.parametrize(("first", "reviews", "most"), [(0, 60, 0.25), (30, 60, 0.15), (120, 40, 0.1)])
def test_its_median_error_over_many_reviews(first: int, reviews: int, most: float) -> None:
    errors, covered = [], []
    for seed in range(reviews):
        order, confidence, controls, wrong = review(seed)
        answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
        truth = N - accepted_and_unseen(order, controls, answers, PLAN.tolerated)[1] - first
        expected = expected_checks(order, confidence, controls, answered(controls, wrong, first), PLAN.tolerated)
        errors.append(abs(expected.likely - truth) / truth)
        covered.append(expected.low <= truth <= expected.high)
    assert np.median(errors) < most
    assert np.mean(covered) > 0.6  # four fifths of the draws; the model is an approximation


@pytest.mark.parametrize("shift", [-3.0, 3.0])
def test_thirty_answers_correct_confidences_that_are_wrong_by_far(shift: float) -> None:
    off = []
    for seed in range(30):
        order, confidence, controls, _ = review(seed)
        doubt = logit(np.clip(1 - confidence, 1e-3, 1 - 1e-3))
        wrong = np.random.default_rng(seed).random(N) < expit(shift + doubt)
        answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
        truth = N - accepted_and_unseen(order, controls, answers, PLAN.tolerated)[1]
        of = [
            expected_checks(order, confidence, controls, answered(controls, wrong, first), PLAN.tolerated)
            for first in (0, 30)
        ]
        off.append([abs(of[0].likely - truth) / truth, abs(of[1].likely - (truth - 30)) / (truth - 30)])
    before, after = np.median(off, axis=0)
    assert after < min(0.3, before / 2)


def test_neighbours_that_disagree_make_up_for_confidences_that_say_too_little() -> None:
    off = []
    for seed in range(30):
        order, confidence, controls, _ = review(seed)
        rng = np.random.default_rng(seed)
        p = expit(1.5 + logit(np.clip(1 - confidence, 1e-3, 1 - 1e-3)))
        wrong, disagrees = rng.random(N) < p, rng.random(N) < p
        answers = np.where(wrong[controls], WRONG, RIGHT).astype(np.int8)
        truth = N - accepted_and_unseen(order, controls, answers, PLAN.tolerated)[1]
        nothing = answered(controls, wrong, 0)
        of = [
            expected_checks(order, confidence, controls, nothing, PLAN.tolerated, disagrees=known)
            for known in (None, disagrees)
        ]
        off.append([abs(one.likely - truth) / truth for one in of])
    without, with_neighbours = np.median(off, axis=0)
    assert with_neighbours < without / 2


def test_it_is_exact_once_all_controls_are_answered_and_none_where_nothing_is_left() -> None:
    order, confidence, controls, wrong = review(1)
    answers = answered(controls, wrong, len(controls))
    not_accepted = order[count_accepted(order, controls, answers[controls], PLAN.tolerated) :]
    left = int((answers[not_accepted] == UNANSWERED).sum())
    expected = expected_checks(order, confidence, controls, answers, PLAN.tolerated)
    assert expected.low == expected.likely == expected.high == left
    answers[not_accepted] = RIGHT
    assert expected_checks(order, confidence, controls, answers, len(controls)).high == 0


@given(st.integers(0, 200), st.integers(0, len(range(PLAN.controls))), st.sampled_from([0.0, 0.5, 1.0]))
def test_any_confidence_and_any_answers_give_a_number_that_can_be(seed: int, first: int, constant: float) -> None:
    order, _, controls, wrong = review(seed)
    expected = expected_checks(order, np.full(N, constant), controls, answered(controls, wrong, first), PLAN.tolerated)
    assert 0 <= expected.low <= expected.likely <= expected.high <= N - first


def test_the_number_before_the_draw_is_that_of_any_draw_until_a_control_is_answered() -> None:
    order, confidence, controls, wrong = review(2)
    nothing = answered(controls, wrong, 0)
    before = expected_checks(order, confidence, evenly(order, len(controls)), nothing, PLAN.tolerated)
    for seed in range(3):
        assert expected_checks(order, confidence, review(seed)[2], nothing, PLAN.tolerated) == before

"""The certificate keeps its promise: exactly for small numbers, by simulation for whole reviews."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pll.errors import UserError
from pll.review.certificate import certify
from pll.review.sampling_plan import draw_controls, more_controls_needed, threshold_grid


class TestCertify:
    confidence = np.linspace(0, 1, 2000)
    rows = draw_controls(2000, 0.3)

    def test_a_failure_hands_no_risk_on(self) -> None:
        """After a threshold that fails the next is not tried, however good it looks; "everything" has its own risk."""
        right = self.confidence[self.rows] < 0.9
        found = certify(self.confidence, self.rows, right, max_error=0.25, thresholds=[0.9, 0.5, 0.0])
        assert [step.proven for step in found.steps] == [False, False, True]
        assert [step.risk for step in found.steps] == pytest.approx([0.04, 0.0, 0.01])
        assert found.threshold == 0.0

    def test_success_hands_its_risk_on(self) -> None:
        right = np.ones(600, dtype=bool)
        found = certify(self.confidence, self.rows, right, max_error=0.05, thresholds=[0.7, 0.5, 0.0])
        assert [step.risk for step in found.steps] == pytest.approx([0.04, 0.04, 0.05])

    def test_all_wrong(self) -> None:
        found = certify(self.confidence, self.rows, np.zeros(600, dtype=bool), max_error=0.1, thresholds=[0.9, 0.0])
        assert found.threshold is None and "wrong already" in found.explanation

    @given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.02, 0.05]))
    @settings(max_examples=10, deadline=None)
    def test_what_is_certified_stays_so(self, seed: int, rate: float) -> None:
        right = np.random.default_rng(seed).random(600) >= rate
        before: set[float] = set()
        for k in range(0, 601, 100):
            found = certify(self.confidence, self.rows, right[:k], max_error=0.08)
            proven = {step.threshold for step in found.steps if step.proven}
            assert before <= proven
            assert found.threshold == (min(proven) if proven else None)
            before = proven

    def test_it_counts_what_it_accepts(self) -> None:
        right = np.ones(600, dtype=bool)
        found = certify(self.confidence, self.rows, right, max_error=0.05, thresholds=[0.5])
        inside = self.confidence[self.rows] >= 0.5
        assert (found.accepted, found.controls, found.wrong, found.answered) == (1000, inside.sum(), 0, 600)
        assert found.bound == 50
        assert found.explanation.startswith("Accept the 1,000 labels (confidence 0.500 and above): at most 50 of them")

    def test_nothing_yet(self) -> None:
        found = certify(self.confidence, self.rows, np.ones(0, dtype=bool), max_error=0.05)
        assert (found.threshold, found.accepted, found.bound) == (None, 0, 0)
        assert "0 controls were answered; about" in found.explanation

    def test_as_many_more_as_it_asks_for_will_do(self) -> None:
        right = np.ones(600, dtype=bool)
        empty = certify(self.confidence, self.rows, right[:0], max_error=0.05, thresholds=[0.0])
        least = more_controls_needed(2000, 0, 0, max_error=0.05)
        assert least is not None and f"about {least} more" in empty.explanation
        one_less = certify(self.confidence, self.rows, right[: least - 1], max_error=0.05, thresholds=[0.0])
        enough = certify(self.confidence, self.rows, right[:least], max_error=0.05, thresholds=[0.0])
        assert one_less.threshold is None and enough.threshold == 0.0

    def test_a_threshold_above_all_confidences_accepts_and_certifies_nothing(self) -> None:
        found = certify(self.confidence / 2, self.rows, np.ones(600, dtype=bool), max_error=0.05, thresholds=[0.9])
        assert found.threshold is None
        assert found.explanation

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"confidence": [0.5, math.nan]}, "row 1 is nan"),
            ({"confidence": []}, "one or more examples"),
            ({"control_rows": [0, 2]}, "outside 0 … 1"),
            ({"control_rows": [1, 1]}, "stands twice"),
            ({"correct": [True] * 3}, "3 control answers, but only 2"),
            ({"correct": [1, 0]}, "True .* or False"),
            ({"max_error": 0.0}, "checking them all"),
            ({"level": 1.0}, "level"),
            ({"thresholds": [0.1, 0.2]}, "smaller than the one before"),
        ],
    )
    def test_refuses_what_does_not_fit(self, change: dict, message: str) -> None:
        good = {"confidence": [0.5, 0.6], "control_rows": [0, 1], "correct": [True], "max_error": 0.1}
        with pytest.raises(UserError, match=message):
            certify(**(good | change))


def simulated_reviews(wrong: np.ndarray, confidence: np.ndarray, x: float, reviews: int, seed: int) -> tuple[int, int]:
    """How many of many reviews of one set of labels ever hold a false certificate, and how many hold any.

    The set and its errors are fixed; each review draws other controls. What is certified stays so
    (`test_what_is_certified_stays_so`), so the last look tells whether any look at any time gave a false certificate.
    """
    n = len(wrong)
    grid = threshold_grid(confidence, n // 10, x, steps=8)
    too_bad = {float(t) for t in grid if wrong[confidence >= t].sum() > math.floor(x * (confidence >= t).sum() + 1e-9)}
    false = any_at_all = 0
    for review in range(reviews):
        rows = draw_controls(n, 0.1, seed=seed + review)
        found = certify(confidence, rows, ~wrong[rows], max_error=x, thresholds=list(grid))
        false += bool({step.threshold for step in found.steps if step.proven} & too_bad)
        any_at_all += found.threshold is not None
    return false, any_at_all


class TestPromise:
    """1,000 simulated reviews each, looked at after every answer, the threshold chosen by the same answers."""

    @pytest.mark.parametrize("wrong", [(0, 0, 1, 0, 1, 1), (1, 0, 0, 1, 0, 0), (0, 1, 0, 1, 0, 1)])
    def test_exactly_over_every_order_of_six_labels(self, wrong: tuple[int, ...]) -> None:
        """All 6! draws, looked at after every answer: a false certificate in at most α of them."""
        bad, confidence = np.array(wrong, dtype=bool), np.array([0.9, 0.9, 0.8, 0.8, 0.7, 0.7])
        grid, false = [0.9, 0.8, 0.7], 0
        too_bad = {t for t in grid if bad[confidence >= t].mean() > 0.3}
        assert too_bad
        for order in permutations(range(6)):
            rows = np.array(order)
            found = certify(confidence, rows, ~bad[rows], max_error=0.3, level=0.6, thresholds=grid)
            false += bool({step.threshold for step in found.steps if step.proven} & too_bad)
        assert Fraction(false, math.factorial(6)) <= Fraction(2, 5)

    confidence = np.sort(np.random.default_rng(8).beta(4, 0.6, 2000))

    def reviews(self, rate: np.ndarray, x: float) -> tuple[int, int]:
        wrong = np.random.default_rng(9).random(2000) < rate
        return simulated_reviews(wrong, self.confidence, x, 1000, seed=1000)

    def test_confidence_that_tells_right_from_wrong(self) -> None:
        false, any_at_all = self.reviews((1 - self.confidence) * 0.2, x=0.05)
        assert false <= 50
        assert any_at_all > 800  # it does certify: the promise is not kept by silence

    def test_every_threshold_just_above_what_is_promised(self) -> None:
        """The hardest case: all hypotheses false by a hair, so every certificate at all is a false one."""
        wrong = np.zeros(2000, dtype=bool)
        wrong[::-1][np.unique(np.floor(np.arange(0.0, 101.0) * 19.8).astype(int))] = True  # 5.05 % of every top part
        false, any_at_all = simulated_reviews(wrong, self.confidence, 0.05, 1000, seed=5000)
        assert false == any_at_all
        assert 0 < false <= 50

    def test_confidence_that_misleads(self) -> None:
        false, _ = self.reviews(np.clip(self.confidence - 0.5, 0, 1) * 0.3, x=0.05)
        assert false <= 50

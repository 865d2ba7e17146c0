"""CLPL against its objective written out in loops and a solver that knows nothing of its structure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.clpl import C_GRID, CLPL, LOSS_FORMS
from pll.synthesis import flip_binomial
from tests.strategies import candidate_sets

# 7 examples × 2 features × 4 classes: a singleton and a whole label set among them.
X = np.random.default_rng(3).normal(size=(7, 2))
SETS = CandidateSets.from_lists([[0, 1], [1, 2, 3], [2], [0, 1, 2, 3], [0, 3], [1, 3], [0, 2]], 4)


def written_out(theta: np.ndarray, X: np.ndarray, sets: CandidateSets, C: float, form: str) -> float:
    """½ ‖W‖² + 10⁻⁵ · ½ ‖b‖² + C Σ_i of the form's loss of an example, one term after the other."""
    d, c = X.shape[1], sets.n_classes
    W, b = theta[: d * c].reshape(d, c), theta[d * c :]
    total = 0.5 * sum(w * w for w in W.ravel()) + 0.5e-5 * sum(w * w for w in b)
    for i, x in enumerate(X):
        g = [sum(x[k] * W[k, a] for k in range(d)) + b[a] for a in range(c)]
        inside = [g[a] for a in sets[i]]
        mean = sum(inside) / len(inside)
        total += C * max(0.0, 1 - mean) ** 2 if form == "mean" else 0.0
        apart = mean if form == "pairwise" else 0.0
        total += sum(C * max(0.0, 1 - apart + g[a]) ** 2 for a in range(c) if a not in sets[i])
    return total


@pytest.mark.parametrize("form", LOSS_FORMS)
@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
def test_it_finds_the_minimum_a_general_solver_finds(C: float, form: str) -> None:
    result = CLPL(C=C, form=form, tol=1e-9, scale="none").fit(X, SETS)
    expected = minimize(
        written_out, np.zeros(12), (X.astype(np.float32).astype(float), SETS, C, form), "BFGS", tol=1e-7
    ).x
    np.testing.assert_allclose(result.coef_, expected[:8].reshape(2, 4), atol=2e-4)
    if form == "pairwise":  # but for their tiny ridge the intercepts are defined up to a constant
        expected[8:] += result.intercept_.mean() - expected[8:].mean()
    np.testing.assert_allclose(result.intercept_, expected[8:], atol=2e-4)
    scores = X @ expected[:8].reshape(2, 4) + expected[8:]
    for i in range(7):  # the label weights are the restricted softmax of these scores
        raised = np.exp(scores[i][SETS[i]])
        at = slice(SETS.indptr[i], SETS.indptr[i + 1])
        np.testing.assert_allclose(result.label_weights_[at], raised / raised.sum(), atol=1e-3)


@given(candidate_sets(min_n=2, min_c=2), st.integers(0, 2**32 - 1))
def test_the_order_of_examples_and_classes_does_not_matter(sets: CandidateSets, seed: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(len(sets), 2)).astype(np.float32)
    examples, classes = rng.permutation(len(sets)), rng.permutation(sets.n_classes)
    mixed = CandidateSets.from_mask(sets.mask()[examples][:, classes])
    least, same = (
        min(record.loss for record in CLPL(C=1.0, form="pairwise", tol=1e-8).iter_fit(Task(x, s)))
        for x, s in ((features, sets), (features[examples], mixed))
    )
    assert same == pytest.approx(least, abs=1e-7)  # of the minimum: some intercepts are nearly free


def test_c_and_form_are_chosen_by_the_covering_rate() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    features = (rng.normal(size=(90, 3)) + 2 * np.eye(3)[y]).astype(np.float32)
    sets = flip_binomial(y, 3, 0.3, seed=0)
    estimator = CLPL(seed=1).fit(features, sets)
    assert set(estimator.covering_rates_) == {(form, C) for form in LOSS_FORMS for C in C_GRID}
    assert estimator.covering_rates_[estimator.form_, estimator.C_] == max(estimator.covering_rates_.values())
    fixed = CLPL(**estimator.fitted_params()).fit(features, sets)
    np.testing.assert_array_equal(fixed.label_weights_, estimator.label_weights_)
    assert fixed.covering_rates_ == {}

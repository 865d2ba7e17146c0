"""PL-ECOC against loops over examples, columns and classes, and scikit-learn's own decision function."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC, LinearSVC

from pll.candidates import CandidateSets
from pll.methods import ecoc
from pll.methods.base import Task
from pll.methods.ecoc import PLECOC, random_dichotomies, squared_hinge_machines
from pll.training.metrics import StopTraining
from tests.methods.cases import clusters, table

X = np.random.default_rng(3).normal(size=(8, 3)).astype(np.float32)
X_NEW = np.random.default_rng(4).normal(size=(5, 3)).astype(np.float32)
SETS = CandidateSets.from_lists([[0, 1], [1, 2, 3], [2], [0, 1, 2, 3], [0, 3], [1, 3], [2, 3], [0]], 4)


def sides_in_words(sets: CandidateSets, signs: np.ndarray, purity: float) -> list[int]:
    """+1, −1 or 0 for each set by counting; `signs` (c,)."""
    counts = [0] * sets.n_classes
    for row in sets:
        for j in row:
            counts[j] += 1
    of_side = [max(1, sum(counts[j] for j in range(len(counts)) if signs[j] == side)) for side in (1, -1)]
    sides = []
    for row in sets:
        inside = sum(signs[j] > 0 for j in row) / of_side[0]
        outside = sum(signs[j] < 0 for j in row) / of_side[1]
        bound = purity * (inside + outside) - 1e-9
        sides.append(1 if inside >= bound else -1 if outside >= bound else 0)
    return sides


def ecoc_in_loops(signs: np.ndarray, purities: np.ndarray, kernel: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """H, the losses of X (n, c) and of X_NEW, for given columns."""
    rows, new = X.astype(np.float64), X_NEW.astype(np.float64)
    c, length = signs.shape
    f, f_new = np.zeros((len(X), length)), np.zeros((len(X_NEW), length))
    for t in range(length):
        sides = np.array(sides_in_words(SETS, signs[:, t], purities[t]))
        usable = sides != 0
        weight = "balanced" if purities[t] < 1 else None
        linear = LinearSVC(dual=False, max_iter=10_000, class_weight=weight)
        machine = SVC(gamma=1 / 3, class_weight=weight) if kernel == "rbf" else linear
        machine.fit(rows[usable], sides[usable])
        f[:, t], f_new[:, t] = machine.decision_function(rows), machine.decision_function(new)
    H = np.zeros((c, length))
    for j in range(c):
        holders = [i for i in range(len(X)) if j in SETS[i]]
        for t in range(length):
            H[j, t] = np.mean([np.sign(f[i, t]) == signs[j, t] for i in holders])
    H /= H.sum(axis=1, keepdims=True)

    def losses(values: np.ndarray) -> np.ndarray:
        table = np.zeros((len(values), c))
        for i in range(len(values)):
            for j in range(c):
                table[i, j] = sum(H[j, t] * np.exp(-values[i, t] * signs[j, t]) for t in range(length))
        return table

    return H, losses(f), losses(f_new)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_it_equals_the_loops(kernel: str) -> None:
    estimator = PLECOC(kernel=kernel, scale="none").fit(X, SETS)
    signs, purities = estimator.coding_, estimator.purities_
    assert signs.shape[1] >= 3 and set(np.unique(signs)) == {-1, 1}
    H, losses, losses_new = ecoc_in_loops(signs, purities, kernel)
    np.testing.assert_allclose(estimator.performance_, H, atol=1e-9)
    np.testing.assert_allclose(estimator.predict_scores(X_NEW), -losses_new, atol=1e-4)
    raised = np.where(SETS.mask(), np.exp(-10 * losses), 0)
    np.testing.assert_allclose(table(estimator), raised / raised.sum(axis=1, keepdims=True), atol=1e-3)
    np.testing.assert_array_equal(estimator.identify(), np.where(SETS.mask(), losses, np.inf).argmin(axis=1))
    np.testing.assert_allclose(estimator.predict_proba(X_NEW).sum(axis=1), 1, atol=1e-6)


# ---- the columns -------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(2, 20))
def test_dichotomies_are_different_and_have_two_sides(seed: int, c: int) -> None:
    drawn = random_dichotomies(c, 50, np.random.default_rng(seed))
    assert drawn.shape[1] == c and len(np.unique(drawn, axis=0)) == len(drawn)
    assert (drawn[:, 0] == 1).all() and (drawn == -1).any(axis=1).all()
    if 2 ** (c - 1) - 1 <= 50:
        assert len(drawn) == 2 ** (c - 1) - 1
    else:
        assert 0 < len(drawn) <= 50


# ---- many examples -----------------------------------------------------------------------------------------------


def test_all_columns_at_once_give_the_machines_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ecoc, "ENOUGH", 1e-5)
    rng = np.random.default_rng(0)
    features = np.hstack([rng.normal(size=(120, 6)), np.ones((120, 1))]).astype(np.float32)
    sides = np.sign(features[:, :3] + 0.8 * rng.normal(size=(120, 3))).astype(np.int8)
    sides[rng.random((120, 3)) < 0.3] = 0
    weights = np.array([[1.0, 0.5, 2.0], [1.0, 3.0, 0.1]])
    result = squared_hinge_machines(features, sides, weights, lambda: None)
    for t in range(3):
        used = sides[:, t] != 0
        C = np.where(sides[used, t] > 0, weights[1, t], weights[0, t])
        exact = LinearSVC(dual=False, fit_intercept=False, tol=1e-8, max_iter=10_000)
        exact.fit(features[used].astype(np.float64), sides[used, t], sample_weight=C)
        np.testing.assert_allclose(result[:, t], exact.coef_[0], atol=1e-3 * np.abs(exact.coef_).max())


# ---- manners -----------------------------------------------------------------------------------------------------


def test_a_stop_keeps_the_columns_learnt_so_far() -> None:
    features, sets = clusters(5, n=120, c=6, q=0.2)
    estimator = PLECOC()

    def hook() -> None:
        if estimator.stage_ == "columns 7 to 9 of 26":
            raise StopTraining

    with pytest.raises(StopTraining):
        for _record in estimator.iter_fit(Task(features, sets), hook=hook):
            weights = estimator.label_weights_
    assert estimator.coding_.shape[1] == 6  # two rounds of three columns
    np.testing.assert_array_equal(estimator.finish(), weights)
    assert estimator.predict_proba(features).shape == (120, 6)

"""PL-kNN against loops over examples and neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from pll.analysis.health import health_of
from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.plknn import K_GRID, PLKNN, SCALES_TRIED
from pll.weights import sharpness
from tests.methods.cases import clusters, table

X = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
X_NEW = np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)
SETS = CandidateSets.from_lists([[0, 1], [1, 2, 3], [2], [0, 1, 2, 3], [0, 3], [1, 3], [2, 3]], 4)


def scores_in_loops(x: np.ndarray, others: list[int], k: int) -> np.ndarray:
    """Votes of the k of `others` that are nearest to x."""
    distance = {j: np.sqrt(((x.astype(np.float64) - X[j]) ** 2).sum()) for j in others}
    nearest = sorted(others, key=distance.__getitem__)[:k]
    total = sum(distance[j] for j in nearest)
    scores = np.zeros(4)
    for j in nearest:
        for label in SETS[j]:
            scores[label] += 1 - distance[j] / total if k > 1 else 1
    return scores


@pytest.mark.parametrize("k", [1, 2, 4])
def test_it_equals_the_loops(k: int) -> None:
    estimator = PLKNN(k=k, scale="none").fit(X, SETS)
    weights = table(estimator)
    for i in range(len(X)):
        expected = scores_in_loops(X[i], [j for j in range(len(X)) if j != i], k) * SETS.mask()[i]
        expected = expected if expected.sum() else SETS.mask()[i].astype(float)  # no neighbour shares a candidate
        np.testing.assert_allclose(weights[i], expected / expected.sum(), atol=1e-6)
    for x, scores in zip(X_NEW, estimator.predict_scores(X_NEW), strict=True):
        np.testing.assert_allclose(scores, scores_in_loops(x, list(range(len(X))), k), atol=1e-6)


def test_k_and_scaling_are_chosen_by_the_covering_rate_of_others() -> None:
    features, sets = clusters(3)
    fitted = PLKNN().fit(features, sets)
    assert set(fitted.covering_rates_) == {(scale, k) for scale in SCALES_TRIED for k in K_GRID if k < len(features)}
    for (scale, k), rate in fitted.covering_rates_.items():
        alone = PLKNN(k=k, scale=scale).fit(features, sets)
        assert not alone.covering_rates_
        distances, at = alone._others(np.arange(len(features)), k)
        assert not (at == np.arange(len(features))[:, None]).any()
        scores = alone._counted(distances, at)
        top = [np.flatnonzero(row >= row.max() - 1e-9) for row in scores]  # of labels that tie, each counts its part
        covered = [np.isin(best, sets[i]).mean() for i, best in enumerate(top)]
        assert rate == pytest.approx(np.mean(covered), abs=1e-8)
    assert (fitted.scale_, fitted.k_) == max(fitted.covering_rates_, key=lambda each: fitted.covering_rates_[each])
    again = PLKNN(**fitted.fitted_params())
    assert (again.scale, again.k) == (fitted.scale_, fitted.k_)
    assert {scale for scale, _ in PLKNN(k=3).fit(features, sets).covering_rates_} == set(SCALES_TRIED)
    np.testing.assert_array_equal(fitted.predict(features), again.fit(features, sets).predict(features))
    restored = PLKNN(**fitted.fitted_params()).restore(fitted.fitted_arrays(), fitted.input_shape_, fitted.class_names_)
    np.testing.assert_array_equal(restored.predict(features), fitted.predict(features))


def test_each_example_is_identified_once_so_that_no_label_changes() -> None:
    """Tenths of the data as epochs looked like labels that never settle: 94 % right was called unhealthy."""
    features, sets = clusters(5)
    fitted = PLKNN(k=5)
    records = list(fitted.iter_fit(Task(features, sets)))
    assert len(records) == fitted.total_epochs() == 1
    rows = [{"epoch": one.epoch, "loss": one.loss, "changed_labels": one.changed_labels} for one in records]
    health = health_of(rows, sharpness(fitted.label_weights_, sets), sets, None, expected=0.9)
    assert health.is_healthy, health.findings

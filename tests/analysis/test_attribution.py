"""What speaks for a label: terms that add up, and words that matter."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pll.analysis.attribution import column_attribution, column_names, word_attribution
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.features import featurised, featuriser
from pll.methods import PRODEN, get_method
from pll.methods.base import PartialLabelEstimator

RNG = np.random.default_rng(3)
X = (RNG.normal(size=(60, 4)) * [1, 5, 0.1, 2] + [3, -2, 0, 1]).astype(np.float32)
SETS = [[int(k)] if k else [0, 2] for k in np.digitize(X[:, 1], [-5, 0])]


def fitted(**settings: object) -> PartialLabelEstimator:
    return PRODEN(**({"epochs": 5} | settings)).fit(X, SETS)


def test_terms_of_a_linear_model_and_its_bias_sum_to_the_difference() -> None:
    estimator = fitted()
    found = column_attribution(estimator, X[7], 2, 0)
    layer = next(part for part in estimator.module().modules() if isinstance(part, torch.nn.Linear))
    weight, bias = layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()
    scaled = (X[7] - X.mean(axis=0, dtype=np.float64)) / X.std(axis=0, dtype=np.float64)
    np.testing.assert_allclose(found.terms, (weight[2] - weight[0]) * scaled, atol=1e-5)
    np.testing.assert_allclose(found.rest, bias[2] - bias[0], atol=1e-5)
    scores = estimator.predict_scores(X[7:8])[0]
    np.testing.assert_allclose(found.terms.sum() + found.rest, scores[2] - scores[0], atol=1e-5)
    assert found.strongest(1)[0][0] == found.names[int(np.argmax(np.abs(found.terms)))]


@pytest.mark.parametrize("settings", [{"model": "mlp"}, {"scale": "quantile"}, {"scale": "zscore+rbf"}])
def test_terms_sum_to_the_difference_of_any_network(settings: dict[str, str]) -> None:
    estimator = fitted(**settings)
    found = column_attribution(estimator, X[3], 1, 2, ["a", "a", "b", "c"])
    scores = estimator.predict_scores(X[3:4])[0]
    assert found.names == ("a", "b", "c")
    np.testing.assert_allclose(found.difference, scores[1] - scores[2], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        found.terms.sum() + found.rest, found.difference, atol=0.05 * abs(found.difference) + 0.02
    )


def test_a_model_without_gradients_is_refused() -> None:
    with pytest.raises(UserError, match="no terms"):
        column_attribution(get_method("plknn")().fit(X, SETS), X[0], 0, 1)


def test_the_word_that_decides_is_found() -> None:
    texts = np.array(["the film was great fun", "the film was awful dull"] * 15, dtype=object)
    sets = CandidateSets.from_lists([[0], [1]] * 15, n_classes=2)
    raw = PartialLabelDataset(np.empty((30, 0)), sets, texts=texts)
    made = featuriser("tfidf").fit(raw)
    data = featurised(raw, made)
    found = word_attribution(PRODEN(epochs=30, scale="unit").fit(data.X, sets), made, data, 0, 0, 1)
    assert found.names == ("the", "film", "was", "great", "fun")
    assert {name for name, _ in found.strongest(2)} == {"great", "fun"}
    assert min(found.terms[3:]) > 0
    assert column_names(made, data) is None

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from pll.candidates import CandidateSets
from pll.weights import (
    accuracy,
    dense,
    identified_labels,
    on_candidates,
    restricted_softmax,
    sharpness,
    top_positions,
)
from tests.strategies import sets_and_scores

Case = tuple[CandidateSets, np.ndarray]


@given(sets_and_scores())
def test_restricted_softmax_equals_the_formula_row_by_row(case: Case) -> None:
    sets, scores = case
    weights = restricted_softmax(on_candidates(scores, sets), sets)
    for i, row in enumerate(sets):
        exponent = scores[i, row].astype(np.float64)
        raised = np.exp(exponent - exponent.max())  # Eq. (norm): the softmax's own denominator cancels
        np.testing.assert_allclose(weights[sets.indptr[i] : sets.indptr[i + 1]], raised / raised.sum(), atol=1e-6)


@given(sets_and_scores())
def test_label_weights_lie_on_the_simplex_over_the_candidates(case: Case) -> None:
    sets, scores = case
    weights = dense(restricted_softmax(on_candidates(scores, sets), sets), sets)
    assert (weights >= 0).all()
    assert (weights[~sets.mask()] == 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-6)


@given(sets_and_scores())
def test_the_identified_label_is_the_first_argmax_over_the_candidates(case: Case) -> None:
    sets, scores = case
    rounded = np.round(scores)  # ties are common
    weights = restricted_softmax(on_candidates(rounded, sets), sets)
    expected = [int(row[np.argmax(weights[sets.indptr[i] : sets.indptr[i + 1]])]) for i, row in enumerate(sets)]
    assert identified_labels(weights, sets).tolist() == expected
    assert sets.contains(expected).all()


@given(sets_and_scores())
def test_sharpness_equals_a_loop(case: Case) -> None:
    sets, scores = case
    weights = restricted_softmax(on_candidates(scores, sets), sets)
    sharp = sharpness(weights, sets)
    for i in range(len(sets)):
        own = np.sort(weights[sets.indptr[i] : sets.indptr[i + 1]].astype(np.float64))[::-1]
        second = own[1] if len(own) > 1 else 0.0
        positive = own[own > 0]
        entropy = -(positive * np.log(positive)).sum() / np.log(len(own)) if len(own) > 1 else 0.0
        assert sharp.top[i] == pytest.approx(own[0], abs=1e-6)
        assert sharp.margin[i] == pytest.approx(own[0] - second, abs=1e-6)
        assert sharp.entropy[i] == pytest.approx(entropy, abs=1e-5)
    for values in (sharp.top, sharp.margin, sharp.entropy):
        assert values.dtype == np.float32
        assert ((values >= 0) & (values <= 1 + 1e-6)).all()


def test_a_weight_that_is_no_number_is_refused() -> None:
    # Otherwise the other examples' labels would move up and stand at the wrong examples.
    sets = CandidateSets.from_lists([[0, 1], [2]], 3)
    with pytest.raises(ValueError, match="NaN"):
        top_positions(np.array([np.nan, np.nan, 1], dtype=np.float32), sets)


def test_accuracy_counts_known_truth_only() -> None:
    predicted = np.array([0, 1, 2, 2])
    assert accuracy(predicted, np.array([0, 1, 1, -1])) == pytest.approx(2 / 3)
    assert accuracy(predicted, np.array([-1, -1, -1, -1])) is None
    assert accuracy(predicted, None) is None

"""Choosing a setting by the covering rate, with predictions that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from pll.candidates import CandidateSets
from pll.methods.voting import Majority
from tests.strategies import candidate_sets


@given(candidate_sets(min_n=2, min_c=2))
def test_the_rate_is_the_share_of_sets_that_hold_the_prediction(sets: CandidateSets) -> None:
    """Predicting class j for everyone covers as many as have j; every example is held out exactly once."""
    X = np.arange(len(sets), dtype=np.float64)[:, None]
    predicted: list[float] = []

    def constants(train: np.ndarray, train_sets: CandidateSets, validation: np.ndarray) -> np.ndarray:
        assert len(train) + len(validation) == len(sets) and not set(train.ravel()) & set(validation.ravel())
        assert [row.tolist() for row in train_sets] == [sets[int(i)].tolist() for i in train.ravel()]
        predicted.extend(validation.ravel())
        return np.repeat(np.arange(sets.n_classes)[:, None], len(validation), axis=1)

    method = Majority()
    best = method._best("a label", range(sets.n_classes), constants, X, sets, np.random.default_rng(0))
    rates = method.covering_rates_
    assert rates[best] == max(rates.values())
    assert rates == pytest.approx(dict(enumerate(sets.mask().mean(axis=0).tolist())))
    assert sorted(predicted) == X.ravel().tolist()

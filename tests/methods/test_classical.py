"""Choosing a setting by the covering rate, with predictions that are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from pll.candidates import CandidateSets
from pll.methods import classical
from pll.methods.classical import best_value, covering_rates
from tests.strategies import candidate_sets


@settings(max_examples=30, deadline=None)
@given(candidate_sets(min_n=2, min_c=2))
def test_the_rate_is_the_share_of_sets_that_hold_the_prediction(sets: CandidateSets) -> None:
    """Predicting class j for everyone covers as many as have j; every example is held out exactly once."""
    X = np.arange(len(sets), dtype=np.float64)[:, None]
    held: list[float] = []

    def constants(train: np.ndarray, train_sets: CandidateSets, held_out: np.ndarray) -> np.ndarray:
        assert len(train) + len(held_out) == len(sets) and not set(train.ravel()) & set(held_out.ravel())
        assert [row.tolist() for row in train_sets] == [sets[int(i)].tolist() for i in train.ravel()]
        held.extend(held_out.ravel())
        return np.repeat(np.arange(sets.n_classes)[:, None], len(held_out), axis=1)

    rates = covering_rates(range(sets.n_classes), constants, X, sets, np.random.default_rng(0))
    assert rates == pytest.approx(dict(enumerate(sets.mask().mean(axis=0).tolist())))
    assert sorted(held) == X.ravel().tolist()


def test_of_many_examples_a_part_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classical, "SEARCH_ROWS", 10)
    sets = CandidateSets.from_labels(np.arange(50) % 2, 2)
    sizes = []

    def predictions(train: np.ndarray, train_sets: CandidateSets, held_out: np.ndarray) -> np.ndarray:
        sizes.append((len(train), len(held_out)))
        return np.zeros((1, len(held_out)), dtype=np.int64)

    covering_rates([1.0], predictions, np.zeros((50, 1)), sets, np.random.default_rng(0))
    assert sizes == [(8, 2)] * 5


def test_the_first_of_equals_is_taken() -> None:
    assert best_value({0.1: 0.5, 1.0: 0.7, 10.0: 0.7}) == 1.0

"""Learning rate and batch size where nothing is said."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.defaults import TABLE, default_lr
from pll.methods.proden import PRODEN
from pll.synthesis.flips import flip_binomial
from pll.training.scaling import fit_scaling

RNG = np.random.default_rng(0)
TABLE_X = RNG.normal(size=(40, 9)).astype(np.float32)
PICTURES = (RNG.normal(size=(40, 1, 1, 1)) + 0.2 * RNG.normal(size=(40, 1, 9, 9))).astype(np.float32)
SETS = CandidateSets.from_lists([[k % 3, (k + 1) % 3] for k in range(40)], n_classes=3)


def rate(X: np.ndarray, model: str = "linear", optimiser: str = "sgd") -> float:
    return default_lr(model, optimiser, X, fit_scaling(X))


def test_a_rate_for_each_kind_of_data_and_model() -> None:
    assert rate(TABLE_X) == rate(TABLE_X, "mlp") == TABLE
    assert rate(PICTURES, "mlp") == rate(PICTURES, "convnet") == 0.04
    assert rate(np.repeat(PICTURES, 300, axis=0), "mlp") == 0.01
    assert rate(PICTURES, optimiser="adam") == rate(TABLE_X, optimiser="adam") == 0.001


@pytest.mark.parametrize("n", [40, 12])
def test_linear_models_of_pictures_take_a_step_by_the_largest_moment(n: int) -> None:
    X = PICTURES[:n]
    x = ((X - X.mean()) / X.std()).reshape(n, -1).astype(np.float64)
    largest = np.linalg.eigvalsh(x.T @ x / n)[-1]
    assert rate(X) == pytest.approx(min(2 / largest, TABLE), rel=0.05)
    assert rate(np.zeros_like(X)) == TABLE


@pytest.mark.parametrize("X", [TABLE_X, PICTURES])
def test_it_is_what_training_uses_and_saves(X: np.ndarray) -> None:
    estimator = PRODEN(epochs=1)
    for _ in estimator.iter_fit(Task(X, SETS)):
        assert estimator.trainer is not None
        assert estimator.trainer.optimisation.lr == rate(X)
    assert estimator.get_params()["lr"] is None
    assert estimator.fitted_params()["lr"] == rate(X)
    given = PRODEN(epochs=1, lr=rate(X)).fit(X, SETS)
    np.testing.assert_array_equal(given.predict_proba(X), estimator.predict_proba(X))


def test_a_search_starts_from_it() -> None:
    found = PRODEN(recipe="auto", epochs=1).choose_settings(Task(PICTURES, SETS))
    assert found.trials[0].settings["lr"] == rate(PICTURES)


def test_few_examples_take_more_than_a_step_an_epoch() -> None:
    X, y = load_iris(return_X_y=True)
    sets = flip_binomial(y, 3, 0.3, seed=2)
    usual = PRODEN(epochs=40).fit(X, sets)
    assert usual.setting("batch_size") == 32
    one_step = PRODEN(epochs=40, batch_size=256).fit(X, sets)
    assert usual.score(X, y) > one_step.score(X, y)


def test_a_checkpoint_from_before_goes_on_with_what_it_began_with() -> None:
    estimator = PRODEN(epochs=4, batch_size=256, lr=0.01)
    expected = [record.loss for record in estimator.iter_fit(Task(TABLE_X, SETS))]
    begun = PRODEN(epochs=4, batch_size=256, lr=0.01)
    for _ in zip(range(2), begun.iter_fit(Task(TABLE_X, SETS)), strict=False):
        checkpoint = begun.checkpoint()
    del checkpoint["suited"]  # as it was while batches were of 256 wherever nothing was said
    resumed = PRODEN(epochs=4)
    assert [record.loss for record in resumed.iter_fit(Task(TABLE_X, SETS), checkpoint=checkpoint)] == expected[2:]
    assert resumed.setting("batch_size") == 256 and resumed.setting("lr") == 0.01

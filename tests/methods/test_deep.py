"""What all methods trained by gradient descent share: threads, training state, networks of any precision."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pll.methods import METHODS
from pll.methods.base import Task
from pll.synthesis import flip_binomial
from pll.training.models import mlp

Y = np.arange(2000) % 4
X = np.random.default_rng(0).normal(size=(2000, 30)).astype(np.float32)
SETS = flip_binomial(Y, 4, 0.3, seed=0)


class Double(nn.Module):
    """A network that gives float64."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(30, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x).double()


@pytest.mark.parametrize(("width", "expected"), [(20, 1), (1200, 2)])
def test_threads_are_chosen_by_the_size_of_a_step_and_put_back_while_the_caller_has_the_record(
    width: int, expected: int
) -> None:
    before = torch.get_num_threads()
    inside: list[int] = []
    settings = {"model": lambda shape, c: mlp(shape, c, width), "batch_size": 8, "epochs": 2, "device": "cpu"}
    records = METHODS["proden"](**settings, threads=2).iter_fit(
        Task(X[:16], SETS[:16]), hook=lambda: inside.append(torch.get_num_threads())
    )
    for _ in records:
        assert torch.get_num_threads() == before
    assert set(inside) == {expected}


def test_a_fitted_estimator_pickles_without_its_training_data() -> None:
    estimator = METHODS["proden"](epochs=1, device="cpu").fit(X, SETS)
    content = pickle.dumps(estimator)
    assert len(content) < X.nbytes
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.predict_scores(X), estimator.predict_scores(X))
    np.testing.assert_array_equal(again.identify(), estimator.identify())


def test_a_network_that_gives_float64_is_trained_in_float32() -> None:
    estimator = METHODS["proden"](model=Double(), epochs=2, device="cpu").fit(X, SETS)
    assert estimator.label_weights_.dtype == np.float32
    assert estimator.predict_proba(X[:3]).dtype == np.float32

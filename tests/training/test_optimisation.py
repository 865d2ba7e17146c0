from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from pll.methods.base import Task
from pll.methods.proden import PRODEN
from pll.synthesis import flip_binomial
from pll.training.trainer import Optimisation

Y = np.arange(24) % 3
X = (np.random.default_rng(0).normal(size=(24, 3)) + 2 * np.eye(3)[Y]).astype(np.float32)
SETS = flip_binomial(Y, 3, 0.3, seed=0)


def adam_by_hand(w: np.ndarray, gradients: list[np.ndarray], lr: float, beta: float, decay: float) -> np.ndarray:
    """Kingma & Ba 2015, Algorithm 1, with the decay added to the gradient."""
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t, gradient in enumerate(gradients, start=1):
        g = gradient + decay * w
        m, v = beta * m + (1 - beta) * g, 0.999 * v + 0.001 * g * g
        w = w - lr * (m / (1 - beta**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


def test_adam_is_adam() -> None:
    rng = np.random.default_rng(0)
    start, gradients = rng.normal(size=5), [rng.normal(size=5) for _ in range(4)]
    parameter = nn.Parameter(torch.from_numpy(start).float())
    optimiser = Optimisation(lr=0.1, momentum=0.8, weight_decay=0.02, optimiser="adam").start([parameter])
    for gradient in gradients:
        parameter.grad = torch.from_numpy(gradient).float()
        optimiser.step()
    expected = adam_by_hand(start, gradients, lr=0.1, beta=0.8, decay=0.02)
    np.testing.assert_allclose(parameter.detach().numpy(), expected, atol=1e-5)


def rates(**settings: Any) -> list[float]:
    """The learning rate that each epoch's steps were taken with."""
    used: list[float] = []
    estimator = PRODEN(batch_size=12, device="cpu", lr=0.1, **settings)

    def hook() -> None:
        assert estimator.trainer is not None
        used.append(estimator.trainer.optimiser.param_groups[0]["lr"])

    list(estimator.iter_fit(Task(X, SETS), hook=hook))
    assert used[::2] == used[1::2]  # two batches an epoch
    return used[::2]


def test_the_rate_falls_every_so_many_epochs() -> None:
    assert rates(epochs=5) == [0.1] * 5
    assert rates(epochs=5, lr_decay=0.5, lr_decay_every=2) == pytest.approx([0.1, 0.1, 0.05, 0.05, 0.025])
    assert rates(epochs=25, lr_decay=0.9) == pytest.approx([0.1] * 10 + [0.09] * 10 + [0.081] * 5)
    assert rates(epochs=3, lr_decay=0.5, lr_decay_every=1, optimiser="adam") == pytest.approx([0.1, 0.05, 0.025])

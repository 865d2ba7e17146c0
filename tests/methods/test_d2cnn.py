"""D²CNN against an independent small computation of the objective that its docstring states."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.d2cnn import D2CNN
from pll.methods.proden import PRODENNaive
from pll.training.layouts import DenseLayout, PaddedLayout
from pll.training.trainer import Optimisation, Trainer
from pll.weights import dense
from tests.methods.reference import Matrix, softmax

# 5 examples × 3 features × 4 classes: a singleton and a whole label set among them.
X = np.random.default_rng(8).normal(size=(5, 3)).astype(np.float32)
SETS = CandidateSets.from_lists([[0, 1], [2], [0, 1, 2, 3], [1, 3], [0, 2, 3]], 4)
MASK = SETS.mask()
EPOCHS = [[[0, 1, 2], [3, 4]], [[4, 2, 0], [1, 3]], [[3, 1, 2], [0, 4]], [[2, 4, 3], [0, 1]]]
LAMBDA, MU, ALPHA = 0.7, 12.0, 0.6
RAMP_EPOCHS = 3  # 0.3 of 10


def restricted(p: Matrix, rows: list[int]) -> Matrix:
    on_candidates = p * MASK[rows]
    return on_candidates / on_candidates.sum(axis=1, keepdims=True)


def objective(theta: Matrix, rows: list[int], Z: Matrix, t: int) -> float:
    """L of the docstring, one example after the other; theta is (4, 3 + 1), the bias last."""
    total = 0.0
    for i in rows:
        p = softmax((X[i].astype(np.float64) @ theta[:, :3].T + theta[:, 3])[None])[0]
        candidates = np.flatnonzero(MASK[i])
        r = np.exp(-5 * (1 - min(1.0, t / RAMP_EPOCHS)) ** 2)
        total += -np.log(p[candidates]).mean() + r * LAMBDA * -(p * np.log(p)).sum()
        if t > 0:
            total += r * MU * ((p - Z[i] / (1 - ALPHA**t)) ** 2).mean()
    return total / len(rows)


@pytest.mark.parametrize("layout", [DenseLayout, PaddedLayout])
def test_every_step_equals_the_independent_computation(layout: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pll.training.layouts.layout_type", lambda candidates: layout)
    network = nn.Linear(3, 4)
    method = D2CNN(epochs=10, entropy=LAMBDA, consistency=MU, ensemble=ALPHA, ramp_up=0.3)
    plain = Optimisation(lr=0.4, momentum=0.0, weight_decay=0.0)
    trainer = Trainer(network, torch.from_numpy(X), SETS, method._objective(Task(X, SETS)), plain, seed=0)
    theta = np.hstack([network.weight.detach().numpy(), network.bias.detach().numpy()[:, None]]).astype(np.float64)
    start, Z = theta.copy(), np.zeros((5, 4))
    for t, epoch in enumerate(EPOCHS):
        for rows in epoch:
            expected = objective(theta, rows, Z, t)
            gradient = np.zeros_like(theta)
            for place in np.ndindex(theta.shape):
                step = np.zeros_like(theta)
                step[place] = 1e-5
                gradient[place] = objective(theta + step, rows, Z, t) - objective(theta - step, rows, Z, t)
            p = softmax(X[rows].astype(np.float64) @ theta[:, :3].T + theta[:, 3])
            Z[rows] = ALPHA * Z[rows] + (1 - ALPHA) * restricted(p, rows)  # of the same forward pass
            theta = theta - 0.4 * gradient / 2e-5
            assert float(trainer.step(torch.tensor(rows)).loss) == pytest.approx(expected, rel=1e-4)
            np.testing.assert_allclose(network.weight.detach().numpy(), theta[:, :3], atol=1e-4)
            average = trainer.layout.flat(trainer.objective.average)  # type: ignore[attr-defined]
            np.testing.assert_allclose(dense(average, SETS), Z, atol=1e-5)
        trainer.end_epoch()
        targets = Z / (1 - ALPHA ** (t + 1))
        np.testing.assert_allclose(targets.sum(axis=1), 1, atol=1e-9)  # corrected, the average is on the simplex
    assert np.abs(theta - start).max() > 0.1  # it went somewhere


def test_without_its_two_terms_it_is_proden_naive() -> None:
    settings: dict[str, Any] = {"epochs": 5, "batch_size": 2, "device": "cpu", "weight_decay": 1e-5}
    bare = D2CNN(entropy=0, consistency=0, **settings).fit(X, SETS)
    naive = PRODENNaive(**settings).fit(X, SETS)
    np.testing.assert_allclose(bare.predict_scores(X), naive.predict_scores(X), atol=1e-5)


@pytest.mark.parametrize("term", ["entropy", "consistency"])
def test_each_term_makes_predictions_more_decided(term: str) -> None:
    settings: dict[str, Any] = {"epochs": 40, "batch_size": 5, "device": "cpu"} | {"entropy": 0, "consistency": 0}
    without = D2CNN(**settings).fit(X, SETS)
    with_it = D2CNN(**settings | {term: 3.0 if term == "entropy" else 100.0}).fit(X, SETS)
    ambiguous = SETS.sizes[SETS.rows] > 1
    assert (with_it.label_weights_[ambiguous] ** 2).sum() > (without.label_weights_[ambiguous] ** 2).sum()

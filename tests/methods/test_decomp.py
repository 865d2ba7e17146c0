"""PN-decomp against an independent small computation on explicit copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.decomp import PNDecomp
from pll.methods.proden import PNOracle
from pll.training import trainer as trainer_module
from pll.training.layouts import DenseLayout, PaddedLayout
from pll.training.models import build_model
from pll.training.trainer import Optimisation, Trainer
from pll.weights import dense
from tests.methods.reference import LOSSES, Matrix, softmax

# 5 examples × 3 features × 4 classes, 11 copies: a singleton and a whole label set among them.
X = np.random.default_rng(3).normal(size=(5, 3)).astype(np.float32)
SETS = CandidateSets.from_lists([[0, 1], [2], [0, 1, 2, 3], [1, 3], [2, 3]], 4)
COPIES = [(0, 0), (0, 1), (1, 2), (2, 0), (2, 1), (2, 2), (2, 3), (3, 1), (3, 3), (4, 2), (4, 3)]
LR, MOMENTUM, DECAY = 0.3, 0.9, 0.01


@pytest.fixture(params=[DenseLayout, PaddedLayout], ids=["dense", "padded"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pll.training.layouts.layout_type", lambda candidates: request.param)


def copied_by_hand(start: nn.Module, loss: str, epochs: int, batch_size: int, seed: int) -> tuple[Matrix, Matrix]:
    """W and the label weights after training on real copies, each with one label; gradients by hand, in float64."""
    examples = np.array([X[i] for i, _ in COPIES], dtype=np.float64)
    one_hot = np.eye(4)[[label for _, label in COPIES]]
    W, b = (part.detach().numpy().astype(np.float64) for part in start.parameters())
    velocity_W, velocity_b = np.zeros_like(W), np.zeros_like(b)
    for epoch in range(epochs):
        order = trainer_module.epoch_order(len(COPIES), seed, epoch).numpy()
        for first in range(0, len(COPIES), batch_size):
            batch = order[first : first + batch_size]
            p = softmax(examples[batch] @ W.T + b)
            _, gradient = LOSSES[loss](p, one_hot[batch])
            velocity_W = MOMENTUM * velocity_W + gradient.T @ examples[batch] / len(batch) + DECAY * W
            velocity_b = MOMENTUM * velocity_b + gradient.mean(axis=0) + DECAY * b
            W, b = W - LR * velocity_W, b - LR * velocity_b
    p = softmax(X @ W.T + b) * SETS.mask()
    return W, p / p.sum(axis=1, keepdims=True)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("batch_size", [4, 11])
def test_it_is_training_on_copies(loss: str, batch_size: int) -> None:
    start = build_model("linear", (3,), 4)
    estimator = PNDecomp(
        model=start, loss=loss, epochs=3, batch_size=batch_size, lr=LR, momentum=MOMENTUM, weight_decay=DECAY,
        scale="none", seed=6, device="cpu",
    )  # fmt: skip
    estimator.fit(X, SETS)
    W, weights = copied_by_hand(start, loss, 3, batch_size, seed=6)
    np.testing.assert_allclose(estimator.fitted_arrays()["1.1.weight"], W, atol=1e-5)
    np.testing.assert_allclose(dense(estimator.label_weights_, SETS), weights, atol=1e-5)


def new_trainer(network: nn.Module, **settings: Any) -> Trainer:
    objective = PNDecomp()._objective(Task(X, SETS))
    return Trainer(network, torch.from_numpy(X), SETS, objective, Optimisation(**{"batch_size": 4} | settings), seed=0)


def test_an_epoch_passes_over_every_pair_once() -> None:
    trainer = new_trainer(nn.Linear(3, 4))
    for _ in range(2):
        pairs = []
        for units in trainer.batches_left():
            batch = trainer.step(units).batch
            labels = trainer.objective._labels[batch.units]  # type: ignore[attr-defined]
            pairs += list(zip(batch.rows.tolist(), labels.tolist(), strict=True))
        trainer.end_epoch()
        assert sorted(pairs) == COPIES


def test_where_nothing_is_ambiguous_it_is_supervised_learning() -> None:
    y = np.array([0, 2, 1, 3, 3])
    sets = CandidateSets.from_labels(y, 4)
    decomposed = PNDecomp(epochs=4, batch_size=2, lr=0.05, device="cpu").fit(X, sets)
    oracle = PNOracle(epochs=4, batch_size=2, lr=0.05, device="cpu").fit(X, sets, truth=y)
    np.testing.assert_allclose(decomposed.predict_scores(X), oracle.predict_scores(X), atol=1e-6)

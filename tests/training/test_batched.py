"""Many models trained as one give what the trainer gives for each of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.proden import PRODEN
from pll.training.batched import BatchedModels
from pll.training.models import shallow_mlp
from pll.weights import dense

RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 5)).astype(np.float32)
SETS = CandidateSets.from_mask(np.maximum(RNG.random((40, 3)) < 0.5, np.eye(3)[RNG.integers(0, 3, 40)] > 0))
ARMS = ((0.1, 1e-2), (0.02, 0.0))
PRIOR = RNG.random(SETS.nnz).astype(np.float32) + 0.1


@pytest.mark.parametrize("model", ["linear", "shallow-mlp"])
@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
@pytest.mark.parametrize("with_prior", [False, True])
def test_they_are_the_models_of_the_trainer(model: str, optimiser: str, with_prior: bool) -> None:
    prior = PRIOR / np.add.reduceat(PRIOR, SETS.indptr[:-1])[SETS.rows] if with_prior else None
    hidden = 500 if model == "shallow-mlp" else 0
    batched = BatchedModels(
        torch.from_numpy(X),
        torch.from_numpy(SETS.mask()),
        ARMS,
        momentum=0.5,
        hidden=hidden,
        optimiser=optimiser,
        batch_size=16,
        seed=3,
        prior=None if prior is None else torch.from_numpy(dense(prior, SETS)),
    )
    first = [tensor.clone() for tensor in batched.parameters(0)]
    for _ in range(2):
        batched.train_epoch()
    losses = batched.train_epoch(with_loss=True)
    assert losses is not None
    for k, (lr, weight_decay) in enumerate(ARMS):

        def network(shape: tuple[int, ...], c: int) -> torch.nn.Module:
            made = shallow_mlp(shape, c) if hidden else torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(5, c))
            with torch.no_grad():
                for own, start in zip(made.parameters(), first, strict=True):
                    own.copy_(start.T if start.shape[0] > 1 else start[0])
            return made

        alone = PRODEN(
            model=network, epochs=3, batch_size=16, seed=3, scale="none", optimiser=optimiser,
            lr=lr, weight_decay=weight_decay, momentum=0.5,
        )  # fmt: skip
        *_, last = alone.iter_fit(Task(X, SETS, prior=prior))
        assert float(losses[k]) == pytest.approx(last.loss, rel=1e-3)
        together: Tensor = batched.logits(torch.from_numpy(X))[:, k]
        np.testing.assert_allclose(together.numpy(), alone.predict_scores(X), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("hidden", [0, 7])
def test_models_with_examples_of_their_own_are_those_trained_alone(hidden: int) -> None:
    X_own, sets = torch.from_numpy(X[:36].reshape(12, 3, 5)), torch.from_numpy(SETS.mask()[:36].reshape(12, 3, 3))
    settings = {"hidden": hidden, "batch_size": 5, "seed": 2}
    together = BatchedModels(X_own, sets, ARMS[:1] * 3, **settings)
    for _ in range(4):
        losses = together.train_epoch(with_loss=True)
    assert losses is not None
    for k in range(3):
        alone = BatchedModels(X_own[:, k].contiguous(), sets[:, k], ARMS[:1], **settings)
        for _ in range(4):
            loss = alone.train_epoch(with_loss=True)
        assert loss is not None and float(loss[0]) == pytest.approx(float(losses[k]), rel=1e-4)
        for mine, theirs in zip(together.parameters(k), alone.parameters(0), strict=True):
            assert torch.allclose(mine, theirs, atol=1e-5)

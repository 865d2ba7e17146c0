"""Recorded steps, in pretence: a repetition does the step anew, on the numbers that the device has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from pll.methods.deep import DeepEstimator
from pll.methods.proden import PRODEN
from pll.synthesis import flip_binomial
from pll.training import layouts, recorded
from pll.training.batched import BatchedModels
from pll.training.recorded import RecordedSteps
from pll.training.trainer import Trainer

C, N, SIZE = 3, 43, 8
Y = np.arange(N) % C
X = np.random.default_rng(0).normal(size=(N, 5)).astype(np.float32)
SETS = flip_binomial(Y, C, 0.4, seed=0)


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The epoch of each repetition; the CPU records."""
    epochs: list[int] = []

    def record(self: RecordedSteps[Any], step: Any, units: Tensor, epoch: int) -> None:
        def replay() -> None:
            epochs.append(epoch)
            self.result = step(units)

        self._graph, self._epoch = SimpleNamespace(replay=replay), epoch  # type: ignore[assignment]

    monkeypatch.setattr(recorded, "records", lambda device: True)
    monkeypatch.setattr(RecordedSteps, "_record", record)
    return epochs


def weights(**settings: Any) -> Any:
    estimator = PRODEN(**{"epochs": 3, "batch_size": SIZE, "scale": "none", "device": "cpu"} | settings)
    return estimator.fit(X, SETS).label_weights_


def test_whole_mini_batches_but_the_first_are_repeated_and_give_the_same(
    repeated: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = weights(optimiser="adam", lr_decay=0.5, lr_decay_every=1)
    whole = N // SIZE
    assert repeated == [0] * (whole - 1) + [1] * whole + [2] * whole  # the last mini-batch of an epoch is smaller
    monkeypatch.setattr(recorded, "records", lambda device: False)
    assert np.array_equal(found, weights(optimiser="adam", lr_decay=0.5, lr_decay_every=1))


def test_models_at_once_are_repeated_and_give_the_same(repeated: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def trained() -> list[Tensor]:
        models = BatchedModels(
            torch.from_numpy(X), torch.from_numpy(SETS.mask()), [(0.1, 0.0), (0.2, 0.01)], batch_size=SIZE
        )
        losses = [models.train_epoch(with_loss=True) for _ in range(2)]
        return [*models.parameters(1), *(loss for loss in losses if loss is not None)]

    found = trained()
    assert repeated == [0] * (N // SIZE - 1) + [1] * (N // SIZE)
    monkeypatch.setattr(recorded, "records", lambda device: False)
    assert all(torch.equal(a, b) for a, b in zip(found, trained(), strict=True))


@pytest.mark.parametrize(
    "settings",
    [
        {"batch_size": N // 3},  # too few of them
        {"model": lambda shape, c: nn.Sequential(nn.RReLU(), nn.Linear(*shape, c))},  # draws as nobody knows
        {"loss": lambda logits: -torch.log_softmax(logits, dim=1)},  # a function of the user
    ],
)
def test_what_may_differ_from_step_to_step_is_not(repeated: list[int], settings: dict[str, Any]) -> None:
    weights(**settings)
    assert not repeated


def test_padded_sets_and_parts_are_not(repeated: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as padded:
        padded.setattr(layouts, "DENSE_ENTRIES", 0)
        weights()
    begun = DeepEstimator._new_trainer

    def in_parts(self: DeepEstimator, *arguments: Any) -> Any:
        trainer = begun(self, *arguments)
        trainer.parts = 2
        return trainer

    monkeypatch.setattr(DeepEstimator, "_new_trainer", in_parts)
    weights()
    assert not repeated


def test_where_memory_lacks_later_its_own_is_given_back_first(
    repeated: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, found = Trainer._counted_step, []

    def lacking(self: Trainer, units: Tensor) -> Any:
        if len(units) < SIZE and self._recorded.is_recorded:  # the smaller mini-batch of the first epoch
            raise torch.OutOfMemoryError("CUDA out of memory.")
        found.append(self)
        return counted(self, units)

    monkeypatch.setattr(Trainer, "_counted_step", lacking)
    weights()
    assert repeated == [0] * (N // SIZE - 1)
    assert found[-1].parts == 1 and not found[-1].notes

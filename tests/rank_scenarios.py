"""What the processes of `tests/training/test_distributed.py` do: `python -m tests.rank_scenarios FOLDER`."""

from __future__ import annotations

import copy
import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from pll.errors import UserError
from pll.methods.base import AFRESH, Start, Task
from pll.methods.deep import DeepEstimator
from pll.methods.proden import PRODEN, PRODENItera
from pll.synthesis import flip_binomial
from pll.training.distributed import Ranks, SharedTrainer
from pll.training.metrics import EpochRecord
from pll.weights import checked_prior

EPOCHS = 8


def normalised(input_shape: tuple[int, ...], n_classes: int) -> nn.Module:
    """A small network with batch normalisation, on one axis and on three."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 2, 3)),
        nn.Conv2d(1, 4, 2),
        nn.BatchNorm2d(4),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(8, 8),
        nn.BatchNorm1d(8, momentum=None),
        nn.Linear(8, n_classes),
    )


@dataclass(frozen=True)
class Scenario:
    """A method and its data."""

    estimator: type[DeepEstimator]
    n: int
    c: int
    settings: dict[str, Any]
    prior: bool = False

    def task(self) -> Task:
        """The data, the same in every process."""
        rng = np.random.default_rng(0)
        y = np.arange(self.n) % self.c
        X = rng.normal(size=(self.n, 6)) + rng.normal(size=(self.c, 6))[y] * 2
        sets = flip_binomial(y, self.c, 0.4 if self.c < 20 else 0.03, seed=0)
        prior = checked_prior(rng.random(sets.nnz) + 0.1, sets) if self.prior else None
        return Task(X.astype(np.float32), sets, y, prior=prior)

    def new(self) -> DeepEstimator:
        """The estimator."""
        settings: dict[str, Any] = {
            "model": "linear",
            "epochs": EPOCHS,
            "batch_size": 16,
            "lr": 0.1,
            "seed": 3,
        } | self.settings
        return self.estimator(**settings)


SCENARIOS = {
    "few classes": Scenario(PRODEN, 61, 5, {}),
    "many classes": Scenario(PRODEN, 80, 70, {}),
    "batches that a rank owns nothing of": Scenario(PRODEN, 21, 4, {"batch_size": 3, "optimiser": "adam", "lr": 0.01}),
    "batch normalisation": Scenario(PRODEN, 65, 5, {"model": normalised, "lr": 0.01}),
    "weights of its own": Scenario(PRODENItera, 61, 5, {"update_every": 3}),
    "a prior": Scenario(PRODEN, 61, 5, {}, prior=True),
}
HALF = 4
"""Epochs before a checkpoint, from which another number of processes goes on."""


def fitted(scenario: Scenario, estimator: DeepEstimator, start: Start = AFRESH) -> list[EpochRecord]:
    """Train to the end."""
    return list(estimator.iter_fit(scenario.task(), start=start))


def checkpoint_within(
    scenario: Scenario, estimator: DeepEstimator, batch: int = 1, start: Start = AFRESH
) -> dict[str, Any]:
    """Train to a mini-batch of epoch HALF + 1, and return the checkpoint there."""
    found: list[dict[str, Any]] = []

    def hook() -> None:
        trainer = estimator.trainer
        assert trainer is not None
        if trainer.epoch == HALF and trainer.cursor // 16 == batch and not found:
            found.append(copy.deepcopy(estimator.checkpoint()))  # its tensors are those that train on

    for record in estimator.iter_fit(scenario.task(), hook=hook, start=start):
        if record.epoch == HALF + 1:
            return found[0]
    raise AssertionError("training ended too early")


def lead(ranks: Ranks, folder: Path) -> None:
    """Rank 0: the scenarios one after the other; what they give goes into the folder."""
    for name, scenario in SCENARIOS.items():
        estimator = scenario.new()
        records = fitted(scenario, estimator, Start(ranks=ranks))
        weights = np.stack([record.label_weights for record in records])
        losses = np.array([record.loss for record in records])
        parameters: dict[str, Any] = estimator.fitted_arrays()
        estimator.release()
        np.savez(folder / f"{name}.npz", weights=weights, losses=losses, **parameters)
    scenario = SCENARIOS["weights of its own"]
    estimator = scenario.new()
    torch.save(checkpoint_within(scenario, estimator, start=Start(ranks=ranks)), folder / "of-two.pt")
    estimator.release()
    estimator = scenario.new()
    checkpoint = torch.load(folder / "of-one.pt", weights_only=True)
    records = fitted(scenario, estimator, Start(ranks=ranks, checkpoint=checkpoint))
    np.save(folder / "went-on.npy", records[-1].label_weights)
    estimator.release()
    estimator = scenario.new()
    try:
        fitted(scenario, estimator, Start(ranks=ranks))
    except UserError as error:
        (folder / "lost.txt").write_text(str(error), encoding="utf-8")


def follow(ranks: Ranks) -> None:
    """Rank 1: follow in all of them; the last time, die in the middle."""
    for scenario in [*SCENARIOS.values(), *[SCENARIOS["weights of its own"]] * 2]:
        scenario.new().follow(scenario.task(), ranks)
    step = SharedTrainer.step
    calls = []

    def dying(self: SharedTrainer, units: torch.Tensor) -> Any:
        calls.append(1)
        if len(calls) == 7:
            os._exit(9)
        return step(self, units)

    SharedTrainer.step = dying  # type: ignore[method-assign]  # in this process alone
    scenario.new().follow(scenario.task(), ranks)


def main() -> None:
    """Both ranks: the second is a fork, which spares it the imports."""
    torch.set_num_threads(1)
    importlib.import_module("torch._dynamo")  # what an optimiser imports, here for both
    child = os.fork()
    os.environ["RANK"] = "0" if child else "1"
    ranks = Ranks.from_environment()
    assert ranks is not None
    if ranks.leads:
        lead(ranks, Path(sys.argv[1]))
    else:
        follow(ranks)


if __name__ == "__main__":
    main()

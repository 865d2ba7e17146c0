"""Slow motion shows what the step then does, and disturbs nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from pll.analysis.trace import slow_step
from pll.candidates import CandidateSets
from pll.methods.proden import _Seamless, _Sudden
from pll.synthesis import flip_binomial
from pll.training.losses import get_loss
from pll.training.trainer import Objective, Optimisation, Trainer, WeightedLoss

N, D, C = 30, 5, 6
Y = np.arange(N) % C
X = torch.from_numpy(np.random.default_rng(0).normal(size=(N, D)).astype(np.float32))
SETS = flip_binomial(Y, C, 0.5, seed=0)
MANY = CandidateSets(SETS.indptr, SETS.indices, 200)  # so many classes that the layout is the padded one


def linear(c: int = C) -> nn.Module:
    return nn.Linear(D, c)


def with_dropout(c: int = C) -> nn.Module:
    return nn.Sequential(nn.Linear(D, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, c))


def trainer_after(
    steps: int,
    make: Callable[[int], nn.Module] = linear,
    objective: Callable[..., Objective] = _Seamless,
    sets: CandidateSets = SETS,
    **settings: object,
) -> Trainer:
    """A trainer that has taken some mini-batches of 8: the epoch has four, the last one smaller."""
    torch.manual_seed(1)
    optimisation = Optimisation(**{"batch_size": 8, "lr": 0.1} | settings)  # type: ignore[arg-type]
    trainer = Trainer(make(sets.n_classes), X, sets, objective(get_loss("ce")), optimisation, 0)
    take(trainer, steps)
    return trainer


def take(trainer: Trainer, steps: int) -> None:
    for _ in range(steps):
        with trainer.stream.drawing():
            for units in trainer.batches_left():
                trainer.step(units)
                trainer.cursor += len(units)
                break
        if trainer.cursor >= trainer.n_units:
            trainer.end_epoch()


def parameters(trainer: Trainer) -> np.ndarray:
    return torch.cat([p.detach().flatten() for p in trainer.network.parameters()]).numpy()


@pytest.mark.parametrize("make", [linear, with_dropout])
@pytest.mark.parametrize("objective", [_Seamless, _Sudden, WeightedLoss])
@pytest.mark.parametrize("sets", [SETS, MANY], ids=["dense", "padded"])
@pytest.mark.parametrize("steps", [0, 6])
def test_what_is_shown_is_what_happens(make, objective, sets, steps):
    trainer = trainer_after(steps, make, objective, sets)
    before = parameters(trainer)
    shown = slow_step(trainer, sets)
    assert np.array_equal(parameters(trainer), before)  # looking changes nothing …
    take(trainer, 1)
    at = sets.positions(np.array([shown.example]))
    assert trainer.current_label_weights()[at].tolist() == shown.label_weights.tolist()  # … and was right, exactly
    assert np.linalg.norm(parameters(trainer).astype(np.float64) - before) == pytest.approx(shown.move, rel=1e-6)
    trainer.network.eval()
    after = torch.softmax(trainer.network(X[shown.example][None]), dim=1)[0].detach().numpy()
    assert after[shown.labels] == pytest.approx(shown.scores_after, abs=1e-7)


def test_two_looks_and_a_step_are_as_one_step():
    looked, plain = trainer_after(2, with_dropout), trainer_after(2, with_dropout)
    stream = torch.get_rng_state()
    slow_step(looked, SETS)
    slow_step(looked, SETS, 3)
    assert torch.equal(torch.get_rng_state(), stream)
    take(looked, 5)
    take(plain, 5)
    assert np.array_equal(parameters(looked), parameters(plain))

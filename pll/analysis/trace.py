"""Trace of the next mini-batch of Algorithm 1: every number of one example, before the step is taken.

The step is taken on a copy of the trainer, by `Trainer.step` itself, so that what is shown is what will happen: the
same order of examples, the same dropout, the same result to the last digit. The trainer is not changed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.training.layouts import Batch
from pll.training.trainer import Step, Trainer, WeightedLoss, evaluating
from pll.weights import Floats, Ints


@dataclass(frozen=True, eq=False)
class SlowStep:
    """One example in one mini-batch; its k candidates in the order of their labels.

    Attributes
    ----------
    epoch
        Epochs completed before this step.
    rows
        (B,) the examples of the mini-batch, in its order.
    example
        The example whose numbers these are, one of `rows`.
    labels
        (k,) its candidates.
    logits
        (k,) their logits z_j.
    scores
        (k,) g_j, softmax over *all* classes; they sum to less than 1 where other classes have a share.
    old_weights
        (k,) training weights that the loss uses, w_j.
    losses
        (k,) what each candidate would cost, ℓ(g, e^j).
    loss
        Σ_j w_j ℓ(g, e^j) of this example.
    batch_loss
        The mean of that over the mini-batch, which is what the step reduces.
    gradient
        (k,) of this example's loss, by its logits.
    gradient_norm
        Length of the gradient of `batch_loss` by all parameters.
    label_weights
        (k,) the new label weights: softmax over the candidates alone.
    parameters
        How many there are.
    move
        Length of the way that the parameters go.
    scores_after
        (k,) g_j of the model after the step.
    """

    epoch: int
    rows: Ints
    example: int
    labels: Ints
    logits: Floats
    scores: Floats
    old_weights: Floats
    losses: Floats
    loss: float
    batch_loss: float
    gradient: Floats
    gradient_norm: float
    label_weights: Floats
    parameters: int
    move: float
    scores_after: Floats


def slow_step(trainer: Trainer, candidates: CandidateSets, example: int | None = None) -> SlowStep:
    """Compute the next step for one of its examples, without changing the trainer.

    Parameters
    ----------
    trainer
        Between two mini-batches, and standing still meanwhile (see `Run.while_paused`).
    candidates
        Of its examples.
    example
        Which one; where it is not in the mini-batch, or None, the least certain of the mini-batch.

    Raises
    ------
    UserError
        The method does not train on a weighted sum over the candidates.
    """
    objective = trainer.objective
    if not isinstance(objective, WeightedLoss):
        raise UserError("Slow mode shows methods that weigh the candidates: PRODEN, naive, sudden and itera.")
    units = next(trainer.batches_left())
    twin = _twin(trainer)
    with twin.stream.drawing():
        step = twin.step(units)
    old = step.batch.read(objective.weights)  # (B, k), of the real trainer: as they were
    place = _place(units, old, example)
    row = int(units[place])
    labels = candidates[row].astype(np.int64)

    def own(values: Tensor) -> Floats:
        """Return (B, c) → (k,) of the example."""
        return _numbers(values[place])[labels]

    with torch.no_grad():
        losses = objective.label_losses(step.logits)
    on_candidates = _reader(step.batch, candidates, place, row)
    return SlowStep(
        epoch=trainer.epoch,
        rows=units.cpu().numpy(),
        example=row,
        labels=labels,
        logits=own(step.logits),
        scores=own(torch.softmax(step.logits, dim=1)),
        old_weights=on_candidates(old),
        losses=own(losses),
        loss=float((on_candidates(old) * own(losses)).sum()),
        batch_loss=float(step.loss),
        gradient=own(_gradient_by_logits(objective, step)),
        gradient_norm=_length(p.grad for p in twin.network.parameters() if p.grad is not None),
        label_weights=on_candidates(step.label_weights),
        parameters=sum(p.numel() for p in twin.network.parameters() if p.requires_grad),
        move=_length(
            b.detach() - a.detach()
            for a, b in zip(trainer.network.parameters(), twin.network.parameters(), strict=True)
        ),
        scores_after=_scores(twin.network, trainer.X[row : row + 1])[labels],
    )


def _twin(trainer: Trainer) -> Trainer:
    """Return a copy of the trainer for one step; it shares features and candidates, which a step does not change."""
    shared: dict[int, object] = {id(part): part for part in (trainer.X, trainer.layout, trainer.stream)}
    twin = copy.deepcopy(trainer, shared)
    twin.stream = trainer.stream.twin()  # its present state, even in the middle of an epoch
    return twin


def _place(units: Tensor, old: Tensor, example: int | None) -> int:
    """Return the place of the example in the mini-batch, or of the least certain one with several candidates."""
    result = (units == (-1 if example is None else example)).nonzero()
    if len(result):
        return int(result[0])
    return int(old.max(dim=1).values.argmin())


def _reader(batch: Batch, candidates: CandidateSets, place: int, row: int) -> Callable[[Tensor], Floats]:
    """Return a function (B, columns of the layout) → (k,) values of the example's candidates."""
    labels = torch.arange(candidates.n_classes, device=batch.rows.device)
    columns = batch.pick(labels.expand(len(batch.rows), -1))[place]  # which class each column is
    wanted = torch.from_numpy(candidates[row].astype(np.int64)).to(columns.device)
    at = torch.stack([(columns == label).nonzero()[0, 0] for label in wanted])  # padding comes after the real columns
    return lambda values: _numbers(values[place][at])


def _gradient_by_logits(objective: WeightedLoss, step: Step) -> Tensor:
    """Return (B, c): the gradient of each example's own loss by its logits. For cross-entropy that is g − w."""
    logits = step.logits.clone().requires_grad_()
    loss = objective.loss(step.batch, logits) * len(logits)  # the batch's loss is a mean
    (gradient,) = torch.autograd.grad(loss, logits)
    return gradient


def _scores(network: nn.Module, x: Tensor) -> Floats:
    with evaluating(network):
        return _numbers(torch.softmax(network(x), dim=1)[0])


def _length(gradients: Iterable[Tensor]) -> float:
    return float(sum(float((part.double() ** 2).sum()) for part in gradients) ** 0.5)


def _numbers(values: Tensor) -> Floats:
    return values.detach().cpu().numpy().astype(np.float64)

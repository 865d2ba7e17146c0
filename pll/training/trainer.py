"""Mini-batch training with label weights: the optimiser, what a method adds (`Objective`), the step, the loop.

The step is the paper's Algorithm 1, lines 6-9: one forward pass gives the loss, under the weights as they were, and
the new label weights; the weights change before the parameters do, and no gradient flows through them.

What this file is not about: threads, files and pages.
"""

from __future__ import annotations

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.training.augment import Augmentation
from pll.training.layouts import Batch, choose_layout
from pll.training.losses import Loss
from pll.training.metrics import EpochRecord, Hook, Monitor, TrainingProgress
from pll.training.models import draws_globally, has_batch_norm
from pll.training.rng import Stream
from pll.weights import Weights

OPTIMISERS = ("sgd", "adam")


@dataclass(frozen=True)
class Optimisation:
    """The optimiser and its settings (paper: stochastic gradient descent, momentum 0.9, batch 256).

    Args:
        batch_size: training units a step, at least 1.
        lr: learning rate of the first epoch.
        momentum: of SGD; for Adam its β₁, below 1 (β₂ is 0.999).
        weight_decay: added to the gradient as weight_decay · Θ.
        optimiser: `"sgd"` or `"adam"`.
        lr_decay, lr_decay_every: every so many epochs the learning rate is multiplied by `lr_decay`
            (paper, ConvNet: 0.9 every 10). It follows from the epoch alone, so that a resumed run goes on alike.

    >>> settings = Optimisation(lr=0.1, lr_decay=0.5, lr_decay_every=2)
    >>> [settings.lr_at(epoch) for epoch in range(5)]
    [0.1, 0.1, 0.05, 0.05, 0.025]
    """

    batch_size: int = 256
    lr: float = 0.05
    momentum: float = 0.9
    weight_decay: float = 1e-3
    optimiser: str = "sgd"
    lr_decay: float = 1.0
    lr_decay_every: int = 10

    def lr_at(self, epoch: int) -> float:
        """The learning rate of epoch 0, 1, … (the number of epochs completed)."""
        return self.lr * self.lr_decay ** (epoch // self.lr_decay_every)

    def start(self, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        """A fresh optimiser for these parameters.

        Raises:
            UserError: an optimiser that does not exist, or a momentum that Adam cannot have.
        """
        if self.optimiser not in OPTIMISERS:
            raise UserError(f"There is no optimiser called {self.optimiser!r}; use one of {', '.join(OPTIMISERS)}.")
        if self.optimiser == "sgd":
            return torch.optim.SGD(
                parameters, lr=self.lr, momentum=self.momentum, weight_decay=self.weight_decay, fused=True
            )
        if not 0 <= self.momentum < 1:
            raise UserError(f"momentum is {self.momentum}; Adam needs it below 1.")
        return torch.optim.Adam(
            parameters, lr=self.lr, betas=(self.momentum, 0.999), weight_decay=self.weight_decay, fused=True
        )


class Objective(ABC):
    """A method's part of the step. All it must have is a loss; whatever else there is to do, it does nothing by itself.

    An epoch passes once over the *training units*. These are the examples, unless the method sets `owners` in `start`.
    """

    owners: Tensor | None = None
    """(m,) int64, the example that each of m training units belongs to; None where the units are the examples."""

    def start(self, trainer: Trainer) -> None:
        """Make the stores it needs; the trainer is ready but untrained."""
        return

    def warm_up(self, trainer: Trainer) -> None:
        """Training goes on from a model fitted before; `trainer.label_weights` are that model's. Called after `start`.

        Where the training weights are made of label weights: take them over, as if they had just been refreshed.
        """
        return

    @abstractmethod
    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        """The scalar to minimise, of logits (B, c), under the weights as they are."""

    def update(self, batch: Batch, label_weights: Tensor) -> None:
        """Take notice of the batch's new label weights (B, k), before the parameters change. No gradients."""
        return

    def end_epoch(self, trainer: Trainer) -> None:
        """Do what is done once an epoch, if anything."""
        return

    def state(self) -> dict[str, Tensor]:
        """Everything that a checkpoint must hold beyond model, optimiser and label weights."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Go on from `state()`."""
        return


class WeightedLoss(Objective):
    """Σ_j w_ij ℓ(g(x_i), e^j), averaged over the batch (paper, Eq. softmin); the weights stay uniform.

    Attributes:
        weights: the training weights, a store of the trainer's layout.
    """

    weights: Tensor

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    def start(self, trainer: Trainer) -> None:
        self.weights = trainer.label_weights.clone()  # uniform, Eq. (init)

    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        return (batch.read(self.weights) * batch.pick(self._loss(logits))).sum() / len(logits)

    def label_losses(self, logits: Tensor) -> Tensor:
        """(B, c): what each label would cost."""
        return self._loss(logits)

    def state(self) -> dict[str, Tensor]:
        return {"weights": self.weights}

    def load_state(self, state: dict[str, Tensor]) -> None:
        self.weights.copy_(state["weights"])


@dataclass(frozen=True)
class Step:
    """One mini-batch, as it was: rows (B,), logits (B, c), new label weights (B, k), mean loss ()."""

    batch: Batch
    logits: Tensor
    label_weights: Tensor
    loss: Tensor


class Trainer:
    """Model, optimiser, label weights and where training stands. Everything lies on one device.

    Args:
        network: takes scaled features (B, …), gives logits (B, c).
        X: (n, …) scaled features on the device.
        candidates: the candidate sets of the n examples.
        objective: the method's part.
        optimisation: settings of the optimiser.
        seed: fixes the order of examples and whatever the network or the augmentation draws at random.
        augment: changes the scaled features of a training batch at random; evaluation sees them as they are.
        loss_draws: whether the objective's loss may draw from torch's global random stream.

    Attributes:
        epoch: epochs completed.
        cursor: training units of the current epoch already used.
        stream: what network and augmentation draw from in a step; `step` itself leaves that to its caller.
        label_weights: store of `layout`, restricted softmax of each example's latest training pass; uniform at first.
    """

    def __init__(
        self,
        network: nn.Module,
        X: Tensor,
        candidates: CandidateSets,
        objective: Objective,
        optimisation: Optimisation,
        seed: int,
        augment: Augmentation | None = None,
        loss_draws: bool = False,
    ) -> None:
        self.network = network.to(X.device)
        self.X = X
        self.optimisation = optimisation
        self.seed = seed
        self.augment = augment
        self.optimiser = optimisation.start(network.parameters())
        self.layout = choose_layout(candidates, X.device)
        self.label_weights = self.layout.store(candidates.uniform_weights())  # Eq. (init)
        self.epoch = 0
        self.cursor = 0
        self._loss_sum = torch.zeros((), device=X.device)
        self.stream = Stream(X.device, seed, is_global=loss_draws or draws_globally(network))
        self._merge_last = has_batch_norm(network)
        self.objective = objective
        objective.start(self)

    @property
    def n_units(self) -> int:
        """Training units an epoch passes over: n, unless the objective has `owners`."""
        return len(self.X) if self.objective.owners is None else len(self.objective.owners)

    def step(self, units: Tensor) -> Step:
        """One mini-batch of Algorithm 1, lines 6-9.

        Args:
            units: (B,) int64 training units (examples, unless the objective has `owners`), on the device.
        """
        owners = self.objective.owners
        rows = units if owners is None else owners[units]
        batch = self.layout.batch(rows)
        batch.units = units
        inputs = self.X.index_select(0, rows)
        if self.augment is not None:
            inputs = self.augment(inputs, self.stream.generator)
        logits = self._logits(inputs)  # (B, c), the one forward pass
        loss = self.objective.loss(batch, logits)  # line 6, with the old weights
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # line 7
        with torch.no_grad():
            new = batch.restrict(logits.detach())  # line 8, Eq. (norm)
            if owners is not None:
                new = new[_first_of_equals(rows)]  # copies of one example must not race for its place
            batch.write(self.label_weights, new)
            self.objective.update(batch, new)
        self.optimiser.step()  # line 9
        self._loss_sum += loss.detach() * len(units)
        return Step(batch, logits.detach(), new, loss.detach())

    def _logits(self, inputs: Tensor) -> Tensor:
        """(B, c) float32, whatever precision the network computes in."""
        logits: Tensor = self.network(inputs)
        return logits.float()

    def batches_left(self) -> Iterator[Tensor]:
        """The mini-batches of this epoch that are still to come; their order depends on seed and epoch alone.

        The last batch may be smaller; a last batch of one example, which batch normalisation cannot take, joins the
        one before it.
        """
        n, size = self.n_units, self.optimisation.batch_size
        order = _epoch_order(n, self.seed, self.epoch).to(self.X.device)
        while self.cursor < n:
            end = min(self.cursor + size, n)
            if self._merge_last and n - end == 1:
                end = n
            yield order[self.cursor : end]
            self.cursor = end

    def end_epoch(self) -> float:
        """Close the epoch; returns its mean loss."""
        self.epoch += 1
        self.cursor = 0
        self._set_learning_rate()
        self.objective.end_epoch(self)
        mean_loss = float(self._loss_sum) / self.n_units
        self._loss_sum.zero_()
        return mean_loss

    def current_label_weights(self) -> Weights:
        """(nnz,) label weights of the training passes, as a copy."""
        return self.layout.flat(self.label_weights)

    def moment(self) -> TrainingProgress:
        """Where it stands now, between two mini-batches."""
        size = self.optimisation.batch_size
        batches = -(-self.n_units // size)
        if self._merge_last and self.n_units % size == 1 and batches > 1:
            batches -= 1
        return TrainingProgress(
            self.epoch, min(-(-self.cursor // size), batches), batches, self.current_label_weights()
        )

    def evaluated_label_weights(self) -> Weights:
        """(nnz,) label weights of the model as it is now: one evaluation pass."""
        weights = torch.zeros_like(self.label_weights)
        with evaluating(self.network):
            for batch in self.all_batches():
                batch.write(weights, batch.restrict(self._logits(self.X.index_select(0, batch.rows))))
        return self.layout.flat(weights)

    def all_batches(self) -> Iterator[Batch]:
        """All examples in their order, as many at a time as an evaluation pass takes."""
        for rows in torch.arange(len(self.X), device=self.X.device).split(evaluation_batch(self.X.shape)):
            yield self.layout.batch(rows)

    def warm_up(self) -> None:
        """The network has the parameters of an earlier model: begin from its label weights, not from uniform ones."""
        self.label_weights.copy_(self.layout.store(self.evaluated_label_weights()))
        self.objective.warm_up(self)

    def predict(self, X: Tensor) -> npt.NDArray[np.int64]:
        """(m,) argmax over all classes, for scaled features on the device."""
        with evaluating(self.network):
            parts = [self.network(part).argmax(dim=1) for part in X.split(evaluation_batch(X.shape))]
        return torch.cat(parts).cpu().numpy()

    def _set_learning_rate(self) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = self.optimisation.lr_at(self.epoch)

    def state(self) -> dict[str, Any]:
        """Everything needed to go on to the same result, between any two batches.

        These are the tensors themselves: save or copy them before training goes on.
        """
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "objective": self.objective.state(),
            "label_weights": self.label_weights,
            "random_state": self.stream.state(),
            "loss_sum": self._loss_sum,
            "epoch": self.epoch,
            "cursor": self.cursor,
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(copy.deepcopy(state["optimiser"]))  # torch would share its tensors
        self.label_weights.copy_(state["label_weights"])
        self.objective.load_state(state["objective"])
        self.stream.load_state(state["random_state"])
        self._loss_sum.copy_(state["loss_sum"])
        self.epoch, self.cursor = state["epoch"], state["cursor"]
        self._set_learning_rate()


def train(
    trainer: Trainer, epochs: int, monitor: Monitor, *, X_test: Tensor | None = None, hook: Hook | None = None
) -> Iterator[EpochRecord]:
    """The training loop: yields a record an epoch, calls the hook before every batch.

    The label weights of a record come from the training passes of its epoch; those of the last record come from one
    evaluation pass of the final model.

    Args:
        trainer: where to start from, which may be in the middle of an epoch.
        epochs: train until this many epochs are complete.
        monitor: makes the records.
        X_test: scaled test features on the device.
        hook: may wait, and may raise `StopTraining`; the trainer is then between two batches, ready to go on.
    """
    clock = _Clock()
    while trainer.epoch < epochs:
        share = 1 - trainer.cursor / trainer.n_units  # of this epoch; below 1 where a checkpoint lies in its middle
        trainer.network.train()
        for units in trainer.batches_left():
            if hook is not None:
                with clock.paused():
                    hook()
            with trainer.stream.drawing():  # not around the hook: who waits there leaves the stream to others
                trainer.step(units)
        loss = trainer.end_epoch()
        training_seconds = clock.seconds()
        final = trainer.epoch == epochs
        weights = trainer.evaluated_label_weights() if final else trainer.current_label_weights()
        refuse_divergence(trainer.epoch, weights, loss)
        predicted = None if X_test is None else trainer.predict(X_test)
        record = monitor.record(
            trainer.epoch,
            weights,
            predicted_test=predicted,
            loss=loss,
            examples_per_second=share * len(trainer.X) / max(training_seconds, 1e-9),
            seconds=clock.seconds(),
        )
        clock = _Clock()  # what the caller does with the record counts towards the next epoch
        yield record


def refuse_divergence(epoch: int, weights: Weights, loss: float = 0.0) -> None:
    """Raises UserError where the loss or a label weight is no longer a number: nothing can be read off such a model."""
    if not (np.isfinite(loss) and np.isfinite(weights).all()):
        raise UserError(
            f"Training diverged in epoch {epoch}: the {'label weights are' if np.isfinite(loss) else 'loss is'} "
            "no longer finite. Use a smaller learning rate, or scale the features."
        )


def evaluation_batch(shape: tuple[int, ...]) -> int:
    """Examples a forward pass without gradients. Few for images: a layer of a convnet keeps 512 KiB for each."""
    return 4096 if len(shape) < 4 else 256


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Evaluation mode and no gradients inside; the mode is put back afterwards."""
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        network.train(was_training)


class _Clock:
    """Wall time since it was made, less what passed while paused."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        return time.perf_counter() - self._start

    @contextmanager
    def paused(self) -> Iterator[None]:
        before = time.perf_counter()
        try:
            yield
        finally:
            self._start += time.perf_counter() - before


def _first_of_equals(rows: Tensor) -> Tensor:
    """(B,) for each place the first place that holds the same row."""
    _, group = torch.unique(rows, return_inverse=True)
    places = torch.arange(len(rows), device=rows.device)
    first = places.new_full((len(rows),), len(rows)).scatter_reduce_(0, group, places, "amin")
    return first[group]


def _epoch_order(n: int, seed: int, epoch: int) -> Tensor:
    """The permutation of an epoch: drawn on the CPU, so that it is the same on every device."""
    mixed = int(np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)[0] >> 1)
    return torch.randperm(n, generator=torch.Generator().manual_seed(mixed))

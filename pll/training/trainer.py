"""Mini-batch training with label weights: optimiser settings, `Objective` of a method, training step and loop.

The step is the paper's Algorithm 1, lines 6-9: one forward pass gives the loss, under the old weights, and the new
label weights; the weights change before the parameters do, and no gradient flows through them.

What this file is not about: threads, files and pages.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from pll.candidates import CandidateSets
from pll.errors import DivergenceError, UserError, unknown
from pll.io import large_array
from pll.training.augment import Augmentation
from pll.training.devices import computing_threads, fetched, free_unused, is_out_of_memory, moved, pinned
from pll.training.layouts import Batch, DenseLayout, Layout, choose_layout
from pll.training.losses import Loss
from pll.training.metrics import EpochRecord, Hook, Monitor, TrainingProgress
from pll.training.models import draws_of, has_batch_norm, step_work
from pll.training.names import OPTIMISERS
from pll.training.precision import Precision
from pll.training.recorded import LEAST_STEPS, RecordedSteps
from pll.training.rng import Stream
from pll.training.scaling import evaluation_batch
from pll.training.streamed import Features, StreamedFeatures, read_ahead
from pll.weights import Ints, Outside, Weights

MOST_PARTS = 4
"""Parts in which a mini-batch is computed, at most, where the device's memory does not suffice for it at once."""
T = TypeVar("T")


@dataclass(frozen=True)
class Optimisation:
    """The optimiser and its settings (paper: stochastic gradient descent, momentum 0.9, batch 256).

    Parameters
    ----------
    batch_size
        Training units a step, at least 1.
    lr
        Learning rate of the first epoch.
    momentum
        Of SGD; for Adam its β₁, below 1 (β₂ is 0.999).
    weight_decay
        Added to the gradient as weight_decay · Θ.
    optimiser
        `"sgd"` or `"adam"`.
    lr_decay, lr_decay_every
        Every so many epochs the learning rate is multiplied by `lr_decay` (paper, ConvNet: 0.9 every 10). It depends on
        the epoch alone, so that a resumed run is the same.

    Examples
    --------
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
        """Return the learning rate of epoch 0, 1, … (the number of epochs completed)."""
        return self.lr * self.lr_decay ** (epoch // self.lr_decay_every)

    def start(self, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
        """Return a new optimiser for these parameters.

        Raises
        ------
        UserError
            An optimiser that does not exist, or a momentum that Adam cannot have.
        """
        if self.optimiser not in OPTIMISERS:
            raise unknown("optimiser", self.optimiser, OPTIMISERS)
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
    """Base class of a method's part of the training step. Only `loss` has to be implemented.

    An epoch passes once over the *training units*. These are the examples, unless the method sets `owners` in `start`.
    """

    owners: Tensor | None = None
    """(m,) int64, the example that each of m training units belongs to; None where the units are the examples. It stays
    in the machine's memory."""

    def start(self, trainer: Trainer) -> None:
        """Create the weight stores; the trainer is complete but untrained."""
        return

    def warm_up(self, trainer: Trainer) -> None:
        """Start from a model fitted before, whose label weights `trainer.label_weights` are. Called after `start`.

        Objectives whose training weights are made of label weights refresh them here.
        """
        return

    @abstractmethod
    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        """Return the scalar to minimise, for logits (B, c), under the current training weights.

        Parameters
        ----------
        batch
            The mini-batch.
        logits
            (B, c).
        """

    def backward(self, batch: Batch, logits: Tensor, share: Tensor | None) -> Tensor:
        """Add the gradient of the loss to the parameters' gradients.

        Parameters
        ----------
        batch : Batch
        logits : Tensor
            (B, c), of the training pass.
        share : Tensor or None
            () factor of the gradient, not of the loss that is returned; None for 1.

        Returns
        -------
        Tensor
            () the loss, without its graph.
        """
        loss = self.loss(batch, logits)
        loss.backward(share)  # type: ignore[no-untyped-call]  # torch's own
        return loss.detach()

    def update(self, batch: Batch, label_weights: Tensor) -> None:
        """Update the training weights from the batch's new label weights (B, k), before the parameters change.

        Parameters
        ----------
        batch
            The mini-batch.
        label_weights
            (B, k), the new ones.
        """
        return

    def end_epoch(self, trainer: Trainer) -> None:
        """Called after every epoch."""
        return

    def state(self) -> dict[str, Tensor]:
        """Return the state for a checkpoint, beyond model, optimiser and label weights."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Restore what `state()` returned."""
        return


class WeightedLoss(Objective):
    """Σ_j w_ij ℓ(g(x_i), e^j), averaged over the batch (paper, Eq. softmin); the weights stay as they start.

    Attributes
    ----------
    weights
        The training weights, a store of the trainer's layout.
    """

    weights: Tensor

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    def start(self, trainer: Trainer) -> None:
        self.weights = trainer.label_weights.clone()  # uniform, Eq. (init), or the prior

    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        return (batch.read(self.weights) * batch.pick(self._loss(logits))).sum() / len(logits)

    def label_losses(self, logits: Tensor) -> Tensor:
        """Return the (B, c) loss of each label."""
        return self._loss(logits)

    def state(self) -> dict[str, Tensor]:
        return {"weights": self.weights}

    def load_state(self, state: dict[str, Tensor]) -> None:
        self.weights.copy_(state["weights"])


@dataclass(frozen=True)
class Step:
    """Result of one mini-batch: its candidates, logits (B, c), new label weights (B, k), mean loss ()."""

    batch: Batch
    logits: Tensor
    label_weights: Tensor
    loss: Tensor


class Trainer:
    """Training state: model, optimiser, label weights, position in the epoch. All tensors are on one device.

    Parameters
    ----------
    network
        Scaled features (B, …) → logits (B, c).
    X
        (n, …) scaled features on the device, or in a file.
    candidates
        The candidate sets of the n examples.
    objective
        The method's part.
    optimisation
        Settings of the optimiser.
    seed
        Seed of the order of examples and of random draws of network and augmentation.
    augment
        Random changes of the scaled features of a training batch; not applied in evaluation.
    loss_draws
        Whether the objective's loss may draw from torch's global random stream.
    prior
        (nnz,) of `pll.weights.checked_prior`: label weights start from it and are w ∝ prior · softmax on S_i.
    layout
        Of the candidates and their weights; None chooses one.
    outside
        Labels added to the candidates; given and added labels are then normalised apart, each to its share.
    sample_weight
        (n,) with mean 1, weight of the loss of each example; None for equal weights.
    precision
        How training passes are computed; None for float32.

    Attributes
    ----------
    forward
        The network as it is called in training; another module over the same parameters where several processes train
        it.
    epoch
        Epochs completed.
    cursor
        Training units of the current epoch already used.
    stream
        Random stream of network and augmentation; the caller of `step` enters `stream.drawing()`.
    label_weights
        Store of `layout`, restricted softmax of each example's latest training pass; at first the prior, or uniform.
    parts
        In how many parts a mini-batch is computed: more than one once the device's memory did not suffice.
    """

    _most_parts: ClassVar[int] = MOST_PARTS

    def __init__(
        self,
        network: nn.Module,
        X: Features,
        candidates: CandidateSets,
        objective: Objective,
        optimisation: Optimisation,
        seed: int,
        augment: Augmentation | None = None,
        loss_draws: bool = False,
        prior: Weights | None = None,
        layout: Layout | None = None,
        outside: Outside | None = None,
        sample_weight: npt.NDArray[np.float32] | None = None,
        precision: Precision | None = None,
    ) -> None:
        self.precision = Precision(X.device) if precision is None else precision
        self.network = self.precision.prepared(network)
        self._sample_weight = None if sample_weight is None else torch.from_numpy(sample_weight).to(X.device)
        self.forward: nn.Module = self.network
        self.X = X
        self.optimisation = optimisation
        self.seed = seed
        self.augment = augment
        self.optimiser = optimisation.start(network.parameters())
        self._n_classes = candidates.n_classes
        self.layout = choose_layout(candidates, X.device, prior, outside) if layout is None else layout
        start = candidates.uniform_weights() if prior is None else prior  # Eq. (init)
        self.label_weights = self.layout.store(start if outside is None else outside.start(prior))
        self.epoch = 0
        self.cursor = 0
        self._loss_sum = torch.zeros((), device=X.device)
        self.parts = 1
        self.stream = Stream(X.device, seed, draws="anything" if loss_draws else draws_of(network))
        self._merge_last = has_batch_norm(network)
        self.objective = objective
        objective.start(self)
        self._recorded = RecordedSteps[Step](X.device, self.stream.generator)

    def close(self) -> None:
        """Let go of the objective, which may point back: the trainer's memory is then free once nobody has it."""
        vars(self).pop("objective", None)
        self._recorded.forget()

    @property
    def n_examples(self) -> int:
        """Number of training examples."""
        return len(self.X)

    @property
    def n_units(self) -> int:
        """Number of training units of an epoch: n, unless the objective has `owners`."""
        return self.n_examples if self.objective.owners is None else len(self.objective.owners)

    def step(self, units: Tensor) -> Step:
        """Train on one mini-batch (Algorithm 1, lines 6-9). The device is not waited for.

        Where its memory does not suffice, the mini-batch is computed in two parts, then in four, whose gradients are
        added; batch normalisation then sees a part at a time.

        Parameters
        ----------
        units
            (B,) int64 training units (examples, unless the objective has `owners`), in the machine's memory.
        """
        if self._is_static(units) and self._recorded.repeat(self._capturable_step, units, self.epoch):
            return self._recorded.result
        return self._in_parts(lambda: self._counted_step(units))

    def _is_static(self, units: Tensor) -> bool:
        """Return whether a step has the operations and the memory of the others of its epoch."""
        return (
            len(units) == self.optimisation.batch_size
            and self.n_units >= LEAST_STEPS * len(units)
            and self.parts == 1
            and self.objective.owners is None
            and isinstance(self.X, Tensor)
            and isinstance(self.layout, DenseLayout)
            and self.forward is self.network
            and self.stream.draws != "anything"
        )

    def _capturable_step(self, units: Tensor) -> Step:
        """Do a step in a recording, which Adam refuses unless it is told that it may be recorded."""
        groups = self.optimiser.param_groups
        before = [dict(group) for group in groups]
        for group in groups:
            group["capturable"] = True
        try:
            return self._counted_step(units)
        finally:
            for group, settings in zip(groups, before, strict=True):
                group.clear()
                group.update(settings)

    def _counted_step(self, units: Tensor) -> Step:
        step = self._whole_step(units)
        self._loss_sum += step.loss * len(units)
        return step

    def _whole_step(self, units: Tensor) -> Step:
        self.optimiser.zero_grad()
        step = self._learn_in_parts(units)
        self.optimiser.step()  # line 9
        return step

    def _learn_in_parts(self, units: Tensor) -> Step:
        """Do all of a step but line 9."""
        parts = min(self.parts, max(1, len(units) // 2))
        if parts == 1:
            return self._learn(units, self._loss_share(len(units)))
        steps = [self._learn(part, self._share(len(part) / len(units))) for part in units.tensor_split(parts)]
        batch = self._batch(units)
        loss = sum((step.loss * len(step.logits) for step in steps), torch.zeros_like(self._loss_sum)) / len(units)
        logits = torch.cat([step.logits for step in steps])
        return Step(batch, logits, batch.read(self.label_weights), loss)

    def _learn(self, units: Tensor, share: Tensor | None) -> Step:
        """Add the gradient of these units (lines 6 and 7), and update the weights (line 8)."""
        batch = self._batch(units)
        inputs = self.inputs(batch)
        if self.augment is not None:
            inputs = self.augment(inputs, self.stream.generator)
        logits = self.logits(inputs)  # (B, c), the one forward pass
        self.weigh(logits, batch.rows)
        loss = self.objective.backward(batch, logits, share)  # lines 6 and 7, with the old weights
        with torch.no_grad():
            new = batch.restrict(logits.detach())  # line 8, Eq. (norm)
            if self.objective.owners is not None:
                same = moved(_first_of_equals(batch.places), self.X.device)
                new = new[same]  # copies of one example must write the same values
            batch.write(self.label_weights, new)
            self.objective.update(batch, new)
        return Step(batch, logits.detach(), new, loss)

    def _batch(self, units: Tensor) -> Batch:
        owners = self.objective.owners
        batch = self.layout.batch(units if owners is None else owners[units])
        if owners is not None:
            batch.units = moved(units, self.X.device)
        return batch

    def inputs(self, batch: Batch) -> Tensor:
        """Return the scaled features (B, …) of a mini-batch."""
        return self.X.index_select(0, batch.rows if isinstance(self.X, Tensor) else batch.places)

    def logits(self, inputs: Tensor) -> Tensor:
        """Return the (B, c) float32 logits of a training pass, whatever precision that computes in."""
        with self.precision.training_pass():
            logits: Tensor = self.forward(self.precision.arranged(inputs))
        return logits.float()

    def _in_parts(self, work: Callable[[], T]) -> T:
        """Do work that goes by `parts`; where the device's memory does not suffice, again with more of them."""
        while True:
            try:
                return work()
            except RuntimeError as error:
                if not is_out_of_memory(error) or self.parts >= self._most_parts:
                    raise
            # Only here are the error, and the tensors of the pass that it holds, gone.
            if self._recorded.is_recorded:  # whose memory may be what lacks
                self._recorded.stop()
            else:
                self.parts *= 2
            self.optimiser.zero_grad()
            free_unused(self.X.device)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of how it trained, as sentences."""
        streamed = (self.X.note,) if isinstance(self.X, StreamedFeatures) and self.X.note else ()
        if self.parts == 1:
            return streamed
        smaller = " Batch normalisation saw a part at a time." if self._merge_last else ""
        return (
            *streamed,
            f"The memory did not suffice for a mini-batch of {self.optimisation.batch_size}: from then on each was "
            f"computed in {self.parts} parts whose gradients were added.{smaller}",
        )

    def weigh(self, logits: Tensor, rows: Tensor) -> None:
        """Let the examples `rows` (B,) count by their sample weight in what is learnt through these logits (B, c).

        The loss is a mean over examples, so that its gradient by the logits of one example is multiplied.

        Parameters
        ----------
        logits
            (B, c).
        rows
            (B,) their numbers.
        """
        if self._sample_weight is not None:
            share = self._sample_weight[rows][:, None]  # (B, 1)
            logits.register_hook(lambda gradient: gradient * share)  # type: ignore[no-untyped-call]  # torch's own

    def _loss_share(self, count: int) -> Tensor | None:
        """Return the factor, (), of the loss of so many training units; None for 1."""
        return None

    def _share(self, share: float) -> Tensor:
        return torch.full((), share, device=self.X.device)  # and no copy, which would wait

    def batches_left(self) -> Iterator[Tensor]:
        """Yield the remaining mini-batches of this epoch; their order depends on seed and epoch alone.

        The last batch may be smaller; a last batch of one example, which batch normalisation cannot take, joins the
        one before it.
        """
        order = pinned(epoch_order(self.n_units, self.seed, self.epoch), self.X.device)
        owners = self.objective.owners
        cuts = (order[start:end] for start, end in self._cuts())
        for units in read_ahead(self.X, ((cut, cut if owners is None else owners[cut]) for cut in cuts)):
            yield units
            self.cursor += len(units)

    def _cuts(self) -> Iterator[tuple[int, int]]:
        """Yield where the remaining mini-batches of this epoch begin and end."""
        start, n = self.cursor, self.n_units
        while start < n:
            end = min(start + self.optimisation.batch_size, n)
            if self._merge_last and n - end == 1:
                end = n
            yield start, end
            start = end

    def end_epoch(self) -> float:
        """End the epoch and return its mean loss."""
        self._advance()
        return self._mean_loss(self._loss_sum)

    def end_epoch_with_weights(self) -> tuple[float, Weights]:
        """End the epoch; return its mean loss and `current_label_weights`, for which a GPU is waited once."""
        if self.X.device.type == "cpu":
            return self.end_epoch(), self.current_label_weights()
        self._advance()
        loss_sum, weights = fetched(self._loss_sum, self.layout.entries(self.label_weights))
        return self._mean_loss(loss_sum), weights.numpy()

    def _advance(self) -> None:
        self.epoch += 1
        self.cursor = 0
        self._set_learning_rate()
        self.objective.end_epoch(self)

    def _mean_loss(self, loss_sum: Tensor) -> float:
        mean_loss = float(loss_sum) / self.n_units
        self._loss_sum.zero_()
        return mean_loss

    def current_label_weights(self) -> Weights:
        """Return a copy of the (nnz,) label weights of the training passes."""
        return self.layout.flat(self.label_weights)

    def moment(self) -> TrainingProgress:
        """Return the progress of training, between two mini-batches."""
        size = self.optimisation.batch_size
        batches = -(-self.n_units // size)
        if self._merge_last and self.n_units % size == 1 and batches > 1:
            batches -= 1
        return TrainingProgress(
            self.epoch, min(-(-self.cursor // size), batches), batches, self.current_label_weights()
        )

    def evaluated_label_weights(self) -> Weights:
        """Return the (nnz,) label weights of the current model, from one evaluation pass."""
        return self.layout.flat(self.evaluated_store())

    def evaluated_store(self) -> Tensor:
        """Return the label weights of the current model, from one evaluation pass, as a store of the layout."""
        weights = self.layout.zeros()

        def evaluate() -> Tensor:
            with evaluating(self.network):
                for batch in self.all_batches():
                    inputs = self.precision.arranged(self.inputs(batch))
                    batch.write(weights, batch.restrict(self.network(inputs).float()))
            return weights

        return self._in_parts(evaluate)

    def all_batches(self) -> Iterator[Batch]:
        """Yield all examples in order, in batches of an evaluation pass."""
        n, size = len(self.X), self._evaluation_batch()
        for start in range(0, n, size):
            yield self.layout.batch(torch.arange(start, min(start + size, n)))

    def _evaluation_batch(self) -> int:
        return max(1, evaluation_batch(self.X.shape, self._n_classes) // self.parts)

    def warm_up(self) -> None:
        """Start from the label weights of the network, which has the parameters of an earlier model."""
        self.label_weights.copy_(self.evaluated_store())
        self.objective.warm_up(self)

    def predict(self, X: Features) -> Ints:
        """Return the (m,) argmax over all classes, for scaled features on the device."""

        def evaluate() -> Tensor:
            size = self._evaluation_batch()
            with evaluating(self.network):
                parts = (self.precision.arranged(X[start : start + size]) for start in range(0, max(1, len(X)), size))
                return torch.cat([self.network(part).argmax(dim=1) for part in parts])

        return self._in_parts(evaluate).cpu().numpy()

    def _set_learning_rate(self) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = self.optimisation.lr_at(self.epoch)

    def state(self) -> dict[str, Any]:
        """Return all state needed to continue to the same result, between any two mini-batches.

        The tensors are not copies: save or copy them before training continues.
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
        """Restore what `state()` returned."""
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        for parameter, own in self.optimiser.state.items():
            for name, value in own.items():
                if isinstance(value, Tensor):  # which torch shares; a fused step takes it to be stored as the parameter
                    like = parameter if value.shape == parameter.shape else value
                    own[name] = torch.empty_like(like, dtype=value.dtype).copy_(value)
        if state["label_weights"].shape != self.label_weights.shape:
            raise UserError("The checkpoint is of other candidate sets, or of an earlier version; start a new run.")
        self.label_weights.copy_(state["label_weights"])
        self.objective.load_state(state["objective"])
        self.stream.load_state(state["random_state"])
        self._loss_sum.copy_(state["loss_sum"])
        self.epoch, self.cursor = state["epoch"], state["cursor"]
        self._set_learning_rate()
        self._recorded.forget()


def train(
    trainer: Trainer, epochs: int, monitor: Monitor, *, X_test: Features | None = None, hook: Hook | None = None
) -> Iterator[EpochRecord]:
    """Training loop: yield a record per epoch and call the hook before every mini-batch.

    The label weights of a record come from the training passes of its epoch; those of the last record come from one
    evaluation pass of the final model.

    Parameters
    ----------
    trainer
        Training state, possibly in the middle of an epoch.
    epochs
        Train until this many epochs are complete.
    monitor
        Creates the records.
    X_test
        Scaled test features on the device, or in a file.
    hook
        May wait, and may raise `StopTraining`; the trainer is then between two mini-batches and can continue.
    """
    clock = _Clock()
    work = step_work(trainer.network.parameters(), trainer.optimisation.batch_size)
    while trainer.epoch < epochs:
        with computing_threads(None, work):  # not while the caller has the record
            record = _train_epoch(trainer, trainer.epoch + 1 == epochs, monitor, X_test, hook, clock)
        clock = _Clock()  # the caller's time with the record counts towards the next epoch
        yield record


def _train_epoch(
    trainer: Trainer, final: bool, monitor: Monitor, X_test: Features | None, hook: Hook | None, clock: _Clock
) -> EpochRecord:
    share = 1 - trainer.cursor / trainer.n_units  # of this epoch; below 1 after a checkpoint within it
    trainer.network.train()
    for units in trainer.batches_left():
        if hook is not None:
            with clock.paused():
                hook()
        with trainer.stream.drawing():  # not around the hook: others need the stream while it waits
            trainer.step(units)
    loss, weights = (trainer.end_epoch(), None) if final else trainer.end_epoch_with_weights()
    training_seconds = clock.seconds()
    if weights is None:
        weights = trainer.evaluated_label_weights()
    refuse_divergence(trainer.epoch, weights, loss)
    predicted = None if X_test is None else trainer.predict(X_test)
    return monitor.record(
        trainer.epoch,
        weights,
        predicted_test=predicted,
        loss=loss,
        examples_per_second=share * trainer.n_examples / max(training_seconds, 1e-9),
        seconds=clock.seconds(),
    )


def refuse_divergence(epoch: int, weights: Weights, loss: float = 0.0) -> None:
    """Raise DivergenceError where the loss or a label weight is not finite.

    Parameters
    ----------
    epoch
        Of which they are.
    weights
        (nnz,) label weights.
    loss
        Mean loss of the epoch.
    """
    if not (np.isfinite(loss) and np.isfinite(weights).all()):
        raise DivergenceError(
            f"Training diverged in epoch {epoch}: the {'label weights are' if np.isfinite(loss) else 'loss is'} "
            "no longer finite. Use a smaller learning rate or weight decay, or scale the features."
        )


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """Context manager for evaluation mode without gradients; the mode before is restored afterwards."""
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        network.train(was_training)


class _Clock:
    """Wall time since its creation, without pauses."""

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
    """Return for each position the first position with the same row, (B,)."""
    _, group = torch.unique(rows, return_inverse=True)
    places = torch.arange(len(rows), device=rows.device)
    first = places.new_full((len(rows),), len(rows)).scatter_reduce_(0, group, places, "amin")
    return first[group]


def epoch_order(n: int, seed: int, epoch: int) -> Tensor:
    """Return the permutation of an epoch, drawn on the CPU so that it is the same on every device.

    Parameters
    ----------
    n
        Examples.
    seed
        Of the run.
    epoch
        Its number, from 1.
    """
    mixed = int(np.random.SeedSequence([seed, epoch]).generate_state(1, np.uint64)[0] >> 1)
    order = torch.from_numpy(large_array(n, np.int64))
    torch.randperm(n, generator=torch.Generator().manual_seed(mixed), out=order)
    return order

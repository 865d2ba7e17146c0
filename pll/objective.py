"""What a method adds to the training step: its loss, and what it does with the new label weights."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from torch import Tensor

from pll.layout import Batch
from pll.losses import Loss

if TYPE_CHECKING:
    from pll.training import Trainer


class Objective:
    """A method's part of the step. All it must have is a loss; whatever else there is to do, it does nothing by itself.

    An epoch passes once over the *training units*. These are the examples, unless the method sets `owners` in `start`.
    """

    owners: Tensor | None = None
    """(m,) int64, the example that each of m training units belongs to; None where the units are the examples."""

    def start(self, trainer: Trainer) -> None:
        """Make the stores it needs; the trainer is ready but untrained."""

    def warm_up(self, trainer: Trainer) -> None:
        """Training goes on from a model fitted before; `trainer.label_weights` are that model's. Called after `start`.

        Where the training weights are made of label weights: take them over, as if they had just been refreshed.
        """

    @abstractmethod
    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        """The scalar to minimise, of logits (B, c), under the weights as they are."""

    def update(self, batch: Batch, label_weights: Tensor) -> None:
        """Take notice of the batch's new label weights (B, k), before the parameters change. No gradients."""

    def end_epoch(self, trainer: Trainer) -> None:
        """Do what is done once an epoch, if anything."""

    def state(self) -> dict[str, Tensor]:
        """Everything that a checkpoint must hold beyond model, optimiser and label weights."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Go on from `state()`."""


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

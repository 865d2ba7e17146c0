"""PRODEN and what the paper compares it with to show where its strength comes from.

PRODEN (Lv et al., ICML 2020, Algorithm 1) trains on a weighted sum over the candidates,

    R̂ = 1/n Σ_i Σ_j w_ij ℓ(g(x_i), e^j)                          Eq. (softmin)

starting from w_ij = 1/|S_i| (Eq. init), and lets the forward pass that gives the loss also give the next weights,

    w_ij = g_j(x_i) / Σ_{k ∈ S_i} g_k(x_i) on S_i, 0 off it       Eq. (norm)

which change before the parameters do. The variants are the few lines in which they differ: *naive* never updates,
*sudden* puts all weight on the top candidate at every step, *itera* updates only now and then, and the *oracle*
learns from the true labels.

Cost a step: that of supervised training, plus O(B·k) for the weights (k candidates an example).
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from pll.errors import UserError
from pll.methods.base import Task, setting
from pll.methods.deep import DeepEstimator
from pll.methods.names import MOST_EPOCHS
from pll.training.layouts import Batch
from pll.training.losses import Loss, ce, get_loss
from pll.training.trainer import Objective, Trainer, WeightedLoss


class PRODEN(DeepEstimator):
    """Progressive identification (Lv et al. 2020, Algorithm 1). Settings as for every deep method.

    One fit with the settings given. `recipe="auto"` tries some forty first, without true labels: 10 to 30 s of one
    core, more on large data, and 62 → 69 % test accuracy in the mean of twelve sets (docs/research/recipe.md).

    References
    ----------
    Lv, Xu, Feng, Niu, Geng & Sugiyama, Progressive identification of true labels for partial-label learning, ICML
    2020.
    """

    in_ranks: ClassVar[bool] = True
    searched_as_proden: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "Learns from all candidates at once and lets each pass shift weight towards the likelier ones. "
        "The method of choice; costs about as much as ordinary training."
    )

    def _objective(self, task: Task) -> Objective:
        return _Seamless(get_loss(self.loss))


class PRODENNaive(DeepEstimator):
    """Uniform training weights that never change (PRODEN-naive, paper §4)."""

    in_ranks: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "Treats every candidate as equally right and never changes its mind. Shows what updating the weights is worth."
    )
    rule = "all candidates weigh the same in its loss from beginning to end"

    def _objective(self, task: Task) -> Objective:
        return WeightedLoss(get_loss(self.loss))


class PRODENSudden(DeepEstimator):
    """One-hot training weights on the top candidate, updated in every step (PRODEN-sudden, paper §4)."""

    in_ranks: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "Believes its own first guess at once: all weight goes to the top candidate at every step. "
        "Shows why identification must be progressive."
    )
    rule = "it puts all weight on its top candidate at every step"

    def _objective(self, task: Task) -> Objective:
        return _Sudden(get_loss(self.loss))


class PRODENItera(DeepEstimator):
    """Training weights updated every R epochs, as in EM (PRODEN-itera, paper §4; R = 100 of 500 epochs there).

    Parameters
    ----------
    update_every
        R, in epochs, at least 1; None takes a fifth of `epochs`, as the paper does. At the end of every R-th epoch the
        training weights become the label weights of the model as it is then (the E-step).
    """

    in_ranks: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "Trains for many epochs before it updates the weights, as EM methods do. "
        "Shows what the seamless update is worth."
    )

    update_every: int | None = setting(None, whole=True, least=1, most=MOST_EPOCHS)

    @property
    def rule(self) -> str:  # type: ignore[override]  # of an instance
        """As `PartialLabelEstimator.rule`, with the interval."""
        return f"it renews its weights only every {update_interval(self.epochs, self.update_every)} epochs"

    def _objective(self, task: Task) -> Objective:
        return _Iterative(get_loss(self.loss), update_interval(self.total_epochs(), self.update_every))


def update_interval(epochs: int, update_every: int | None) -> int:
    """R, in epochs.

    Parameters
    ----------
    epochs
        Of the run.
    update_every
        R; None for a fifth of `epochs`.

    Examples
    --------
    >>> update_interval(100, None), update_interval(100, 7)
    (20, 7)
    """
    return max(1, epochs // 5) if update_every is None else update_every


class PNOracle(DeepEstimator):
    """Supervised learning from the true labels (PN-oracle, paper §4), an upper reference.

    `fit` takes `truth`; the label weights are, as for every method, the model's scores restricted to S_i.
    """

    in_ranks: ClassVar[bool] = True
    searched_as_proden: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "Ordinary supervised learning from the true labels, which it alone is given. The upper limit to compare with."
    )
    needs_truth: ClassVar[bool] = True

    def _objective(self, task: Task) -> Objective:
        if task.y is None or (task.y < 0).any():
            raise UserError(
                "PN-oracle learns from the true label of every training example; this data does not have them all."
            )
        return _Supervised(get_loss(self.loss), torch.tensor(task.y))


class _Seamless(WeightedLoss):
    """PRODEN: the training weights are the label weights, which the step has just updated."""

    def start(self, trainer: Trainer) -> None:
        self.weights = trainer.label_weights  # one thing, not two

    def backward(self, batch: Batch, logits: Tensor, share: Tensor | None) -> Tensor:
        if self._loss is not ce:
            return super().backward(batch, logits, share)
        with torch.no_grad():
            log_g = torch.log_softmax(logits, dim=1)  # (B, c)
            weights = batch.scatter(batch.read(self.weights), log_g)  # (B, c), rows sum to 1
            loss = -(weights * log_g).sum() / len(logits)
            # Known without autograd, which a linear model would feel: ∂L/∂z = (softmax(z) − w) / B
            gradient = (log_g.exp() - weights) / len(logits)
        logits.backward(gradient if share is None else gradient * share)  # type: ignore[no-untyped-call]  # torch's own
        return loss

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        pass


class _Sudden(WeightedLoss):
    def warm_up(self, trainer: Trainer) -> None:
        for batch in trainer.all_batches():
            self.update(batch, batch.read(trainer.label_weights))

    def update(self, batch: Batch, label_weights: Tensor) -> None:
        top = label_weights.argmax(dim=1)
        batch.write(self.weights, one_hot(top, label_weights.shape[1]).to(label_weights))


class _Iterative(WeightedLoss):
    def __init__(self, loss: Loss, every: int) -> None:
        super().__init__(loss)
        self._every = every

    def warm_up(self, trainer: Trainer) -> None:
        self.weights = trainer.label_weights.clone()

    def end_epoch(self, trainer: Trainer) -> None:
        if trainer.epoch % self._every == 0:
            self.weights = trainer.evaluated_store()


class _Supervised(Objective):
    def __init__(self, loss: Loss, y: Tensor) -> None:
        self._loss = loss
        self._y = y

    def start(self, trainer: Trainer) -> None:
        self._y = self._y.to(trainer.X.device)

    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        # The true label may lie outside S_i, so this does not go by way of the candidates.
        return self._loss(logits).gather(1, self._y[batch.rows][:, None]).mean()

"""POP, progressive purification of candidate sets (Xu, Liu, Lv, Qiao & Geng, ICML 2023).

Idea: train as PRODEN does, and from time to time remove candidates that have stayed unlikely. After every epoch the
rolling mean of the label weights is updated, r ← (1 − 1/t) r + w / t over the last `window` epochs (t ≤ window). After
`warm_up` epochs, a candidate whose r_ij / max_k r_ik is below θ leaves S_i for good; θ grows linearly from 0 to
`threshold` at the last epoch.

The label weights that are shown keep the given set, as for every method; the training weights are normalised over the
purified one. `purified` candidates are never the last of a set, since the largest r stays.

Hyper-parameters: those of every deep method, and `threshold` (0.1), `warm_up` (0.2 of the epochs) and `window` (5).

Complexity: as PRODEN, and two more weight stores.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from pll.methods.base import Task, setting
from pll.methods.deep import DeepEstimator
from pll.training.layouts import Batch
from pll.training.losses import Loss, get_loss
from pll.training.trainer import Objective, Trainer, WeightedLoss


class POP(DeepEstimator):
    """Progressive purification (Xu et al. 2023); see the docstring of the module.

    Parameters
    ----------
    threshold
        θ at the last epoch, in [0, 1).
    warm_up
        Share of the epochs before the first candidate leaves, in [0, 1].
    window
        Epochs of the rolling mean, at least 1.

    References
    ----------
    Xu, Liu, Lv, Qiao & Geng, Progressive purification for instance-dependent partial label learning, ICML 2023.
    """

    summary: ClassVar[str] = (
        "PRODEN that also removes candidates which stay unlikely, so that they cannot come back. "
        "Costs as much as PRODEN."
    )

    threshold: float = setting(0.1, least=0, below=1)
    warm_up: float = setting(0.2, least=0, most=1)
    window: int = setting(5, whole=True, least=1)

    def _objective(self, task: Task) -> Objective:
        epochs = self.total_epochs()
        return _Purifying(get_loss(self.loss), self.threshold, self.warm_up * epochs, epochs, self.window)


class _Purifying(WeightedLoss):
    def __init__(self, loss: Loss, threshold: float, warm_up: float, epochs: int, window: int) -> None:
        super().__init__(loss)
        self._threshold, self._warm_up, self._epochs, self._window = threshold, warm_up, epochs, window

    def start(self, trainer: Trainer) -> None:
        super().start(trainer)
        self.remaining = torch.ones_like(self.weights)
        self.rolling = torch.zeros_like(self.weights)

    def update(self, batch: Batch, label_weights: Tensor) -> None:
        left = label_weights * batch.read(self.remaining)
        total = left.sum(dim=1, keepdim=True)
        batch.write(self.weights, torch.where(total > 0, left / total.clamp_min(1e-30), label_weights))

    def end_epoch(self, trainer: Trainer) -> None:
        rate = 1.0 / min(trainer.epoch, self._window)
        self.rolling.mul_(1 - rate).add_(trainer.label_weights, alpha=rate)
        theta = self._threshold * trainer.epoch / self._epochs
        if trainer.epoch < self._warm_up or not theta:
            return
        for batch in trainer.all_batches():
            mean = batch.read(self.rolling)
            stays = mean >= theta * mean.max(dim=1, keepdim=True).values
            batch.write(self.remaining, batch.read(self.remaining) * stays)

    def state(self) -> dict[str, Tensor]:
        return super().state() | {"remaining": self.remaining, "rolling": self.rolling}

    def load_state(self, state: dict[str, Tensor]) -> None:
        super().load_state(state)
        self.remaining.copy_(state["remaining"])
        self.rolling.copy_(state["rolling"])

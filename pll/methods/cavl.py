"""CAVL, class activation value learning (Zhang, Feng, Han, Liu, Niu, Qin & Sugiyama, ICLR 2022).

Idea: of the candidates, the one to which the model attends most is the true one. The class activation value of label
j is v_j = |z_j − 1| z_j for the score z_j; training weights are one-hot on argmax_{j ∈ S_i} v_j of the example's
previous pass, uniform before its first.

Label weights: the model's scores restricted to S_i.

Hyper-parameters: those of every deep method.

Complexity: a step costs O(B·c) beyond the forward and backward pass, and the memory of PRODEN's weights.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from pll.methods.base import Task
from pll.methods.deep import DeepEstimator
from pll.training.layouts import Batch
from pll.training.losses import get_loss
from pll.training.trainer import Objective, Trainer, WeightedLoss


class CAVL(DeepEstimator):
    """Class activation value learning (Zhang et al. 2022); see the docstring of the module.

    References
    ----------
    Zhang, Feng, Han, Liu, Niu, Qin & Sugiyama, Exploiting class activation value for partial-label learning, ICLR
    2022.
    """

    takes_prior: ClassVar[bool] = False
    summary: ClassVar[str] = (
        "Trains on the candidate with the largest class activation value. "
        "Decides at once, like PRODEN-sudden, by another measure; costs as much as ordinary training."
    )

    def _objective(self, task: Task) -> Objective:
        return _Activation(get_loss(self.loss))


class _Activation(WeightedLoss):
    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        z = batch.pick(logits.detach())
        self._values = (z - 1).abs() * z
        return super().loss(batch, logits)

    def update(self, batch: Batch, label_weights: Tensor) -> None:
        # Off S_i a store holds 0, also where a candidate's weight has underflowed: uniform weights mark S_i.
        inside = batch.read(self._inside)
        top = self._values.masked_fill(inside == 0, -torch.inf).argmax(dim=1)
        batch.write(self.weights, one_hot(top, label_weights.shape[1]).to(label_weights))

    def start(self, trainer: Trainer) -> None:
        super().start(trainer)
        self._inside = trainer.label_weights.clone()  # above 0 on S_i

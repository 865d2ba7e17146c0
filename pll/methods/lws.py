"""LWS, leveraged weighted loss (Wen, Cui, Hang, Liu, Wang & Lin, ICML 2021).

Idea: one binary loss a label on the raw scores z. Candidates should score high, the other labels low, and β leverages
the two:

    L = Σ_{j ∈ S} w_j ψ(z_j) + β Σ_{j ∉ S} w_j ψ(−z_j),      ψ(z) = σ(−z), the sigmoid loss

The weights are the softmax of the scores of the example's previous pass, normalised over S and over its complement.
They start uniform on both.

Label weights: the model's scores restricted to S_i.

Hyper-parameters: those of every deep method (without `loss`, which is its own), and `beta` (β, 2; the paper tries 1
and 2).

Complexity: a step costs O(B·c) beyond the forward and backward pass. Memory n·c for the weights, whatever |S| is.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from pll.methods.base import Task, setting
from pll.methods.deep import DeepEstimator
from pll.training.layouts import Batch
from pll.training.trainer import Objective, Trainer


class LWS(DeepEstimator):
    """Leveraged weighted loss (Wen et al. 2021); see the docstring of the module. `loss` is not used.

    Parameters
    ----------
    beta
        β, weight of the labels off the set, at least 0.

    References
    ----------
    Wen, Cui, Hang, Liu, Wang & Lin, Leveraged weighted loss for partial label learning, ICML 2021.
    """

    takes_prior: ClassVar[bool] = False
    summary: ClassVar[str] = (
        "Pushes candidates up and other labels down by one sigmoid loss a label, weighted by its own scores. "
        "Costs as much as ordinary training; keeps n × c weights."
    )

    beta: float = setting(2.0, least=0)

    def _objective(self, task: Task) -> Objective:
        return _Leveraged(self.beta, len(task.candidates), task.candidates.n_classes)


class _Leveraged(Objective):
    def __init__(self, beta: float, n: int, n_classes: int) -> None:
        self._beta = beta
        self._shape = (n, n_classes)

    def start(self, trainer: Trainer) -> None:
        self._scores = torch.zeros(self._shape, device=trainer.X.device)  # of the previous pass; equal: uniform

    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        inside = batch.mask(logits.shape[1])
        before = self._scores[batch.rows]
        within = torch.softmax(before.masked_fill(~inside, -torch.inf), dim=1)
        without = torch.nan_to_num(torch.softmax(before.masked_fill(inside, -torch.inf), dim=1))  # NaN: S is full
        self._scores[batch.rows] = logits.detach()
        return (within * torch.sigmoid(-logits) + self._beta * without * torch.sigmoid(logits)).sum(dim=1).mean()

    def state(self) -> dict[str, Tensor]:
        return {"scores": self._scores}

    def load_state(self, state: dict[str, Tensor]) -> None:
        self._scores.copy_(state["scores"])

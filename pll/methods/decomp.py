"""PN-decomp, the decomposition baseline (Lv et al. 2020, §4).

Idea: "decomposing one instance with multiple candidate labels into many (same) instances each one single label, so that
we could use any ordinary multi-class classification methods". An example with S = {cat, fox} becomes two training
examples, one labelled cat and one labelled fox:

    R̂ = 1/m Σ_i Σ_{j ∈ S_i} ℓ(g(x_i), e^j),   m = Σ_i |S_i|

An epoch is one pass over the m copies in random order, so that the copies of one example meet the model at different
times. Nothing is ever identified while it learns: wrong copies are averaged out, or they are not. Compared with
PRODEN-naive, which keeps an example's candidates together at 1/|S_i| each, an example here counts |S_i| times.

With a prior, copy (i, j) counts |S_i| · prior_ij instead of once.

Label weights: the model's scores restricted to S_i, from the latest training pass of any copy.

Hyper-parameters: those of every deep method.

Complexity: an epoch costs m/n = mean |S| times that of supervised training; memory as for every deep method, plus
O(m). The features are not copied.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from pll.candidates import CandidateSets
from pll.methods.base import Task, setting
from pll.methods.deep import DeepEstimator
from pll.training.layouts import Batch
from pll.training.losses import Loss, get_loss
from pll.training.trainer import Objective, Trainer
from pll.weights import Weights


class PNDecomp(DeepEstimator):
    """One copy of the example for every candidate (PN-decomp); see the docstring of the module.

    Settings as for every deep method; a batch of 256 holds 256 copies. The copies of an example pull in different
    directions, which makes the steps noisy: hence a tenth of the others' learning rate (digits, linear, one seed, test
    accuracy at q = 0.1 / 0.7: 93 / 65 % with 0.005, 90 / 29 % with 0.05; PRODEN-naive 93 / 69 %).
    """

    summary: ClassVar[str] = (
        "Makes one copy of the example for each candidate and learns as if every copy were right. "
        "The simplest baseline; an epoch costs as many times more as there are candidates."
    )
    rule = "it learns every candidate as if it were true"

    lr: float | None = setting(5e-3, (None,), least=0)

    def _objective(self, task: Task) -> Objective:
        return _Decomposed(get_loss(self.loss), task.candidates, task.prior)


class _Decomposed(Objective):
    """A training unit is one entry of the candidate sets: its row is the example, its index the label."""

    owners: Tensor

    def __init__(self, loss: Loss, candidates: CandidateSets, prior: Weights | None) -> None:
        self._loss = loss
        self._labels = torch.from_numpy(candidates.indices.astype(np.int64))  # (m,)
        self.owners = torch.from_numpy(candidates.rows.copy())  # (m,)
        self._counts = None  # (m,) |S_i| · prior_ij: how much a copy counts; exactly 1 where the prior is uniform
        if prior is not None:
            mean = np.add.reduceat(prior.astype(np.float64), candidates.indptr[:-1]) / candidates.sizes
            self._counts = torch.from_numpy((prior / mean[candidates.rows]).astype(np.float32))

    def start(self, trainer: Trainer) -> None:
        self._labels = self._labels.to(trainer.X.device)
        if self._counts is not None:
            self._counts = self._counts.to(trainer.X.device)

    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        losses = self._loss(logits).gather(1, self._labels[batch.units][:, None])  # (B, 1)
        if self._counts is not None:
            losses = losses * self._counts[batch.units][:, None]
        return losses.mean()

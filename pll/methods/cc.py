"""CC and RC, the classifier- and risk-consistent methods (Feng, Lv, Han, Xu, Niu, Geng, An & Sugiyama, NeurIPS 2020).

Idea: where wrong labels enter a set at random, the set's probability given x is Σ_{j ∈ S} g_j(x) up to a constant.

- *CC* maximises that likelihood: its loss is −log Σ_{j ∈ S_i} g_j(x_i). Its gradient is that of PRODEN's
  cross-entropy under weights of the *current* pass; PRODEN uses those of the pass before.
- *RC* weights the losses of the candidates by g_j(x_i) / Σ_{k ∈ S_i} g_k(x_i), which is PRODEN's loss and update.

Label weights: the model's scores restricted to S_i.

Hyper-parameters: those of every deep method (CC: without `loss`, which is its own).

Complexity: a step costs O(B·c) beyond the forward and backward pass; CC keeps no weights of its own.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from pll.methods.base import Task
from pll.methods.deep import DeepEstimator
from pll.methods.proden import PRODEN
from pll.training.layouts import Batch
from pll.training.trainer import Objective


class CC(DeepEstimator):
    """Maximum likelihood of the candidate sets (Feng et al. 2020); see the docstring of the module.

    Settings as for every deep method; `loss` is not used.

    References
    ----------
    Feng, Lv, Han, Xu, Niu, Geng, An & Sugiyama, Provably consistent partial-label learning, NeurIPS 2020.
    """

    takes_prior: ClassVar[bool] = False
    in_ranks: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "Maximises the probability of the whole candidate set. Close to PRODEN, without weights of its own; "
        "costs as much as ordinary training."
    )

    def _objective(self, task: Task) -> Objective:
        return _SetLikelihood()


class RC(PRODEN):
    """Importance-weighted losses of the candidates (Feng et al. 2020): the same updates as PRODEN's.

    References
    ----------
    Feng, Lv, Han, Xu, Niu, Geng, An & Sugiyama, Provably consistent partial-label learning, NeurIPS 2020.
    """

    summary: ClassVar[str] = (
        "Weights each candidate's loss by the model's own probability. The same updates as PRODEN's, "
        "derived from an unbiased risk; here to compare under its name."
    )


class _SetLikelihood(Objective):
    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        outside = ~batch.mask(logits.shape[1])
        log_p = torch.log_softmax(logits, dim=1)
        return -torch.logsumexp(log_p.masked_fill(outside, -torch.inf), dim=1).mean()

"""D²CNN, entropy and temporal ensembling (Yao, Deng, Chen, Gong, Wu & Yang, AAAI 2020).

Idea: one network and three terms. A *fidelity* term keeps the prediction among the candidates; a *discrimination*
term lowers the entropy of the prediction, "to maximize the margin between the potentially correct label and the
unlikely ones"; a *temporal ensembling* term pulls the prediction towards the running average of the example's own
predictions in earlier epochs, "so that the latent groundtruth label can be confidently highlighted". With p = g(x_i),
c classes and t epochs completed:

    L   = L_f + r(t) · (λ L_d + μ L_t)
    L_f = 1/|S_i| Σ_{j ∈ S_i} ℓ(p, e^j)
    L_d = −Σ_j p_j log p_j
    L_t = 1/c Σ_j (p_j − z̃_ij)²,   0 in the first epoch
    Z_i ← α Z_i + (1 − α) w_i once an epoch, from Z_i = 0;   z̃_i = Z_i / (1 − α^t)
    r(t) = exp(−5 (1 − T)²),   T = min(1, t / (ramp_up · epochs))

w_i are the label weights: the prediction restricted to S_i and normalised.

What is published, and what we chose. We could reach the abstract (the quotations above) and the names of the three
terms and of what enters them (label vector, prediction, training target), but neither code nor formulas; of a second
network the abstract has nothing. The following is ours:

- L_f weights all candidates equally, as the label vector of the description does. (−log Σ_{j ∈ S_i} p_j, the other
  choice, has the gradient of PRODEN's loss under current weights; on digits the other two terms then change little.)
- L_d is taken over all classes. λ = 1.
- L_t, Z, its correction for starting at 0, α = 0.6, μ = 30 and the ramp are those of temporal ensembling (Laine &
  Aila, ICLR 2017), the ramp over 0.3 of the epochs (there 80 of 300). The entropy follows the same ramp: a network
  should not be sure before it has learnt anything.
- Z is stored on S_i alone, so that memory is proportional to the number of candidates; off S_i the target is 0.

The paper's backbone is a ResNet (`model="resnet"`); any model does, on tables too.

Label weights: the model's scores restricted to S_i (not their running average).

Hyper-parameters: those of every deep method, with a weight decay of 1e-5 by default, and `entropy` (λ, default 1),
`consistency` (μ, 30), `ensemble` (α, 0.6), `ramp_up` (0.3). The weight decay is small because
the entropy and the running average need large scores. Measurements:
docs/research/methods.md.

Complexity: a step costs O(B·c) beyond the forward and backward pass; memory O(Σ|S_i|) for Z (dense layout: n·c).
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor

from pll.methods.base import Task, setting
from pll.methods.deep import DeepEstimator
from pll.training.layouts import Batch
from pll.training.losses import Loss, get_loss
from pll.training.trainer import Objective, Trainer, WeightedLoss


class D2CNN(DeepEstimator):
    """Fidelity, entropy and temporal ensembling (after Yao et al. 2020); see the docstring of the module.

    Parameters
    ----------
    entropy
        λ, weight of the entropy, at least 0.
    consistency
        μ, weight of the distance from the running average, at least 0.
    ensemble
        α in [0, 1): how slowly the running average follows the predictions.
    ramp_up
        The share of the epochs, in (0, 1], over which both weights grow to their full size.

    References
    ----------
    Yao, Deng, Chen, Gong, Wu & Yang, Deep discriminative CNN with temporal ensembling for ambiguously-labeled image
    classification, AAAI 2020.
    """

    summary: ClassVar[str] = (
        "Keeps predictions among the candidates, makes them decided, and steadies them with their own past. "
        "Costs as much as ordinary training; made for images, works on tables."
    )

    entropy: float = setting(1.0, least=0)
    consistency: float = setting(30.0, least=0)
    ensemble: float = setting(0.6, least=0, below=1)
    ramp_up: float = setting(0.3, above=0, most=1)
    weight_decay: float = setting(1e-5, least=0, most=10)

    def _objective(self, task: Task) -> Objective:
        return _Ensembled(
            get_loss(self.loss), self.entropy, self.consistency, self.ensemble, self.ramp_up * self.total_epochs()
        )


def ramp(t: float) -> float:
    """Laine & Aila's r: from exp(−5) at t = 0 to 1 at t = 1 and after.

    References
    ----------
    Laine & Aila, Temporal ensembling for semi-supervised learning, ICLR 2017.

    Examples
    --------
    >>> round(ramp(0.0), 4), ramp(1.0), ramp(3.0)
    (0.0067, 1.0, 1.0)
    """
    return math.exp(-5.0 * (1.0 - min(1.0, t)) ** 2)


class _Ensembled(WeightedLoss):
    """Fidelity, entropy and temporal ensembling.

    Attributes
    ----------
    average
        Z, a store of the trainer's layout.
    """

    average: Tensor

    def __init__(self, loss: Loss, entropy: float, consistency: float, ensemble: float, ramp_epochs: float) -> None:
        super().__init__(loss)
        self._entropy = entropy
        self._consistency = consistency
        self._ensemble = ensemble
        self._ramp_epochs = ramp_epochs

    def start(self, trainer: Trainer) -> None:
        super().start(trainer)
        self._trainer = trainer
        self.average = torch.zeros_like(trainer.label_weights)

    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        t = self._trainer.epoch
        c = logits.shape[1]
        log_p = torch.log_softmax(logits, dim=1)
        p = log_p.exp()
        fidelity = (batch.read(self.weights) * batch.pick(self._loss(logits))).sum(dim=1)
        terms = fidelity - ramp(t / self._ramp_epochs) * self._entropy * (p * log_p).sum(dim=1)
        if t:  # in the first epoch there is no past
            target = batch.read(self.average) / (1 - self._ensemble**t)  # (B, k), 0 off S
            # ‖p − z̃‖² over all classes, with z̃ known on the candidates alone
            distance = (p * p).sum(dim=1) + ((target - 2 * batch.pick(p)) * target).sum(dim=1)
            terms = terms + ramp(t / self._ramp_epochs) * self._consistency / c * distance
        return terms.mean()

    def update(self, batch: Batch, label_weights: Tensor) -> None:
        past = batch.read(self.average)
        batch.write(self.average, self._ensemble * past + (1 - self._ensemble) * label_weights)

    def state(self) -> dict[str, Tensor]:
        return {"average": self.average}

    def load_state(self, state: dict[str, Tensor]) -> None:
        self.average.copy_(state["average"])

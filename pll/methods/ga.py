"""GA, complementary-label learning by gradient ascent (Ishida, Niu, Menon & Sugiyama, ICML 2019, Algorithm 1).

Idea: a label that is *not* a candidate is certainly wrong: a complementary label. Every pair (x_i, k ∉ S_i) is taken
as one example x_i with the complementary label k; π_k is the share of label k among all pairs. Where wrong labels are
ruled out evenly, the risk of supervised learning can be had from such pairs alone (there, Theorem 1), as a sum of
class-wise parts

    R = Σ_k L_k,   L_k = Σ_k' π_k' mean_{k'} ℓ(g, e^k) − (c − 1) π_k mean_k ℓ(g, e^k)

where mean_{k'} averages over the batch's pairs whose complementary label is k'. True risks are not negative, but an
L_k measured on a batch can become so, and then the model overfits. Two corrections (`correction`), both of that paper:

- *clamp*, its non-negative risk estimator: step down the gradient of Σ_k max(0, L_k);
- *ascent*, its Algorithm 1, from which the method has its name: where all parts of the batch are at least 0, step down
  the gradient of Σ_k L_k; where any is negative, step *up* the gradient of the negative ones, Σ_k min(0, L_k).

The loss that is recorded is Σ_k L_k, which can be negative. The default is *clamp*: *ascent* is less accurate on most
data (docs/research/methods.md).

Label weights: the model's scores restricted to S_i.

Hyper-parameters: those of every deep method, with a smaller learning rate and weight decay by default, `lr=3e-3` and
`weight_decay=1e-4`. The published code has Adam, 5e-5, 1e-4, batch 256 and 300 epochs of 60,000 images, some 70,000
steps: `GA(optimiser="adam", lr=5e-5)`. 100 epochs of a small table are a few hundred steps, too few for that rate.

Where ours differs: the published code multiplies each part by its number of pairs before it steps up; Algorithm 1
does not, and neither do we. A class that no pair of a batch rules out adds nothing to that batch.

Where some classes are ruled out more often than evenly, (c − 1) π_k > 1, the class prior that this implies,
1 − (c − 1) π_k, is negative, and so is L_k on nearly every batch: Algorithm 1 would do nothing but step up these
parts, which raises exactly those classes. Real candidate sets are like that (Lost: up to 1.08). Where any class is,
nothing is corrected: every step goes down the gradient of Σ_k L_k, the same unbiased risk; `notes_` reports it, and
`GA.doubts` before the start.

Complexity: a step costs O(B·c) beyond the forward and backward pass, whatever |S| is; memory as for every deep
method.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods.base import Task, setting
from pll.methods.deep import DeepEstimator
from pll.training.layouts import Batch
from pll.training.losses import Loss, get_loss
from pll.training.trainer import Objective, Trainer

CORRECTIONS = ("clamp", "ascent")

UNEVEN = 1.02
"""(c − 1) π_k above which a class is ruled out more often than chance explains."""


class GA(DeepEstimator):
    """Gradient ascent on complementary labels (Ishida et al. 2019); see the docstring of the module.

    Settings as for every deep method, but for the defaults `lr=3e-3` and `weight_decay=1e-4`, and one of its own.

    Parameters
    ----------
    correction
        Of negative parts of the risk, `"clamp"` or `"ascent"`.

    References
    ----------
    Ishida, Niu, Menon & Sugiyama, Complementary-label learning for arbitrary losses and models, ICML 2019.
    """

    summary: ClassVar[str] = (
        "Learns from the labels that are ruled out, and stops or steps back where it sees itself overfit. "
        "Costs as much as ordinary training; needs many examples or many labels ruled out."
    )

    correction: str = setting("clamp", CORRECTIONS)
    lr: float | None = setting(3e-3, (None,), least=0)
    weight_decay: float = setting(1e-4, least=0, most=10)

    @classmethod
    def doubts(cls, candidates: CandidateSets) -> tuple[str, ...]:
        shares = (candidates.n_classes - 1) * complementary_shares(candidates)
        often = int((shares > UNEVEN).sum())
        if not often:
            return ()
        return (
            f"GA takes it that wrong labels are ruled out evenly. Here {often} of {candidates.n_classes} classes are "
            "ruled out more often than that allows: GA then corrects nothing. PRODEN does not mind.",
        )

    def _objective(self, task: Task) -> Objective:
        shares = complementary_shares(task.candidates)
        uneven = int(((task.candidates.n_classes - 1) * shares > 1).sum())
        if uneven:
            self.notes_ = (
                f"{uneven} of {task.candidates.n_classes} classes are ruled out more often than evenly; a correction "
                "would raise exactly those, so every step went down the unbiased risk.",
            )
        return _Complementary(get_loss(self.loss), shares, "none" if uneven else self.correction)


def complementary_shares(candidates: CandidateSets) -> Tensor:
    """Return (c,) float32, π_k: the share of each label among all pairs (example, label that is not a candidate).

    Raises
    ------
    UserError
        There is no such pair.

    Examples
    --------
    >>> complementary_shares(CandidateSets.from_lists([[0, 1], [0]], n_classes=3)).tolist()
    [0.0, 0.333..., 0.666...]
    """
    ruled_out = len(candidates) - np.bincount(candidates.indices, minlength=candidates.n_classes)
    if not ruled_out.any():
        raise UserError("GA learns from labels that are ruled out; every candidate set here holds all the labels.")
    return torch.from_numpy((ruled_out / ruled_out.sum()).astype(np.float32))


def class_wise_risks(losses: Tensor, complementary: Tensor, shares: Tensor) -> Tensor:
    """Return (c,) the parts L_k of the risk on one batch.

    Parameters
    ----------
    losses
        (B, c), ℓ(g(x_i), e^k).
    complementary
        (B, c) bool, True where the label is ruled out.
    shares
        (c,) π.
    """
    pairs = complementary.to(losses)  # (B, c)
    per_pair = shares / pairs.sum(dim=0).clamp(min=1)  # (c,) π_k over the number of pairs of class k
    # Σ_k' π_k' mean_{k'} ℓ_k sums, for each example, its classes ruled out: no (c, c) table is needed.
    expected = (pairs @ per_pair) @ losses  # (c,)
    own = per_pair * (pairs * losses).sum(dim=0)  # (c,) π_k mean_k ℓ_k
    return expected - (losses.shape[1] - 1) * own


class _Complementary(Objective):
    def __init__(self, loss: Loss, shares: Tensor, correction: str) -> None:
        self._loss = loss
        self._correction = correction
        self._shares = shares

    def start(self, trainer: Trainer) -> None:
        self._shares = self._shares.to(trainer.X.device)

    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        risks = class_wise_risks(self._loss(logits), ~batch.mask(logits.shape[1]), self._shares)
        risk = risks.sum()
        if self._correction == "none":
            return risk
        descended = risks.clamp(min=0).sum()
        if self._correction == "ascent":
            descended = torch.where((risks < 0).any(), -risks.clamp(max=0).sum(), risk)
        # The value is the risk, for the record; the gradient is that of what is descended.
        return descended + (risk - descended).detach()

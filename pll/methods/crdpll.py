"""CR-DPLL, consistency regularisation (Wu, Wang & Zhang, ICML 2022).

Idea: labels off the set get probability 0, and several views of one example get the same label distribution:

    L = −Σ_{j ∉ S} log(1 − p_j) + λ(t) Σ_views KL(w ‖ p_view)

The target w is on S_i, w ∝ the geometric mean of the views' probabilities in the example's previous pass; it starts
uniform. λ(t) grows linearly from 0 to `consistency` over the share `ramp_up` of the epochs.

Two views: the training pass itself (with `augment`: the weak one), and a second pass on a strongly changed copy. Of
images the copy is shifted and mirrored and a random square of half its side is erased; of tables Gaussian noise of
`noise` is added to the scaled features. (The paper has three views of images, by AutoAugment and Cutout.)

Label weights: the model's scores restricted to S_i, of the first view.

Hyper-parameters: those of every deep method (without `loss`, which is its own), `consistency` (1), `ramp_up` (0.2; 100
of 500 epochs there) and `noise` (0.3).

Complexity: twice the forward and backward passes of ordinary training.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from pll.methods.base import Task, setting
from pll.methods.deep import DeepEstimator
from pll.training.augment import shift
from pll.training.layouts import Batch
from pll.training.trainer import Objective, Trainer


class CRDPLL(DeepEstimator):
    """Consistency regularisation (Wu et al. 2022); see the docstring of the module. `loss` is not used.

    Parameters
    ----------
    consistency
        λ after the ramp, at least 0.
    ramp_up
        Share of the epochs over which λ grows, in (0, 1].
    noise
        Deviation of the noise on the scaled features of tables, at least 0.

    References
    ----------
    Wu, Wang & Zhang, Revisiting consistency regularization for deep partial label learning, ICML 2022.
    """

    takes_prior: ClassVar[bool] = False
    summary: ClassVar[str] = (
        "Rules out the labels off the set and asks for the same label on changed copies of an example. "
        "Made for images, best with augmentation; costs twice ordinary training."
    )

    consistency: float = setting(1.0, least=0)
    ramp_up: float = setting(0.2, above=0, most=1)
    noise: float = setting(0.3, least=0)

    def _objective(self, task: Task) -> Objective:
        return _Consistent(self.consistency, self.ramp_up * self.total_epochs(), self.noise)


class _Consistent(Objective):
    def __init__(self, consistency: float, ramp_epochs: float, noise: float) -> None:
        self._consistency, self._ramp_epochs, self._noise = consistency, ramp_epochs, noise

    def start(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self.weights = trainer.label_weights.clone()

    def loss(self, batch: Batch, logits: Tensor) -> Tensor:
        trainer = self._trainer
        strong = trainer.logits(self._changed(trainer.inputs(batch)))
        trainer.weigh(strong, batch.rows)
        views = [torch.log_softmax(view, dim=1) for view in (logits, strong)]
        self._both = (views[0] + views[1]).detach() / 2  # log of the geometric mean, up to a constant
        outside = ~batch.mask(logits.shape[1])
        ruled_out = -torch.where(outside, torch.log1p(-views[0].exp().clamp_max(1 - 1e-6)), 0.0).sum(dim=1)
        target = batch.read(self.weights)  # (B, k)
        entropy = torch.special.xlogy(target, target).sum(dim=1)
        divergence = sum(entropy - (target * batch.pick(view)).sum(dim=1) for view in views)
        loss: Tensor = (ruled_out + self._consistency * min(1.0, trainer.epoch / self._ramp_epochs) * divergence).mean()
        return loss

    def update(self, batch: Batch, label_weights: Tensor) -> None:
        batch.write(self.weights, batch.restrict(self._both))

    def state(self) -> dict[str, Tensor]:
        return {"weights": self.weights}

    def load_state(self, state: dict[str, Tensor]) -> None:
        self.weights.copy_(state["weights"])

    def _changed(self, inputs: Tensor) -> Tensor:
        """Return the strong view of (B, …) scaled features."""
        generator = self._trainer.stream.generator
        if inputs.dim() != 4:
            return inputs + self._noise * torch.randn(inputs.shape, generator=generator, device=inputs.device)
        images = shift(inputs, generator, flip=True)
        erased = [_random_half(size, generator, inputs.device) for size in images.shape[2:]]  # (H,) and (W,)
        return images.masked_fill(erased[0][:, None] & erased[1], 0.0)


def _random_half(size: int, generator: torch.Generator | None, device: torch.device) -> Tensor:
    """Return (size,) bool, True on a random half; the device is not asked which."""
    half, at = max(1, size // 2), torch.arange(size, device=device)
    start = torch.randint(size - half + 1, (), generator=generator, device=device)
    return (at >= start) & (at < start + half)

"""PRODEN on many small models at once: models of one shape that train side by side are one larger model.

Where all see the same mini-batches, the linear models are columns of one matrix product, (B, d) × (d, M·c); where each
has examples of its own, and in the second layer of shallow perceptrons, it is a batched product over the M models. The
gradient of the cross-entropy under fixed weights, softmax(z) − w, is written out. A step is Algorithm 1's (paper): the
forward pass gives the loss's gradient under the old weights and the new weights. Only learning rate and weight
decay differ between the models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pll.training.devices import computing_threads, moved, pinned
from pll.training.models import step_work
from pll.training.recorded import LEAST_STEPS, RecordedSteps
from pll.training.trainer import epoch_order


class BatchedModels:
    """M models of one shape in training; all tensors are float32 on one device.

    Parameters
    ----------
    X
        (n, d) scaled features; or (n, M, d), those of each model's own examples.
    sets
        (n, c) bool, the candidate sets; or (n, M, c).
    arms
        Learning rate and weight decay of each of the M models.
    momentum
        Of all.
    hidden
        Units of the hidden layer of a shallow perceptron; 0 for linear models.
    optimiser
        `"sgd"` or `"adam"`, of all.
    batch_size
        Examples a step.
    prior
        (n, c) prior label weights, 0 off the sets, or (n, M, c), one for each model: weights start from it and are w ∝
        prior · softmax.
    seed
        Of the initial parameters, the same for every model, and the order of examples.
    """

    def __init__(
        self,
        X: Tensor,
        sets: Tensor,
        arms: Sequence[tuple[float, float]],
        *,
        momentum: float = 0.9,
        hidden: int = 0,
        optimiser: str = "sgd",
        batch_size: int = 256,
        seed: int = 0,
        prior: Tensor | None = None,
    ) -> None:
        self.X = X
        self.hidden, self.optimiser, self.batch_size, self.seed = hidden, optimiser, batch_size, seed
        self.epoch = 0
        self._count = 0
        self._recorded = RecordedSteps[None](X.device)
        n, c, d, size = len(X), sets.shape[-1], X.shape[-1], len(arms)
        generator = torch.Generator().manual_seed(seed)
        self._parameters: list[Tensor] = []  # (d, M, h or c), (1, M, h or c); of a hidden layer (M, h, c), (M, 1, c)
        for layer, (fan_in, fan_out) in enumerate(((d, hidden), (hidden, c)) if hidden else ((d, c),)):
            for rows in (fan_in, 1):  # as torch.nn.Linear draws them
                drawn = (torch.rand((rows, fan_out), generator=generator) * 2 - 1) / math.sqrt(fan_in)
                copies = [drawn.to(X.device)] * size
                self._parameters.append(torch.stack(copies, dim=1 - layer))
        self._moments = [torch.zeros_like(p) for p in self._parameters]
        self._squares = [torch.zeros_like(p) for p in self._parameters] if optimiser == "adam" else []
        self._settings = torch.tensor([[lr, decay, momentum] for lr, decay in arms], device=X.device)
        start = sets / sets.sum(dim=-1, keepdim=True) if prior is None else prior.float()
        log_prior = torch.where(sets, 0.0, -torch.inf) if prior is None else start.log()
        self._log_prior = log_prior if log_prior.ndim == 3 else log_prior[:, None, :]  # (n, M or 1, c)
        self._weights = (start if start.ndim == 3 else start[:, None, :]).expand(n, size, c).contiguous()  # (n, M, c)

    def train_epoch(self, hook: Callable[[], None] | None = None, *, with_loss: bool = False) -> Tensor | None:
        """One pass over the examples; `hook` is called before every mini-batch.

        Parameters
        ----------
        hook
            May wait, may raise.
        with_loss
            Whether to return the losses.

        Returns
        -------
        Tensor | None
            (M,) each model's mean loss in this epoch, as `Trainer.end_epoch` has it; None without `with_loss`.
        """
        total = torch.zeros(self._weights.shape[1], device=self.X.device) if with_loss else None
        order = pinned(epoch_order(len(self.X), self.seed, self.epoch), self.X.device)
        with computing_threads(None, step_work((p.flatten() for p in self._parameters), self.batch_size)):
            for rows in torch.split(order, self.batch_size):
                if hook is not None:
                    hook()
                self._one_step(rows, total)
        self.epoch += 1
        return None if total is None else total / len(self.X)

    def _one_step(self, rows: Tensor, total: Tensor | None) -> None:
        # Adam's step has a count, which Python adds up.
        is_static = self.optimiser == "sgd" and len(rows) == self.batch_size <= len(self.X) / LEAST_STEPS
        if not is_static or not self._recorded.repeat(lambda own: self._step(own, total), rows, self.epoch):
            self._step(moved(rows, self.X.device), total)

    def keep(self, models: Sequence[int]) -> None:
        """Go on with these models alone."""
        at = torch.tensor(list(models), dtype=torch.int64, device=self.X.device)
        for tensors in (self._parameters, self._moments, self._squares):
            tensors[:] = [tensor.index_select(_model_axis(k), at) for k, tensor in enumerate(tensors)]
        self._settings, self._weights = self._settings[at], self._weights[:, at].contiguous()
        if self._log_prior.shape[1] > 1:
            self._log_prior = self._log_prior[:, at]

    def parameters(self, model: int) -> list[Tensor]:
        """Return one model's parameters: (d, h or c), (1, h or c) and, with a hidden layer, (h, c), (1, c)."""
        return [tensor.select(_model_axis(k), model) for k, tensor in enumerate(self._parameters)]

    def logits(self, X: Tensor) -> Tensor:
        """Return (B, M, c) for scaled features (B, d), or (B, M, d)."""
        return self._forward(X)[0]

    def _forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        first, bias = self._parameters[:2]
        if x.ndim == 3:
            z = torch.bmm(x.transpose(0, 1), first.transpose(0, 1)).transpose(0, 1) + bias  # (B, M, h or c)
        else:
            z = (x @ first.flatten(1)).reshape(len(x), *first.shape[1:]) + bias
        if not self.hidden:
            return z, None
        h = z.relu_()
        return torch.baddbmm(self._parameters[3], h.transpose(0, 1), self._parameters[2]).transpose(0, 1), h

    def _step(self, rows: Tensor, total: Tensor | None) -> None:
        x = self.X[rows]
        z, h = self._forward(x)
        if total is not None:  # the weights of an example sum to 1
            total += (torch.logsumexp(z, dim=2) - (self._weights[rows] * z).sum(dim=2)).sum(dim=0)
        slope = (torch.softmax(z, dim=2) - self._weights[rows]) / len(rows)  # ∂loss/∂z, (B, M, c)
        self._weights[rows] = torch.softmax(z + self._log_prior[rows], dim=2)
        gradients: list[Tensor] = []
        if h is not None:
            across = slope.transpose(0, 1)  # (M, B, c)
            gradients = [h.permute(1, 2, 0) @ across, across.sum(dim=1, keepdim=True)]
            slope = (across @ self._parameters[2].transpose(1, 2)).transpose(0, 1) * (h > 0)
        if x.ndim == 3:
            first = torch.bmm(x.permute(1, 2, 0), slope.transpose(0, 1)).transpose(0, 1)
        else:
            first = (x.T @ slope.flatten(1)).reshape(x.shape[1], *slope.shape[1:])
        self._update([first, slope.sum(dim=0, keepdim=True), *gradients])

    def _update(self, gradients: list[Tensor]) -> None:
        """Move the parameters; in place, since new memory for each operation takes longer than the operation."""
        self._count += 1
        for k, gradient in enumerate(gradients):
            lr, decay, momentum = self._settings.T.reshape(3, *((-1, 1, 1) if _model_axis(k) == 0 else (1, -1, 1)))
            p, m = self._parameters[k], self._moments[k]
            gradient.addcmul_(p, decay)
            if self.optimiser == "sgd":
                m.mul_(momentum if self._count > 1 else 0.0).add_(gradient)
                p.addcmul_(m, -lr)
                continue
            s = self._squares[k]
            m.mul_(momentum).addcmul_(gradient, 1 - momentum)
            s.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
            scale = torch.div(s, 1 - 0.999**self._count, out=gradient).sqrt_().add_(1e-8)
            p.addcmul_(torch.div(m, scale, out=gradient), -lr / (1 - momentum**self._count))


def _model_axis(parameter: int) -> int:
    """Return the dimension of a parameter that runs over the models."""
    return 1 if parameter < 2 else 0

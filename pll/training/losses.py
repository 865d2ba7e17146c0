"""Decomposable losses: the loss of every label, as a function of the logits.

A loss here is a function of the logits (B, c) that returns (B, c): column j is ℓ(g(x), e^j), the loss if j were the
true label. Training multiplies the columns by the training weights and sums (paper, Eq. softmin). Any callable of
this form can be used in place of a name.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from pll.errors import UserError

Loss = Callable[[Tensor], Tensor]


def ce(logits: Tensor) -> Tensor:
    """Cross-entropy, −log g_j. Logits (B, c) → (B, c)."""
    return -torch.log_softmax(logits, dim=1)


def mse(logits: Tensor) -> Tensor:
    """Squared error against e^j over all classes, Σ_k (g_k − e^j_k)² = ‖g‖² − 2 g_j + 1.

    With one-hot weights this is the min-loss of the paper (Eq. loss-pll).
    """
    g = torch.softmax(logits, dim=1)
    return (g * g).sum(dim=1, keepdim=True) - 2 * g + 1


def mse_elementwise(logits: Tensor) -> Tensor:
    """The paper's Eq. (softmin) read element by element: (g_j − 1)², ignoring the other classes."""
    return (torch.softmax(logits, dim=1) - 1) ** 2


def mae(logits: Tensor) -> Tensor:
    """Absolute error against e^j, Σ_k |g_k − e^j_k| = 2 − 2 g_j (Ghosh et al. 2017): bounded, robust to noise."""
    return 2 - 2 * torch.softmax(logits, dim=1)


def gce(logits: Tensor, q: float = 0.7) -> Tensor:
    """Generalised cross-entropy (1 − g_j^q) / q (Zhang & Sabuncu 2018): between ce (q → 0) and mae (q = 1)."""
    # g_j^q by way of the logarithm: its gradient stays finite where g_j underflows.
    return (1 - torch.exp(q * torch.log_softmax(logits, dim=1))) / q


LOSSES: dict[str, Loss] = {
    "ce": ce,
    "mse": mse,
    "mse-elementwise": mse_elementwise,
    "mae": mae,
    "gce": gce,
}

LOSS_TITLES = {
    "ce": "Cross-entropy",
    "mse": "Squared error",
    "mse-elementwise": "Squared error, read element by element",
    "mae": "Absolute error",
    "gce": "Generalised cross-entropy",
}
"""Names of the losses for people."""


def get_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the callable itself.

    Raises
    ------
    UserError
        No loss has that name.
    """
    if callable(loss):
        return loss
    if loss not in LOSSES:
        raise UserError(f"There is no loss called {loss!r}; use one of {', '.join(LOSSES)}.")
    return LOSSES[loss]

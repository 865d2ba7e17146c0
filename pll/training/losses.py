"""Decomposable losses: the loss of every label, as a function of the logits.

A loss here is a function of the logits (B, c) that returns (B, c): column j is ℓ(g(x), e^j), the loss if j were the
true label. Training multiplies the columns by the training weights and sums (paper, Eq. softmin). Any callable of
this form can be used in place of a name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from pll.errors import unknown

if TYPE_CHECKING:
    from torch import Tensor

Loss = Callable[["Tensor"], "Tensor"]
GCE_Q = 0.7


def ce(logits: Tensor) -> Tensor:
    """Cross-entropy, −log g_j. Logits (B, c) → (B, c)."""
    return -logits.log_softmax(dim=1)


def mse(logits: Tensor) -> Tensor:
    """Squared error against e^j over all classes, Σ_k (g_k − e^j_k)² = ‖g‖² − 2 g_j + 1.

    With one-hot weights this is the min-loss of the paper (Eq. loss-pll).
    """
    g = logits.softmax(dim=1)
    return (g * g).sum(dim=1, keepdim=True) - 2 * g + 1


def mse_elementwise(logits: Tensor) -> Tensor:
    """The paper's Eq. (softmin) read element by element: (g_j − 1)², ignoring the other classes."""
    return (logits.softmax(dim=1) - 1) ** 2


def mae(logits: Tensor) -> Tensor:
    """Absolute error against e^j, Σ_k |g_k − e^j_k| = 2 − 2 g_j (Ghosh et al. 2017): bounded, robust to noise.

    References
    ----------
    Ghosh, Kumar & Sastry, Robust loss functions under label noise for deep neural networks, AAAI 2017.
    """
    return 2 - 2 * logits.softmax(dim=1)


def gce(logits: Tensor, q: float = GCE_Q) -> Tensor:
    """Generalised cross-entropy (1 − g_j^q) / q (Zhang & Sabuncu 2018): between ce (q → 0) and mae (q = 1).

    Parameters
    ----------
    logits
        (B, c).
    q
        In (0, 1].

    References
    ----------
    Zhang & Sabuncu, Generalized cross entropy loss for training deep neural networks with noisy labels, NeurIPS
    2018.
    """
    # g_j^q by way of the logarithm: its gradient stays finite where g_j underflows.
    return (1 - (q * logits.log_softmax(dim=1)).exp()) / q


class NamedLoss(NamedTuple):
    """A loss that can be chosen by name.

    Attributes
    ----------
    title
        Its name for people.
    function
        Logits (B, c) → (B, c).
    lipschitz
        The least probability that the bounded logits leave a label ↦ the Lipschitz constant of the loss by the logits;
        None where it has not been derived, and the error bound then says so.
    most
        The most that the loss can be, where it is no function of the label's own probability alone; else None.
    """

    title: str
    function: Loss
    lipschitz: Callable[[float], float] | None = None
    most: float | None = None


LOSSES = {
    "ce": NamedLoss("Cross-entropy", ce, lambda low: math.sqrt(2) * (1 - low)),
    "mse": NamedLoss("Squared error", mse, lambda _: math.sqrt(2), most=2.0),
    "mse-elementwise": NamedLoss(
        "Squared error, read element by element", mse_elementwise, lambda _: 8 * math.sqrt(2) / 27
    ),
    "mae": NamedLoss("Absolute error", mae, lambda _: math.sqrt(2) / 2),
    "gce": NamedLoss(
        "Generalised cross-entropy", gce, lambda _: math.sqrt(2) * (GCE_Q / (1 + GCE_Q)) ** GCE_Q / (1 + GCE_Q)
    ),
}
"""Every loss by the name that pages, shell and files use; a new one is a function and a line here."""


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
        raise unknown("loss", loss, LOSSES)
    return LOSSES[loss].function

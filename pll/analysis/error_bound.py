"""The paper's estimation error bound (Theorem errorbound), evaluated where every symbol in it can be.

    R(ĝ) − R(g*)  ≤  4√2 · c · L_ℓ · Σ_y 𝔑_n(G_y)  +  2 M √(log(2/δ) / (2n))      with probability at least 1 − δ

R is the risk of the minimal loss (Eq. risk-pll), ĝ the *exact* minimiser of its empirical counterpart over G, g* the
best of G. For linear logits with a bounded norm,

    G_y = {x ↦ ⟨v, (x, 1)⟩ : ‖v‖₂ ≤ Λ},   ‖(x, 1)‖₂ ≤ R   ⟹   |g_y| ≤ C_g = ΛR,   𝔑_n(G_y) ≤ ΛR/√n,

and the losses of `pll.training.losses` are functions of the logits, so that L_ℓ is their Lipschitz constant by
the logits (in the Euclidean norm, as Maurer's vector contraction in the proof needs it) and M their supremum over
|g| ≤ C_g:

    ce               M = log(1 + (c−1)e^{2C})     L = √2 (1 − e^{−M})      ‖∇‖ = ‖p − e_j‖ ≤ √2 (1 − p_j), p_j ≥ e^{−M}
    mse              M ≤ 2                        L = √2                   ‖J_softmax‖ ≤ 1/2, ‖2(p − e_j)‖ ≤ 2√2
    mae              M ≤ 2                        L = √2 / 2               2√2 p_j (1 − p_j)
    gce, q = 0.7     M ≤ 1/q                      L = √2 · max p^q (1 − p)
    mse-elementwise  M ≤ 1                        L = 8√2 / 27             2√2 p_j (1 − p_j)² at p_j = 1/3

What this file is not about: other models. Their classes have no norm that is bounded in advance, nor a Rademacher
complexity implemented here; an error says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import torch

from pll.errors import UserError
from pll.io import blocks
from pll.training.losses import LOSSES, get_loss
from pll.training.scaling import Scaling, flattened

NORMS_AT_ONCE = 4096


class NotComputable(UserError):
    """Raised where a symbol of the bound has no known value; the message names it."""


@dataclass(frozen=True)
class LossConstants:
    """Constants of a loss in the theorem, for c classes and logits of at most C_g in absolute value.

    Attributes
    ----------
    lipschitz
        L_ℓ, by the logits, in the Euclidean norm.
    most
        M, the supremum of the loss.
    least
        The infimum of the loss: nothing can be better by more than M − least.
    """

    lipschitz: float
    most: float
    least: float


def loss_constants(loss: str, n_classes: int, reach: float) -> LossConstants:
    """L_ℓ and M of a loss by name.

    Parameters
    ----------
    loss
        A name of `LOSSES`.
    n_classes
        c, at least 2.
    reach
        C_g, the bound on |g|.

    Raises
    ------
    NotComputable
        A loss whose constants have not been derived.

    Examples
    --------
    >>> found = loss_constants("ce", 3, 0.0)
    >>> round(found.most, 4), round(found.least, 4)
    (1.0986, 1.0986)
    """
    lipschitz = LOSSES[loss].lipschitz if loss in LOSSES else None
    if lipschitz is None:
        known = [name for name, one in LOSSES.items() if one.lipschitz is not None]
        raise NotComputable(
            f"Not computable: the Lipschitz constant and the bound of the loss {loss!r} are not known. "
            f"Known are those of {', '.join(known)}."
        )
    # p_j is least where z_j = −C and all others are C, and greatest the other way round.
    low = 1 / (1 + (n_classes - 1) * math.exp(min(2 * reach, 700)))
    most = LOSSES[loss].most
    if most is None:
        most = _loss_at(loss, n_classes, -reach)
    return LossConstants(lipschitz(low), most, _loss_at(loss, n_classes, reach))


def _loss_at(loss: str, n_classes: int, z: float) -> float:
    """The loss of class 0 where its logit is z and all others are −z."""
    logits = torch.full((1, n_classes), -z, dtype=torch.float64)
    logits[0, 0] = z
    return float(get_loss(loss)(logits)[0, 0])


@dataclass(frozen=True)
class Bound:
    """The theorem's right side, symbol by symbol, for linear logits whose norm is at most `norm` in every class.

    Attributes
    ----------
    n, c
        Training examples, at least 1, and classes, at least 2.
    norm
        Λ, above 0: the bound on ‖(w_y, b_y)‖₂ of every class, chosen before the data is seen.
    radius
        R, the largest ‖(x, 1)‖₂, as `feature_radius` gives it; of the scaled features, since the model sees those.
    delta
        δ in (0, 1); the bound holds with probability at least 1 − δ.
    loss
        A name of `LOSSES`.
    model
        What is to be trained; only `"linear"` has a bound.
    constants
        L_ℓ and M.

    Raises
    ------
    NotComputable
        Another model, a loss whose constants are not known, features without an end; the message says why.
    UserError
        Numbers out of range.

    Examples
    --------
    >>> found = Bound(n=10_000, c=10, norm=1.0, radius=8.0)
    >>> round(found.first, 1), round(found.second, 2), found.is_vacuous
    (64.0, 0.49, True)
    """

    n: int
    c: int
    norm: float
    radius: float
    delta: float = 0.05
    loss: str = "ce"
    model: object = "linear"
    constants: LossConstants = field(init=False)

    def __post_init__(self) -> None:
        if self.model != "linear":
            raise NotComputable(
                f"Not computable for the model {self.model!r}: the theorem needs the Rademacher complexity of the "
                "class of models, and a bound on its outputs, before training. Weight decay bounds neither, and any "
                "value given here for a network would be invented."
            )
        if not math.isfinite(self.radius):
            raise NotComputable("Not computable: the features have no largest norm; some are missing or infinite.")
        if not (self.n >= 1 and self.c >= 2 and self.norm > 0 and 0 < self.delta < 1):
            raise UserError("A bound needs examples, two classes or more, a norm above 0, and δ between 0 and 1.")
        object.__setattr__(self, "constants", loss_constants(self.loss, self.c, self.reach))

    @property
    def reach(self) -> float:
        """C_g = ΛR."""
        return self.norm * self.radius

    @property
    def complexity(self) -> float:
        """ΛR/√n, which 𝔑_n(G_y) of each class is at most."""
        return self.reach / math.sqrt(self.n)

    @property
    def first(self) -> float:
        """4√2 c L_ℓ Σ_y 𝔑_n(G_y): the complexity term."""
        return 4 * math.sqrt(2) * self.c * self.constants.lipschitz * self.c * self.complexity

    @property
    def second(self) -> float:
        """2M √(log(2/δ)/(2n)): the sampling term."""
        return 2 * self.constants.most * math.sqrt(math.log(2 / self.delta) / (2 * self.n))

    @property
    def value(self) -> float:
        """The bound."""
        return self.first + self.second

    @property
    def trivial(self) -> float:
        """M − least loss: the trivial bound of the left side."""
        return self.constants.most - self.constants.least

    @property
    def is_vacuous(self) -> bool:
        """Whether the bound is not below the trivial one."""
        return self.value >= self.trivial

    @property
    def examples_needed(self) -> float:
        """Smallest n, all else equal, at which the bound is not vacuous. Both terms decrease with 1/√n."""
        if self.trivial <= 0:
            return math.inf
        return math.ceil(self.n * (self.value / self.trivial) ** 2)

    def at(self, n: int) -> Bound:
        """Return the bound for n examples."""
        return replace(self, n=n)


def feature_radius(X: npt.NDArray[np.float32], scaling: Scaling) -> float:
    """Return R, the largest ‖(x, 1)‖₂ of the scaled features of X (n, …); the 1 is what the bias multiplies.

    It is that of the sample, at most the supremum that the theorem means.

    Parameters
    ----------
    X
        (n, …).
    scaling
        Fitted.
    """
    largest = 0.0
    for rows in blocks(len(X), NORMS_AT_ONCE):
        squares = (flattened(scaling, X[rows]).double() ** 2).sum(dim=1)
        largest = max(largest, float(squares.max()))
    return math.sqrt(largest + 1)

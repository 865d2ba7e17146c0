"""Jin & Ghahramani's objective beside PRODEN's: KL[z ‖ g] and Σ_j w_j ℓ_CE differ by a constant (paper, supplement).

With the weights of an example as its prior, z = w, the cross-entropy Σ_j w_j·(−log g_j) is KL[z ‖ g] + H(z), and H(z)
does not depend on the model: both are least at the same g, and have the same gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from pll.errors import UserError
from pll.training.losses import ce

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoObjectives:
    """Both objectives of one example with two candidates, along all the models g = (p, 1 − p).

    Attributes:
        p: (m,) what the model gives to the first candidate.
        cross_entropy: (m,) Σ_j z_j ℓ(g, e^j).
        divergence: (m,) KL[z ‖ g].
        entropy: H(z), the distance between the two, the same everywhere.
    """

    p: Numbers
    cross_entropy: Numbers
    divergence: Numbers
    entropy: float


def two_objectives(z: float, points: int = 199) -> TwoObjectives:
    """Both along p, for an example whose weights are (z, 1 − z).

    Raises:
        UserError: a weight outside of [0, 1].

    >>> found = two_objectives(0.25)
    >>> bool(np.ptp(found.cross_entropy - found.divergence) < 1e-12), float(found.p[found.divergence.argmin()])
    (True, 0.25)
    """
    if not 0 <= z <= 1:
        raise UserError(f"The weight is {z}; it must be from 0 to 1.")
    p = np.linspace(0, 1, points + 2)[1:-1]
    g = np.stack([p, 1 - p], axis=1)  # (m, 2)
    weights = np.array([z, 1 - z])
    cross_entropy = ce(torch.from_numpy(np.log(g))).numpy() @ weights
    divergence = sum(_xlogy(w, w / g[:, j]) for j, w in enumerate(weights))
    return TwoObjectives(p, cross_entropy, np.asarray(divergence), -sum(float(_xlogy(w, w)) for w in weights))


def _xlogy(x: float, y: npt.ArrayLike) -> Numbers:
    """x log y, 0 where x is 0."""
    return x * np.log(np.asarray(y)) if x > 0 else np.zeros(np.shape(y))

"""The temperature of a classifier, learnt from candidate sets of examples that it did not learn from.

Σ_S v_j p_j is the probability of a set (v: the prior of its labels, or 1 each). The temperature that makes the mean of
its logarithm largest says how sure a model may be: one that is often sure of a label off the set is too sure of itself.

References
----------
Guo et al., On calibration of modern neural networks, ICML 2017, with true labels in place of sets.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

TEMPERATURES = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0)
MIXED = 0.01
"""Share of the uniform distribution in the class probabilities: one confident mistake must not decide."""
_GOLDEN = (math.sqrt(5) - 1) / 2


def set_evidence(logits: Tensor, v: Tensor, temperature: Tensor) -> Tensor:
    """Return the mean of log Σ_S v_j p_j over examples, p mixed with the uniform distribution, (M,).

    Parameters
    ----------
    logits
        (h, M, c) of M models.
    v
        (h, 1, c), 0 off the sets: 1 on them, or a prior.
    temperature
        (M,), above 0.
    """
    p = torch.softmax(logits / temperature[:, None], dim=2)
    inside = torch.einsum("hmc,hc->hm", p, v[:, 0])
    mixed: Tensor = torch.log((1 - MIXED) * inside + MIXED * v.sum(dim=2) / v.shape[2]).mean(dim=0)
    return mixed


def likeliest_temperature(logits: Tensor, v: Tensor, *, steps: int = 0) -> Tensor:
    """Return the temperature of each model with the largest `set_evidence`, (M,): of `TEMPERATURES`, or near it.

    Parameters
    ----------
    logits, v
        As for `set_evidence`.
    steps
        Of a golden-section search between the neighbours of the best on the grid; 0 keeps to the grid.
    """
    grid = logits.new_tensor(TEMPERATURES)
    every = torch.stack([set_evidence(logits, v, one.expand(logits.shape[1])) for one in grid])  # (10, M)
    best = every.argmax(dim=0)
    if not steps:
        return grid[best]
    ratio = TEMPERATURES[-1] / TEMPERATURES[-2]
    around = torch.cat([grid[:1] / ratio, grid, grid[-1:] * ratio]).log()
    low, high = around[best], around[best + 2]
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    f_left, f_right = (set_evidence(logits, v, one.exp()) for one in (left, right))
    for _ in range(steps):
        is_left = f_left >= f_right
        low, high = torch.where(is_left, low, left), torch.where(is_left, right, high)
        new = torch.where(is_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        f_new = set_evidence(logits, v, new.exp())
        left, right = torch.where(is_left, new, right), torch.where(is_left, left, new)
        f_left, f_right = torch.where(is_left, f_new, f_right), torch.where(is_left, f_left, f_new)
    return ((low + high) / 2).exp()

"""The error bound: each symbol against a computation of its own, and what it refuses to say."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pll.analysis.error_bound import Bound, feature_radius, loss_constants
from pll.training.losses import LOSSES, get_loss
from pll.training.scaling import fit_scaling

EVERY_LOSS = pytest.mark.parametrize("loss", [name for name, one in LOSSES.items() if one.lipschitz is not None])


def test_the_theorem_by_hand() -> None:
    n, c, radius, norm, delta = 5000, 4, 3.0, 0.5, 0.1
    result = Bound(n, c, norm, radius, delta, "ce")
    reach = norm * radius
    most = math.log(1 + (c - 1) * math.exp(2 * reach))
    lipschitz = math.sqrt(2) * (1 - math.exp(-most))
    first = 4 * math.sqrt(2) * c * lipschitz * (c * norm * radius / math.sqrt(n))
    second = 2 * most * math.sqrt(math.log(2 / delta) / (2 * n))
    assert (result.first, result.second, result.value) == pytest.approx((first, second, first + second))
    assert result.constants.most == pytest.approx(most)


@EVERY_LOSS
@given(reach=st.floats(0.01, 20), c=st.integers(2, 12), seed=st.integers(0, 1000))
def test_no_logits_within_reach_break_the_constants(loss: str, reach: float, c: int, seed: int) -> None:
    """Supremum, infimum and Lipschitz constant, against losses and autograd gradients at corners and inside."""
    constants = loss_constants(loss, c, reach)
    generator = np.random.default_rng(seed)
    inside = generator.uniform(-reach, reach, size=(64, c))
    corners = reach * generator.choice([-1.0, 1.0], size=(64, c))
    logits = torch.from_numpy(np.concatenate([inside, corners])).requires_grad_()
    values = get_loss(loss)(logits)
    assert float(values.detach().max()) <= constants.most + 1e-9
    assert float(values.detach().min()) >= constants.least - 1e-9
    (slope,) = torch.autograd.grad(values[:, 0].sum(), logits)
    assert float(slope.norm(dim=1).max()) <= constants.lipschitz + 1e-9


def test_the_constants_of_cross_entropy_are_reached() -> None:
    """They are no larger than they must be: M at a corner, L in the limit of large logits."""
    logits = torch.tensor([[-8.0, 8.0, 8.0]], dtype=torch.float64)
    constants = loss_constants("ce", 3, 8.0)
    assert float(get_loss("ce")(logits)[0, 0]) == pytest.approx(constants.most)
    far = torch.tensor([[-8.0, 8.0, -8.0]], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(get_loss("ce")(far)[0, 0], far)
    assert float(slope.norm()) == pytest.approx(constants.lipschitz, rel=1e-3)


def test_the_complexity_is_an_upper_bound_of_a_measured_one() -> None:
    """𝔑_n of norm-bounded linear functions is Λ/n · E‖Σ σ_i x_i‖; that can be drawn."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 5)).astype(np.float32)
    scaling = fit_scaling(X)
    rows = np.hstack([scaling(torch.from_numpy(X)).numpy(), np.ones((200, 1))])
    signs = generator.choice([-1.0, 1.0], size=(400, 200))
    measured = 0.7 * np.linalg.norm(signs @ rows, axis=1).mean() / 200
    result = Bound(200, 3, 0.7, feature_radius(X, scaling))
    assert measured <= result.complexity <= 5 * measured

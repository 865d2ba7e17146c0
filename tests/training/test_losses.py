from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from pll.training.losses import LOSSES, get_loss, mse, mse_elementwise

LOGITS = torch.tensor([[0.3, -1.2, 2.0], [0.0, 0.0, 0.0]], dtype=torch.float64)


def probabilities(logits: Tensor) -> np.ndarray:
    raised = np.exp(logits.numpy())
    return raised / raised.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "of_label"),
    [
        ("ce", lambda g, j: -np.log(g[j])),
        ("mse", lambda g, j: ((g - np.eye(len(g))[j]) ** 2).sum()),
        ("mse-elementwise", lambda g, j: (g[j] - 1) ** 2),
        ("mae", lambda g, j: np.abs(g - np.eye(len(g))[j]).sum()),
        ("gce", lambda g, j: (1 - g[j] ** 0.7) / 0.7),
    ],
)
def test_column_j_is_the_loss_if_j_were_true(name: str, of_label) -> None:  # type: ignore[no-untyped-def]
    columns = get_loss(name)(LOGITS).numpy()
    assert columns.shape == (2, 3)
    for g, row in zip(probabilities(LOGITS), columns, strict=True):
        np.testing.assert_allclose(row, [of_label(g, j) for j in range(3)], rtol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("top", [1e4, 1e30])
def test_losses_and_gradients_stay_numbers_at_extreme_logits(name: str, top: float) -> None:
    logits = torch.tensor([[top, -top, 0.0], [-top, -top, -top], [top, top, -top]], requires_grad=True)
    columns = get_loss(name)(logits)
    assert torch.isfinite(columns).all() and (columns >= -1e-6).all()
    for weights in (torch.eye(3), torch.full((3, 3), 1 / 3)):
        (gradient,) = torch.autograd.grad((weights * columns).sum(), logits, retain_graph=True)
        assert torch.isfinite(gradient).all()


@given(st.integers(0, 2**32), st.integers(1, 6))
def test_with_one_hot_weights_the_weighted_loss_is_the_min_loss(seed: int, size: int) -> None:
    """Paper, Eqs. (loss-pll) and (softmin): equal where w is 1 at the candidate of least loss. For ce and mse."""
    rng = np.random.default_rng(seed)
    logits = torch.from_numpy(rng.normal(0, 3, (1, 6)))
    members = rng.choice(6, size, replace=False)
    g = probabilities(logits)[0]
    of_label = {
        "ce": [-np.log(g[j]) for j in range(6)],
        "mse": [((g - np.eye(6)[j]) ** 2).sum() for j in range(6)],
    }
    for name, losses in of_label.items():
        best = min(members, key=lambda j: losses[j])
        one_hot = torch.eye(6, dtype=torch.float64)[best]
        weighted = float((one_hot * get_loss(name)(logits)).sum())
        assert weighted == pytest.approx(min(losses[j] for j in members), rel=1e-9)


def test_read_element_by_element_the_squared_error_is_not_the_min_loss() -> None:
    g = probabilities(LOGITS)[0]
    min_loss = min(((g - np.eye(3)[j]) ** 2).sum() for j in range(3))
    assert float(mse_elementwise(LOGITS)[0].min()) < min_loss - 1e-3
    assert float(mse(LOGITS)[0].min()) == pytest.approx(min_loss)

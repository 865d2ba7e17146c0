"""GA against an independent small computation, and against what its paper proves."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.methods.base import Task
from pll.methods.ga import CORRECTIONS, GA, class_wise_risks, complementary_shares
from pll.training.layouts import DenseLayout, PaddedLayout
from pll.training.losses import get_loss
from pll.training.trainer import Optimisation, Trainer

# 6 examples × 4 classes: a singleton, and a whole label set, which rules nothing out.
SETS = CandidateSets.from_lists([[0, 1], [1, 2], [2, 3], [0, 3], [0, 1, 2, 3], [0]], 4)
RULED_OUT = [(0, 2), (0, 3), (1, 0), (1, 3), (2, 0), (2, 1), (3, 1), (3, 2), (5, 1), (5, 2), (5, 3)]
ALL = list(range(6))


def by_hand(losses: np.ndarray, rows: list[int]) -> np.ndarray:
    """(c,) L_k of a batch, straight from the formula: a loop over complementary labels, one over classes."""
    c = losses.shape[1]
    pairs = [pair for pair in RULED_OUT if pair[0] in rows]
    share = [sum(label == k for _, label in RULED_OUT) / len(RULED_OUT) for k in range(c)]
    mean = np.zeros((c, c))  # mean[k', k]: mean loss of class k over the examples that rule k' out
    for other in range(c):
        of_other = [i for i, label in pairs if label == other]
        if of_other:
            mean[other] = losses[of_other].mean(axis=0)
    return np.array([sum(share[o] * mean[o, k] for o in range(c)) - (c - 1) * share[k] * mean[k, k] for k in range(c)])


def cross_entropies(logits: np.ndarray) -> np.ndarray:
    return np.log(np.exp(logits).sum(axis=1, keepdims=True)) - logits


@given(st.integers(0, 2**32), st.sets(st.sampled_from(ALL), min_size=1))
def test_class_wise_risks_equal_the_formula(seed: int, some: set[int]) -> None:
    rows = sorted(some)
    losses = cross_entropies(np.random.default_rng(seed).normal(0, 2, (6, 4)))
    ours = class_wise_risks(
        torch.from_numpy(losses[rows]).float(),
        torch.from_numpy(~SETS.mask()[rows]),
        complementary_shares(SETS),
    )
    np.testing.assert_allclose(ours.numpy(), by_hand(losses, rows), rtol=1e-4, atol=1e-5)


@given(st.integers(0, 2**32), st.sampled_from(["ce", "mse", "mae"]))
def test_from_all_complementary_labels_the_risk_is_the_supervised_one(seed: int, loss: str) -> None:
    """Theorem 1 there, exactly: every wrong label of every example is ruled out."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, 9)
    sets = CandidateSets.from_labels(y, 5)
    losses = get_loss(loss)(torch.from_numpy(rng.normal(0, 2, (9, 5))).float())
    parts = class_wise_risks(losses, torch.from_numpy(~sets.mask()), complementary_shares(sets))
    assert float(parts.sum()) == pytest.approx(float(losses[torch.arange(9), torch.from_numpy(y)].mean()), abs=1e-4)


class Table(torch.nn.Module):
    """Its parameters are the logits: example i (its only feature is i) gets row i."""

    def __init__(self, logits: np.ndarray) -> None:
        super().__init__()
        self.logits = torch.nn.Parameter(torch.from_numpy(logits.astype(np.float32)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.logits[x[:, 0].long()]


def gradient_of(function: object, at: np.ndarray) -> np.ndarray:
    """Central differences, in float64."""
    gradient = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        step = np.zeros_like(at)
        step[place] = 1e-5
        gradient[place] = (function(at + step) - function(at - step)) / 2e-5  # type: ignore[operator]
    return gradient


def step_on(
    logits: np.ndarray, rows: list[int], layout: type, monkeypatch: pytest.MonkeyPatch, correction: str = "clamp"
) -> tuple[float, np.ndarray]:
    """Loss and change of the logits in one step of rate 0.01."""
    monkeypatch.setattr("pll.training.layouts.layout_type", lambda candidates: layout)
    network = Table(logits)
    features = torch.arange(6.0)[:, None]
    objective = GA(correction=correction)._objective(Task(features.numpy(), SETS))
    plain = Optimisation(lr=0.01, momentum=0.0, weight_decay=0.0)
    step = Trainer(network, features, SETS, objective, plain, seed=0).step(torch.tensor(rows))
    return float(step.loss), network.logits.detach().numpy() - logits.astype(np.float32)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("layout", [DenseLayout, PaddedLayout])
def test_a_step_goes_down_the_risk_and_corrects_its_negative_parts(
    layout: type, correction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    went = {"down": 0, "corrected": 0}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        # Where the model is sure of the candidates, what is ruled out costs much and parts become negative.
        logits = rng.normal(0, 0.5, (6, 4)) + (4.0 * SETS.mask() if seed % 2 else 0.0)
        rows = sorted(rng.choice(6, size=4 + seed % 3, replace=False).tolist())
        parts = by_hand(cross_entropies(logits), rows)
        loss, change = step_on(logits, rows, layout, monkeypatch, correction)
        assert loss == pytest.approx(parts.sum(), abs=1e-4)
        if (parts >= 0).all():
            went["down"] += 1
            expected = -gradient_of(lambda z, rows=rows: by_hand(cross_entropies(z), rows).sum(), logits)
        else:
            went["corrected"] += 1
            least, most = (0, np.inf) if correction == "clamp" else (-np.inf, 0)
            sign = -1 if correction == "clamp" else 1

            def corrected(z: np.ndarray, rows: list[int] = rows, least: float = least, most: float = most) -> float:
                return float(by_hand(cross_entropies(z), rows).clip(least, most).sum())

            expected = sign * gradient_of(corrected, logits)
        np.testing.assert_allclose(change, 0.01 * expected, atol=1e-6)
    assert min(went.values()) >= 2  # both were seen

"""The later methods against their formulas, computed by hand in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.special import expit

from pll.candidates import CandidateSets
from pll.methods import METHODS
from pll.methods.base import Task
from pll.methods.deep import DeepEstimator
from pll.training.layouts import DenseLayout, PaddedLayout
from pll.training.trainer import Objective, Trainer
from pll.weights import dense
from tests.methods.reference import softmax

LISTS = [[0, 1], [2], [0, 1, 2, 3], [1, 3], [2, 3]]
SETS = CandidateSets.from_lists(LISTS, 4)
IN = SETS.mask()
RNG = np.random.default_rng(5)
X = RNG.normal(size=(5, 3)).astype(np.float32)
Z1, Z2 = RNG.normal(size=(2, 5, 4)) * 2


@pytest.fixture(params=[DenseLayout, PaddedLayout], ids=["dense", "padded"], autouse=True)
def _layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pll.training.layouts.layout_type", lambda candidates: request.param)


def started(name: str, **settings: object) -> tuple[Trainer, Objective]:
    estimator = METHODS[name](**settings)
    assert isinstance(estimator, DeepEstimator)
    trainer = estimator._new_trainer(Task(X, SETS), torch.device("cpu"))
    return trainer, trainer.objective


def losses(name: str, **settings: object) -> tuple[float, float, Trainer]:
    """The loss of the first pass with logits Z1, and of the second one with Z2."""
    trainer, objective = started(name, **settings)
    batch = trainer.layout.batch(torch.arange(5))
    result = []
    for logits in (torch.from_numpy(Z1).float(), torch.from_numpy(Z2).float()):
        result.append(float(objective.loss(batch, logits).detach()))
        new = batch.restrict(logits)
        batch.write(trainer.label_weights, new)
        objective.update(batch, new)
    return result[0], result[1], trainer


def restricted(z: np.ndarray, inside: np.ndarray) -> np.ndarray:
    raised = np.where(inside, np.exp(z), 0.0)
    return raised / np.maximum(raised.sum(axis=1, keepdims=True), 1e-300)


def test_cc_is_the_likelihood_of_the_set() -> None:
    first, second, _ = losses("cc")
    for result, z in ((first, Z1), (second, Z2)):
        assert result == pytest.approx(-np.log((softmax(z) * IN).sum(axis=1)).mean(), rel=1e-5)


def test_rc_is_proden() -> None:
    one, other = (METHODS[name](epochs=3, batch_size=2).fit(X, SETS) for name in ("rc", "proden"))
    np.testing.assert_array_equal(one.label_weights_, other.label_weights_)


def test_lws_leverages_candidates_and_others() -> None:
    first, second, _ = losses("lws", beta=3.0)
    for result, before, z in ((first, np.zeros((5, 4)), Z1), (second, Z1, Z2)):
        inner, outer = restricted(before, IN), restricted(before, ~IN)
        expected = (inner * expit(-z) + 3.0 * outer * expit(z)).sum(axis=1).mean()
        assert result == pytest.approx(expected, rel=1e-5)


def test_cavl_follows_the_largest_activation_value() -> None:
    first, second, _ = losses("cavl")
    log_p = np.log(softmax(Z1)), np.log(softmax(Z2))
    assert first == pytest.approx(-(IN / IN.sum(axis=1, keepdims=True) * log_p[0]).sum(axis=1).mean(), rel=1e-5)
    values = np.where(IN, np.abs(Z1 - 1) * Z1, -np.inf)
    assert second == pytest.approx(-log_p[1][np.arange(5), values.argmax(axis=1)].mean(), rel=1e-5)


def test_pop_removes_what_stays_unlikely() -> None:
    trainer, objective = started("pop", epochs=2, threshold=0.9, warm_up=0.0, window=1)
    batch = trainer.layout.batch(torch.arange(5))
    new = batch.restrict(torch.from_numpy(Z1).float())
    batch.write(trainer.label_weights, new)
    objective.update(batch, new)
    trainer.end_epoch()  # θ = 0.9 · 1/2
    second = batch.restrict(torch.from_numpy(Z2).float())
    objective.update(batch, second)
    result = dense(trainer.layout.flat(objective.weights), SETS)
    w1 = restricted(Z1, IN)
    remaining = IN & (w1 >= 0.45 * w1.max(axis=1, keepdims=True))
    assert remaining.sum() < IN.sum()
    np.testing.assert_allclose(result, restricted(Z2, remaining), atol=1e-6)


def test_cr_dpll_rules_out_and_agrees() -> None:
    trainer, objective = started("cr-dpll", epochs=10, noise=0.0, consistency=2.0)
    trainer.epoch = 1  # λ = 2 · 1/2
    batch = trainer.layout.batch(torch.arange(5))
    result = float(objective.loss(batch, torch.from_numpy(Z1).float()).detach())
    p, q = softmax(Z1), softmax(trainer.network(trainer.X).detach().numpy().astype(np.float64))
    w = IN / IN.sum(axis=1, keepdims=True)
    apart = sum((w * np.log(np.where(w > 0, w, 1) / view)).sum(axis=1) for view in (p, q))
    expected = (-np.where(IN, 0, np.log(1 - p)).sum(axis=1) + 1.0 * apart).mean()
    assert result == pytest.approx(expected, rel=1e-4)
    objective.update(batch, torch.zeros(5, 4))
    weights = dense(trainer.layout.flat(objective.weights), SETS)
    np.testing.assert_allclose(weights, restricted(np.log(np.sqrt(p * q)), IN), atol=1e-6)


@pytest.mark.parametrize("name", ["gce", "mae"])
def test_abs_losses_are_the_naive_method_s(name: str) -> None:
    """ABS-GCE and ABS-MAE (Lv et al. 2023): the mean over S of (1 − p^q) / q and of |p − e^j|₁ = 2 (1 − p)."""
    trainer, objective = started("proden-naive", loss=name)
    batch = trainer.layout.batch(torch.arange(5))
    result = float(objective.loss(batch, torch.from_numpy(Z1).float()).detach())
    p = softmax(Z1)
    losses = (1 - p**0.7) / 0.7 if name == "gce" else 2 * (1 - p)
    assert result == pytest.approx((IN * losses / IN.sum(axis=1, keepdims=True)).sum(axis=1).mean(), rel=1e-5)
    objective.update(batch, torch.from_numpy(Z1).float())
    np.testing.assert_allclose(
        dense(trainer.layout.flat(objective.weights), SETS), IN / IN.sum(axis=1, keepdims=True), rtol=1e-6
    )

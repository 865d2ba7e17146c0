"""PRODEN and its variants against an independent small computation, and against what the paper proves of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from torch import Tensor, nn

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import METHODS
from pll.methods.base import Task
from pll.synthesis import flip_binomial
from pll.training import trainer as trainer_module
from pll.training.layouts import DenseLayout, PaddedLayout
from pll.training.losses import LOSSES as ALL_LOSSES
from pll.training.losses import get_loss
from pll.training.models import build_model
from pll.training.trainer import Objective, Optimisation, Trainer
from pll.weights import Outside, dense
from tests.methods.reference import Reference
from tests.strategies import sets_and_scores

VARIANTS = ["proden", "proden-itera", "proden-sudden", "proden-naive", "pn-oracle"]
LOSSES = ["ce", "mse", "mse-elementwise"]
SETTINGS = {"lr": 0.3, "momentum": 0.9, "weight_decay": 0.01}

# 6 examples × 3 features × 4 classes: a singleton, a whole label set, and a truth outside its set (row 4).
X = np.random.default_rng(5).normal(size=(6, 3)).astype(np.float32)
SETS = CandidateSets.from_lists([[0, 1], [1, 2, 3], [2], [0, 1, 2, 3], [0, 3], [1, 3]], 4)
Y = np.array([0, 2, 2, 3, 1, 1])

EPOCHS = [  # known batches, of sizes 3, 2 and 1
    [[0, 1, 2], [3, 4], [5]],
    [[5, 0, 3], [1, 2], [4]],
    [[4, 3, 2], [1, 0], [5]],
    [[2, 5, 1], [0, 4], [3]],
]


@pytest.fixture(params=[DenseLayout, PaddedLayout], ids=["dense", "padded"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Train on each layout in turn."""
    monkeypatch.setattr("pll.training.layouts.layout_type", lambda candidates: request.param)


def new_trainer(method: str, loss: str, **own: Any) -> Trainer:
    torch.manual_seed(0)
    estimator = METHODS[method](loss=loss, epochs=10, **own)  # type: ignore[call-arg]
    objective = estimator._objective(Task(X, SETS, Y))  # type: ignore[attr-defined]
    return Trainer(
        build_model("linear", (3,), 4), torch.from_numpy(X), SETS, objective, Optimisation(3, **SETTINGS), seed=0
    )


def parameters(trainer: Trainer) -> tuple[np.ndarray, np.ndarray]:
    layer = trainer.network[1]  # type: ignore[index]
    return layer.weight.detach().numpy().copy(), layer.bias.detach().numpy().copy()


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("method", VARIANTS)
def test_every_step_equals_the_independent_computation(method: str, loss: str) -> None:
    own = {"update_every": 2} if method == "proden-itera" else {}
    trainer = new_trainer(method, loss, **own)
    W, b = parameters(trainer)
    reference = Reference(method, loss, X, SETS.mask(), W, b, y=Y, **own, **SETTINGS)
    np.testing.assert_allclose(dense(trainer.current_label_weights(), SETS), reference.label_weights, atol=1e-6)
    for epoch in EPOCHS:
        for rows in epoch:
            step = trainer.step(torch.tensor(rows))
            assert float(step.loss) == pytest.approx(reference.step(np.array(rows)), abs=1e-6)
            for ours, theirs in zip(parameters(trainer), (reference.W, reference.b), strict=True):
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)
            np.testing.assert_allclose(
                dense(trainer.current_label_weights(), SETS), reference.label_weights, rtol=0, atol=1e-6
            )
        trainer.end_epoch()
        reference.end_epoch()
        np.testing.assert_allclose(
            dense(trainer.evaluated_label_weights(), SETS), reference.evaluated(), rtol=0, atol=1e-6
        )
    assert np.abs(reference.W - W).max() > 0.1  # it went somewhere


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("method", VARIANTS[:-1])  # the oracle has labels, not weights
def test_the_training_weights_equal_the_independent_computation(method: str) -> None:
    own = {"update_every": 2} if method == "proden-itera" else {}
    trainer = new_trainer(method, "ce", **own)
    reference = Reference(method, "ce", X, SETS.mask(), *parameters(trainer), **own, **SETTINGS)
    for epoch in EPOCHS:
        for rows in epoch:
            trainer.step(torch.tensor(rows))
            reference.step(np.array(rows))
            weights = trainer.layout.flat(trainer.objective.weights)  # type: ignore[attr-defined]
            np.testing.assert_allclose(dense(weights, SETS), reference.training_weights, rtol=0, atol=1e-6)
        trainer.end_epoch()
        reference.end_epoch()
    weights = trainer.layout.flat(trainer.objective.weights)  # type: ignore[attr-defined]
    np.testing.assert_allclose(dense(weights, SETS), reference.training_weights, rtol=0, atol=1e-6)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("share", [None, 0.3])
@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4, 5], [4, 1], []])
@pytest.mark.parametrize("kind", ["plain", "prior", "outside"])
def test_the_gradient_that_proden_knows_is_autograd_s(kind: str, rows: list[int], share: float | None) -> None:
    prior = np.random.default_rng(2).random(SETS.nnz, dtype=np.float32) if kind == "prior" else None
    outside = None
    if kind == "outside":
        outside = Outside.of(SETS, np.array([0, 4]), np.array([3, 1]), np.full(len(SETS), 0.1, dtype=np.float32))
    sets = SETS if outside is None else outside.candidates
    objective = METHODS["proden"]()._objective(Task(X, sets))  # type: ignore[attr-defined]
    network = nn.Linear(3, 4)
    trainer = Trainer(
        network, torch.from_numpy(X), sets, objective, Optimisation(**SETTINGS), 0, prior=prior, outside=outside
    )
    trainer.label_weights.copy_(trainer.evaluated_store())  # any weights but those of the start
    at = torch.tensor(rows, dtype=torch.int64)
    batch = trainer.layout.batch(at)

    def result(backward: Callable[..., Tensor]) -> tuple[list[Tensor | None], Tensor]:
        network.zero_grad()
        loss = backward(batch, network(trainer.X[at]), None if share is None else torch.tensor(share))
        return [parameter.grad for parameter in network.parameters()], loss

    computed, loss = result(objective.backward)
    expected, expected_loss = result(partial(Objective.backward, objective))
    torch.testing.assert_close(loss, expected_loss, equal_nan=True)  # of no example the mean is no number
    if rows:
        torch.testing.assert_close(computed, expected)
    else:
        assert all(gradient is not None and not gradient.any() for gradient in computed)


@pytest.mark.parametrize("method", VARIANTS)
def test_fit_is_the_same_steps_in_the_order_of_the_seed(method: str) -> None:
    own = {"update_every": 2} if method == "proden-itera" else {}
    start = build_model("linear", (3,), 4)
    estimator = METHODS[method](  # type: ignore[call-arg]
        model=start, epochs=4, batch_size=4, scale="none", seed=3, device="cpu", **own, **SETTINGS
    )
    estimator.fit(X, SETS, truth=Y) if method == "pn-oracle" else estimator.fit(X, SETS)
    W, b = (part.detach().numpy() for part in start.parameters())
    reference = Reference(method, "ce", X, SETS.mask(), W, b, y=Y, **own, **SETTINGS)
    for epoch in range(4):
        order = trainer_module.epoch_order(6, 3, epoch).numpy()
        for rows in (order[:4], order[4:]):  # the last, smaller batch is used too
            reference.step(rows)
        reference.end_epoch()
    np.testing.assert_allclose(estimator.fitted_arrays()["1.1.weight"], reference.W, atol=1e-6)
    np.testing.assert_allclose(dense(estimator.label_weights_, SETS), reference.evaluated(), atol=1e-6)


def objective_loss(method: str, loss: str, weights: np.ndarray, logits: Tensor) -> Tensor:
    """The objective's loss of all examples, with these training weights (nnz,)."""
    trainer = new_trainer(method, loss)
    trainer.objective.weights.copy_(trainer.layout.store(weights))  # type: ignore[attr-defined]
    return trainer.objective.loss(trainer.layout.batch(torch.arange(len(SETS))), logits)


@given(st.integers(0, 2**32))
def test_with_cross_entropy_the_gradient_is_that_of_jin_and_ghahramani(seed: int) -> None:
    """Supplement, theorem: the KL divergence of Eq. (jin-obj) is a special case of Eq. (softmin)."""
    rng = np.random.default_rng(seed)
    z = dense(rng.dirichlet(np.ones(SETS.nnz)).astype(np.float32), SETS)
    z /= z.sum(axis=1, keepdims=True)
    weights = z[SETS.rows, SETS.indices]
    logits = torch.tensor(rng.normal(0, 2, (6, 4)), dtype=torch.float32, requires_grad=True)
    target = torch.from_numpy(z)
    divergence = nn.functional.kl_div(torch.log_softmax(logits, dim=1), target, reduction="batchmean")
    ours = objective_loss("proden", "ce", weights, logits)
    (theirs_gradient,) = torch.autograd.grad(divergence, logits)
    (ours_gradient,) = torch.autograd.grad(ours, logits)
    torch.testing.assert_close(ours_gradient, theirs_gradient, rtol=1e-5, atol=1e-6)
    entropy = -(target * torch.log(target.clamp_min(1e-30))).sum() / 6
    # They differ by the entropy of the weights, which is a constant here.
    assert float(ours.detach()) == pytest.approx(float((divergence + entropy).detach()), abs=1e-4)


@pytest.mark.parametrize("loss", ["ce", "mse"])
def test_with_weights_at_the_smallest_loss_the_objective_is_the_min_loss(loss: str) -> None:
    logits = torch.tensor(np.random.default_rng(1).normal(0, 2, (6, 4)), dtype=torch.float32)
    columns = get_loss(loss)(logits).numpy()
    smallest = np.where(SETS.mask(), columns, np.inf)
    one_hot = np.eye(4, dtype=np.float32)[smallest.argmin(axis=1)][SETS.rows, SETS.indices]
    weighted = float(objective_loss("proden", loss, one_hot, logits))
    assert weighted == pytest.approx(smallest.min(axis=1).mean(), rel=1e-5)


def test_no_gradient_flows_through_the_weights() -> None:
    trainer = new_trainer("proden", "ce")
    trainer.step(torch.arange(6))
    assert not trainer.label_weights.requires_grad
    assert not trainer.step(torch.arange(6)).label_weights.requires_grad


class Table(nn.Module):
    """Its parameters are the logits: example i (its only feature is i) gets row i."""

    def __init__(self, logits: np.ndarray) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.from_numpy(logits.copy()))

    def forward(self, x: Tensor) -> Tensor:
        return self.logits[x[:, 0].long()]


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("method", VARIANTS)
def test_label_weights_lie_on_the_simplex_after_any_number_of_steps(method: str) -> None:
    @settings(max_examples=settings.default.max_examples // 2)  # of ten methods
    @given(sets_and_scores(min_n=2), st.sampled_from(list(ALL_LOSSES)), st.floats(0, 1e3), st.randoms())
    def holds(case: tuple[CandidateSets, np.ndarray], loss: str, lr: float, random: Any) -> None:
        sets, logits = case
        n = len(sets)
        features = np.arange(n, dtype=np.float32)[:, None]
        y = np.array([row[0] for row in sets])
        objective = METHODS[method](loss=loss)._objective(Task(features, sets, y))  # type: ignore
        trainer = Trainer(Table(logits), torch.from_numpy(features), sets, objective, Optimisation(lr=lr), 0)
        mask = sets.mask()
        for _ in range(random.randint(1, 6)):
            rows = random.sample(range(n), random.randint(1, n))
            step = trainer.step(torch.tensor(rows))
            assert torch.isfinite(step.loss) and torch.isfinite(trainer.network.logits).all()
            for weights in (trainer.current_label_weights(), trainer.evaluated_label_weights()):
                full = dense(weights, sets)
                assert (weights >= 0).all() and (full[~mask] == 0).all()
                np.testing.assert_allclose(full.sum(axis=1), 1, atol=1e-6)
            if isinstance(trainer.layout, DenseLayout):
                assert (trainer.label_weights.numpy()[~mask] == 0).all()
        trainer.end_epoch()

    holds()


class TestItera:
    @pytest.mark.parametrize(("epochs", "every", "updates"), [(20, None, 5), (3, None, 3), (10, 4, 2), (10, 11, 0)])
    def test_updates_every_so_many_epochs(self, epochs: int, every: int | None, updates: int) -> None:
        estimator = METHODS["proden-itera"](epochs=epochs, update_every=every)  # type: ignore[call-arg]
        stores = []
        for _ in estimator.iter_fit(Task(X, SETS)):
            weights = estimator._trainer.objective.weights  # type: ignore[attr-defined]
            stores.append(weights.clone())
        uniform = estimator._trainer.layout.store(SETS.uniform_weights())  # type: ignore[attr-defined]
        changes = [not torch.equal(a, b) for a, b in zip([uniform, *stores], stores, strict=False)]
        assert sum(changes) == updates


class TestOracle:
    def test_needs_every_true_label(self) -> None:
        for y in (None, np.array([0, 1, 2, 3, -1, 0])):
            with pytest.raises(UserError, match="true label of every training example"):
                METHODS["pn-oracle"]().fit(X, SETS, truth=y)

    def test_learns_a_truth_that_is_outside_its_set(self) -> None:
        estimator = METHODS["pn-oracle"](epochs=300, lr=0.5, weight_decay=0.0, scale="none")  # type: ignore[call-arg]
        estimator.fit(X, SETS, truth=Y)
        assert estimator.predict(X)[4] == Y[4] == 1
        assert estimator.identify()[4] in SETS[4]  # what is identified comes from the set all the same


def test_progressive_identification_beats_its_variants_on_digits() -> None:
    """The paper's figures 1 and 2 in small: digits, binomial flipping at q = 0.7, a linear model, 30 epochs."""
    digits = load_digits()
    features, y = digits.data[:1400].astype(np.float32), digits.target[:1400]
    sets = flip_binomial(y, 10, 0.7, seed=0)
    identified, predicted = {}, {}
    for name in VARIANTS:
        estimator = METHODS[name](epochs=30, device="cpu")  # type: ignore[call-arg]
        estimator.fit(features, sets, truth=y) if name == "pn-oracle" else estimator.fit(features, sets)
        identified[name] = (estimator.identify() == y).mean()
        predicted[name] = (estimator.predict(digits.data[1400:]) == digits.target[1400:]).mean()
    assert identified["proden"] > identified["proden-naive"] > identified["proden-sudden"]
    assert identified["proden"] > identified["proden-itera"]
    assert predicted["pn-oracle"] == max(predicted.values())
    assert predicted["proden"] == max(score for name, score in predicted.items() if name != "pn-oracle")

"""Settings chosen without truth, and the paper's."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.io import from_json
from pll.methods import recipe
from pll.methods.base import Task
from pll.methods.chosen import PUBLISHED, Recipe, paper_recipe, read_recipe
from pll.methods.deep import DeepEstimator
from pll.methods.ga import GA
from pll.methods.persistence import load_model, save_model
from pll.methods.proden import PRODEN, PRODENNaive
from pll.synthesis import flip_binomial
from pll.training.metrics import StopTraining
from pll.weights import identified_labels

X, Y = make_blobs(120, n_features=4, centers=4, cluster_std=2.0, random_state=0)
X = (np.exp(X / 4) * [1, 100, 0.01, 5]).astype(np.float32)
SETS = flip_binomial(Y, 4, 0.4, seed=0)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "COMPARED_AFTER", (3, 6))
    monkeypatch.setattr(recipe, "SURVIVING", (1.0, 0.2))
    monkeypatch.setattr(recipe, "LINEAR_STEPS", ((0.1, 1e-3), (0.1, 2e-2), (0.3, 1e-3)))


@cache
def chosen() -> Recipe:
    """Of a search in the `_short` way, once for all tests that only read it."""
    return PRODEN(recipe="auto").choose_settings(Task(X, SETS))


def test_every_scale_is_saved_with_its_model(tmp_path: Path) -> None:
    for scale in ("quantile", "unit", "zscore+rbf"):
        fitted = PRODEN(scale=scale, epochs=2).fit(X, SETS)
        save_model(fitted, tmp_path / scale, method="proden")
        np.testing.assert_array_equal(load_model(tmp_path / scale).predict_proba(X), fitted.predict_proba(X))


def test_the_same_seed_gives_the_same_choice_and_who_waits_sees_the_likeliest_model_so_far() -> None:
    found: list[np.ndarray] = []
    result = PRODEN(recipe="auto").choose_settings(Task(X, SETS), found=found.append)
    assert result == chosen() and found
    assert from_json(Recipe, asdict(result)) == result
    for weights in found:
        assert weights.shape == (SETS.nnz,)
        assert np.add.reduceat(weights, SETS.indptr[:-1]) == pytest.approx(1, abs=1e-5)
    assert (identified_labels(found[-1], SETS) == Y).mean() > 0.8


def test_settings_of_the_user_stay() -> None:
    result = PRODEN(recipe="auto", lr=0.02, scale="minmax", epochs=5).choose_settings(Task(X, SETS))
    assert not {"lr", "scale", "epochs"} & set(result.settings)
    tried = [(trial.settings["lr"], trial.settings["scale"]) for trial in result.trials]
    assert set(tried) == {(0.02, "minmax")}
    assert max(trial.settings["epochs"] for trial in result.trials) == 5


@pytest.mark.parametrize("batches", [0, 200])
def test_it_can_be_stopped_with_the_best_so_far(batches: int) -> None:
    calls = iter(range(batches))

    def hook() -> None:
        if next(calls, None) is None:
            raise StopTraining

    result = PRODEN(recipe="auto").choose_settings(Task(X, SETS), hook=hook)
    assert not result.complete
    assert bool(result.settings) == bool(batches)
    assert "stopped" in result.messages()[-1]


def test_a_configuration_that_diverges_is_not_chosen() -> None:
    wide = np.repeat(np.eye(2, dtype=np.float32)[np.arange(80) % 2] * 3, 40, axis=1)  # most settings cover all of them
    sets = CandidateSets.from_mask(np.eye(2, dtype=bool)[np.arange(80) % 2] | (np.arange(80) % 3 > 0)[:, None])
    result = PRODEN(recipe="auto", scale="none").choose_settings(Task(wide, sets))
    names = ("model", "lr", "weight_decay", "epochs")
    tried = {tuple(trial.settings[name] for name in names): trial for trial in result.trials}
    chosen = tried[tuple(result.settings[name] for name in names)]
    best = max(result.trials, key=lambda trial: (trial.covering_rate, trial.log_likelihood))
    assert best.covering_rate == chosen.covering_rate == 1.0
    assert best.loss is not None and chosen.loss is not None and best.loss > np.log(2) > chosen.loss


@pytest.mark.slow
@pytest.mark.parametrize("method", [PRODENNaive, GA])
def test_another_method_is_judged_by_its_own_predictions(method: type[DeepEstimator]) -> None:
    result = method(recipe="auto", batch_size=16).choose_settings(Task(X, SETS))
    own = [trial for trial in result.trials if trial.loss is None]
    assert len(own) > 1
    assert ("lr" in result.settings) == (method is PRODENNaive)  # the steps of GA are of another scale
    chosen = next(one for one in own if result.settings.items() <= one.settings.items())
    assert chosen.covering_rate == result.covering_rate
    hits = []
    for train, validation in recipe.inner_parts(len(X), result.examples, result.folds, result.seed):
        one = method(**result.settings, batch_size=16).fit(X[train], SETS.take(train))
        hits += SETS.take(validation).contains(one.predict(X[validation])).tolist()
    assert result.covering_rate == pytest.approx(np.mean(hits))


SIZES = [
    *((n, d, c) for n in (60, 500, 1000, 2000, 2667, 3667, 20_000) for d, c in ((8, 4), (300, 20))),
    *((1500, 40, 200), (5000, 300, 100), (60_000, 784, 10), (17_472, 279, 171), (3000, 3000, 30), (800, 20, 1000)),
]


@pytest.mark.parametrize(("n", "d", "c"), SIZES)
def test_every_axis_keeps_its_ends(n: int, d: int, c: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    sets = CandidateSets.from_labels(np.arange(n) % c, c)
    plan = recipe.Contest(PRODEN(device="cpu"), Task(np.zeros((n, d), dtype=np.float32), sets))
    for group in plan.groups[1:]:
        steps = recipe.PERCEPTRON_STEPS if group.shared["model"] == recipe.SHALLOW else recipe.LINEAR_STEPS
        for axis in (0, 1):
            wanted = {step[axis] for step in steps}
            assert {arm[axis] for arm in group.arms} >= {min(wanted), max(wanted)}
    assert plan.groups[-1].longest >= recipe.COMPARED_AFTER[-2]
    assert plan.examples >= min(n, 800)
    tried = {(group.shared["model"], group.shared["scale"]) for group in plan.groups}
    everything = {(group.shared["model"], group.shared["scale"]) for group in plan._groups()}
    is_cut = everything > tried or plan.examples < n or plan.seconds > plan.budget
    assert bool(plan.notes) == is_cut


def test_every_representation_and_model_is_halved_by_itself() -> None:
    counts = Counter((one.settings["model"], one.settings["scale"], one.settings["epochs"]) for one in chosen().trials)
    assert counts["linear", "unit", 3] == 3 and counts["linear", "unit", 6] == 1
    assert counts["shallow-mlp", "quantile", 3] == len(recipe.PERCEPTRON_STEPS)


@pytest.mark.slow
def test_a_model_that_cannot_be_batched_is_trained_itself() -> None:
    result = PRODEN(recipe="auto", model="mlp", batch_size=32, epochs=3).choose_settings(Task(X, SETS))
    assert len(result.trials) == 1 + len(recipe.DEEP_STEPS)
    assert all(trial.loss is None and trial.settings["epochs"] == 3 for trial in result.trials)
    assert result.covering_rate is not None and result.default_covering_rate is not None


def test_labels_that_come_together_do_not_limit_the_models() -> None:
    y = np.arange(160) % 4
    corners = np.array([[0, 0], [4, 4], [0, 4], [4, 0]])[y] + np.random.default_rng(0).normal(0, 0.6, (160, 2))
    folded = np.where(y >= 2, 1, 0)  # two classes, which no line tells apart
    sets = CandidateSets.from_lists([[label, 2] if label else [label] for label in folded], n_classes=3)
    result = PRODEN(recipe="auto", seed=1).choose_settings(Task(corners.astype(np.float32), sets))
    assert result.settings["model"] == "shallow-mlp" or "+" in result.settings["scale"]


def test_defaults_stay_where_nothing_is_clearly_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "BATCHED", ("linear",))
    method = PRODEN(recipe="auto", scale="zscore", batch_size=16, epochs=6)
    few = Task(X[::6], SETS.take(np.arange(0, len(X), 6)))
    lr = recipe.Contest(method, few).every["lr"]
    for other in (0.8 * lr, 1.2 * lr):
        monkeypatch.setattr(recipe, "LINEAR_STEPS", ((other, 1e-3),))
        assert method.choose_settings(few).settings["lr"] == lr


def test_the_paper_s_settings() -> None:
    result = paper_recipe((108,), {"epochs": 20}, "lost.mat")
    assert (result.settings["lr"], result.settings["weight_decay"]) == (1e-2, 1e-2)
    assert "epochs" not in result.settings and not result.notes
    assert "publishes no settings" in paper_recipe((5,), {}, "mine.csv").notes[0]
    assert all(PRODEN(**settings) for settings in PUBLISHED.values())


def test_a_recipe_is_read_from_its_file(tmp_path: Path) -> None:
    first = PRODEN(recipe="auto", batch_size=16).fit(X, SETS)
    (tmp_path / "recipe.json").write_text(json.dumps(asdict(first.recipe_)))
    assert read_recipe(tmp_path / "recipe.json") == first.recipe_


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="recipe called 'best'"):
        PRODEN(recipe="best").fit(X, SETS)
    (tmp_path / "recipe.json").write_text("{}")
    with pytest.raises(UserError, match=r"recipe\.json"):
        read_recipe(tmp_path / "recipe.json")

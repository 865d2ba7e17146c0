"""Settings chosen without truth, and the paper's."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import make_blobs

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import recipe
from pll.methods.base import Task
from pll.methods.decomp import PNDecomp
from pll.methods.deep import DeepEstimator
from pll.methods.defaults import default_batch_size
from pll.methods.ga import GA
from pll.methods.persistence import load_model, save_model
from pll.methods.proden import PRODEN, PNOracle, PRODENNaive
from pll.methods.published import PUBLISHED, published
from pll.methods.recipe import COMPANION_NOTE, VOTE_NOTE, Recipe, class_frequencies, read_recipe, set_likelihood
from pll.synthesis import flip_binomial, flip_pair
from pll.training.metrics import StopTraining
from pll.weights import checked_prior

X, Y = make_blobs(120, n_features=4, centers=4, cluster_std=2.0, random_state=0)
X = (np.exp(X / 4) * [1, 100, 0.01, 5]).astype(np.float32)
SETS = flip_binomial(Y, 4, 0.4, seed=0)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "EPOCHS", (3, 6))
    monkeypatch.setattr(recipe, "KEPT", (1.0, 0.2))


def test_the_representation_is_part_of_the_model(tmp_path: Path) -> None:
    wanted = PRODEN(recipe="auto", seed=1)
    before = clone(wanted).get_params()
    fitted = wanted.fit(X, SETS)
    assert fitted.get_params() == before
    assert {"scale", "model", "lr", "epochs"} <= set(fitted.recipe_.settings)
    assert fitted.input_shape_ == (4,)
    save_model(fitted, tmp_path, method="proden", input_shape=(4,))
    for again in (load_model(tmp_path), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    by_hand = PRODEN(**fitted.fitted_params()).fit(X, SETS)
    np.testing.assert_array_equal(by_hand.predict_proba(X), fitted.predict_proba(X))


def test_every_scale_is_saved_with_its_model(tmp_path: Path) -> None:
    for scale in ("quantile", "unit", "zscore+rbf"):
        fitted = PRODEN(scale=scale, epochs=2).fit(X, SETS)
        save_model(fitted, tmp_path / scale, method="proden", input_shape=(4,))
        np.testing.assert_array_equal(load_model(tmp_path / scale).predict_proba(X), fitted.predict_proba(X))


def test_the_same_seed_gives_the_same_choice() -> None:
    first, second = (PRODEN(recipe="auto", seed=4).choose_settings(Task(X, SETS)) for _ in range(2))
    assert first == second
    assert Recipe.from_json(first.as_json()) == first


def test_what_is_given_by_hand_stays() -> None:
    found = PRODEN(recipe="auto", lr=0.02, scale="minmax", epochs=5).choose_settings(Task(X, SETS))
    assert not {"lr", "scale", "epochs"} & set(found.settings)
    tried = [(trial.settings["lr"], trial.settings["scale"]) for trial in found.trials]
    assert set(tried) == {(0.02, "minmax")}
    assert max(trial.settings["epochs"] for trial in found.trials) == 5


def test_a_model_that_cannot_be_batched_is_searched_one_by_one() -> None:
    found = PRODEN(recipe="auto", model="mlp", loss="mse").choose_settings(Task(X, SETS))
    assert len({trial.settings["lr"] for trial in found.trials}) > 2
    assert "model" not in found.settings


@pytest.mark.parametrize("batches", [0, 200])
def test_it_can_be_stopped_with_the_best_so_far(batches: int) -> None:
    calls = iter(range(batches))

    def hook() -> None:
        if next(calls, None) is None:
            raise StopTraining

    found = PRODEN(recipe="auto").choose_settings(Task(X, SETS), hook=hook)
    assert not found.complete
    assert bool(found.settings) == bool(batches)
    assert "stopped" in found.messages()[-1]


def test_a_choice_no_better_than_chance_is_told() -> None:
    noise = np.random.default_rng(0).normal(size=X.shape).astype(np.float32)
    found = PRODEN(recipe="auto").choose_settings(Task(noise, SETS))
    assert len(found.warnings) == 1 and set(found.warnings) < set(found.messages())
    assert found.gain_interval is not None and found.gain_interval[0] < 0
    informed = PRODEN(recipe="auto").choose_settings(Task(X, SETS))
    assert not informed.warnings
    assert informed.gain_interval is not None and informed.gain_interval[0] > 0


def test_a_configuration_that_diverges_is_not_chosen() -> None:
    wide = np.repeat(np.eye(2, dtype=np.float32)[np.arange(80) % 2] * 3, 40, axis=1)  # most settings cover all of them
    sets = CandidateSets.from_mask(np.eye(2, dtype=bool)[np.arange(80) % 2] | (np.arange(80) % 3 > 0)[:, None])
    found = PRODEN(recipe="auto", scale="none").choose_settings(Task(wide, sets))
    names = ("model", "lr", "weight_decay", "epochs")
    tried = {tuple(trial.settings[name] for name in names): trial for trial in found.trials}
    chosen = tried[tuple(found.settings[name] for name in names)]
    best = max(found.trials, key=lambda trial: (trial.covering_rate, trial.log_likelihood))
    assert best.covering_rate == chosen.covering_rate == 1.0
    assert best.loss is not None and chosen.loss is not None and best.loss > np.log(2) > chosen.loss


def test_a_perceptron_is_chosen_where_it_covers_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "EPOCHS", (20, 25))
    x = np.random.default_rng(1).normal(size=(400, 2)).astype(np.float32)
    rings = np.digitize(np.linalg.norm(x, axis=1), (0.9, 1.5))  # no line separates them
    sets = flip_binomial(rings, 3, 0.2, seed=0)
    found = PRODEN(recipe="auto", scale="zscore").choose_settings(Task(x, sets))
    assert found.settings["model"] == "shallow-mlp" and found.settings["epochs"] == 20  # linear models go on to 25


def test_labels_that_have_companions_keep_to_linear_models() -> None:
    found = PRODEN(recipe="auto", scale="zscore").choose_settings(Task(X, flip_pair(Y, 4, 0.9, seed=0)))
    assert found.settings["model"] == "linear" and COMPANION_NOTE in found.messages()
    assert COMPANION_NOTE not in PRODEN(recipe="auto").choose_settings(Task(X, SETS)).messages()


def test_features_that_add_nothing_to_the_votes_are_told() -> None:
    rng = np.random.default_rng(1)
    prior = rng.uniform(0.1, 1, SETS.nnz).astype(np.float32)
    prior[SETS.indices == Y[SETS.rows]] += 2  # the votes know the truth, whatever the features are
    noise = rng.normal(size=X.shape).astype(np.float32)
    told = PRODEN(recipe="auto").choose_settings(Task(noise, SETS, prior=prior)).warnings
    assert VOTE_NOTE in told
    assert VOTE_NOTE not in PRODEN(recipe="auto").choose_settings(Task(X, SETS, prior=prior)).warnings


def test_class_frequencies_have_the_greatest_likelihood() -> None:
    prior = checked_prior(np.random.default_rng(0).uniform(size=SETS.nnz), SETS)
    found = class_frequencies(SETS, prior)

    def loss(free: np.ndarray) -> float:
        shares = np.exp(free) / np.exp(free).sum()
        return -float(np.log(np.add.reduceat(prior * shares[SETS.indices], SETS.indptr[:-1])).mean())

    best = minimize(loss, np.zeros(SETS.n_classes))
    assert loss(np.log(found)) == pytest.approx(best.fun, abs=1e-6)


def test_a_prior_that_says_nothing_changes_nothing() -> None:
    prior = np.ones(SETS.nnz, dtype=np.float32)
    same = PRODEN(recipe="auto").choose_settings(Task(X, SETS, prior=checked_prior(prior, SETS)))
    assert same.covering_rate == PRODEN(recipe="auto").choose_settings(Task(X, SETS)).covering_rate
    assert PNOracle(recipe="auto").fit(X, SETS, truth=Y).score(X, Y) > 0.7


@pytest.mark.parametrize("method", [PRODENNaive, GA])
def test_another_method_is_judged_by_its_own_predictions(method: type[DeepEstimator]) -> None:
    found = method(recipe="auto", batch_size=16).choose_settings(Task(X, SETS))
    own = [trial for trial in found.trials if trial.stage == found.trials[-1].stage]
    assert len(own) > 1 and all(trial.loss is None for trial in own)
    assert ("lr" in found.settings) == (method is PRODENNaive)  # the steps of GA are of another scale
    chosen = next(one for one in own if found.settings.items() <= one.settings.items())
    assert chosen.covering_rate == found.covering_rate
    hits = []
    for train, held in recipe.inner_parts(len(X), found.examples, found.folds, found.seed):
        one = method(**found.settings, batch_size=16).fit(X[train], SETS.take(train))
        hits += SETS.take(held).contains(one.predict(X[held])).tolist()
    assert found.covering_rate == pytest.approx(np.mean(hits))


SIZES = [
    *((n, d, c) for n in (60, 500, 1000, 2000, 2667, 3667, 20_000) for d, c in ((8, 4), (300, 20))),
    *((1500, 40, 200), (5000, 300, 100), (60_000, 784, 10), (17_472, 279, 171), (3000, 3000, 30), (800, 20, 1000)),
]


@pytest.mark.parametrize(("n", "d", "c"), SIZES)
def test_every_axis_keeps_its_ends(n: int, d: int, c: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    sets = CandidateSets.from_labels(np.arange(n) % c, c)
    problem = recipe.Problem(
        np.broadcast_to(np.float32(0), (n, d)),
        sets,
        {},
        PRODEN().get_params() | {"batch_size": default_batch_size(n), "lr": 0.05},
        lambda *_: pytest.fail("nothing is trained"),
        torch.device("cpu"),
    )
    plan = recipe._plan(problem)
    for group in plan.groups[1:]:
        steps = recipe.PERCEPTRON_STEPS if group.shared["model"] == recipe.SHALLOW else recipe.LINEAR_STEPS
        for axis in (0, 1):
            wanted = {step[axis] for step in steps}
            assert {arm[axis] for arm in group.arms} >= {min(wanted), max(wanted)}
    assert plan.groups[-1].longest >= recipe.EPOCHS[-2]
    assert plan.examples >= min(n, 800)
    tried = {(group.shared["model"], group.shared["scale"]) for group in plan.groups}
    everything = {(group.shared["model"], group.shared["scale"]) for group in recipe._groups(problem)}
    said = " ".join(plan.notes)
    assert all(f"{model} on {scale}" in said for model, scale in everything - tried)
    assert (plan.examples < n) == ("drawn at random" in said)
    assert (plan.seconds > plan.budget) == ("more than the" in said)


def test_what_exceeds_the_budget_is_said_and_the_rest_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "BUDGET", 1e-3)
    found = PRODEN(recipe="auto", epochs=1).choose_settings(Task(X, SETS))
    assert "lr" in found.settings and found.covering_rate is not None
    assert "Not tried" in " ".join(found.messages())


def test_the_temperature_makes_models_comparable() -> None:
    rng = np.random.default_rng(0)
    logits = torch.from_numpy(rng.normal(size=(300, 4)) + 3 * np.eye(4)[np.arange(300) % 4])
    sets = flip_binomial(np.arange(300) % 4, 4, 0.5, seed=0)
    both = torch.stack((logits, 2 * logits), dim=1)  # the same predictions, one surer than the other
    inside, log_p, *_ = recipe._measured(both, sets, None)
    likelihood = [float(set_likelihood(log_p[:, k], sets).mean()) for k in range(2)]
    assert (inside[:, 0] == inside[:, 1]).all()
    assert likelihood[0] == pytest.approx(likelihood[1], abs=0.01)
    assert likelihood[1] > float(set_likelihood(torch.log_softmax(both[:, 1], dim=1).numpy(), sets).mean())


def test_defaults_stay_where_nothing_is_clearly_likelier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "BATCHED", ("linear",))
    method = PRODEN(recipe="auto", scale="zscore", batch_size=16, epochs=6)
    few = Task(X[::6], SETS.take(np.arange(0, len(X), 6)))
    lr = method.problem(few).defaults["lr"]
    for other in (0.8 * lr, 1.2 * lr):
        monkeypatch.setattr(recipe, "LINEAR_STEPS", ((other, 1e-3),))
        assert method.choose_settings(few).settings["lr"] == lr


def test_a_few_examples_are_not_searched_on() -> None:
    found = PRODEN(recipe="auto").choose_settings(Task(X[:4], SETS.take(np.arange(4))))
    assert not found.settings and "8 examples" in found.messages()[0]


def test_the_paper_s_settings() -> None:
    found = published((108,), {"epochs": 20}, "lost.mat")
    assert (found.settings["lr"], found.settings["weight_decay"]) == (1e-2, 1e-2)
    assert "epochs" not in found.settings and not found.notes
    assert "publishes no settings" in published((5,), {}, "mine.csv").notes[0]
    assert all(PRODEN(**settings) for settings in PUBLISHED.values())


def test_methods_with_a_rate_of_their_own_keep_it_in_the_paper_s_recipe() -> None:
    for method, rate in ((PRODEN, 0.01), (GA, None), (PNDecomp, None)):
        found = method(recipe="paper:lost").choose_settings(Task(X, SETS))
        assert found.settings.get("lr") == rate
        assert found.settings["weight_decay"] == 1e-2
        assert bool(found.notes) == (rate is None)


def test_a_recipe_is_taken_back_from_its_file(tmp_path: Path) -> None:
    first = PRODEN(recipe="auto", batch_size=16).fit(X, SETS)
    file = tmp_path / "recipe.json"
    file.write_text(json.dumps(first.recipe_.as_json()))
    again = PRODEN(recipe=str(file)).fit(X, SETS)
    np.testing.assert_array_equal(again.predict_proba(X), first.predict_proba(X))
    assert again.setting("batch_size") == 16 and again.recipe_.covering_rate == first.recipe_.covering_rate
    assert PRODEN(recipe=str(file), epochs=2).choose_settings(Task(X, SETS)).settings.get("epochs") is None
    file.write_text(json.dumps(first.recipe_.as_json() | {"settings": {"threads": 9}}))
    with pytest.raises(UserError, match="'threads'"):
        PRODEN(recipe=str(file)).fit(X, SETS)
    file.write_text(json.dumps(first.recipe_.as_json() | {"settings": {"epochs": -9}}))
    with pytest.raises(UserError, match="epochs is -9"):
        PRODEN(recipe=str(file)).fit(X, SETS)


def test_the_paper_s_settings_by_name() -> None:
    found = PRODEN(recipe="paper:lost").choose_settings(Task(X, SETS), dataset="yeast")
    assert (found.settings["lr"], found.settings["weight_decay"]) == (1e-2, 1e-2)


def test_features_of_texts_keep_their_proportions() -> None:
    fitted = PRODEN(epochs=1)
    for _ in fitted.iter_fit(Task(X, SETS, kind="text")):
        pass
    by_hand = PRODEN(epochs=1, scale="unit").fit(X, SETS)
    np.testing.assert_array_equal(fitted.predict_proba(X), by_hand.predict_proba(X))
    assert fitted.fitted_params()["scale"] == "unit"
    found = PRODEN(recipe="auto").choose_settings(Task(X, SETS, kind="text"))
    assert found.trials[0].settings["scale"] == "unit"


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="recipe called 'best'"):
        PRODEN(recipe="best").fit(X, SETS)
    (tmp_path / "recipe.json").write_text("{}")
    with pytest.raises(UserError, match=r"recipe\.json"):
        read_recipe(tmp_path / "recipe.json")

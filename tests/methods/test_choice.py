"""The method chosen without truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import METHODS, choice, recipe_search
from pll.methods.base import PartialLabelEstimator, Task
from pll.methods.choice import CONTENDERS, FIRST, Auto, choose_method
from pll.methods.persistence import load_model, save_model
from pll.methods.recipe import Recipe
from pll.methods.recipe_search import inner_parts
from pll.synthesis import flip_binomial

X, Y = make_blobs(120, n_features=4, centers=4, cluster_std=2.0, random_state=0)
X = X.astype(np.float32)
SETS = flip_binomial(Y, 4, 0.4, seed=0)
RIVALS = [name for name in CONTENDERS if name != FIRST]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe_search, "EPOCHS", (3, 6))
    monkeypatch.setattr(recipe_search, "KEPT", (1.0, 0.2))


def contenders(**params: object) -> dict[str, PartialLabelEstimator]:
    return {"proden": METHODS["proden"](recipe="auto", **params)} | {name: METHODS[name]() for name in RIVALS}


def test_rates_are_those_of_the_same_held_out_examples() -> None:
    found = choose_method(Task(X, SETS), contenders())
    assert [one.method for one in found.methods] == ["proden", "ipal", "sure", "plknn"]
    for one in found.methods:
        hits = []
        for train, held in inner_parts(len(X), found.examples, found.folds, found.seed):
            labels = METHODS[one.method](**one.settings).fit(X[train], SETS.take(train)).predict(X[held])
            hits += SETS.take(held).mask()[np.arange(len(held)), labels].tolist()
        assert one.covering_rate == pytest.approx(np.mean(hits))
    chosen = next(one for one in found.methods if one.method == found.method)
    assert found.covering_rate == chosen.covering_rate
    assert Recipe.from_json(found.as_json()) == found
    assert choose_method(Task(X, SETS), contenders()) == found


def test_the_search_itself_is_as_without_rivals() -> None:
    alone = METHODS["proden"](recipe="auto").choose_settings(Task(X, SETS))
    found = choose_method(Task(X, SETS), contenders())
    assert found.trials == alone.trials
    assert found.methods[0].settings == alone.settings


def test_a_rival_wins_where_it_covers_more() -> None:
    found = choose_method(Task(X, SETS), contenders(lr=1e-9, weight_decay=0.0))  # PRODEN learns nothing
    assert found.method in RIVALS
    assert not found.settings
    assert found.covering_rate is not None
    assert found.interval is not None
    assert found.interval[0] <= found.covering_rate <= found.interval[1]


@pytest.mark.parametrize(
    ("covered", "likelihood", "chosen"),
    [(120, -1.0, "sure"), (119, -1.0, "sure"), (90, -1.0, "proden"), (120, -2.0, "proden"), (120, -3.0, "proden")],
)
def test_the_likeliest_wins_of_those_that_cover_as_much(
    covered: int, likelihood: float, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(one: PartialLabelEstimator, *_: object) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(one, METHODS["sure"]):
            return np.arange(120) < covered, np.full(120, likelihood)
        return np.ones(120, dtype=bool), np.full(120, -2.0)

    monkeypatch.setattr(choice, "_measured", measured)
    assert choose_method(Task(X, SETS), contenders()).method == chosen


def test_a_method_that_covers_significantly_more_wins_whatever_its_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(one: PartialLabelEstimator, *_: object) -> tuple[np.ndarray, np.ndarray]:
        is_ipal = isinstance(one, METHODS["ipal"])
        return np.arange(120) < (115 if is_ipal else 90), np.full(120, -3.0 if is_ipal else -1.0)

    monkeypatch.setattr(choice, "_measured", measured)
    assert choose_method(Task(X, SETS), contenders()).method == "ipal"


@pytest.mark.parametrize("limit", ["BUDGET", "MEMORY"])
def test_what_does_not_fit_is_left_out_and_that_is_said(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, limit, 1e-6)
    found = choose_method(Task(X, SETS), contenders())
    assert found.method == "proden"
    assert found.settings
    assert all(one.left_out and one.covering_rate is None for one in found.methods[1:])
    assert sum("left out" in sentence for sentence in found.messages()) == 3


def test_a_method_that_refuses_the_data_is_left_out() -> None:
    found = choose_method(Task(X, SETS), contenders() | {"plknn": METHODS["plknn"](k=0)})
    assert [one.method for one in found.methods if one.left_out] == ["plknn"]


def test_noise_is_told() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(200, 3)).astype(np.float32)
    sets = CandidateSets.from_lists([rng.choice(4, size=2, replace=False).tolist() for _ in noise], n_classes=4)
    found = choose_method(Task(noise, sets), contenders())
    assert any("better than chance" in sentence for sentence in found.messages())


def test_features_are_needed() -> None:
    with pytest.raises(UserError, match="features"):
        choose_method(Task(np.zeros((len(X), 0), dtype=np.float32), SETS), contenders())


def test_auto_is_an_estimator_of_what_it_chose() -> None:
    auto = Auto(seed=1, settings={"k": 5, "momentum": 0.8}).fit(X, SETS)
    found = choose_method(Task(X, SETS), Auto(seed=1, settings={"k": 5, "momentum": 0.8}).contenders())
    assert (auto.method_, auto.recipe_) == (found.method, found)
    assert found.given["momentum"] == 0.8
    assert auto.predict_proba(X).shape == (len(X), 4)
    assert np.array_equal(auto.predict(X), auto.best_.predict(X))
    assert np.array_equal(auto.identify(), auto.best_.identify())
    assert auto.score(X, SETS) > 0.5
    assert "settings" in clone(auto).get_params()


def test_auto_names_the_labels_it_was_given() -> None:
    names = np.array(["ash", "birch", "cedar", "date"])[Y]
    assert set(Auto(settings={"epochs": 3}).fit(X, names).predict(X)) <= set(names)


def test_auto_refuses_settings_that_no_method_has() -> None:
    for settings in ({"colour": 3}, {"recipe": "paper"}, {"k": -1}):
        with pytest.raises(UserError):
            Auto(settings=settings).fit(X, SETS)


def test_auto_is_saved_as_what_it_chose(tmp_path: Path) -> None:
    auto = Auto(settings={"epochs": 3}).fit(X, SETS)
    save_model(auto.best_, tmp_path, method=auto.method_, input_shape=(4,))
    assert np.array_equal(load_model(tmp_path).predict(X), auto.predict(X))


def test_rivals_see_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, bool] = {}
    for name in RIVALS:
        kind = METHODS[name]
        plain = kind.iter_fit

        def iter_fit(self: object, task: Task, _name: str = name, _plain: Any = plain, **more: Any) -> Any:
            seen[_name] = seen.get(_name, False) or task.prior is not None
            return _plain(self, task, **more)

        monkeypatch.setattr(kind, "iter_fit", iter_fit)
    choose_method(Task(X, SETS, prior=SETS.uniform_weights()), contenders(epochs=3))
    assert seen == {name: METHODS[name].takes_prior for name in RIVALS}

"""The method chosen without truth."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import METHODS, choice
from pll.methods import recipe as recipe_module
from pll.methods.base import PartialLabelEstimator, Task
from pll.methods.choice import choose_method
from pll.methods.recipe import Recipe, inner_parts
from pll.synthesis import flip_binomial

X, Y = make_blobs(120, n_features=4, centers=4, cluster_std=2.0, random_state=0)
X = X.astype(np.float32)
SETS = flip_binomial(Y, 4, 0.4, seed=0)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe_module, "EPOCHS", (3, 6))
    monkeypatch.setattr(recipe_module, "KEPT", (1.0, 0.2))


def contenders(**params: object) -> dict[str, PartialLabelEstimator]:
    return {"proden": METHODS["proden"](recipe="auto", **params)} | {name: METHODS[name]() for name in choice.RIVALS}


def test_rates_are_those_of_the_same_held_out_examples() -> None:
    found = choose_method(Task(X, SETS), contenders())
    assert [one.method for one in found.methods] == ["proden", "ipal", "sure", "plknn"]
    for one in found.methods[1:]:
        hits = []
        for train, held in inner_parts(len(X), found.examples, found.folds, found.seed):
            labels = METHODS[one.method]().fit(X[train], SETS.take(train)).predict(X[held])
            hits += SETS.take(held).mask()[np.arange(len(held)), labels].tolist()
        assert one.covering_rate == pytest.approx(np.mean(hits))
    best = max(found.methods, key=lambda one: (one.covering_rate, one.log_likelihood))
    assert (found.method, found.covering_rate) == (best.method, best.covering_rate)
    assert Recipe.from_json(found.as_json()) == found
    assert choose_method(Task(X, SETS), contenders()) == found


def test_the_search_itself_is_as_without_rivals() -> None:
    alone = METHODS["proden"](recipe="auto").choose_settings(Task(X, SETS))
    found = choose_method(Task(X, SETS), contenders())
    assert found.trials == alone.trials
    assert found.methods[0].settings == alone.settings
    assert found.methods[0].covering_rate == alone.covering_rate


def test_a_rival_wins_where_it_covers_more() -> None:
    found = choose_method(Task(X, SETS), contenders(lr=1e-9, weight_decay=0.0))  # PRODEN learns nothing
    assert found.method in choice.RIVALS
    assert not found.settings
    assert found.covering_rate is not None
    assert found.interval is not None
    assert found.interval[0] <= found.covering_rate <= found.interval[1]


def test_of_equal_rates_the_likelier_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    def scored(one: PartialLabelEstimator, X: np.ndarray, sets: object) -> tuple[np.ndarray, np.ndarray]:
        likelihood = 0.0 if isinstance(one, METHODS["sure"]) else -1.0
        return np.ones(len(X), dtype=bool), np.full(len(X), likelihood)

    monkeypatch.setattr(choice, "_scored", scored)
    assert choose_method(Task(X, SETS), contenders(lr=1e-9)).method == "sure"


@pytest.mark.parametrize("limit", ["BUDGET", "MEMORY"])
def test_what_does_not_fit_is_left_out_and_that_is_said(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, limit, 1e-6)
    found = choose_method(Task(X, SETS), contenders())
    assert found.method == "proden"
    assert found.settings
    assert all(one.left_out and one.covering_rate is None for one in found.methods[1:])
    assert sum("left out" in sentence for sentence in found.told()) == 3


def test_a_method_that_refuses_the_data_is_left_out() -> None:
    found = choose_method(Task(X, SETS), contenders() | {"plknn": METHODS["plknn"](k=0)})
    assert [one.method for one in found.methods if one.left_out] == ["plknn"]


def test_noise_is_told() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(200, 3)).astype(np.float32)
    sets = CandidateSets.from_lists([rng.choice(4, size=2, replace=False).tolist() for _ in noise], n_classes=4)
    found = choose_method(Task(noise, sets), contenders())
    assert any("better than chance" in sentence for sentence in found.told())


def test_features_are_needed() -> None:
    with pytest.raises(UserError, match="features"):
        choose_method(Task(np.zeros((len(X), 0), dtype=np.float32), SETS), contenders())

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pll.candidates import CandidateSets
from pll.methods import METHODS
from pll.methods.base import Task
from pll.methods.held_out import HeldOut
from pll.runs.covering_check import against_sets
from tests.analysis.clouds import clouds, fitted


def judged(estimator: Any, task: Task) -> HeldOut:
    """Held-out models with these settings, all of them trained."""
    step = HeldOut(estimator, task)
    for _ in step.run():
        pass
    return step


def test_always_naming_the_commonest_class_is_chance() -> None:
    """The share that a constant prediction reaches is what shuffling it gives, too."""
    sets = CandidateSets.from_lists([[0, 1]] * 90 + [[1, 2]] * 10, 3)
    X = np.zeros((100, 2), dtype=np.float32)
    X[:, 0] = np.random.default_rng(0).normal(size=100)
    evidence = against_sets(judged(METHODS["proden"](model="linear", epochs=5, threads=1), Task(X, sets)))
    assert evidence is not None and not evidence.beats_chance


def test_the_check_leaves_the_run_alone() -> None:
    """Neither what was learnt nor the settings change, and a second check says the same."""
    X, _, sets = clouds()
    estimator, _ = fitted(sets, X)
    before, params = estimator.label_weights_.copy(), estimator.get_params()
    once, again = (against_sets(judged(estimator, Task(X, sets))) for _ in range(2))
    assert once == again
    np.testing.assert_array_equal(estimator.label_weights_, before)
    assert estimator.get_params() == params


@pytest.mark.parametrize("name", ["ipal", "sure", "pn-decomp", "d2cnn"])
def test_other_methods_are_checked_too(name: str) -> None:
    X, _, sets = clouds(60)
    params = {"epochs": 3} if "epochs" in METHODS[name]().get_params() else {}
    assert against_sets(judged(METHODS[name](**params), Task(X, sets))) is not None

"""The methods as scikit-learn classifiers: forms of y, splitting, searching, pipelines, pickling, `check_estimator`."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import torch
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from pll import METHODS, CandidateSets, UserError, covering_rate_scorer, flip_binomial
from pll.methods.base import PartialLabelEstimator
from pll.methods.deep import DeepEstimator

N, D, C = 60, 4, 3
RNG = np.random.default_rng(0)
Y = np.arange(N) % C
X = (RNG.normal(size=(N, D)) + 3 * np.eye(D)[Y]).astype(np.float32)
SETS = flip_binomial(Y, C, 0.4, seed=1)
NAMES = np.array(["ant", "bee", "cat"])

QUICK: dict[str, dict[str, Any]] = {
    "proden": {"epochs": 10, "batch_size": 20, "device": "cpu"},
    "d2cnn": {"epochs": 10, "batch_size": 20, "device": "cpu"},
    "clpl": {"C": 1.0},
    "sure": {"kernel": "rbf"},
    "plknn": {"k": 5},
    "ipal": {"propagations": 5},
}
"""Methods of every family, with settings that make them quick."""

several_methods = pytest.mark.parametrize("name", QUICK)
every_method = pytest.mark.parametrize("name", METHODS)


def small(name: str) -> PartialLabelEstimator:
    return METHODS[name](**QUICK[name])


# ---- forms of y --------------------------------------------------------------------------------------------------


def in_pieces(sets: CandidateSets) -> np.ndarray:
    """(n,) objects, each a list, as a data frame's column holds them."""
    column = np.empty(len(sets), dtype=object)
    column[:] = [row.tolist() for row in sets]
    return column


FORMS = {
    "mask": SETS.mask(),
    "0/1 mask": SETS.mask().astype(np.int8),
    "data frame": pd.DataFrame(SETS.mask()),
    "array interface": np.asarray(SETS),
    "lists of booleans": SETS.mask().tolist(),
    "lists": [row.tolist() for row in SETS],
    "tuples of sets": tuple(set(row.tolist()) for row in SETS),
    "rows": list(SETS),
    "column of lists": in_pieces(SETS),
    "series of lists": pd.Series(in_pieces(SETS)),
    "sparse array": scipy.sparse.csr_array(SETS.mask()),
    "sparse matrix": scipy.sparse.csc_matrix(SETS.mask()),
}


@cache
def fitted(name: str) -> PartialLabelEstimator:
    """The quick one, fitted once for all tests that only read it."""
    return small(name).fit(X, SETS)


@pytest.mark.parametrize("form", FORMS)
def test_sets_in_any_form_give_the_same_result_bit_for_bit(form: str) -> None:
    expected = fitted("proden")
    estimator = small("proden").fit(X, FORMS[form])
    assert estimator.candidates_ == SETS
    np.testing.assert_array_equal(estimator.label_weights_, expected.label_weights_)
    np.testing.assert_array_equal(estimator.predict_scores(X), expected.predict_scores(X))
    assert estimator.classes_.tolist() == [0, 1, 2]
    assert estimator.score(X, FORMS[form]) == expected.score(X, SETS)


def test_the_columns_of_a_mask_are_the_classes() -> None:
    estimator = small("proden").fit(X, pd.DataFrame(SETS.mask(), columns=["cat", "dog", "fox"]))
    assert estimator.class_names_ == ("cat", "dog", "fox")


def test_tensors_that_were_computed_are_taken_as_numbers() -> None:
    features, targets = torch.tensor(X, requires_grad=True), torch.tensor(SETS.mask() * 1.0, requires_grad=True)
    estimator = small("proden").fit(features, targets)
    np.testing.assert_array_equal(estimator.predict(features), fitted("proden").predict(X))
    assert estimator.score(features, targets) == fitted("proden").score(X, SETS)


@several_methods
@pytest.mark.parametrize("labels", [NAMES[Y], 10 * Y - 10, Y == 1, NAMES[Y].astype(object)], ids=lambda y: str(y[0]))
def test_plain_labels_are_sets_of_one_and_are_predicted(name: str, labels: np.ndarray) -> None:
    estimator = small(name).fit(X, labels)
    assert (estimator.candidates_.sizes == 1).all()
    assert estimator.classes_.tolist() == sorted(set(labels.tolist()))
    predicted = estimator.predict(X)
    assert predicted.dtype == labels.dtype and set(predicted) <= set(labels)
    assert estimator.score(X, labels) == (predicted == labels).mean() > 0.8
    assert (estimator.classes_[estimator.identify()] == labels).all()
    assert estimator.class_names_ == tuple(str(label) for label in estimator.classes_.tolist())


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (None, "y is None"),
        ([[0, 1]] * (N - 1) + [["ant"]], "'ant' is not a class index"),
        ([[0, 2**40]] * N, "cannot be a class index"),
        ([[0], *[[]] * (N - 1)], "empty candidate set"),
        (np.full((N, 3), 2), "Row 0 of the candidate mask"),
        (SETS[:-1], "59 candidate sets"),
    ],
)
def test_a_y_that_is_no_form_of_sets_is_refused(y: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        small("proden").fit(X, y)


# ---- sample_weight, sparse features ------------------------------------------------------------------------------


DEEP = [name for name in METHODS if issubclass(METHODS[name], DeepEstimator)]


@pytest.mark.parametrize("name", DEEP)
def test_equal_sample_weights_change_nothing_and_examples_of_weight_0_teach_nothing(name: str) -> None:
    truth = {"truth": Y} if METHODS[name].needs_truth else {}
    settings = {"epochs": 2, "batch_size": N, "device": "cpu", "scale": "none"}
    plain = METHODS[name](**settings).fit(X, SETS, **truth)
    same = METHODS[name](**settings).fit(X, SETS, sample_weight=np.full(N, 7.0), **truth)
    np.testing.assert_array_equal(same.predict_scores(X), plain.predict_scores(X))
    if name in ("ga", "proden-outside"):  # their risks are of classes, or of labels found by other fits
        return
    changed, weights = X.copy(), np.ones(N)
    changed[:10], weights[:10] = RNG.normal(size=(10, D)), 0.0
    one, other = (
        METHODS[name](**settings).fit(features, SETS, sample_weight=weights, **truth) for features in (X, changed)
    )
    np.testing.assert_allclose(one.predict_scores(X), other.predict_scores(X), atol=1e-5)
    assert not np.allclose(one.predict_scores(X), plain.predict_scores(X), atol=1e-4)


def test_the_gradient_is_that_of_the_weighted_mean_loss() -> None:
    weights = RNG.uniform(0, 2, N)
    fitted = METHODS["proden"](epochs=1, batch_size=N, lr=0.1, momentum=0.0, weight_decay=0.0, scale="none").fit(
        X, SETS, sample_weight=weights
    )
    start = METHODS["proden"](epochs=1, lr=0.0, scale="none").fit(X, SETS)
    parts = [name for name, _ in start.model_[1].named_parameters()]  # weight, bias
    W, b = (start.model_[1].get_parameter(part).detach().double().numpy() for part in parts)
    logits = X @ W.T + b
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    slope = (p - SETS.mask() / SETS.sizes[:, None]) * (weights / weights.sum())[:, None]  # (n, c)
    for part, expected in zip(parts, (W - 0.1 * slope.T @ X, b - 0.1 * slope.sum(axis=0)), strict=True):
        np.testing.assert_allclose(fitted.model_[1].get_parameter(part).detach(), expected, atol=1e-6)


@several_methods
def test_sparse_features_give_what_dense_ones_give(name: str) -> None:
    rows = scipy.sparse.csr_matrix(X)
    estimator = small(name).fit(rows, SETS)
    np.testing.assert_array_equal(estimator.predict_scores(rows), fitted(name).predict_scores(X))


# ---- what a classifier has ---------------------------------------------------------------------------------------


@every_method
def test_every_method_is_a_classifier(name: str) -> None:
    estimator = METHODS[name]()
    assert is_classifier(estimator)
    for attribute in ("classes_", "n_features_in_", "feature_names_in_"):
        assert not hasattr(estimator, attribute)
    with pytest.raises(NotFittedError):
        estimator.score(X, Y)


@several_methods
def test_features_are_counted_and_named(name: str) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    estimator = small(name).fit(frame, SETS)
    assert estimator.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert estimator.n_features_in_ == D
    np.testing.assert_array_equal(estimator.predict_scores(frame), fitted(name).predict_scores(X))
    with pytest.raises(ValueError, match="feature names"):
        estimator.predict(frame[["b", "a", "c", "d"]])
    assert not hasattr(estimator.fit(X, SETS), "feature_names_in_")


@several_methods
def test_the_score_of_sets_is_the_covering_rate(name: str) -> None:
    estimator = fitted(name)
    covered = SETS.contains(estimator.predict(X))
    assert estimator.score(X, SETS) == covered.mean()
    assert estimator.score(X, SETS, sample_weight=covered) == 1
    assert estimator.score(X, Y) == (estimator.predict(X) == Y).mean()


# ---- scikit-learn's tools ----------------------------------------------------------------------------------------


@several_methods
def test_a_grid_search_in_a_pipeline(name: str) -> None:
    pipeline = Pipeline([("scale", StandardScaler()), ("method", small(name))])
    search = GridSearchCV(pipeline, {"method__seed": [0, 1]}, scoring=covering_rate_scorer, cv=2).fit(X, SETS)
    assert search.best_score_ > 0.5
    assert search.score(X, SETS) == SETS.contains(search.predict(X)).mean()
    assert (search.predict(X) == Y).mean() > 0.8


@several_methods
def test_a_pipeline_of_named_labels(name: str) -> None:
    pipeline = make_pipeline(StandardScaler(), small(name)).fit(X, NAMES[Y])
    assert set(pipeline.predict(X)) == set(NAMES)
    assert covering_rate_scorer(pipeline, X, NAMES[Y]) == pipeline.score(X, NAMES[Y])
    by_index = CandidateSets.from_labels(Y, C)
    assert covering_rate_scorer(pipeline, X, by_index) == pipeline.score(X, NAMES[Y])
    with pytest.raises(UserError, match="as names, or both as numbers"):
        covering_rate_scorer(pipeline, X, Y)


@several_methods
def test_pickle_and_clone(name: str) -> None:
    estimator = fitted(name)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.predict_scores(X), estimator.predict_scores(X))
    np.testing.assert_array_equal(again.identify(), estimator.identify())
    assert again.candidates_ == SETS
    fresh = clone(estimator)
    assert fresh.get_params() == estimator.get_params() and not hasattr(fresh, "classes_")


# ---- check_estimator ---------------------------------------------------------------------------------------------

NOT_PASSED = {
    f"check_sample_weight_equivalence_on_{form}_data": "mini-batches of examples that count twice are not those of "
    "examples that are there twice; scikit-learn's own SGDClassifier is excused from it too"
    for form in ("dense", "sparse")
}
"""Checks that fail for every method trained in mini-batches, with the reason."""


def check(name: str, **settings: Any) -> None:
    failed = [
        f"{result['check_name']}: {result['exception']}"
        for result in check_estimator(
            METHODS[name](**settings),
            expected_failed_checks=NOT_PASSED if issubclass(METHODS[name], DeepEstimator) else None,
            on_fail=None,
            on_skip=None,
        )
        if result["status"] == "failed"
    ]
    assert failed == []


SHORT = {"epochs": 20, "lr": 0.1, "threads": 1}
"""The methods that train as PRODEN does, which is checked with its own settings, are checked with these."""


@pytest.mark.slow
@every_method
def test_scikit_learns_own_checks_pass(name: str) -> None:
    if name == "plsvm":
        check(name, lam=0.01, epochs=20)  # without the search of λ, which is five times the work
    else:
        shares_its_training = isinstance(METHODS[name](), DeepEstimator) and name != "proden"
        check(name, **(SHORT if shares_its_training else {}))

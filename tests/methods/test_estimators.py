"""What every method of `METHODS` promises, whatever it does inside. Being in the registry is being covered."""

from __future__ import annotations

import copy
import io
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from torch import nn

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import METHODS, classical, clpl
from pll.methods.base import PartialLabelEstimator, Start, Task
from pll.synthesis import flip_binomial
from pll.training.metrics import EpochRecord, StopTraining
from pll.weights import dense, identified_labels

N, D, C = 61, 5, 4  # 61 = 60 + 1: with batches of 12 the last one holds a single example
RNG = np.random.default_rng(0)
Y = np.arange(N) % C
X = (RNG.normal(size=(N, D)) + 3 * np.eye(D)[Y]).astype(np.float32)
_flipped = [row.tolist() for row in flip_binomial(Y, C, 0.3, seed=1)]
_flipped[:8] = [[int(label)] for label in Y[:8]]  # singletons
_flipped[8] = list(range(C))  # and one that says nothing
SETS = CandidateSets.from_lists(_flipped, C, ["ant", "bee", "cat", "dog"])
X_NEW = (RNG.normal(size=(17, D)) + 3 * np.eye(D)[np.arange(17) % C]).astype(np.float32)

CHOSEN = {"C": 1.0, "kernel": "rbf", "form": "mean", "lam": 0.1, "k": 5}
"""Values of what a method by default chooses by cross-validation, which takes longer than all the rest."""

every_method = pytest.mark.parametrize("name", METHODS)


@pytest.fixture(autouse=True)
def _two_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every value is tried in a search, on two folds of the examples and not on five; of CLPL two of four."""
    monkeypatch.setattr(classical, "SEARCH_FOLDS", 2)
    monkeypatch.setattr(clpl, "C_GRID", (0.01, 1.0))


def small(name: str, **own: Any) -> PartialLabelEstimator:
    """The method with settings that make it quick; those it does not have are left out, except `own`."""
    defaults = METHODS[name]().get_params()
    quick = {"epochs": 3, "batch_size": 12, "device": "cpu", "update_every": 2, "length": 8, "starts": 2} | CHOSEN
    return METHODS[name](**{k: v for k, v in quick.items() if k in defaults} | own)


def searching(name: str) -> dict[str, Any]:
    """The method's own values of what `small` chooses for it, by default a search."""
    defaults = METHODS[name]().get_params()
    return {key: defaults[key] for key in CHOSEN if key in defaults}


def task(name: str, **changes: Any) -> Task:
    truth = {"y": Y} if METHODS[name].needs_truth else {}
    return Task(**({"X": X, "candidates": SETS} | truth | changes))


def fit(
    estimator: PartialLabelEstimator, X: Any = X, candidates: Any = SETS, y: np.ndarray = Y
) -> PartialLabelEstimator:
    return estimator.fit(X, candidates, truth=y) if estimator.needs_truth else estimator.fit(X, candidates)


@cache
def fitted(name: str) -> PartialLabelEstimator:
    """The quick one, fitted once for all tests that only read it."""
    return fit(small(name))


def assert_on_simplex(weights: np.ndarray, sets: CandidateSets) -> None:
    assert weights.dtype == np.float32 and weights.shape == (sets.nnz,)
    assert (weights >= 0).all()
    np.testing.assert_allclose(dense(weights, sets).sum(axis=1), 1, atol=1e-5)


def through_a_file(checkpoint: dict[str, Any]) -> dict[str, Any]:
    """As a run keeps it: nothing but tensors and plain values comes back."""
    buffer = io.BytesIO()
    torch.save(checkpoint, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True)


def stop_at(call: int) -> Any:
    """A hook that refuses at its call-th call, counted from 1."""
    left = call

    def hook() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise StopTraining

    return hook


class WithDropout(nn.Module):
    """A network of the user's own, which draws random numbers in every training pass."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.drop, self.out = nn.Linear(D, 16), nn.Dropout(0.5), nn.Linear(16, C)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.drop(torch.relu(self.hidden(x))))


def custom_models(name: str) -> list[dict[str, Any]]:
    """The settings to try a method with: networks that make resuming hard, or what is chosen by cross-validation."""
    defaults = METHODS[name]().get_params()
    if "model" not in defaults:
        return [searching(name)]
    return [{}, {"model": lambda shape, c: WithDropout()}]


# ---- the registry ------------------------------------------------------------------------------------------------


def test_a_method_has_a_name_and_a_typo_a_suggestion() -> None:
    assert METHODS["proden"].title == "PRODEN"
    with pytest.raises(UserError, match=r"no method called 'prodn'.*Did you mean 'proden'\?"):
        METHODS["prodn"]


# ---- scikit-learn manners ----------------------------------------------------------------------------------------


@every_method
def test_parameters_are_keywords_and_can_be_cloned(name: str) -> None:
    method = METHODS[name]
    with pytest.raises(TypeError):
        method(1)  # type: ignore[call-arg]
    params = method().get_params()
    assert {"scale", "missing", "seed"} <= set(params)
    assert method(**params).get_params() == params
    estimator = fitted(name)
    again = clone(estimator).set_params(seed=9)
    assert again.get_params() == estimator.get_params() | {"seed": 9} and again.seed == 9
    with pytest.raises(NotFittedError):
        again.predict(X)
    with pytest.raises(ValueError, match="Invalid parameter"):
        again.set_params(nonsense=1)


@every_method
def test_fitting_does_not_change_parameters_or_data(name: str) -> None:
    estimator = small(name)
    before = copy.deepcopy(estimator.get_params())
    features, truth = X.copy(), Y.copy()
    features.flags.writeable = truth.flags.writeable = False
    assert fit(estimator, features, SETS, truth) is estimator
    assert estimator.get_params() == before
    assert np.array_equal(features, X)


# ---- what comes out ----------------------------------------------------------------------------------------------


@every_method
def test_label_weights_lie_on_the_simplex_over_the_candidates(name: str) -> None:
    estimator = fitted(name)
    assert_on_simplex(estimator.label_weights_, SETS)
    assert SETS.contains(estimator.identify()).all()
    assert estimator.identify().tolist() == identified_labels(estimator.label_weights_, SETS).tolist()
    assert estimator.identify().dtype == estimator.predict(X).dtype == np.int64
    assert estimator.class_names_ == SETS.class_names


@every_method
def test_a_single_candidate_is_never_overruled(name: str) -> None:
    rng = np.random.default_rng(5)
    wrong = [[int(label)] for label in rng.permutation(Y)]  # certain, and mostly false
    wrong[N // 2 :] = [list(range(C))] * (N - N // 2)
    sets = CandidateSets.from_lists(wrong, C)
    estimator = fit(small(name), candidates=sets)
    single = sets.sizes == 1
    assert (estimator.label_weights_[single[sets.rows]] == 1).all()
    assert sets.contains(estimator.identify()).all()


@every_method
def test_scores_probabilities_and_predictions_agree(name: str) -> None:
    estimator = fitted(name)
    scores, shares = estimator.predict_scores(X_NEW), estimator.predict_proba(X_NEW)
    assert scores.shape == shares.shape == (len(X_NEW), C)
    assert scores.dtype == shares.dtype == np.float32
    assert np.isfinite(scores).all() and (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)
    assert estimator.predict(X_NEW).tolist() == scores.argmax(axis=1).tolist()
    top = shares[np.arange(len(X_NEW)), estimator.predict(X_NEW)]
    np.testing.assert_allclose(top, shares.max(axis=1), atol=1e-6)


@every_method
def test_a_prediction_does_not_depend_on_the_other_rows(name: str) -> None:
    estimator = fitted(name)
    together = estimator.predict_scores(X_NEW)
    one_by_one = np.concatenate([estimator.predict_scores(X_NEW[i : i + 1]) for i in range(len(X_NEW))])
    np.testing.assert_allclose(one_by_one, together, atol=1e-4, rtol=1e-4)
    assert estimator.predict_scores(X_NEW[:0]).shape == (0, C)
    np.testing.assert_array_equal(estimator.predict(X_NEW.astype(np.float64).tolist()), estimator.predict(X_NEW))
    np.testing.assert_allclose(estimator.predict_scores(X_NEW[::-1])[::-1], together, atol=1e-4, rtol=1e-4)


@every_method
def test_it_learns_something(name: str) -> None:
    estimator = METHODS[name]().set_params(seed=1)
    given = {"device": "cpu", "epochs": 40}
    estimator.set_params(**{key: value for key, value in given.items() if key in estimator.get_params()})
    fit(estimator)
    guessing = (1 / SETS.sizes).mean()
    assert (estimator.identify() == Y).mean() > guessing + 0.05
    assert (estimator.predict(X_NEW) == np.arange(17) % C).mean() > 1 / C + 0.1


@every_method
def test_one_seed_one_result_whatever_else_draws(name: str) -> None:
    torch.manual_seed(1)
    estimator = fit(small(name, seed=4, **searching(name) | custom_models(name)[-1]))
    weights, scores = estimator.label_weights_.copy(), estimator.predict_scores(X_NEW).copy()
    torch.manual_seed(2)
    np.random.seed(2)  # noqa: NPY002
    before = (torch.get_rng_state(), np.random.get_state()[1].copy())  # noqa: NPY002
    fit(estimator)  # nothing is left over from the first time
    assert torch.equal(torch.get_rng_state(), before[0])  # and it leaves the caller's streams alone
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    np.testing.assert_array_equal(estimator.label_weights_, weights)
    np.testing.assert_array_equal(estimator.predict_scores(X_NEW), scores)


@every_method
def test_as_a_module_it_gives_the_same_scores(name: str) -> None:
    estimator = fitted(name)
    module = estimator.module()
    if module is None:
        assert "model" not in estimator.get_params()  # a network can always be a module
        return
    with torch.no_grad():
        scores = module(torch.from_numpy(X_NEW)).numpy()
    np.testing.assert_allclose(scores, estimator.predict_scores(X_NEW), atol=1e-4, rtol=1e-4)


@every_method
def test_before_fitting_everything_says_so(name: str) -> None:
    for use in ("predict", "predict_proba", "predict_scores"):
        with pytest.raises(NotFittedError, match="not fitted yet; call fit"):
            getattr(METHODS[name](), use)(X)
    for use in ("identify", "fitted_arrays", "module"):
        if use != "module" or METHODS[name].module is not PartialLabelEstimator.module:
            with pytest.raises(NotFittedError):
                getattr(METHODS[name](), use)()


# ---- rounds: watching, stopping, going on ------------------------------------------------------------------------


@every_method
def test_a_record_a_round_and_the_last_one_is_the_result(name: str) -> None:
    estimator = small(name)
    records = list(estimator.iter_fit(task(name, y=Y, X_test=X_NEW, y_test=np.arange(17) % C)))
    assert [record.epoch for record in records] == list(range(1, len(records) + 1))
    assert 1 <= len(records) <= estimator.total_epochs()
    if "epochs" in estimator.get_params():
        assert len(records) == estimator.total_epochs() == 3
    last = records[-1]
    np.testing.assert_array_equal(last.label_weights, estimator.label_weights_)
    np.testing.assert_array_equal(last.identified, estimator.identify())
    assert last.transductive_accuracy == pytest.approx((estimator.identify() == Y).mean())
    assert last.test_accuracy == pytest.approx((estimator.predict(X_NEW) == np.arange(17) % C).mean())
    for record in records:
        assert_on_simplex(record.label_weights, SETS)
        assert record.loss is None or np.isfinite(record.loss)
        assert record.seconds >= 0 and record.examples_per_second >= 0


@every_method
def test_the_truth_is_measured_against_and_never_learnt_from(name: str) -> None:
    if METHODS[name].needs_truth:
        with pytest.raises(UserError):
            small(name).fit(X, SETS)
        return
    blind, informed = fitted(name), small(name)
    list(informed.iter_fit(task(name, y=(Y + 1) % C, X_test=X_NEW, y_test=np.zeros(17, dtype=np.int64))))
    np.testing.assert_array_equal(blind.label_weights_, informed.label_weights_)
    np.testing.assert_array_equal(blind.predict_scores(X_NEW), informed.predict_scores(X_NEW))
    if METHODS[name].adds_labels:  # what is given as known is meant to teach it
        return
    with pytest.raises(UserError, match="learns from candidate sets alone"):
        small(name).fit(X, SETS, truth=Y)


def same_records(ours: list[EpochRecord], theirs: list[EpochRecord]) -> None:
    timeless = ("epoch", "loss", "mean_confidence", "mean_entropy", "changed_labels", "transductive_accuracy")
    for our, their in zip(ours, theirs, strict=True):
        assert [getattr(our, key) for key in timeless] == [getattr(their, key) for key in timeless]
        np.testing.assert_array_equal(our.label_weights, their.label_weights)


@cache
def run_straight_through(name: str, which: int) -> tuple[PartialLabelEstimator, list[EpochRecord]]:
    """A method with the settings of that number, trained without a stop; and its records."""
    straight = small(name, **custom_models(name)[which])
    return straight, list(straight.iter_fit(task(name, y=Y)))


@every_method
def test_resumed_between_records_it_goes_on_bit_for_bit(name: str) -> None:
    for which, own in enumerate(custom_models(name)):
        straight, expected = run_straight_through(name, which)
        stopped, resumed = small(name, **own), small(name, **own)
        for number, _ in enumerate(stopped.iter_fit(task(name, y=Y)), start=1):
            if number == 1:
                break
        checkpoint = through_a_file(stopped.checkpoint())
        torch.manual_seed(77)  # another process has another past
        records = list(resumed.iter_fit(task(name, y=Y), start=Start(checkpoint=checkpoint)))
        same_records(records, expected[checkpoint["epoch"] :])
        np.testing.assert_array_equal(resumed.label_weights_, straight.label_weights_)
        np.testing.assert_array_equal(resumed.predict_scores(X_NEW), straight.predict_scores(X_NEW))


@every_method
@pytest.mark.parametrize("call", [1, 5])
def test_stopped_anywhere_it_continues_bit_for_bit(name: str, call: int) -> None:
    """Five batches an epoch: call 1 stops before the first, call 5 in the middle, where what was drawn matters."""
    models = list(enumerate(custom_models(name)))
    for which, own in models[:1] if call == 1 else models[-1:]:
        straight, expected = run_straight_through(name, which)
        stopped, resumed = small(name, **own), small(name, **own)
        done = []
        try:
            for record in stopped.iter_fit(task(name, y=Y), hook=stop_at(call)):
                done.append(record)
        except StopTraining:
            checkpoint = through_a_file(stopped.checkpoint())
        else:
            continue  # a method with fewer units of work than that
        same_records(done, expected[: len(done)])
        weights = stopped.finish()
        assert_on_simplex(weights, SETS)
        np.testing.assert_array_equal(stopped.label_weights_, weights)
        assert SETS.contains(stopped.identify()).all()
        assert stopped.predict(X_NEW).shape == (17,)
        records = list(resumed.iter_fit(task(name, y=Y), start=Start(checkpoint=checkpoint)))
        same_records(records, expected[checkpoint["epoch"] :])
        np.testing.assert_array_equal(resumed.label_weights_, straight.label_weights_)
        np.testing.assert_array_equal(resumed.predict_scores(X_NEW), straight.predict_scores(X_NEW))


# ---- data of every shape -----------------------------------------------------------------------------------------


WHOLE = np.round(X * 10)


@every_method
def test_arrays_of_every_kind(name: str) -> None:
    once = {"epochs": 1} if "epochs" in METHODS[name]().get_params() else {}
    expected = fit(small(name, **once), WHOLE).label_weights_
    for odd in (np.asfortranarray(WHOLE.astype(np.int64)), WHOLE.astype(">f4")):
        result = fit(small(name, **once), odd, SETS, Y.astype(np.uint8))
        np.testing.assert_array_equal(result.label_weights_, expected, odd.dtype.str)


@every_method
def test_missing_values_are_filled_only_with_missing_mean(name: str) -> None:
    holes = X.copy()
    holes[::7, 2] = np.nan
    with pytest.raises(UserError, match="Row 0, feature 2 is NaN"):
        fit(small(name), holes)
    estimator = fit(small(name, missing="mean"), holes)
    filled = X_NEW.copy()
    filled[:, 2] = np.nan
    assert np.isfinite(estimator.predict_scores(filled)).all()
    mean = np.nanmean(holes[:, 2])
    np.testing.assert_allclose(
        estimator.predict_scores(filled),
        estimator.predict_scores(np.where(np.isnan(filled), mean, filled)),
        atol=1e-4,
        rtol=1e-4,
    )


EDGES: dict[str, tuple[np.ndarray, list[list[int]], int]] = {
    "two examples": (X[:2], [[0, 1], [1]], 2),
    "two classes, all in every set": (X[:10], [[0, 1]] * 10, 2),
    "every class in every set": (X[:20], [[0, 1, 2, 3]] * 20, 4),
    "nothing is ambiguous": (X[:20], [[int(label)] for label in Y[:20]], 4),
    "one label for all": (X[:20], [[2]] * 20, 4),
    "most classes never a candidate": (X[:20], [[2, 9]] * 10 + [[2]] * 10, 12),
    "one feature that never varies": (np.ones((20, 1)), [[0, 1], [1, 2]] * 10, 3),
    "examples that are all alike": (np.tile(X[:1], (20, 1)), [[0, 1], [1, 2]] * 10, 3),
    "huge features": (X[:20] * np.float32(1e30), [[0, 1], [1, 2]] * 10, 3),
}


@every_method
def test_at_the_edges_it_learns_or_says_why_not(name: str, subtests: pytest.Subtests) -> None:
    for edge, (features, lists, c) in EDGES.items():
        with subtests.test(edge):
            sets = CandidateSets.from_lists(lists, c)
            y = np.array([row[0] for row in lists])
            try:
                estimator = fit(small(name, **searching(name)), features, sets, y)
            except UserError as error:
                assert len(str(error)) > 20
                assert "proden" not in name  # these can learn from anything
                continue
            sets_used = estimator.candidates_
            assert sets_used == sets or estimator.adds_labels
            assert_on_simplex(estimator.label_weights_, sets_used)
            assert sets_used.contains(estimator.identify()).all()
            assert np.isfinite(estimator.predict_proba(features)).all()


BAD: list[tuple[Any, Any, str]] = [
    (X[0], SETS, "these have 1 dimension."),
    (X[:, None], SETS, "these have 3 dimensions."),
    (X[:, :0], SETS, "have no features"),
    (np.where(X[3, 2] == X, np.inf, X), SETS, "Row 3, feature 2 is inf"),
    (np.where(X[3, 2] == X, np.nan, X), SETS, "Row 3, feature 2 is NaN"),
    (X.astype(np.float64) * 1e300, SETS, "(too large for float32); features must be below 3.4e38"),
    ([["a"]] * N, SETS, "Features must be numbers"),
    ([[1.0], [1.0, 2.0]], SETS, "in rows of equal length"),
    (X[:9], SETS, "There are 9 rows of features but 61 candidate sets"),
    (X[:1], SETS.take([0]), "There is one example; at least 2 are needed"),
    (X[:0], SETS.take([]), "There is no example; at least 2 are needed"),
    (X, CandidateSets.from_labels([0] * N, 1), "There is one class"),
    (X, [[0]] * N, "There is one class"),
    (X, None, "y"),
    (X, np.array(["a", None, *"b" * (N - 2)], dtype=object), "Row 1 has no label"),
    (X, ["a", "b", np.nan, *"b" * (N - 3)], "Row 2 has no label"),
]


@every_method
def test_bad_data_is_refused_in_words(name: str, subtests: pytest.Subtests) -> None:
    for features, candidates, message in BAD:
        with subtests.test(message):
            with pytest.raises(UserError) as caught:
                fit(small(name), features, candidates, np.zeros(len(features), dtype=np.int64))
            assert message in str(caught.value)


BAD_TO_PREDICT: list[tuple[Any, str]] = [
    (X[:, :1], "X has 1 features"),  # would broadcast
    (X[:, :4], "X has 4 features"),
    (np.zeros((2, 1, 1, D)), "the model was fitted on (5,)"),
    (X[0], "these have 1 dimension."),
    (np.full((2, D), np.nan), "Row 0, feature 0 is NaN"),
    ("text", "Features must be numbers"),
]


@every_method
def test_bad_examples_to_predict_are_refused_in_words(name: str) -> None:
    estimator = fitted(name)
    for features, message in BAD_TO_PREDICT:
        for use in (estimator.predict, estimator.predict_scores, estimator.predict_proba):
            with pytest.raises(UserError) as caught:
                use(features)
            assert message in str(caught.value)


# ---- networks of the user's own ----------------------------------------------------------------------------------

deep = pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "model" in method().get_params()])


@deep
def test_training_that_diverges_says_so(name: str) -> None:
    with pytest.raises(UserError, match=r"diverged in epoch .*smaller learning rate"):
        fit(small(name, lr=1e30, epochs=8))

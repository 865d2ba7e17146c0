"""PL-ECOC against loops over examples, columns and classes, and scikit-learn's own decision function."""

from __future__ import annotations

from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC, LinearSVC

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.methods import ecoc
from pll.methods.base import Task
from pll.methods.ecoc import (
    PLECOC,
    Coding,
    choose_columns,
    draw_dichotomies,
    one_against_rest,
    performance,
    positive_shares,
    squared_hinge_machines,
    stoppable,
)
from pll.synthesis import flip_binomial
from pll.training.metrics import StopTraining
from tests.methods.cases import clusters, mean_accuracy, table

X = np.random.default_rng(3).normal(size=(8, 3)).astype(np.float32)
X_NEW = np.random.default_rng(4).normal(size=(5, 3)).astype(np.float32)
SETS = CandidateSets.from_lists([[0, 1], [1, 2, 3], [2], [0, 1, 2, 3], [0, 3], [1, 3], [2, 3], [0]], 4)


def sides_in_words(sets: CandidateSets, signs: np.ndarray, purity: float) -> list[int]:
    """+1, −1 or 0 for each set by counting; `signs` (c,)."""
    held = [0] * sets.n_classes
    for row in sets:
        for j in row:
            held[j] += 1
    of_side = [max(1, sum(held[j] for j in range(len(held)) if signs[j] == side)) for side in (1, -1)]
    sides = []
    for row in sets:
        inside = sum(signs[j] > 0 for j in row) / of_side[0]
        outside = sum(signs[j] < 0 for j in row) / of_side[1]
        bound = purity * (inside + outside) - 1e-9
        sides.append(1 if inside >= bound else -1 if outside >= bound else 0)
    return sides


def ecoc_in_loops(signs: np.ndarray, purities: np.ndarray, kernel: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """H, the losses of X (n, c) and of X_NEW, for given columns."""
    rows, new = X.astype(np.float64), X_NEW.astype(np.float64)
    c, length = signs.shape
    f, f_new = np.zeros((len(X), length)), np.zeros((len(X_NEW), length))
    for t in range(length):
        sides = np.array(sides_in_words(SETS, signs[:, t], purities[t]))
        usable = sides != 0
        weight = "balanced" if purities[t] < 1 else None
        linear = LinearSVC(dual=False, max_iter=10_000, class_weight=weight)
        machine = SVC(gamma=1 / 3, class_weight=weight) if kernel == "rbf" else linear
        machine.fit(rows[usable], sides[usable])
        f[:, t], f_new[:, t] = machine.decision_function(rows), machine.decision_function(new)
    H = np.zeros((c, length))
    for j in range(c):
        holders = [i for i in range(len(X)) if j in SETS[i]]
        for t in range(length):
            H[j, t] = np.mean([np.sign(f[i, t]) == signs[j, t] for i in holders])
    H /= H.sum(axis=1, keepdims=True)

    def losses(values: np.ndarray) -> np.ndarray:
        table = np.zeros((len(values), c))
        for i in range(len(values)):
            for j in range(c):
                table[i, j] = sum(H[j, t] * np.exp(-values[i, t] * signs[j, t]) for t in range(length))
        return table

    return H, losses(f), losses(f_new)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_it_equals_the_loops(kernel: str) -> None:
    estimator = PLECOC(kernel=kernel, scale="none").fit(X, SETS)
    signs, purities = estimator.coding_, estimator.purities_
    assert signs.shape[1] >= 3 and set(np.unique(signs)) == {-1, 1}
    H, losses, losses_new = ecoc_in_loops(signs, purities, kernel)
    np.testing.assert_allclose(estimator.performance_, H, atol=1e-9)
    np.testing.assert_allclose(estimator.predict_scores(X_NEW), -losses_new, atol=1e-4)
    raised = np.where(SETS.mask(), np.exp(-10 * losses), 0)
    np.testing.assert_allclose(table(estimator), raised / raised.sum(axis=1, keepdims=True), atol=1e-3)
    np.testing.assert_array_equal(estimator.identify(), np.where(SETS.mask(), losses, np.inf).argmin(axis=1))
    np.testing.assert_allclose(estimator.predict_proba(X_NEW).sum(axis=1), 1, atol=1e-6)


# ---- the columns -------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(2, 20))
def test_dichotomies_are_different_and_have_two_sides(seed: int, c: int) -> None:
    drawn = draw_dichotomies(c, 50, np.random.default_rng(seed))
    assert drawn.shape[1] == c and len(np.unique(drawn, axis=0)) == len(drawn)
    assert (drawn[:, 0] == 1).all() and (drawn == -1).any(axis=1).all()
    if 2 ** (c - 1) - 1 <= 50:
        assert len(drawn) == 2 ** (c - 1) - 1
    else:
        assert 0 < len(drawn) <= 50


def columns(sets: CandidateSets, length: int, **own: float) -> Coding:
    wanted = {"min_usable": 0.1, "min_purity": 0.6, "stand_ins": 3, "max_tries": 2000} | own
    rng = np.random.default_rng(0)
    return choose_columns(sets, length, rng=rng, hook=lambda: None, **wanted)  # type: ignore[arg-type]


def test_small_sets_are_used_whole_and_nothing_needs_saying() -> None:
    sets = flip_binomial(np.arange(300) % 10, 10, 0.1)
    coding = columns(sets, 34)
    assert coding.notes == () and (coding.purities == 1).all() and coding.signs.shape == (10, 34)
    for t in range(34):
        expected = sides_in_words(sets, coding.signs[:, t], 1.0)
        sides = coding.sides(t, sets)
        assert sides.tolist() == expected
        assert (sides != 0).sum() >= 30 and min((sides > 0).sum(), (sides < 0).sum()) >= 7.5


def test_large_sets_are_used_in_part_and_the_page_is_told() -> None:
    sets = flip_binomial(np.arange(1000) % 10, 10, 0.7)
    coding = columns(sets, 34)
    assert coding.signs.shape == (10, 102)  # three for each missing one
    assert (np.diff(coding.purities) <= 0).all() and coding.purities.max() < 1
    assert len(coding.notes) == 1 and "at least 60 % of a set" in coding.notes[0]
    for t in (0, 50, 101):
        expected = sides_in_words(sets, coding.signs[:, t], coding.purities[t])
        assert coding.sides(t, sets).tolist() == expected
        assert np.count_nonzero(expected) >= 100


def test_the_original_alone_takes_the_best_there_are() -> None:
    sets = flip_binomial(np.arange(1000) % 10, 10, 0.7)
    coding = columns(sets, 34, min_purity=1.0)
    assert (coding.purities == 1).all() and coding.signs.shape[1] > 0
    assert "No split of the classes has the 100 examples" in coding.notes[0]
    for t in range(coding.signs.shape[1]):
        sides = coding.sides(t, sets)
        assert (sides > 0).any() and (sides < 0).any()


def test_pure_columns_come_first_and_relaxed_ones_stand_in_for_the_rest() -> None:
    # {0,1}|{2,3} divides whole sets, {0,2}|{1,3} and {0,3}|{1,2} two thirds of some; single classes against the rest
    # are uneven: {0}|{1,2,3} takes {0,1} as positive, since 0 is the rarer of the two sides.
    sets = CandidateSets.from_lists([[0, 1], [2, 3]] * 30 + [[0, 1, 2], [0, 1, 3]] * 20, 4)
    coding = columns(sets, 6)
    assert coding.signs[:, 0].tolist() == [1, 1, -1, -1] and coding.purities[0] == 1
    assert len(coding.purities) > 3 and (np.diff(coding.purities) <= 0).all() and coding.purities[1] < 1
    assert {tuple(signs) for signs in coding.signs.T} >= {(1, -1, 1, -1), (1, -1, -1, 1)}
    assert "1 with whole sets, " in coding.notes[0]


def test_sets_that_no_split_can_use_are_told_apart_class_by_class() -> None:
    sets = CandidateSets.from_lists([[0, 1], [1, 2], [0, 2]] * 10, 3)
    coding = columns(sets, 16, min_purity=1.0)
    assert coding.signs.tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert coding.sides(0, sets)[:3].tolist() == [1, -1, 1]
    assert "one class" in coding.notes[0]
    # class 0 in every set, class 3 in none: nothing to tell
    partial = one_against_rest(CandidateSets.from_lists([[0, 1], [0, 2]], 4))
    assert np.flatnonzero((partial.signs > 0).any(axis=1)).tolist() == [1, 2]


def test_pairs_of_three_classes_can_be_learnt_all_the_same() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    features = (rng.normal(size=(150, 2)) + 5 * np.array([[0, 0], [1, 0], [0, 1]])[y]).astype(np.float32)
    sets = flip_binomial(y, 3, 0.0)  # every set has two labels
    assert (PLECOC().fit(features, sets).identify() == y).mean() > 0.9


def test_sets_that_are_all_alike_leave_everything_open() -> None:
    sets = CandidateSets.from_lists([[0, 2]] * 8, 4)
    estimator = PLECOC().fit(X, sets)
    np.testing.assert_allclose(estimator.label_weights_, 0.5)
    assert estimator.notes_[0].startswith("Every candidate set is the same")
    probabilities = estimator.predict_proba(X_NEW)
    np.testing.assert_allclose(probabilities, np.tile([0.5, 0, 0.5, 0], (5, 1)), atol=1e-6)


def test_a_set_without_information_is_on_neither_side_of_an_uneven_split() -> None:
    # Three classes against two: 3 of the 5 labels say nothing.
    sets = CandidateSets.from_lists([[0, 1, 2, 3, 4], [0, 1, 2, 3], [0, 3, 4], [0, 1], [3]], 5)
    held = np.array([4, 3, 2, 4, 2])  # by hand: on the first three 9, on the others 6
    assert np.bincount(sets.indices).tolist() == held.tolist()
    expected = [(a / 9) / (a / 9 + b / 6) for a, b in [(3, 2), (3, 1), (1, 2), (2, 0), (0, 1)]]
    found = positive_shares(np.array([[1], [1], [1], [-1], [-1]], dtype=np.int8), sets)
    np.testing.assert_allclose(found[:, 0], expected)


def test_an_odd_number_of_classes_with_large_sets_is_learnt() -> None:
    # Before shares were compared with those of all sets, most columns learnt that the side of more classes is larger.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, 350)
    features = (rng.normal(size=(350, 4)) + 4 * rng.normal(size=(7, 4))[y]).astype(np.float32)
    fitted = PLECOC(C=1.0).fit(features, flip_binomial(y, 7, 0.7, seed=0))
    assert (fitted.purities_ < 1).any() and (fitted.identify() == y).mean() > 0.85


# ---- many examples -----------------------------------------------------------------------------------------------


def test_all_columns_at_once_give_the_machines_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ecoc, "ENOUGH", 1e-5)
    rng = np.random.default_rng(0)
    features = np.hstack([rng.normal(size=(120, 6)), np.ones((120, 1))]).astype(np.float32)
    sides = np.sign(features[:, :3] + 0.8 * rng.normal(size=(120, 3))).astype(np.int8)
    sides[rng.random((120, 3)) < 0.3] = 0
    weights = np.array([[1.0, 0.5, 2.0], [1.0, 3.0, 0.1]])
    found = squared_hinge_machines(features, sides, weights, lambda: None)
    for t in range(3):
        used = sides[:, t] != 0
        C = np.where(sides[used, t] > 0, weights[1, t], weights[0, t])
        exact = LinearSVC(dual=False, fit_intercept=False, tol=1e-8, max_iter=10_000)
        exact.fit(features[used].astype(np.float64), sides[used, t], sample_weight=C)
        np.testing.assert_allclose(found[:, t], exact.coef_[0], atol=1e-3 * np.abs(exact.coef_).max())


def test_the_approximate_kernel_agrees_with_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    features, sets = clusters(1, n=300, c=6, q=0.2)
    exact = PLECOC(C=1.0).fit(features, sets)
    monkeypatch.setattr(ecoc, "EXACT_UP_TO", 200)
    monkeypatch.setattr(ecoc, "CENTRES", 150)
    near = PLECOC(C=1.0).fit(features, sets)
    assert (near.identify() == exact.identify()).mean() > 0.95
    assert "off by at most" in near.notes_[-1] and len(near.support_) == 150
    again = PLECOC().restore(near.fitted_arrays(), near.input_shape_, near.class_names_)
    np.testing.assert_array_equal(again.predict_scores(features), near.predict_scores(features))
    held = near.predict_scores(features).argmax(axis=1)
    assert sets.contains(held).mean() > 0.95


# ---- decoding ----------------------------------------------------------------------------------------------------


def test_performance_counts_agreement_among_those_who_may_be_of_the_class() -> None:
    sets = CandidateSets.from_lists([[0, 1], [0], [1]], 3)
    positive = np.array([[True, False], [True, True], [False, True]])
    H = performance(positive, np.array([[1, 1], [-1, 1], [1, -1]], dtype=np.int8), sets)
    np.testing.assert_allclose(H[0], [1 / 1.5, 0.5 / 1.5])
    np.testing.assert_allclose(H[1], [0.5, 0.5])


def test_a_class_that_every_column_gets_wrong_is_not_thereby_free_of_loss() -> None:
    sets = CandidateSets.from_lists([[0], [1]], 2)
    H = performance(np.array([[False], [True]]), np.array([[1], [-1]], dtype=np.int8), sets)
    np.testing.assert_allclose(H, 1.0)


def test_a_class_that_no_set_holds_is_never_predicted() -> None:
    features, sets = clusters(1, n=80, c=4, q=0.1)
    wider = CandidateSets(sets.indptr, sets.indices, 6)
    estimator = PLECOC().fit(features, wider)
    assert estimator.predict(clusters(2, n=300)[0]).max() < 4
    assert estimator.predict_proba(features)[:, 4:].max() == 0


# ---- manners -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.sampled_from(["rbf", "linear"]))
@settings(max_examples=15)
def test_the_order_of_the_examples_does_not_matter(seed: int, kernel: str) -> None:
    features, sets = clusters(seed, q=0.2)
    rows = np.random.default_rng(seed).permutation(len(features))
    first = PLECOC(kernel=kernel, C=0.1).fit(features, sets)
    second = PLECOC(kernel=kernel, C=0.1).fit(features[rows], sets.take(rows))
    np.testing.assert_array_equal(second.coding_, first.coding_)
    # The solvers stop within a tolerance of the minimum; H counts signs, which may flip where f is about 0.
    close = np.abs(table(second) - table(first)[rows]).max(axis=1) < 0.1
    assert close.mean() > 0.9
    single = np.flatnonzero(sets.sizes == 1)
    assert (table(first)[single].max(axis=1) == 1).all()


def test_one_seed_one_result_and_another_seed_other_columns() -> None:
    features, sets = clusters(4, n=120, c=6, q=0.2)
    results = [PLECOC(seed=seed, length=5).fit(features, sets) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(results[0].label_weights_, results[1].label_weights_)
    assert not np.array_equal(results[0].coding_, results[2].coding_)


def test_rounds_add_columns() -> None:
    features, sets = clusters(5, n=120, c=6, q=0.2)
    estimator = PLECOC()
    known = []
    truth = np.zeros(120, dtype=np.int64)
    for record in estimator.iter_fit(Task(features, sets, X_test=features, y_test=truth)):
        known.append(estimator.coding_.shape[1])
        assert record.test_accuracy == pytest.approx((estimator.predict(features) == 0).mean())
    assert len(known) == estimator.total_epochs() and known == sorted(known) and known[-1] == 26


def test_a_stop_keeps_the_columns_learnt_so_far() -> None:
    features, sets = clusters(5, n=120, c=6, q=0.2)
    estimator = PLECOC()

    def hook() -> None:
        if estimator.stage_ == "column 8 of 26":
            raise StopTraining

    with pytest.raises(StopTraining):
        for _record in estimator.iter_fit(Task(features, sets), hook=hook):
            weights = estimator.label_weights_
    assert estimator.coding_.shape[1] == 6  # two rounds of three columns
    np.testing.assert_array_equal(estimator.finish(), weights)
    assert estimator.predict_proba(features).shape == (120, 6)


def test_a_stop_before_the_first_column_leaves_something_that_predicts() -> None:
    def hook() -> None:
        raise StopTraining

    estimator = PLECOC()
    with pytest.raises(StopTraining):
        next(iter(estimator.iter_fit(Task(X, SETS), hook=hook)))
    np.testing.assert_allclose(estimator.predict_proba(X_NEW), 0.25)
    assert PLECOC().restore(estimator.fitted_arrays(), (3,), SETS.class_names).predict(X_NEW).shape == (5,)


def test_a_long_computation_can_be_left() -> None:
    def hook() -> None:
        raise StopTraining

    stopped = Event()
    with pytest.raises(StopTraining):
        stoppable(lambda: stopped.wait(60), hook)  # returns before its end, which only the next line brings
    stopped.set()


def test_an_error_in_a_computation_is_not_lost() -> None:
    with pytest.raises(ZeroDivisionError):
        stoppable(lambda: 1 // 0, lambda: None)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"kernel": "poly"}, "no kernel called 'poly'; use one of rbf, linear"),
        ({"C": 0.0}, r"C is 0\.0; it must be a number above 0"),
        ({"length": 0}, r"length .*None\) is 0; it must be a whole number, 1 or more"),
        ({"min_usable": 0.0}, r"min_usable is 0\.0; it must be a number above 0, at most 1"),
        ({"min_purity": 0.5}, r"min_purity is 0\.5; it must be a number, 0\.6 or more, at most 1"),
        ({"stand_ins": 0}, "stand_ins is 0"),
        ({"max_tries": 0}, "max_tries is 0"),
    ],
)
def test_settings_that_make_no_sense(setting: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        PLECOC(**setting).fit(X, SETS)  # type: ignore[arg-type]


@pytest.mark.slow
def test_digits_as_other_implementations() -> None:
    transductive, test = mean_accuracy(PLECOC, 0.1)
    assert transductive > 99.4 - 2 and test > 96.8 - 2


@pytest.mark.slow
def test_digits_where_other_implementations_fail() -> None:
    relaxed = mean_accuracy(PLECOC, 0.7, seeds=1)
    original = mean_accuracy(PLECOC, 0.7, seeds=1, min_purity=1.0)
    assert relaxed[0] > original[0] + 10 and relaxed[1] > original[1] + 10


def test_the_cost_is_said_before() -> None:
    assert PLECOC.cost(5000, 50, 20, 15_000).note is None
    assert "minutes" in str(PLECOC.cost(10_000, 3072, 10, 20_000).note)


def test_columns_that_differ_in_unused_classes_alone_are_learnt_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fits = 0
    fit = SVC.fit

    def counted(machine: SVC, *given: Any, **named: Any) -> SVC:
        nonlocal fits
        fits += 1
        return fit(machine, *given, **named)

    monkeypatch.setattr(SVC, "fit", counted)
    X = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    sets = CandidateSets.from_lists([[7, 93]] * 10 + [[7]] * 5 + [[93]] * 5, 100)
    estimator = PLECOC(C=1.0).fit(X, sets)
    assert estimator.coding_.shape[1] > 10 >= fits
    assert (estimator.predict(X[10:]) == np.repeat([7, 93], 5)).mean() > 0.5

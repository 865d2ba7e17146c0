"""The conditional logit, against a second, slow computation that follows the formulas word by word."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from pll.candidates import CandidateSets
from pll.review.decided import DECISION_COUNTS, Decided
from pll.review.logit import LOGIT_RIDGE, features_now, fit, propose
from pll.review.signals import ReviewSignals
from pll.synthesis import flip_binomial
from pll.weights import Weights, dense, normalise
from tests.review_helpers import labels_of


def some_weights(sets: CandidateSets, seed: int) -> Weights:
    return normalise(np.random.default_rng(seed).random(sets.nnz) ** 3, sets)


def some_signals(sets: CandidateSets, seed: int = 0, k: int = 3, **others: object) -> ReviewSignals:
    near = np.random.default_rng(seed).integers(0, len(sets), (len(sets), k)).astype(np.int32)
    factor = (np.random.default_rng(seed).normal(size=(len(sets), 4)) / (2 * np.sqrt(len(sets)))).astype(np.float16)
    leaves = np.random.default_rng(seed).integers(-4, 4, (len(sets), 6)).astype(np.int16)
    made = {"factor": factor, "leaves": leaves}
    return ReviewSignals(labels_of(sets, some_weights(sets, seed)), near, **(made | others))  # type: ignore[arg-type]


def as_rows(values: np.ndarray, sets: CandidateSets) -> list[dict[int, float]]:
    return [
        dict(zip(sets[i].tolist(), values[sets.indptr[i] : sets.indptr[i + 1]].tolist(), strict=True))
        for i in range(len(sets))
    ]


def slow_features(signals: ReviewSignals, known: dict[int, int], i: int) -> np.ndarray:
    """(|S_i|, 2): the features of example i when `known` has been decided."""
    sets = signals.sets
    rows = as_rows(signals.labels.weights, sets)
    own = [rows[i][j] for j in sets[i].tolist()]
    for row, label in known.items():
        rows[row] = {j: float(j == label) for j in rows[row]}
    near_of = [(rows[other], DECISION_COUNTS if other in known else 1.0) for other in signals.neighbours[i]]
    near = [sum(count * row.get(j, 0.0) for row, count in near_of) for j in sets[i].tolist()]
    total = sum(near)
    near = [value / total if total else 1 / len(near) for value in near]
    return np.log(np.array([own, near]) + 0.01).T


def slow_others(signals: ReviewSignals, known: dict[int, int], i: int) -> np.ndarray:
    """(|S_i|, 2) what the kernel ridge and the forest say without example i."""
    sets = signals.sets
    table = dense(signals.labels.weights, sets).astype(float)
    for row, label in known.items():
        table[row] = np.arange(table.shape[1]) == label
    counts = np.array([DECISION_COUNTS if row in known else 1.0 for row in range(len(sets))])
    v = signals.factor.astype(float)
    hat = v @ np.linalg.inv(np.eye(v.shape[1]) + v.T @ np.diag(counts - 1) @ v) @ v.T @ np.diag(counts)
    ridge = (hat[i] @ table - hat[i, i] * table[i]) / (1 - hat[i, i])
    forest = np.zeros(table.shape[1])
    for tree in signals.leaves.T:
        same = (np.where(tree < 0, -1 - tree, tree) == tree[i]) & (np.arange(len(sets)) != i)
        if tree[i] >= 0 and same.any():
            forest += counts[same] @ table[same] / counts[same].sum()
    columns = []
    for shares in (np.maximum(ridge, 0)[sets[i]], forest[sets[i]]):
        columns.append(shares / shares.sum() if shares.sum() else np.full(len(shares), 1 / len(shares)))
    return np.log(np.stack(columns, axis=1) + 0.01)


def slow_fit(signals: ReviewSignals, order: list[tuple[int, int]], ridge: float) -> np.ndarray:
    """θ and b by numerical differentiation."""
    sets, seen, tables = signals.sets, {}, []
    for row, label in order:
        if len(sets[row]) > 1 and label in sets[row]:
            table = np.column_stack([slow_features(signals, seen, row), slow_others(signals, dict(order), row)])
            tables.append((table, sets[row], sets[row].tolist().index(label)))
        seen[row] = label
    centre = np.concatenate([[0.3, 0.1, 0.2, 0.4], np.zeros(sets.n_classes)])

    def loss(x: np.ndarray) -> float:
        total = ridge / 2 * ((x - centre) ** 2).sum()
        for table, labels, right in tables:
            scores = table @ x[:4] + x[4:][labels]
            total -= scores[right] - np.log(np.exp(scores).sum())
        return float(total)

    return minimize(loss, centre, tol=1e-10).x


def test_fit_and_proposals_are_those_of_the_formulas() -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 4, 25)
    sets = flip_binomial(y, 4, 0.5, seed=5, class_names=list("abcd"))
    signals = some_signals(sets)
    order = [(int(row), int(y[row])) for row in rng.permutation(25)[:12]]
    decided = Decided.of(sets, dict(order))

    theta, bias = fit(signals, decided, features_now(signals, decided))
    x = slow_fit(signals, order, LOGIT_RIDGE)
    assert tuple(theta) == ("weights", "near", "others", "forest")
    np.testing.assert_allclose(np.array([*theta.values(), *bias]), x, atol=2e-3)

    p = as_rows(propose(signals, decided), sets)
    for i in range(25):
        if i in dict(order):
            assert p[i] == {j: float(j == y[i]) for j in p[i]}
            continue
        features = np.column_stack([slow_features(signals, dict(order), i), slow_others(signals, dict(order), i)])
        scores = features @ list(theta.values()) + bias[sets[i]]
        expected = np.exp(scores) / np.exp(scores).sum()
        np.testing.assert_allclose(list(p[i].values()), expected, rtol=1e-4)


def test_it_learns_which_class_the_run_confuses() -> None:
    """The run says 0 wherever the truth is 1; after a few answers nobody else needs to be asked."""
    y = np.array([1] * 60 + [2] * 60)
    sets = CandidateSets.from_lists([[0, label] for label in y], n_classes=3)
    weights = np.where(sets.indices == 0, np.where(y[sets.rows] == 1, 0.7, 0.3), np.where(y[sets.rows] == 1, 0.3, 0.7))
    signals = ReviewSignals(labels_of(sets, weights.astype(np.float32)))
    decided = Decided.of(sets, {row: int(y[row]) for row in [*range(12), *range(60, 72)]})
    _, bias = fit(signals, decided, features_now(signals, decided))
    assert bias[1] > bias[0] and bias[2] > bias[0]
    p = propose(signals, decided)
    assert (p[sets.indices == 0] < 0.5).all()


def test_sets_that_decisions_were_off_make_others_less_sure() -> None:
    """What is least sure is decided first: a surer set misses the truth less often, and none does where none did."""
    rng = np.random.default_rng(1)
    sets = CandidateSets.from_lists([[0, 1]] * 200, n_classes=3)
    top = np.linspace(0.55, 0.995, 200)
    weights = np.stack([top, 1 - top], axis=1).ravel().astype(np.float32)
    signals = ReviewSignals(labels_of(sets, weights))
    all_in = {row: int(rng.random() > top[row]) for row in range(60)}
    assert propose(signals, Decided.of(sets, all_in)).reshape(200, 2).sum(axis=1) == pytest.approx(np.ones(200))
    some_off = all_in | dict.fromkeys(range(0, 60, 6), 2)
    inside = propose(signals, Decided.of(sets, some_off)).reshape(200, 2).sum(axis=1)[60:]
    assert (np.diff(inside) >= 0).all() and 0.7 < inside[0] < 0.95 < inside[-1] < 1


def test_misses_alone_do_not_make_every_label_impossible() -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 100, n_classes=3)
    top = np.linspace(0.55, 0.995, 100)
    weights = np.stack([top, 1 - top], axis=1).ravel().astype(np.float32)
    inside = propose(ReviewSignals(labels_of(sets, weights)), Decided.of(sets, dict.fromkeys(range(5), 2)))
    assert 0.05 < inside.reshape(100, 2).sum(axis=1)[5] < 0.3 < inside.reshape(100, 2).sum(axis=1)[-1] < 0.9


def test_votes_say_themselves_how_often_sets_miss_the_truth() -> None:
    sets = CandidateSets.from_lists([[0, 1]] * 40, n_classes=3)
    weights = np.tile(np.array([0.6, 0.4], dtype=np.float32), 40)
    signals = ReviewSignals(labels_of(sets, weights, weights * np.float32(0.8)))
    p = propose(signals, Decided.of(sets, {row: 2 * (row % 2) for row in range(10)}))
    assert p.reshape(40, 2).sum(axis=1)[10:] == pytest.approx(np.ones(30))

"""Copies: what is one, what is a coincidence, and how they stay together."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.copies import dealt, first_copies, near_copies, seen_in, together, with_copies
from pll.synthesis import flip_pair


def numbers(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, d), dtype=np.float32)


def test_equal_features_are_copies_whatever_the_shape_and_the_sign_of_zero() -> None:
    X = numbers(40, 8)
    X[3, 1] = 0.0
    X[17] = X[3]
    X[17, 1] = -0.0
    expected = np.arange(40)
    expected[17] = 3
    for shape in ((40, 8), (40, 2, 2, 2)):
        found = first_copies(X.reshape(shape))
        assert found is not None and found.tolist() == expected.tolist()
    X[17, 1] = 0.1
    assert first_copies(X) is None


def test_missing_cells_are_equal() -> None:
    X = numbers(40, 8)
    X[:, 2] = np.nan
    X[5] = X[9]
    found = first_copies(X)
    assert found is not None and np.flatnonzero(found != np.arange(40)).tolist() == [9]


def test_other_candidates_or_another_prior_are_another_answer() -> None:
    X = numbers(40, 5)
    X[30] = X[20] = X[10]
    sets = CandidateSets.from_lists([[0, 1 + (i == 20)] for i in range(40)], n_classes=3)
    found = first_copies(X, sets.indptr, sets.indices)
    assert found is not None and found[[10, 20, 30]].tolist() == [10, 20, 10]
    prior = np.full(80, 0.5, dtype=np.float32)
    assert np.array_equal(first_copies(X, sets.indptr, sets.indices, prior), found)  # type: ignore[arg-type]
    prior[60:62] = 0.3, 0.7
    assert first_copies(X, sets.indptr, sets.indices, prior) is None


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).integers(4, size=(2000, 3)),  # three questions with four answers
        np.random.default_rng(0).random((500, 1)).round(3),  # one measurement
        np.repeat(np.random.default_rng(0).integers(100, size=(1000, 1)), 2, axis=1) * [1, 2],  # one, in two units
        np.random.default_rng(0).integers(2, size=(3000, 12)),
        np.eye(3)[np.arange(300) % 3],
        np.ones((50, 20)),
        np.empty((30, 0)),
    ],
)
def test_what_coincides_by_chance_is_no_copy(X: np.ndarray) -> None:
    assert first_copies(X.astype(np.float32)) is None


def test_what_is_as_common_as_one_in_ten_is_no_copy() -> None:
    X = numbers(100, 6)
    X[:11] = X[0]
    X[50:60] = X[50]
    found = first_copies(X)
    assert found is not None and (found[:11] == np.arange(11)).all() and (found[50:60] == 50).all()
    X[:60] = X[0]
    assert first_copies(X) is None


@settings(max_examples=30)
@given(st.lists(st.integers(0, 8), min_size=1, max_size=40), st.integers(0, 99))
def test_together_moves_copies_and_nothing_else(groups: list[int], seed: int) -> None:
    first = np.array([groups.index(one) for one in groups])
    order = np.random.default_rng(seed).permutation(len(groups))
    moved = first[together(order, first)]
    assert len(np.flatnonzero(np.diff(moved))) + 1 == len(set(groups))  # each group in one piece
    assert list(dict.fromkeys(moved.tolist())) == list(dict.fromkeys(first[order].tolist()))
    rows = order[: len(order) // 2]
    assert with_copies(rows, first, len(groups)).tolist() == np.isin(first, first[rows]).tolist()
    assert np.array_equal(together(order, np.arange(len(order))), order)


@given(st.sets(st.integers(0, 29), min_size=5), st.integers(2, 5), st.integers(0, 99))
def test_folds_share_no_copy_and_a_copy_of_what_is_learnt_from_is_seen(again: set[int], k: int, seed: int) -> None:
    X = numbers(40, 5)[[*range(30), *sorted(again)]]
    fold_of = dealt(np.random.default_rng(seed).permutation(len(X)), k, first_copies(X))
    for fold in range(k):
        assert not seen_in(X[fold_of == fold], X[fold_of != fold]).any()
    assert seen_in(X[:30], X[30:]).tolist() == [row in again for row in range(30)]
    assert seen_in(numbers(40, 5), X[30:]).sum() == len(again)


def test_many_rows_take_no_time() -> None:
    X = numbers(240_000, 100)
    X[200_000:] = X[:40_000]
    started = time.process_time()
    found = first_copies(X)
    assert found is not None and int((found != np.arange(len(X))).sum()) == 40_000
    assert time.process_time() - started < 5  # .4 s on an idle machine


@pytest.mark.parametrize("k", [2, 5, 16, 30])
def test_frames_of_one_film_are_nearly_copies(k: int) -> None:
    rng = np.random.default_rng(k)
    film = np.repeat(np.arange(600 // k), k)
    X = rng.normal(size=(600 // k, 12))[film] + rng.normal(size=(len(film), 12)) * 1e-3
    found = near_copies(X.astype(np.float32), None, np.arange(len(film) + 1), np.zeros(len(film)))
    assert found is not None and (film[found] == film).all() and len(np.unique(found)) <= 600 // k + 6
    other = np.arange(len(film)) % k  # who said something else is no copy
    assert near_copies(X.astype(np.float32), None, np.arange(len(film) + 1), other) is None


@pytest.mark.parametrize("labels", [4, 8])
def test_parts_of_one_thing_are_told_by_their_answers(labels: int) -> None:
    rng = np.random.default_rng(labels)
    thing, y = np.repeat(np.arange(100), 5), rng.integers(labels, size=100)
    X = (rng.normal(size=(100, 8))[thing] + 0.3 * rng.normal(size=(500, 8))).astype(np.float32)
    drawn = rng.random((100, labels)) < 0.4
    same = CandidateSets.from_mask((drawn | np.eye(labels, dtype=bool)[y])[thing])
    anew = CandidateSets.from_mask((rng.random((500, labels)) < 0.4) | np.eye(labels, dtype=bool)[y[thing]])
    found = near_copies(X, None, same.indptr, same.indices)
    assert found is not None and len(np.unique(found)) < 200
    assert near_copies(X, None, anew.indptr, anew.indices) is None


@pytest.mark.parametrize("q", [0.1, 0.5])
def test_examples_of_one_label_are_answered_alike_by_chance(q: float) -> None:
    """Classes far apart: neighbours are of one label, and have often the same candidates."""
    rng = np.random.default_rng(1)
    y = rng.integers(4, size=500)
    X = (5 * rng.normal(size=(4, 8))[y] + rng.normal(size=(500, 8))).astype(np.float32)
    sets = flip_pair(y, 4, q, 0)
    assert near_copies(X, None, sets.indptr, sets.indices) is None


@pytest.mark.parametrize("kind", ["line", "plane", "words", "gaps", "huge", "grid", "empty"])
def test_examples_that_are_near_by_chance_are_no_copies(kind: str) -> None:
    rng = np.random.default_rng(1)
    t = rng.random(500)
    X = {
        "line": np.stack([t, t**2, np.sin(3 * t), np.cos(t)], axis=1),
        "plane": rng.normal(size=(500, 2)),
        "words": np.c_[rng.normal(size=(500, 2)), np.eye(20)[rng.integers(0, 20, 500)]],
        "gaps": np.where(rng.random((500, 4)) < 0.05, np.nan, rng.normal(2000, 30, size=(500, 4))),
        "huge": np.where(np.arange(2000).reshape(500, 4) == 0, 3e38, rng.normal(size=(500, 4))),
        "grid": rng.integers(0, 10, size=(500, 4)),
        "empty": np.where(np.arange(4) == 3, np.nan, rng.normal(size=(500, 4))),
    }[kind].astype(np.float32)
    assert near_copies(X, None, np.arange(501), np.zeros(500)) is None

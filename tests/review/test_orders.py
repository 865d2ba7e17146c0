"""Queue orders: what comes first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.review.orders import DEFAULT, ORDERS, rank, usable_orders
from pll.review.signals import ReviewSignals
from pll.synthesis import flip_binomial
from pll.weights import normalise
from tests.strategies import candidate_sets


def full(sets: CandidateSets, seed: int = 0) -> ReviewSignals:
    """Every signal there is, at random."""
    rng = np.random.default_rng(seed)

    def weights() -> np.ndarray:
        return normalise(rng.random(sets.nnz) ** 4, sets)

    return ReviewSignals(
        sets,
        weights(),
        weights(),
        rng.integers(0, 9, len(sets)),
        rng.integers(0, len(sets), (len(sets), 10)).astype(np.int32),
        rng.random(sets.nnz).astype(np.float32),
        weights(),
        miss=rng.random(len(sets)).astype(np.float32),
    )


# Five examples over two classes, label 0 identified in each.
SETS = CandidateSets.from_lists([[0, 1]] * 4 + [[0, 1, 2]], n_classes=3)
TOP = [0.9, 0.6, 0.8, 0.7]
SMALL = ReviewSignals(
    SETS,
    np.array([v for top in TOP for v in (top, 1 - top)] + [0.5, 0.48, 0.02], dtype=np.float32),
    changes=np.array([3, 0, 1, 2, 0]),
    neighbours=np.array([[1], [0], [3], [0], [1]], dtype=np.int32),
    votes=np.array([1, 0, 0.5, 0.5, 0, 1, 0.25, 0.75, 0.6, 0.4, 0], dtype=np.float32),
    out_of_fold=np.array([0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5, 0.5, 0], dtype=np.float32),
    miss=np.array([0.1, 0.0, 0.3, 0.9, 0.2], dtype=np.float32),
)


@pytest.mark.parametrize(
    ("order", "first"),
    [
        ("confidence", [4, 1, 3, 2, 0]),
        ("margin", [4, 1, 3, 2, 0]),
        ("entropy", [1, 3, 2, 4, 0]),
        ("changes", [0, 3, 2, 4, 1]),
        ("annotators", [2, 3, 1, 4, 0]),
        ("against-all", [2, 3, 4, 1, 0]),
        ("out-of-fold", [0, 1, 2, 3, 4]),
        ("neighbours", [4, 0, 2, 1, 3]),
        ("surprise", [0, 2, 4, 3, 1]),
        ("set-wrong", [3, 2, 4, 0, 1]),
    ],
)
def test_what_comes_first(order: str, first: list[int]) -> None:
    assert rank(order, SMALL).tolist() == first


def test_decided_ones_come_last() -> None:
    assert rank("confidence", SMALL, SETS, {4: 0, 1: 1}).tolist() == [3, 2, 0, 4, 1]


def test_the_default_is_the_first_and_always_usable() -> None:
    bare = ReviewSignals(SETS, SMALL.weights)
    assert next(iter(ORDERS)) == DEFAULT
    assert usable_orders(bare) == [order for order in ORDERS.values() if not order.needs]
    assert len(usable_orders(SMALL)) == len(ORDERS)


def test_every_order_says_what_it_does() -> None:
    titles = {order.title for order in ORDERS.values()}
    assert len(titles) == len(ORDERS)
    assert all(order.explanation.endswith(".") and order.name == name for name, order in ORDERS.items())


@pytest.mark.parametrize("name", [name for name, order in ORDERS.items() if order.needs])
def test_an_order_that_lacks_something_says_what(name: str) -> None:
    with pytest.raises(UserError, match="this run does not have"):
        rank(name, ReviewSignals(SETS, SMALL.weights))


def test_an_unknown_order_and_other_sets_are_refused() -> None:
    with pytest.raises(UserError, match="no order called 'best'"):
        rank("best", SMALL)
    with pytest.raises(UserError, match="not those of the run"):
        rank("confidence", SMALL, CandidateSets.from_lists([[0]] * 5, n_classes=3))


def test_random_is_random_and_fixed_by_its_seed() -> None:
    sets = flip_binomial(np.arange(200) % 5, 5, 0.5, seed=0)
    signals = full(sets)
    one, other = rank("random", signals, seed=1), rank("random", signals, seed=2)
    assert one.tolist() == rank("random", signals, seed=1).tolist() != other.tolist()
    place = np.empty(200)
    place[one] = np.arange(200)
    assert abs(np.corrcoef(place, signals.sharp.confidence)[0, 1]) < 0.2


def test_the_learning_order_moves_with_the_decisions() -> None:
    sets = flip_binomial(np.arange(300) % 5, 5, 0.5, seed=0)
    signals = full(sets)
    decided = {int(row): int(sets[row][0]) for row in range(60)}
    before, after = rank("learning", signals), rank("learning", signals, sets, decided)
    assert [row for row in before if row not in decided] != after[:-60].tolist()
    assert set(after[-60:].tolist()) == set(decided)


@given(candidate_sets(min_n=2), st.sampled_from(list(ORDERS)), st.integers(0, 99))
def test_an_order_is_a_permutation(sets: CandidateSets, name: str, seed: int) -> None:
    assert sorted(rank(name, full(sets, seed), seed=seed).tolist()) == list(range(len(sets)))

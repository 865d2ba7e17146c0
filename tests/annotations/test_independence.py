"""What votes are worth together: independent voters, copies, and the bound on every rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from pll.annotations import ALL_WRONG, Annotations
from pll.annotations.independence import worth_of_votes
from pll.annotations.voters import fit_voters, voter_cards


def voted(wrong: np.ndarray) -> tuple[Annotations, np.ndarray]:
    y = np.arange(len(wrong)) % 3
    return Annotations.from_votes((y[:, None] + wrong) % 3, ("a", "b", "c")), y


def test_independent_voters_count_each_and_copies_count_as_one() -> None:
    rng = np.random.default_rng(0)
    alone = rng.random((600, 5)) < 0.25
    independent, copies = (worth_of_votes(*voted(wrong)) for wrong in (alone, alone[:, [0] * 5]))
    assert independent is not None and copies is not None
    assert independent.effective > 4 and independent.high == 5
    assert copies.effective < 1.2
    assert independent.low > copies.high


def test_shared_mistakes_are_measured_as_the_correlation_counted_on_many_rows() -> None:
    rng = np.random.default_rng(1)
    shared = np.where(rng.random(3000)[:, None] < 0.6, rng.random((3000, 1)), rng.random((3000, 4)))
    wrong = shared < 0.3
    worth = worth_of_votes(*voted(wrong))
    counted = (np.corrcoef(wrong.T).sum() - 4) / 12
    assert worth is not None and worth.correlation == pytest.approx(counted, abs=0.05)


@given(st.integers(10, 40), st.integers(2, 5), st.integers(0, 9))
def test_the_bound_is_that_of_the_rows_where_all_are_wrong(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    wrong = rng.random((n, m)) < rng.random()
    annotations, y = voted(wrong)
    worth = worth_of_votes(annotations, y)
    assert worth is not None
    lost = int(wrong.all(axis=1).sum())
    interval = binomtest(lost, n, alternative="greater").proportion_ci(0.95, method="exact")
    assert worth.all_wrong == lost and worth.reach == 1 - lost / n
    assert worth.most == pytest.approx(1 - interval.low)
    assert 1 <= worth.low <= worth.effective <= worth.high <= m


def test_it_needs_ten_known_labels_with_two_votes_and_names() -> None:
    annotations, y = voted(np.zeros((12, 3), dtype=bool))
    few = np.where(np.arange(12) < 9, y, -1)
    assert worth_of_votes(annotations, few) is None
    assert worth_of_votes(annotations, None) is None
    assert worth_of_votes(annotations, y) is not None
    assert worth_of_votes(Annotations.from_counts([[2, 1]] * 12), y % 2) is None


def test_a_truth_that_is_no_class_of_the_voters_is_a_mistake_of_all() -> None:
    annotations, y = voted(np.zeros((40, 3), dtype=np.int64))
    y[:8], y[8:10] = ALL_WRONG, -1
    worth = worth_of_votes(annotations, y)
    assert worth is not None and (worth.rows, worth.all_wrong, worth.reach) == (38, 8, 30 / 38)
    assert worth.sentence.count("On 8 of 38 known labels all are wrong") == 1


def test_of_known_labels_of_disputes_nothing_is_said_of_all() -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=600)
    wrong = rng.random((600, 3)) < 0.4
    said = np.where(wrong, (y[:, None] + rng.integers(1, 3, (600, 3))) % 3, y[:, None])
    votes = Annotations.from_votes(said)
    disputed = np.flatnonzero((said != said[:, :1]).any(axis=1))[:100]
    few, some = (np.full(600, -1, dtype=np.int64) for _ in range(2))
    few[disputed], some[::6] = y[disputed], y[::6]
    of_few, of_some = worth_of_votes(votes, few), worth_of_votes(votes, some)
    assert of_few is not None and not of_few.is_fair and "of all" not in of_few.sentence
    assert of_some is not None and of_some.is_fair and "of all" in of_some.sentence
    counted = [voter_cards(fit_voters(votes, true_labels=known), known)[0] for known in (few, some)]
    assert counted[0].checked == 0 and abs(counted[0].accuracy - 0.6) < 0.1 and counted[1].checked == 100

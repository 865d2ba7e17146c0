from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.synthesis import flip_binomial, flip_pair
from pll.synthesis.ambiguity import (
    LEFT_IN_DOUBT,
    ambiguity_degree,
    co_occurrence,
    examples_to_tell,
    flip_matrix,
    label_cooccurrence,
)
from tests.strategies import candidate_sets


@given(candidate_sets(min_n=0))
def test_co_occurrence_equals_counting(sets: CandidateSets) -> None:
    rows = [set(row.tolist()) for row in sets]
    shares = co_occurrence(sets)
    for j in range(sets.n_classes):
        with_j = [row for row in rows if j in row]
        for k in range(sets.n_classes):
            expected = sum(k in row for row in with_j) / len(with_j) if with_j else 0.0
            assert shares[j, k] == pytest.approx(expected)


class TestFlipMatrix:
    @given(candidate_sets(min_n=1), st.data())
    def test_equals_counting(self, sets: CandidateSets, data: st.DataObject) -> None:
        c = sets.n_classes
        y = data.draw(st.lists(st.integers(-1, c - 1), min_size=len(sets), max_size=len(sets)))
        shares = flip_matrix(sets, y)
        for j in range(c):
            rows = [row for row, label in zip(sets, y, strict=True) if label == j]
            for k in range(c):
                if rows:
                    assert shares[j, k] == pytest.approx(sum(k in row for row in rows) / len(rows))
                else:
                    assert np.isnan(shares[j, k])

    def test_finds_the_matrix_the_sets_were_made_with(self) -> None:
        n, c, q = 200_000, 4, 0.3
        y = np.arange(n) % c
        result = flip_matrix(flip_pair(y, c, q, seed=0), y)
        sigma = np.sqrt(q * (1 - q) / (n / c))
        for j in range(c):
            assert result[j, j] == 1
            assert abs(result[j, (j + 1) % c] - q) < 5 * sigma
            assert result[j, (j + 2) % c] == result[j, (j + 3) % c] == 0


class TestDegree:
    def test_gamma_names_its_pair_and_its_examples(self) -> None:
        sets = CandidateSets.from_lists([[0, 1], [0, 1], [0, 2], [1], [2, 0]], 3)
        counted = label_cooccurrence(sets, [0, 0, 0, 1, 2])
        assert counted.gamma == 1.0 and counted.pair == (2, 0) and counted.together == (1, 1)
        partial = label_cooccurrence(sets, [0, 0, 0, 1, -1], estimated=True)
        assert partial.gamma == pytest.approx(2 / 3) and partial.pair == (0, 1) and partial.together == (2, 3)
        assert partial.unlabelled == 1 and partial.is_estimated and not partial.says_enough
        assert len(partial.worst(9)) == 4  # the pairs of the two classes that have an example

    def test_the_interval_holds_what_synthesis_put_in(self) -> None:
        y = np.arange(30_000) % 6
        pair = label_cooccurrence(flip_pair(y, 6, 0.8, 0), y)
        assert pair.gamma == pytest.approx(0.8, abs=0.02) and pair.pair[1] == (pair.pair[0] + 1) % 6
        low, high = pair.interval()
        assert low < 0.8 < high and high - low < 0.05  # of all 30 pairs at once

    @given(st.floats(0.01, 0.99))
    def test_examples_to_tell_is_the_fewest(self, gamma: float) -> None:
        m = int(examples_to_tell(gamma))
        assert gamma**m <= LEFT_IN_DOUBT * (1 + 1e-9)
        assert m == 1 or gamma ** (m - 1) > LEFT_IN_DOUBT * (1 - 1e-9)

    @pytest.mark.parametrize(("c", "q"), [(6, 0.1), (10, 0.7), (3, 0.0), (2, 0.4)])
    def test_binomial_flipping_with_its_forced_label_follows_the_formula(self, c: int, q: float) -> None:
        expected = q + (1 - q) ** (c - 1) / (c - 1)
        n = 60_000 * c
        y = np.arange(n) % c
        sets = flip_binomial(y, c, q, seed=11)
        off_diagonal = ~np.eye(c, dtype=bool)
        sigma = np.sqrt(expected * (1 - expected) / 60_000)
        shares = flip_matrix(sets, y)[off_diagonal]
        assert (np.abs(shares - expected) <= 5 * sigma).all()
        assert ambiguity_degree(sets, y) == pytest.approx(shares.max())

    @pytest.mark.parametrize(
        ("y", "message"),
        [
            ([-1, -1], "none is known"),
            ([0], "There are 2 candidate sets but 1 labels"),
            ([0, 2], "Row 1: label 2 is unknown"),
            ([0, -2], "Row 1: label -2 is unknown"),
            ([0, 0.5], "Entry 1 of the labels is 0.5"),
        ],
    )
    def test_bad_labels_are_refused(self, y: list[float], message: str) -> None:
        with pytest.raises(UserError) as caught:
            ambiguity_degree(CandidateSets.from_lists([[0], [1]], 2), y)
        assert message in str(caught.value)

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets, blocks_of
from pll.weights import restricted_softmax, sharpness, top_positions
from tests.strategies import candidate_sets, sets_and_scores

SIZES = st.lists(st.integers(1, 70), max_size=40)


@given(SIZES)
def test_every_entry_stands_in_exactly_one_block_in_its_place(sizes: list[int]) -> None:
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    nnz = int(indptr[-1])
    found: dict[int, list[int]] = {}
    for block in blocks_of(indptr):
        rows = np.arange(len(sizes))[block.rows]
        for row, places in zip(rows, block.places.T, strict=True):
            assert row not in found
            found[int(row)] = places[places < nnz].tolist()
            assert (places[len(found[int(row)]) :] == nnz).all()
    assert found == {row: list(range(indptr[row], indptr[row + 1])) for row in range(len(sizes))}


@given(SIZES)
def test_they_hold_at_most_twice_as_many_places_as_there_are_entries(sizes: list[int]) -> None:
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    assert sum(block.places.size for block in blocks_of(indptr)) <= 2 * sum(sizes)


def test_one_huge_set_among_small_ones_costs_no_more_than_itself() -> None:
    sets = CandidateSets.from_lists([[0]] * 1000 + [list(range(1000))], 1000)
    assert sum(block.places.size for block in sets.blocks) == sets.nnz


@given(sets_and_scores())
def test_what_is_read_off_block_by_block_equals_row_by_row(case: tuple[CandidateSets, np.ndarray]) -> None:
    sets, scores = case
    weights = restricted_softmax(scores[sets.rows, sets.indices], sets)
    sharp, at = sharpness(weights, sets), top_positions(weights, sets)
    for i in range(len(sets)):
        own = weights[sets.indptr[i] : sets.indptr[i + 1]]
        first, *others = sorted(own.tolist(), reverse=True)
        assert at[i] == sets.indptr[i] + int(np.argmax(own))  # the first of equals
        assert sharp.identified[i] == sets.indices[at[i]]
        assert sharp.confidence[i] == np.float32(first)
        assert sharp.margin[i] == np.float32(first) - np.float32(others[0] if others else 0)
        positive = own[own > 0].astype(np.float64)
        entropy = -(positive * np.log(positive)).sum() / np.log(max(2, len(own)))
        np.testing.assert_allclose(sharp.entropy[i], entropy, atol=2e-6)


@given(candidate_sets())
def test_equal_weights_identify_the_first_candidate(sets: CandidateSets) -> None:
    assert (top_positions(sets.uniform_weights(), sets) == sets.indptr[:-1]).all()

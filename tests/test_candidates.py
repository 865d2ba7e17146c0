"""Candidate sets: construction, indexing, their form in memory, blocks."""

from __future__ import annotations

import copy
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets, as_candidate_sets, blocks_of, whole_numbers
from pll.errors import UserError
from pll.weights import restricted_softmax, sharpness, top_positions
from tests.strategies import candidate_sets, sets_and_scores


@pytest.fixture
def sets() -> CandidateSets:
    return CandidateSets.from_lists([[0, 2], [1], [0, 1, 3]], n_classes=4, class_names=["ant", "bee", "cat", "dog"])


class TestWaysIn:
    @given(candidate_sets(min_n=0))
    def test_lists_mask_and_sparse_matrix_are_the_same(self, sets: CandidateSets) -> None:
        lists = [row.tolist() for row in sets]
        assert CandidateSets.from_lists(lists, sets.n_classes) == sets
        assert CandidateSets.from_mask(sets.mask()) == sets
        assert CandidateSets.from_mask(sets.mask().astype(np.float64)) == sets
        assert CandidateSets.from_sparse(scipy.sparse.csc_array(sets.mask())) == sets
        assert CandidateSets(sets.indptr, sets.indices, sets.n_classes) == sets

    def test_a_sparse_matrix_may_store_zeros_and_duplicates(self) -> None:
        stored = scipy.sparse.coo_array(([1, 0, 1, 1], ([0, 0, 1, 1], [2, 1, 0, 0])), shape=(2, 3))
        assert [row.tolist() for row in CandidateSets.from_sparse(stored)] == [[2], [0]]

    @pytest.mark.parametrize("dtype", ["i1", "u1", "i4", ">i4", "i8", "u8", "f4", "f8"])
    def test_any_type_of_whole_number_will_do(self, dtype: str) -> None:
        sets = CandidateSets(np.array([0, 2, 3], dtype), np.array([0, 2, 1], dtype), 3)  # type: ignore[arg-type]
        assert sets == CandidateSets.from_lists([[0, 2], [1]], 3)
        assert (sets.indptr.dtype, sets.indices.dtype) == (np.int64, np.int32)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: CandidateSets.from_lists([[0], [], []], 2), "Row 1 has an empty candidate set (2 such rows)"),
        (lambda: CandidateSets.from_lists([[0], [1, 5]], 3), "Row 1: label 5 is unknown; labels run from 0 to 2"),
        (lambda: CandidateSets.from_lists([[0], [-1]], 3), "Row 1: label -1 is unknown"),
        (lambda: CandidateSets.from_lists([[2**32]], 3), "Row 0: label 4294967296 is unknown"),
        (lambda: CandidateSets.from_lists([[2**80]], 3), "Row 0: the label 1208925819614629174706176"),
        (lambda: CandidateSets.from_lists([[0], ["cat"]], 3), "Row 1: the label 'cat' is not a class index"),
        (lambda: CandidateSets.from_lists([[0], [0.5]], 3), "Row 1: the label 0.5 is not a class index"),
        (lambda: CandidateSets.from_lists([[True]], 3), "Row 0: the label True is not a class index"),
        (lambda: CandidateSets.from_lists([[0], None], 3), "Row 1: None is not a list of labels"),
        (lambda: as_candidate_sets([["a", "b"], None]), "Row 1: None is not a list of labels"),
        (lambda: as_candidate_sets([None, [0, 1]]), "Row 0: None is not a list of labels"),
        (lambda: as_candidate_sets([["a", "b"], "a"]), "Row 1: 'a' is not a list of labels"),
        (lambda: CandidateSets.from_lists([[0]], 0), "There are no classes"),
        (lambda: CandidateSets.from_mask([[1, 0], [0, 0]]), "Row 1 has an empty candidate set"),
        (lambda: CandidateSets.from_mask([[1, 0], [2, 1]]), "Row 1 of the candidate mask holds"),
        (lambda: CandidateSets.from_mask([[1.0, np.nan]]), "Row 0 of the candidate mask holds"),
        (lambda: CandidateSets.from_mask([["1", "0"]]), "Row 0 of the candidate mask holds"),
        (lambda: CandidateSets.from_mask([[1, 0], [1]]), "rows of the candidate mask differ in length"),
        (lambda: CandidateSets.from_mask([1, 0]), "must have two dimensions"),
        (lambda: CandidateSets.from_mask(np.ones((2, 0))), "There are no classes"),
        (lambda: CandidateSets.from_labels([0, 3], 3), "Row 1: label 3 is unknown"),
        (lambda: CandidateSets.from_labels([0, np.nan], 3), "Entry 1 of the labels is nan"),
        (lambda: CandidateSets.from_labels([[0], [1]], 3), "one number a row; these have 2 dimensions"),
        (lambda: CandidateSets.from_labels(["a"], 3), "must be whole numbers"),
        (lambda: CandidateSets(np.array([0, 1]), np.array([2**32]), 3), "Row 0: label 4294967296 is unknown"),
        (lambda: CandidateSets(np.array([0, 1]), np.array([0.7]), 3), "Entry 0 of the indices is 0.7"),
        (lambda: CandidateSets(np.array([0, 1]), np.array([[0, 1]]), 3), "The indices must be one number a row"),
        (lambda: CandidateSets(np.array([]), np.array([]), 3), "indptr must start at 0"),
        (lambda: CandidateSets(np.array([1, 2]), np.array([0, 1]), 3), "indptr must start at 0"),
        (lambda: CandidateSets(np.array([0, 1]), np.array([0, 1]), 3), "end at the length of indices"),
        (lambda: CandidateSets(np.array([0, 3, 2]), np.array([0, 1]), 3), "Row 1: indptr decreases"),
        (lambda: CandidateSets(np.array([0, 1, 3]), np.array([2, 1, 0]), 3), "Row 1: label 0 stands twice or out of"),
        (lambda: CandidateSets(np.array([0, 2]), np.array([1, 1], np.uint8), 3), "Row 0: label 1 stands twice"),
        (lambda: CandidateSets(np.array([0, 2]), np.array([1, 0], np.uint8), 3), "Row 0: label 0 stands twice"),
        (lambda: CandidateSets.from_lists([[0]], 2, ["a"]), "1 class names were given for 2 classes"),
        (lambda: CandidateSets.from_lists([[0]], 2, ["a", "a"]), "The class name 'a' stands twice"),
        (lambda: CandidateSets.from_lists([[0]], 2, ["a", 1]), "Class names must be text; 1 is not"),  # type: ignore
    ],
)
def test_bad_input_is_refused_and_named(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UserError) as caught:
        make()
    assert message in str(caught.value)


class TestRows:
    @given(candidate_sets(min_n=1), st.data())
    def test_take_is_indexing(self, sets: CandidateSets, data: st.DataObject) -> None:
        n = len(sets)
        rows = data.draw(
            st.one_of(
                st.slices(n),
                st.lists(st.integers(-n, n - 1)),
                st.lists(st.booleans(), min_size=n, max_size=n).map(lambda b: np.array(b, dtype=np.bool_)),
            )
        )
        expected = [sets[i].tolist() for i in np.arange(n)[rows]]
        taken = sets.take(rows)
        assert [row.tolist() for row in taken] == expected
        assert taken.class_names == sets.class_names
        assert sets[rows] == sets[np.arange(n)[rows], ...] == taken

    def test_none_at_all(self, sets: CandidateSets) -> None:
        empty = sets.take([])
        assert (len(empty), empty.nnz, empty.n_classes) == (0, 0, 4)
        assert empty.mask().shape == (0, 4)
        assert empty.uniform_weights().shape == empty.sizes.shape == empty.rows.shape == (0,)
        assert empty.contains([]).tolist() == []
        assert empty.take(slice(None)) == empty
        assert repr(empty) == "CandidateSets(0 examples, 4 classes, 0.00 candidates on average)"

    def test_it_looks_like_an_array_of_sets(self, sets: CandidateSets) -> None:
        assert sets.shape == (3, 4)
        np.testing.assert_array_equal(np.asarray(sets), sets.mask())
        assert np.asarray(sets, dtype=np.float32).sum() == sets.nnz
        assert sets[pd.Series([2, 0])] == sets.take([2, 0])
        assert sets[[True, False, True]] == sets.take([0, 2])
        with pytest.raises(IndexError):
            sets[0, 1]  # type: ignore[call-overload]
        with pytest.raises(IndexError):
            sets[[3]]

    @given(candidate_sets(min_n=0))
    def test_rows_sizes_and_uniform_weights_agree(self, sets: CandidateSets) -> None:
        assert sets.sizes.tolist() == [len(row) for row in sets]
        assert np.bincount(sets.rows, minlength=len(sets)).tolist() == sets.sizes.tolist()
        sums = np.bincount(sets.rows, weights=sets.uniform_weights(), minlength=len(sets))
        np.testing.assert_allclose(sums, 1, atol=1e-6)
        assert sets.uniform_weights().dtype == np.float32


class TestNormalForm:
    def test_arrays_cannot_be_written_to(self, sets: CandidateSets) -> None:
        for array in (sets.indptr, sets.indices, sets.sizes, sets.rows):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1

    def test_copies_and_pickles_are_equal_and_cannot_be_written_to_either(self, sets: CandidateSets) -> None:
        for again in (copy.deepcopy(sets), pickle.loads(pickle.dumps(sets))):
            assert again == sets
            with pytest.raises(ValueError, match="read-only"):
                again.indices[0] = 1

    def test_memory_follows_the_candidates(self) -> None:
        n, c, k = 50_000, 1_000, 4
        rng = np.random.default_rng(0)
        indices = (np.sort(rng.integers(0, c // k, (n, k)), axis=1) + np.arange(k) * (c // k)).ravel()
        tracemalloc.start()
        sets = CandidateSets(np.arange(n + 1) * k, indices, c)
        sets.take(slice(0, n, 2)).contains(np.zeros(n // 2))
        sets.uniform_weights()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100 * sets.nnz < n * c / 2  # bytes; a dense mask alone takes n × c


@pytest.mark.parametrize("bad", [[0.5], [np.nan], [np.inf], [1e300], ["1"], [None], [[1]], [[1], [1, 2]], 3, [1j]])
def test_what_is_no_list_of_whole_numbers_is_refused(bad: object) -> None:
    with pytest.raises(UserError, match="labels"):
        whole_numbers(bad, "labels")  # type: ignore[arg-type]


# ---- blocks ------------------------------------------------------------------------------------------------------

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
        assert sharp.top[i] == np.float32(first)
        assert sharp.margin[i] == np.float32(first) - np.float32(others[0] if others else 0)
        positive = own[own > 0].astype(np.float64)
        entropy = -(positive * np.log(positive)).sum() / np.log(max(2, len(own)))
        np.testing.assert_allclose(sharp.entropy[i], entropy, atol=2e-6)


def test_sets_from_iterators_are_read_once_and_whole() -> None:
    names = as_candidate_sets([iter(("a", "b")), iter(("b", "c"))])
    numbers = as_candidate_sets([map(int, "01"), map(int, "12")])
    assert names is not None and [names.names(row) for row in range(2)] == [["a", "b"], ["b", "c"]]
    assert numbers == CandidateSets.from_lists([[0, 1], [1, 2]], 3)

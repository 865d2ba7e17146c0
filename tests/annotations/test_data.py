from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.annotations import Annotations
from pll.errors import UserError

NAMES = ("NA", "None", "1", "日本語", "a|b")


@st.composite
def triples(draw: st.DrawFn) -> tuple[list[tuple[int, int, int]], int, int, int]:
    n, a, c = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 5))
    one = st.tuples(st.integers(0, n - 1), st.integers(0, a - 1), st.integers(0, c - 1))
    return draw(st.lists(one, max_size=20)), n, a, c


def made(found: list[tuple[int, int, int]], n: int, a: int, c: int) -> Annotations:
    rows, annotators, labels = np.array(found, dtype=np.int64).reshape(-1, 3).T
    names = tuple(str(j) for j in range(c)), tuple(f"p{k}" for k in range(a))
    return Annotations(rows, annotators, labels, n, *names)


@given(st.lists(st.lists(st.none() | st.sampled_from(NAMES), min_size=3, max_size=3), min_size=1, max_size=6))
def test_lines_and_a_table_of_votes_say_the_same(table: list[list[str | None]]) -> None:
    cells = [(i, k, cell) for i, row in enumerate(table) for k, cell in enumerate(row)]
    if not any(cell for _, _, cell in cells):
        with pytest.raises(UserError, match="Nobody gave a label"):
            Annotations.from_long(*zip(*cells, strict=True))
        return
    long = Annotations.from_long(*zip(*cells, strict=True))
    votes = [[-1 if cell is None else long.class_names.index(cell) for cell in row] for row in table]
    wide = Annotations.from_votes(votes, long.class_names)
    for name in ("rows", "annotators", "labels"):
        np.testing.assert_array_equal(getattr(long, name), getattr(wide, name))


def test_nan_is_no_answer() -> None:
    votes = np.array([[0, np.nan, 2], [np.nan, 1, 1]])
    np.testing.assert_array_equal(Annotations.from_votes(votes).votes.toarray(), [[1, 0, 1], [0, 2, 0]])
    with pytest.raises(UserError, match="Row 0, voter voter 2: the vote inf is no class"):
        Annotations.from_votes([[0, np.inf]])


class TestLong:
    def test_empty_answers_are_left_out(self) -> None:
        said = Annotations.from_long(
            ["t2", "t1", "t1", "t1"],
            ["ann", "ann", "bob", "eve"],
            ["cat", "dog", None, ""],
        )
        assert said.n_answers == 2
        assert said.ids is not None and said.ids.tolist() == ["t2", "t1"]
        assert said.annotator_names == ("ann", "bob", "eve")

    def test_several_lines_of_one_annotator_are_one_answer(self) -> None:
        said = Annotations.from_long([1, 1, 1], ["ann"] * 3, ["x", "y", "x"])
        assert said.n_answers == 1 and said.answer_sizes.tolist() == [2]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ((["a"], ["p"], ["x", "y"]), "differ in length"),
            ((["a", None], ["p", "p"], ["x", "y"]), "Line 1 names no task"),
            ((["a"], [" "], ["x"]), "Line 0 names no annotator"),
            ((["a"], ["p"], [""]), "Nobody gave a label"),
        ],
    )
    def test_bad_lines_are_refused(self, columns: tuple, message: str) -> None:
        with pytest.raises(UserError) as caught:
            Annotations.from_long(*columns)
        assert message in str(caught.value)


class TestCounts:
    @given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=5))
    def test_counts_come_back_as_votes(self, counts: list[list[int]]) -> None:
        said = Annotations.from_counts(counts)
        assert said.votes.toarray().tolist() == counts
        assert said.anonymous and (said.answer_sizes == 1).all()
        assert said.answers_per_row.tolist() == [sum(row) for row in counts]

    @pytest.mark.parametrize(
        ("counts", "message"),
        [
            ([1, 2], "in two dimensions"),
            ([["a"]], "must be whole numbers"),
            ([[1e12]], "There are 1e+12 votes; at most 1e+08"),
            ([[1, -1]], "Row 0, class 1: -1 is not a number of votes"),
            ([[1, 0.5]], "Row 0, class 1: 0.5 is not"),
            ([[1, float("nan")]], "nan is not"),
        ],
    )
    def test_bad_counts_are_refused(self, counts: list, message: str) -> None:
        with pytest.raises(UserError) as caught:
            Annotations.from_counts(counts)
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [0], [5], 1, ("a",), ("p",)), "Annotation 0 names 5 of the labels, which run from 0 to 0"),
        (([0, 3], [0, 0], [0, 0], 2, ("a",), ("p",)), "Annotation 1 names 3 of the rows"),
        (([0], [0], [-1], 1, ("a",), ("p",)), "names -1 of the labels"),
        (([0], [0, 0], [0], 1, ("a",), ("p",)), "There are 1, 2, 1 rows, annotators and labels"),
        (([0], [0], [0], 1, ("a", "a"), ("p",)), "The class name 'a' stands twice"),
        (([0], [0], [0], 1, ("a",), ("p", "p")), "Two annotators have the same name"),
        (([0], [0], [0.5], 1, ("a",), ("p",)), "0.5, which is not a whole number"),
    ],
)
def test_bad_codes_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(UserError) as caught:
        Annotations(*arguments)
    assert message in str(caught.value)

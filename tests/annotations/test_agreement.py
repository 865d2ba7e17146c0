from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.annotations import Annotations
from pll.annotations.agreement import (
    Agreement,
    agreement,
    confusion_of_two,
    disagreeing_pairs,
    rows_of_disagreement,
)

NO = None

# Fleiss 1971 as statsmodels and Wikipedia have it: 14 answers in each of 10 rows.
WIKIPEDIA = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
# Krippendorff's own example (nominal alpha .743), also cac.raw4raters of irrCAC (Fleiss .76117, percent .81818).
FOUR_RATERS = {
    "1": [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
    "2": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
    "3": [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
    "4": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
}
# From the documentation of the package krippendorff: nominal alpha .691358.
THREE_RATERS = {
    "1": [NO, NO, NO, NO, NO, 3, 4, 1, 2, 1, 1, 3, 3, NO, 3],
    "2": [1, NO, 2, 1, 3, 3, 4, 3, NO, NO, NO, NO, NO, NO, NO],
    "3": [NO, NO, 2, 1, 3, 4, 4, NO, 2, 1, 1, 3, 3, NO, 4],
}


def wide(columns: dict[str, list[object]]) -> Annotations:
    """A column a person."""
    names = sorted({str(cell) for cells in columns.values() for cell in cells if cell is not NO})
    votes = [[-1 if cell is NO else names.index(str(cell)) for cell in cells] for cells in columns.values()]
    return Annotations.from_votes(np.transpose(votes), names, list(columns))


def values(found: Agreement) -> tuple[float, float, float]:
    figures = (found.percent.value, found.kappa.value, found.alpha.value)
    assert None not in figures
    return figures  # type: ignore[return-value]


def test_published_examples() -> None:
    percent, kappa, _ = values(agreement(Annotations.from_counts(WIKIPEDIA)))
    assert (round(percent, 3), round(kappa, 3)) == (0.378, 0.210)
    percent, kappa, alpha = values(agreement(wide(FOUR_RATERS)))
    assert (round(percent, 7), round(kappa, 5), round(alpha, 3)) == (0.8181818, 0.76117, 0.743)
    _, _, alpha = values(agreement(wide(THREE_RATERS)))
    assert round(alpha, 6) == 0.691358


answers = st.lists(
    st.lists(st.none() | st.sets(st.integers(0, 3), min_size=1), min_size=3, max_size=3), min_size=1, max_size=7
)


def said_of(table: list[list[set[int] | None]]) -> Annotations:
    found = [(i, k, j) for i, row in enumerate(table) for k, answer in enumerate(row) if answer for j in sorted(answer)]
    rows, who, labels = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return Annotations(rows, who, labels, len(table), ("a", "b", "c", "d"), ("p", "q", "r"))


@given(answers)
def test_alpha_and_percent_equal_going_through_all_pairs(table: list[list[set[int] | None]]) -> None:
    result = agreement(said_of(table))
    rows = [[frozenset(answer) for answer in row if answer] for row in table]
    rows = [row for row in rows if len(row) >= 2]
    if not rows:
        assert result.alpha.value is None and "No row has the answers of two" in result.alpha.reason
        return

    def distance(a: frozenset[int], b: frozenset[int]) -> float:
        both = len(a & b)
        thirds = 3 if a == b else 2 if both == min(len(a), len(b)) else 1
        return 1 - both / len(a | b) * thirds / 3

    pooled = [answer for row in rows for answer in row]
    n = len(pooled)
    observed = sum(sum(distance(a, b) for a, b in itertools.permutations(row, 2)) / (len(row) - 1) for row in rows) / n
    expected = sum(distance(a, b) for a, b in itertools.permutations(pooled, 2)) / (n * (n - 1))
    if expected == 0:
        assert result.alpha.value is None and "Every answer is the same" in result.alpha.reason
    else:
        assert result.alpha.value == pytest.approx(1 - observed / expected, abs=1e-5)
    pairs = [[a == b for a, b in itertools.combinations(row, 2)] for row in rows]
    assert result.percent.value == pytest.approx(np.mean([np.mean(row) for row in pairs]))
    assert (result.rows, result.answers) == (len(rows), n)


@given(answers)
def test_figures_stay_within_their_bounds(table: list[list[set[int] | None]]) -> None:
    result = agreement(said_of(table))
    for figure in (result.percent, result.kappa, result.alpha):
        assert (figure.value is None) == bool(figure.reason)
        assert figure.value is None or figure.value <= 1 + 1e-6


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"p": ["a", "b"]}, "There is one annotator"),
        ({"p": ["a", NO], "q": [NO, "b"]}, "No row has the answers of two annotators"),
    ],
)
def test_where_there_is_none_the_reason_is_given(table: dict, reason: str) -> None:
    result = agreement(wide(table))
    for figure in (result.percent, result.kappa, result.alpha):
        assert figure.value is None and reason in figure.reason


@given(answers)
def test_where_two_disagree_equals_going_through_the_rows(table: list[list[set[int] | None]]) -> None:
    annotations = said_of(table)
    found = {(pair.first, pair.second): pair for pair in disagreeing_pairs(annotations)}
    for first, second in itertools.combinations(range(3), 2):
        both = [i for i, row in enumerate(table) if row[first] and row[second]]
        differing = [i for i in both if table[i][first] != table[i][second]]
        assert rows_of_disagreement(annotations, first, second).tolist() == differing
        assert confusion_of_two(annotations, first, second).sum() == pytest.approx(len(both))
        assert ((first, second) in found) == bool(differing)
        if differing:
            assert (found[first, second].rows, found[first, second].differing) == (len(both), len(differing))
    counts = [pair.differing for pair in disagreeing_pairs(annotations)]
    assert counts == sorted(counts, reverse=True)

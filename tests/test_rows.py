"""Records with an entry a row in some of their fields: whatever is row-wise is taken along and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.dataset import PartialLabelDataset
from pll.errors import UserError
from pll.images import Pictures
from pll.io import row_fields, taken
from pll.methods.base import Task
from pll.weights import DECISIONS, ChangedSets, Outside

N = 11
"""Rows: as many as nothing else has."""
NAMES = ("ant", "bee", "cat")
SETS = CandidateSets.from_lists(
    [[0, 1], [1], [0, 1, 2], [2], [0, 2], [0], [1, 2], [0, 1, 2], [2], [1], [0, 1]], 3, NAMES
)
NUMBERS = np.arange(N)
WORDS = np.array([f"word {i}" for i in range(N)], dtype=object)
CHANGED = CandidateSets.from_lists([[int(row[0])] for row in SETS], 3, NAMES)
PRIOR = SETS.uniform_weights()
DECIDED = ChangedSets(CHANGED, SETS, reason=DECISIONS, prior=PRIOR, decided=NUMBERS % 3, tied_votes=NUMBERS > 4)
SOME = Annotations(NUMBERS, NUMBERS % 2, NUMBERS % 3, N, NAMES, ("ann", "bob"))
FULL = {
    "dataset": PartialLabelDataset(
        NUMBERS[:, None] + np.zeros(2),
        SETS,
        NUMBERS % 3,
        ids=WORDS.astype(np.str_),
        feature_names=("a", "b"),
        images=np.tile(NUMBERS.astype(np.uint8)[:, None, None], (1, 4, 4)),
        texts=WORDS,
        pictures=Pictures(WORDS),
        categories={"shape": WORDS},
        extras={"note": WORDS},
        annotations=SOME,
        prior=PRIOR,
        changes=(DECIDED,),
        is_test=NUMBERS % 2 == 0,
        unanswered=NUMBERS % 3 == 0,
    ),
    "task": Task(
        NUMBERS[:, None].astype(np.float32),
        SETS,
        NUMBERS % 3,
        prior=PRIOR,
        votes=SOME,
        changes=(DECIDED,),
        sample_weight=np.ones(N, dtype=np.float32),
    ),
    "change": DECIDED,
    "outside": Outside(
        CHANGED, SETS, NUMBERS.astype(np.float32) / N, prior=PRIOR, decided=NUMBERS % 3, tied_votes=NUMBERS > 4
    ),
}


def entries(value: Any) -> list[Any]:
    """What a field has of each row, as plain values."""
    if isinstance(value, Mapping):
        return list(zip(*(entries(part) for part in value.values()), strict=True))
    if isinstance(value, tuple):
        return list(zip(*(entries(part) for part in value), strict=True))
    if isinstance(value, ChangedSets):
        return list(zip(*(entries(part) for _, _, part in row_fields(value)), strict=True))
    if isinstance(value, Annotations):
        return [value.labels[value.rows == row].tolist() for row in range(value.n_rows)]
    rows = value.names if isinstance(value, Pictures) else value
    return [np.asarray(row).tolist() for row in rows]


@pytest.mark.parametrize("name", FULL)
@given(st.lists(st.integers(0, N - 1), min_size=2, unique=True))
def test_every_field_with_an_entry_a_row_is_taken_along(name: str, rows: list[int]) -> None:
    record = FULL[name]
    some = replace(record, **taken(record, np.array(rows)))
    for field, _, value in row_fields(record):
        every = entries(value)
        assert entries(getattr(some, field)) == [every[row] for row in rows], field
    sets = record.candidates
    assert sets is not None and record.prior is not None and some.prior is not None
    np.testing.assert_array_equal(some.prior, record.prior[sets.positions(np.array(rows))])


@pytest.mark.parametrize("name", FULL)
def test_no_field_with_an_entry_a_row_or_a_candidate_is_left_unmarked(name: str) -> None:
    for field in fields(FULL[name]):
        value = getattr(FULL[name], field.name)
        parts = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, tuple) else [value]
        lengths = {len(part) for part in parts if hasattr(part, "__len__") and not isinstance(part, str)}
        assert ("rows" in field.metadata) == (N in lengths), field.name
        assert ("candidates" in field.metadata) == (SETS.nnz in lengths), field.name


@pytest.mark.parametrize(
    ("name", "field"),
    [(name, field) for name in ("dataset", "task") for field, _, _ in row_fields(FULL[name]) if field != "X"],
)
def test_a_field_with_too_few_rows_is_refused(name: str, field: str) -> None:
    few = taken(FULL[name], np.arange(N - 1))[field]
    with pytest.raises(UserError, match=f"There are {N} rows of features but {N - 1} "):
        replace(FULL[name], **{field: few})

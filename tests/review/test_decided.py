"""What people decided, in its normal form."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pll.candidates import CandidateSets
from pll.review.decided import OUTSIDE, Decided
from tests.strategies import candidate_sets

SETS = CandidateSets.from_lists([[0, 2], [1, 2], [0, 1, 2], [1]], n_classes=3)


def test_settled_weights() -> None:
    weights = np.array([0.25, 0.75, 0.5, 0.5, 0.2, 0.3, 0.5, 1.0], dtype=np.float32)
    said = Decided.of(SETS, {0: 0, 1: OUTSIDE}, eliminated=[(2, 2), (2, 7), (3, 0)])
    expected = [1, 0, 0, 0, 0.4, 0.6, 0, 1]
    np.testing.assert_allclose(said.apply_to(weights), expected, rtol=1e-6)


@given(candidate_sets(), st.data())
def test_settled_weights_sum_to_one_unless_the_label_lies_outside(sets: CandidateSets, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.integers(0, len(sets) - 1), unique=True))
    labels = [data.draw(st.integers(-1, sets.n_classes - 1)) for _ in rows]
    marks = np.array(data.draw(st.lists(st.booleans(), min_size=sets.nnz, max_size=sets.nnz)))
    said = Decided(sets, np.array(rows, dtype=np.int64), np.array(labels, dtype=np.int64), marks)
    settled = said.apply_to(sets.uniform_weights())
    total = np.add.reduceat(settled, sets.indptr[:-1])
    outside = said.is_decided.copy()
    outside[said.rows[said.positions >= 0]] = False
    np.testing.assert_allclose(total, np.where(outside, 0, 1), atol=1e-6)
    assert not settled[~said.open & ~said.is_decided[sets.rows]].any()

"""The filters."""

from __future__ import annotations

import numpy as np
import pytest

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.review.decided import Decided
from pll.review.queue import QueueFilter
from pll.review.signals import ReviewSignals

# ---- filters -----------------------------------------------------------------------------------------------------

SETS = CandidateSets.from_lists([[0, 1], [0, 2], [1, 2], [0, 1, 2]], n_classes=3)
SIGNALS = ReviewSignals(SETS, np.array([0.9, 0.1, 0.4, 0.6, 0.7, 0.3, 0.2, 0.5, 0.3], dtype=np.float32))
SAID = Annotations([0, 0, 1, 3], [0, 1, 0, 1], [0, 1, 0, 2], 4, ("0", "1", "2"), ("ann", "bob"))


@pytest.mark.parametrize(
    ("chosen", "rows"),
    [
        (QueueFilter(), [0, 1, 3]),
        (QueueFilter(undecided=False), [0, 1, 2, 3]),
        (QueueFilter(classes=(0, 2)), [0, 1]),
        (QueueFilter(classes=(1,), undecided=False), [2, 3]),
        (QueueFilter(pair=(0, 1)), [0, 3]),
        (QueueFilter(pair=(2, 0)), [1]),
        (QueueFilter(annotator=0), [0, 1]),
        (QueueFilter(annotator=0, against=True), [1]),
        (QueueFilter(annotator=1, against=True, classes=(1,)), [3]),
        (QueueFilter(rows=np.array([3, 1, 2])), [1, 3]),
        (QueueFilter(rows=np.array([], dtype=np.int64)), []),
    ],
)
def test_filters(chosen: QueueFilter, rows: list[int]) -> None:
    assert np.flatnonzero(chosen.mask(SIGNALS, {2: 1}, SAID)).tolist() == rows


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (QueueFilter(classes=(3,)), "no class 3"),
        (QueueFilter(pair=(0, -1)), "no class -1"),
        (QueueFilter(pair=(1, 1)), "two different"),
        (QueueFilter(annotator=2), "no annotator 2"),
        (QueueFilter(rows=np.array([1, 4])), "do not exist"),
    ],
)
def test_filters_that_cannot_be(chosen: QueueFilter, message: str) -> None:
    with pytest.raises(UserError, match=message):
        chosen.mask(SIGNALS, Decided.of(SETS), SAID)

"""Controls among what is shown, and the filters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pll.annotations.data import Annotations
from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.review.decided import Decided
from pll.review.queue import QueueFilter, control_places, with_controls
from pll.review.sampling_plan import draw_controls
from pll.review.signals import ReviewSignals


@given(
    st.integers(0, 60), st.integers(0, 20), st.floats(0.01, 1.0), st.integers(0, 50), st.integers(0, 5), st.booleans()
)
def test_each_row_once_and_both_orders_kept(a: int, b: int, share: float, shown: int, seed: int, apart: bool) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(a)
    controls = rng.permutation(a + b)[:b] + (a + b if apart else 0)
    queue = with_controls(order, controls, share, shown=shown, seed=seed)
    assert queue.rows[queue.is_control].tolist() == controls.tolist()
    assert queue.rows[~queue.is_control].tolist() == [row for row in order.tolist() if row not in controls]
    assert len(set(queue.rows.tolist())) == len(queue)


def test_about_the_share_of_any_stretch_are_controls() -> None:
    queue = with_controls(np.arange(1000, 2000), np.arange(100), 0.1, seed=3)
    counts = np.add.reduceat(queue.is_control.astype(int), np.arange(0, 1000, 50))
    assert counts.min() >= 3 and counts.max() <= 7
    places = np.flatnonzero(queue.is_control)
    assert len(np.unique(np.diff(places))) > 5  # nobody can tell where the next one comes


def test_a_queue_made_anew_after_every_decision_is_the_same_queue() -> None:
    order, controls = np.arange(100, 160), draw_controls(60, 0.2)
    whole = with_controls(order, controls, 0.2, seed=1)
    toast_errors, left = [], [order.tolist(), controls.tolist()]
    for shown in range(len(whole)):
        queue = with_controls(left[0], left[1], 0.2, shown=shown, seed=1)
        toast_errors.append((int(queue.rows[0]), bool(queue.is_control[0])))
        left[1 if queue.is_control[0] else 0].remove(int(queue.rows[0]))
    assert toast_errors == list(zip(whole.rows.tolist(), whole.is_control.tolist(), strict=True))


def test_no_share_no_controls_and_all_share_controls_first() -> None:
    assert with_controls([5, 6], [1, 5], 0.0).rows.tolist() == [5, 6]
    assert with_controls([5, 6], [], 0.5).rows.tolist() == [5, 6]
    assert with_controls([5, 6], [1, 5], 1.0).rows.tolist() == [1, 5, 6]
    assert with_controls([], [1, 5], 0.1).rows.tolist() == [1, 5]


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_outside_is_refused(share: float) -> None:
    with pytest.raises(UserError, match="between 0 and 1"):
        with_controls([0], [1], share)


@given(st.floats(0.01, 1.0), st.integers(0, 300), st.integers(0, 200), st.integers(0, 9))
def test_places_go_on_where_they_left_off(share: float, shown: int, length: int, seed: int) -> None:
    whole = control_places(share, 0, shown + length, seed)
    later = control_places(share, shown, length, seed)
    assert later.tolist() == (whole[whole >= shown] - shown).tolist()
    assert (np.diff(whole) > 0).all()
    assert abs(len(whole) - share * (shown + length)) <= 2


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
    ],
)
def test_filters_that_cannot_be(chosen: QueueFilter, message: str) -> None:
    with pytest.raises(UserError, match=message):
        chosen.mask(SIGNALS, Decided.of(SETS), SAID)


def test_no_annotators_to_filter_by() -> None:
    with pytest.raises(UserError, match="no annotators"):
        QueueFilter(annotator=0).mask(SIGNALS)

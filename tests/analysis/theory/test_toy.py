"""The toy: what a reader may do to its points, and that what is shown of training is training."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pll.analysis.theory.toy import (
    CLASSES,
    FEWEST,
    MOST,
    Toy,
    from_many_starts,
    next_step,
    three_clouds,
    toy_history,
)
from pll.methods import METHODS
from pll.weights import dense, identified_labels


def test_three_clouds_are_the_same_every_time_and_hold_their_truth() -> None:
    toy, again = three_clouds(), three_clouds()
    assert toy.key == again.key
    assert len(toy) == 60 and np.bincount(toy.y).tolist() == [20, 20, 20]
    assert toy.truth_missing == 0
    assert np.abs(toy.points).max() <= 1


def test_every_edit_gives_a_new_toy_and_leaves_the_old_one() -> None:
    toy = three_clouds(9)
    before = toy.key
    moved = toy.moved(4, 0.25, -2.0)
    assert moved.points[4].tolist() == [0.25, -1.0]  # kept inside of the square
    assert np.array_equal(np.delete(moved.points, 4, axis=0), np.delete(toy.points, 4, axis=0))
    added = toy.added(0.5, 0.5, 2, [1, 2])
    assert len(added) == 10 and added.y[-1] == 2 and added.candidates[9].tolist() == [1, 2]
    gone = added.without(0)
    assert np.array_equal(gone.points, added.points[1:])
    assert [gone.candidates[i].tolist() for i in range(9)] == [added.candidates[i].tolist() for i in range(1, 10)]
    other = toy.with_set(3, [2])
    assert other.candidates[3].tolist() == [2] and other.truth_missing == 1
    assert toy.key == before and len({toy.key, moved.key, added.key, gone.key, other.key}) == 5


@pytest.mark.parametrize("method", ["proden", "proden-sudden", "proden-naive", "pn-oracle"])
def test_the_frames_are_those_of_the_method_itself(method: str) -> None:
    toy = three_clouds(30)
    shown = toy_history(toy, method, epochs=8, seed=3, lr=0.2)
    assert shown.epochs == 8 and shown.planes.shape == (9, 3, 3) and shown.weights.shape == (9, toy.candidates.nnz)
    settings_ = {"epochs": 8, "batch_size": MOST, "lr": 0.2, "weight_decay": 0.0, "scale": "none", "seed": 3}
    estimator = METHODS[method](model="linear", **settings_)
    if method == "pn-oracle":
        estimator.fit(toy.points, toy.candidates, truth=toy.y)
    else:
        estimator.fit(toy.points, toy.candidates)
    assert np.array_equal(shown.weights[-1], estimator.label_weights_)
    # The boundary that is drawn is the model's: same logits from planes as from the estimator.
    corners = np.array([[-1, -1], [1, 0.5], [0, 0]], dtype=np.float32)
    logits = np.hstack([corners, np.ones((3, 1), dtype=np.float32)]) @ shown.planes[-1].T
    assert np.allclose(logits, estimator.predict_scores(corners), atol=1e-5)


def test_frame_zero_is_before_training_and_every_frame_counts_right() -> None:
    toy = three_clouds(30)
    shown = toy_history(toy, epochs=5)
    sums = dense(shown.weights[0], toy.candidates).sum(axis=1)
    assert np.allclose(sums, 1) and np.array_equal(shown.weights[0], toy.candidates.uniform_weights())
    for t in range(6):
        labels = identified_labels(shown.weights[t], toy.candidates)
        assert np.array_equal(labels, shown.identified[t])
        assert shown.right[t] == pytest.approx((labels == toy.y).mean())
    assert not np.array_equal(shown.planes[0], shown.planes[1])
    assert np.isfinite(shown.loss).all() and len(shown.loss) == 5


def test_all_methods_set_out_from_the_same_model() -> None:
    toy = three_clouds(12)
    planes = [
        toy_history(toy, method, epochs=1, seed=5).planes[0] for method in ("proden", "proden-sudden", "proden-naive")
    ]
    assert np.array_equal(planes[0], planes[1]) and np.array_equal(planes[0], planes[2])


@pytest.mark.parametrize("after", [0, 3])
def test_the_step_in_numbers_is_the_step_between_two_frames(after: int) -> None:
    toy = three_clouds(30)
    shown = toy_history(toy, epochs=6, seed=1)
    step = next_step(toy, 7, after, seed=1)
    at = toy.candidates.positions(np.array([7]))
    assert step.epoch == after and len(step.rows) == 30
    assert np.allclose(step.old_weights, shown.weights[after][at], atol=1e-6)
    assert np.allclose(step.new_weights, shown.weights[after + 1][at], atol=1e-6)
    assert step.move == pytest.approx(float(np.linalg.norm(shown.planes[after + 1] - shown.planes[after])), rel=1e-3)
    assert step.batch_loss == pytest.approx(float(shown.loss[after]), rel=1e-5)


def test_weights_find_what_the_bare_minimum_misses() -> None:
    """What the page shows, over ten starts and on other points than the page's own."""
    found = from_many_starts(three_clouds(seed=5), ["proden", "proden-sudden"], starts=10)
    assert found["proden"].mean() > found["proden-sudden"].mean() + 0.1
    assert (found["proden"] >= found["proden-sudden"]).all()


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_any_points_and_sets_can_be_trained_on(data: st.DataObject) -> None:
    n = data.draw(st.integers(FEWEST, 12))
    place = st.floats(-1, 1, width=32)
    points = data.draw(st.lists(st.tuples(place, place), min_size=n, max_size=n))
    y = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    lists = data.draw(st.lists(st.sets(st.integers(0, 2), min_size=1), min_size=n, max_size=n))
    from pll.candidates import CandidateSets

    toy = Toy(np.array(points, dtype=np.float32), np.array(y), CandidateSets.from_lists(lists, 3, CLASSES))
    shown = toy_history(toy, epochs=3)
    assert np.isfinite(shown.planes).all()
    assert np.allclose([dense(weights, toy.candidates).sum(axis=1) for weights in shown.weights], 1, atol=1e-5)

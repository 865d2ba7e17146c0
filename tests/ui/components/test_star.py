"""The star plot's pure half: who is shown, where, and what is sent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy.spatial import ConvexHull

from pll.candidates import CandidateSets
from pll.synthesis import flip_binomial
from pll.ui.components.canvas import Presentation
from pll.ui.components.star import (
    MOST_STAR_POINTS,
    anchors,
    packed,
    star_payload,
    star_positions,
    star_sample,
)
from pll.weights import restricted_softmax


def weighted(n: int, c: int, q: float = 0.7, seed: int = 0, sharp: float = 2.0):
    rng = np.random.default_rng(seed)
    candidates = flip_binomial(rng.integers(0, c, n), c, q, seed)
    return restricted_softmax(sharp * rng.normal(size=candidates.nnz), candidates), candidates


def decoded(content: bytes, dtype: str) -> np.ndarray:
    return np.frombuffer(content, dtype=dtype)


def unpacked(text: str) -> np.ndarray:
    """What star.js makes of `places`."""
    a, b, c = decoded(text, "u1").astype(int).reshape(-1, 3).T
    return np.stack([a << 4 | b >> 4, (b & 15) << 8 | c], axis=1) / 2047 - 1


# ---- positions ----------------------------------------------------------------------------------------------------


def test_anchors_start_at_the_top_and_go_clockwise():
    top, right = anchors(4)[:2]
    assert top == pytest.approx([0, -1], abs=1e-6)  # y points down, as on a screen
    assert right == pytest.approx([1, 0], abs=1e-6)
    assert np.linalg.norm(anchors(26), axis=1) == pytest.approx(1)


@given(some.integers(0, 10**6), some.integers(2, 12), some.sampled_from([0.0, 0.3, 0.9]))
def test_every_example_stands_within_the_hull_of_its_candidates(seed, c, q):
    weights, candidates = weighted(12, c, q, seed)
    positions = star_positions(weights, candidates)
    assert positions.shape == (12, 2) and positions.dtype == np.float32
    for i, place in enumerate(positions):
        corners = anchors(c)[candidates[i]]
        if len(corners) > 2:
            sides = ConvexHull(corners).equations
            assert np.all(sides[:, :2] @ place + sides[:, 2] < 1e-5)
        else:  # on the way from one corner to the other, which are the same for a single candidate
            ways = [np.linalg.norm(place - corner) for corner in (corners[0], corners[-1])]
            assert sum(ways) == pytest.approx(np.linalg.norm(corners[-1] - corners[0]), abs=1e-5)


def test_positions_are_the_weighted_mean_of_the_anchors():
    weights, candidates = weighted(30, 7)
    circle = [np.exp(1j * (2 * np.pi * j / 7 - np.pi / 2)) for j in range(7)]
    for i, (x, y) in enumerate(star_positions(weights, candidates)):
        mine = weights[candidates.indptr[i] : candidates.indptr[i + 1]]
        wanted = sum(w * circle[j] for w, j in zip(mine, candidates[i], strict=True))
        assert (x, y) == pytest.approx((wanted.real, wanted.imag), abs=1e-6)


@pytest.mark.parametrize("c", [2, 3, 10, 26])
def test_an_example_that_may_be_anything_stands_in_the_middle(c):
    candidates = CandidateSets.from_mask(np.ones((1, c), dtype=bool))
    assert star_positions(candidates.uniform_weights(), candidates) == pytest.approx(np.zeros((1, 2)), abs=1e-6)


@given(some.lists(some.tuples(some.floats(-1, 1, width=32), some.floats(-1, 1, width=32)), min_size=1, max_size=20))
def test_packing_keeps_positions_to_a_fraction_of_a_pixel(places):
    positions = np.array(places, dtype=np.float32)
    back = unpacked(packed(positions).tobytes())
    assert np.abs(back - positions).max() <= 0.5 / 2047 + 1e-6


# ---- who is shown -------------------------------------------------------------------------------------------------


def test_all_are_shown_up_to_the_cap_and_then_a_sample_that_never_changes():
    assert star_sample(MOST_STAR_POINTS).tolist() == list(range(MOST_STAR_POINTS))
    sample = star_sample(60_000)
    assert len(sample) == len(set(sample.tolist())) == MOST_STAR_POINTS
    assert np.all(np.diff(sample) > 0) and sample.max() < 60_000
    assert star_sample(60_000).tolist() == sample.tolist()
    assert np.median(sample) == pytest.approx(30_000, rel=0.1)


def test_of_many_classes_some_are_anchors_and_others_pull_to_the_middle() -> None:
    sets = CandidateSets.from_lists([[0, 30], [30], [5, 6], [6]], n_classes=40)
    weights = np.array([0.25, 0.75, 1, 0.5, 0.5, 1], dtype=np.float32)
    payload = star_payload(weights, sets, Presentation(selected=0), classes=(30, 6))
    assert payload["names"] == [sets.class_names[6], sets.class_names[30]] and "2 of 40 classes" in payload["note"]
    assert payload["count"] == 3 and np.frombuffer(payload["labels"], dtype=np.uint8).tolist() == [1, 1, 0]
    assert payload["spokes"] == [(1, 0.75)]
    places = star_positions(weights, sets, np.array([6, 30]))
    assert np.linalg.norm(places, axis=1).round(6).tolist() == [0.75, 1, 0.5, 1]

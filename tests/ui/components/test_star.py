"""The star plot's pure half: who is shown, where, and what is sent."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy.spatial import ConvexHull

from pll.candidates import CandidateSets
from pll.colors import SHAPES, class_colours
from pll.errors import UserError
from pll.synthesis import flip_binomial
from pll.ui.components.canvas import TEXT_LENGTHS, TEXT_LETTERS
from pll.ui.components.star import (
    MOST_POINTS,
    anchors,
    packed,
    star_payload,
    star_positions,
    star_sample,
)
from pll.weights import identified_labels, restricted_softmax, sharpness


def weighted(n: int, c: int, q: float = 0.7, seed: int = 0, sharp: float = 2.0):
    rng = np.random.default_rng(seed)
    candidates = flip_binomial(rng.integers(0, c, n), c, q, seed)
    return restricted_softmax(sharp * rng.normal(size=candidates.nnz), candidates), candidates


def decoded(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


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


def test_a_certain_example_stands_on_its_anchor():
    candidates = CandidateSets.from_lists([[0, 3], [2], [1, 4]], n_classes=5)
    weights = np.array([0, 1, 1, 1, 0], dtype=np.float32)
    assert star_positions(weights, candidates) == pytest.approx(anchors(5)[[3, 2, 1]], abs=1e-7)


@pytest.mark.parametrize("c", [2, 3, 10, 26])
def test_an_example_that_may_be_anything_stands_in_the_middle(c):
    candidates = CandidateSets.from_mask(np.ones((1, c), dtype=bool))
    assert star_positions(candidates.uniform_weights(), candidates) == pytest.approx(np.zeros((1, 2)), abs=1e-6)


@given(some.lists(some.tuples(some.floats(-1, 1, width=32), some.floats(-1, 1, width=32)), min_size=1, max_size=20))
def test_packing_keeps_positions_to_a_fraction_of_a_pixel(places):
    positions = np.array(places, dtype=np.float32)
    back = unpacked(base64.b64encode(packed(positions).tobytes()).decode())
    assert np.abs(back - positions).max() <= 0.5 / 2047 + 1e-6


# ---- who is shown -------------------------------------------------------------------------------------------------


def test_all_are_shown_up_to_the_cap_and_then_a_sample_that_never_changes():
    assert star_sample(MOST_POINTS).tolist() == list(range(MOST_POINTS))
    sample = star_sample(60_000)
    assert len(sample) == len(set(sample.tolist())) == MOST_POINTS
    assert np.all(np.diff(sample) > 0) and sample.max() < 60_000
    assert star_sample(60_000).tolist() == sample.tolist()
    assert star_sample(60_000, seed=1).tolist() != sample.tolist()
    assert np.median(sample) == pytest.approx(30_000, rel=0.1)


def test_a_sample_is_sent_as_what_it_is():
    weights, candidates = weighted(5_000, 10)
    truth, before = np.arange(5_000) % 10, np.where(candidates.rows % 3, weights, weights[::-1])
    changed = identified_labels(before, candidates) != identified_labels(weights, candidates)
    assert 0 < changed.sum() < len(changed)
    truth[star_sample(5_000)[0]] = -1
    ids = np.array([f"img{i:04d}" for i in range(5_000)])
    payload = star_payload(weights, candidates, truth=truth, before=before, ids=ids)
    sample = star_sample(5_000)
    assert payload["count"] == MOST_POINTS
    assert payload["note"] == "2,000 of 5,000 examples"
    assert decoded(payload["examples"], "<u4").tolist() == sample.tolist()
    assert decoded(payload["labels"], "u1").tolist() == identified_labels(weights, candidates)[sample].tolist()
    assert (decoded(payload["shades"], "u1") >> 7).tolist() == changed[sample].astype(int).tolist()
    assert unpacked(payload["places"]) == pytest.approx(star_positions(weights, candidates)[sample], abs=3e-4)
    assert payload["ids"] == ids[sample].tolist()
    hues = decoded(payload["hues"], "<u2")
    assert hues[0] == 0xFFFF and hues[1:].tolist() == truth[sample][1:].tolist()


def test_a_part_of_a_run_keeps_the_numbers_of_its_examples():
    weights, candidates = weighted(3, 4)
    payload = star_payload(weights, candidates, examples=np.array([70_000, 5, 9]), selected=9)
    assert decoded(payload["examples"], "<u4").tolist() == [70_000, 5, 9]
    assert [j for j, _ in payload["spokes"]] == candidates[2].tolist()
    assert [w for _, w in payload["spokes"]] == pytest.approx(weights[candidates.indptr[2] :].tolist(), abs=1e-3)


# ---- what is sent -------------------------------------------------------------------------------------------------


def test_the_digits_take_13_kilobytes():
    weights, candidates = weighted(1797, 10)
    payload = star_payload(weights, candidates, when="Epoch 100", before=weights[::-1], selected=3)
    assert len(json.dumps(payload)) <= 13_000
    assert "examples" not in payload and "ids" not in payload  # row i is example i, and called so


def test_the_default_ids_are_not_sent():
    weights, candidates = weighted(5, 3)
    assert "ids" not in star_payload(weights, candidates, ids=[str(i) for i in range(5)])


def test_confidences_are_sent_in_seven_bits():
    weights, candidates = weighted(200, 6)
    shades = decoded(star_payload(weights, candidates)["shades"], "u1")
    assert shades.max() <= 127
    assert shades / 127 == pytest.approx(sharpness(weights, candidates).confidence, abs=0.5 / 127 + 1e-6)


def test_more_than_256_classes_take_two_bytes_a_label():
    candidates = CandidateSets.from_lists([[299], [0, 1]], n_classes=300)
    payload = star_payload(np.array([1, 0.6, 0.4], dtype=np.float32), candidates)
    assert payload["labelSize"] == 2
    assert decoded(payload["labels"], "<u2").tolist() == [299, 0]


def test_the_text_alternative_says_what_is_seen():
    candidates = CandidateSets.from_lists([[0, 1], [1], [1, 2]], n_classes=3, class_names=["cat", "dog", "fox"])
    words = star_payload(np.array([0.6, 0.4, 1, 0.95, 0.05], dtype=np.float32), candidates, when="Epoch 7")
    for said in ("Epoch 7", "3 examples", "3 classes", "2 are at least 90 % sure", "2 dog, 1 cat"):
        assert said in words["description"]


def test_no_examples_are_an_empty_plot():
    payload = star_payload(np.zeros(0, dtype=np.float32), CandidateSets.from_lists([], n_classes=2))
    assert payload["count"] == 0 and payload["places"] == ""


@pytest.mark.parametrize("name", ["truth", "examples"])
def test_arrays_of_another_length_are_refused_by_name(name):
    weights, candidates = weighted(5, 3)
    with pytest.raises(UserError, match=f"The star plot's {name} have 4 entries where 5 are needed"):
        star_payload(weights, candidates, **{name: np.zeros(4, dtype=int)})


def test_weights_of_other_sets_are_refused():
    weights, candidates = weighted(5, 3)
    with pytest.raises(UserError, match="The star plot's weights have"):
        star_payload(weights[1:], candidates)


def test_where_no_label_is_ahead_none_is_claimed():
    candidates = CandidateSets.from_lists([[0, 1], [1, 2], [2]], 3)
    weights = np.array([0.5, 0.5, 0.4, 0.6, 1.0], dtype=np.float32)
    payload = star_payload(weights, candidates)
    assert decoded(payload["hues"], "<u2").tolist() == [0xFFFF, 2, 2]
    assert payload["truth"] is False
    weights[:2] = 0.4, 0.6
    assert "hues" not in star_payload(weights, candidates)


# ---- what a person looks at ---------------------------------------------------------------------------------------


def test_pinned_examples_are_marked_and_said():
    weights, candidates = weighted(30, 4)
    payload = star_payload(weights, candidates, pins=[4, 17])
    assert payload["pins"] == [4, 17]
    assert payload["description"].endswith(" 2 pinned.")
    assert star_payload(weights, candidates)["pins"] == []
    part = np.array([3, 17, 29])
    some_of_them = star_payload(weights[candidates.positions(part)], candidates.take(part), examples=part, pins=[4, 17])
    assert some_of_them["pins"] == [1]  # rows of what is shown; example 4 is not part of it


def test_pinned_and_selected_examples_are_shown_whatever_the_sample():
    n = MOST_POINTS + 500
    weights, candidates = weighted(n, 4)
    left_out = np.setdiff1d(np.arange(n), star_sample(n))
    payload = star_payload(weights, candidates, pins=left_out[[0, 1]].tolist(), selected=int(left_out[5]))
    shown = decoded(payload["examples"], "<u4")
    assert payload["count"] == len(shown) == MOST_POINTS + 3
    assert shown[payload["pins"]].tolist() == left_out[[0, 1]].tolist()
    assert payload["spokes"]
    assert payload["note"] == f"{MOST_POINTS + 3:,} of {n:,} examples"


def test_classes_beyond_what_colour_can_carry_have_another_shape():
    few, many = (star_payload(*weighted(30, c))["shapes"] for c in (10, 45))
    assert set(few) == {"circle"} and many[:10] == few
    assert len(many) == 45 and set(many) == set(SHAPES)
    looks = list(zip(class_colours(45), many, strict=True))
    assert len(set(looks)) == 45


def test_the_beginning_of_texts_goes_along_within_bounds():
    weights, candidates = weighted(3, 4)
    numbers = np.array([5, 0, 2])
    texts = [f"<b>{i}</b>  " + "word " * 100 for i in range(6)]
    payload = star_payload(weights, candidates, examples=numbers, texts=texts)
    assert [text[:4] for text in payload["texts"]] == ["<b>5", "<b>0", "<b>2"]  # as it is: the browser sets text only
    assert max(map(len, payload["texts"])) <= TEXT_LENGTHS[1]
    assert "texts" not in star_payload(weights, candidates)
    weights, candidates = weighted(3000, 4)
    payload = star_payload(weights, candidates, texts=["long text " * 50] * 3000)
    assert len(payload["texts"]) == MOST_POINTS and sum(map(len, payload["texts"])) <= TEXT_LETTERS

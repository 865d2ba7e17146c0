"""The heatmap's pure half: which rows and columns, in which order, and what is sent."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pll.candidates import CandidateSets
from pll.errors import UserError
from pll.synthesis import flip_binomial
from pll.ui.components.heatmap import (
    MOST_COLUMNS,
    MOST_ROWS,
    heatmap_cells,
    heatmap_columns,
    heatmap_order,
    heatmap_payload,
)
from pll.weights import dense, identified_labels, restricted_softmax, sharpness


def weighted(n: int, c: int, q: float = 0.7, seed: int = 0):
    rng = np.random.default_rng(seed)
    candidates = flip_binomial(rng.integers(0, c, n), c, q, seed)
    return restricted_softmax(3 * rng.normal(size=candidates.nnz), candidates), candidates


def decoded(text: str, dtype: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


def test_rows_go_from_sure_to_unsure():
    weights, candidates = weighted(200, 8)
    order = heatmap_order(weights, candidates)
    assert sorted(order.tolist()) == list(range(200))
    assert np.all(np.diff(sharpness(weights, candidates).confidence[order]) <= 0)


@given(some.integers(301, 3000), some.integers(10, 300), some.integers(0, 50))
def test_a_cap_keeps_the_quantiles_of_confidence(n, cap, seed):
    weights, candidates = weighted(n, 5, seed=seed)
    confidence = sharpness(weights, candidates).confidence
    order = heatmap_order(weights, candidates, cap=cap)
    assert len(order) == len(set(order.tolist())) == cap
    for level in (0.5, 0.7, 0.9, 0.99):
        share, shown = np.mean(confidence >= level), np.mean(confidence[order] >= level)
        assert abs(share - shown) <= 1 / cap + 1e-9


@given(some.integers(11, 3000), some.integers(10, 300), some.data())
def test_a_row_that_is_looked_at_is_there_in_its_place(n, cap, data):
    weights, candidates = weighted(n, 5)
    looked_at = data.draw(some.integers(0, n - 1))
    confidence = sharpness(weights, candidates).confidence
    order = heatmap_order(weights, candidates, cap=cap, including=[looked_at])
    assert looked_at in order and len(order) == len(set(order.tolist())) == min(n, cap)
    assert np.all(np.diff(confidence[order]) <= 0)
    assert len(set(order.tolist()) - set(heatmap_order(weights, candidates, cap=cap).tolist())) <= 1


def test_by_label_the_same_rows_stand_in_blocks_sure_first():
    weights, candidates = weighted(1000, 6)
    by_label = heatmap_order(weights, candidates, by="label")
    assert sorted(by_label) == sorted(heatmap_order(weights, candidates))
    labels = identified_labels(weights, candidates)[by_label]
    assert np.all(np.diff(labels) >= 0)
    confidence = sharpness(weights, candidates).confidence[by_label]
    assert np.all(np.diff(confidence)[np.diff(labels) == 0] <= 0)


@given(some.integers(0, 10**6), some.integers(2, 9))
def test_cells_are_the_weights_on_the_candidates_and_nothing_off_them(seed, c):
    weights, candidates = weighted(15, c, 0.4, seed)
    rows = np.random.default_rng(seed).permutation(15)[:9]
    columns = np.arange(c)[1:]
    mask, values = heatmap_cells(weights, candidates, rows, columns)
    assert mask.tolist() == candidates.mask()[rows][:, columns].tolist()
    wanted = dense(weights, candidates)[rows][:, columns][mask]  # row-major, as boolean indexing is
    assert values / 255 == pytest.approx(wanted, abs=0.5 / 255 + 1e-6)


def test_of_very_many_classes_those_stay_that_are_candidates_most_often():
    lists = [[i % 100, 150 + i % 30] for i in range(1000)]
    candidates = CandidateSets.from_lists(lists, n_classes=200)
    columns = heatmap_columns(candidates)
    assert len(columns) == MOST_COLUMNS and np.all(np.diff(columns) > 0)
    assert set(range(150, 180)) <= set(columns.tolist())
    payload = heatmap_payload(candidates.uniform_weights(), candidates, order=np.arange(10))
    assert payload["names"] == [str(j) for j in columns]
    assert "10 of 1,000" in payload["note"] and "200 classes" in payload["note"]


def test_300_rows_of_10_classes_take_5_kilobytes():
    weights, candidates = weighted(1797, 10)
    payload = heatmap_payload(weights, candidates, order=heatmap_order(weights, candidates), when="Epoch 100")
    assert len(decoded(payload["examples"], "<u2")) == MOST_ROWS == 300
    assert len(json.dumps(payload)) <= 5_000


def test_the_payload_can_be_read_back():
    weights, candidates = weighted(40, 5)
    order = heatmap_order(weights, candidates)
    numbers = 100_000 + np.arange(40)
    payload = heatmap_payload(weights, candidates, order=order, examples=numbers, selected=100_003)
    assert payload["exampleSize"] == 4
    assert decoded(payload["examples"], "<u4").tolist() == numbers[order].tolist()
    mask = np.unpackbits(decoded(payload["mask"], "u1"))[: 40 * 5].reshape(40, 5).astype(bool)
    assert mask.tolist() == candidates.mask()[order].tolist()
    assert len(decoded(payload["values"], "u1")) == mask.sum()


def test_a_frozen_order_keeps_its_rows():
    weights, candidates = weighted(40, 5)
    order = heatmap_order(weights, candidates)
    later = restricted_softmax(np.arange(candidates.nnz, dtype=float), candidates)
    assert decoded(heatmap_payload(later, candidates, order=order)["examples"], "<u2").tolist() == order.tolist()


def test_the_text_alternative_says_how_sure_the_rows_are():
    candidates = CandidateSets.from_lists([[0, 1], [1], [1, 2]], n_classes=3)
    weights = np.array([0.6, 0.4, 1, 0.95, 0.05], dtype=np.float32)
    words = heatmap_payload(weights, candidates, order=np.array([1, 2, 0]), when="Epoch 7")["description"]
    assert "Epoch 7: 3 examples" in words
    assert words.endswith("2 at least 90 %, 2 at least 70 %, 3 at least 50 %.")


def test_no_examples_are_an_empty_heatmap():
    candidates = CandidateSets.from_lists([], n_classes=2)
    weights = np.zeros(0, dtype=np.float32)
    payload = heatmap_payload(weights, candidates, order=heatmap_order(weights, candidates))
    assert payload["examples"] == payload["values"] == ""


def test_what_does_not_fit_is_refused():
    weights, candidates = weighted(5, 3)
    with pytest.raises(UserError, match="The heatmap's weights have"):
        heatmap_payload(weights[1:], candidates, order=np.arange(5))
    with pytest.raises(UserError, match="rows that do not exist; there are 5"):
        heatmap_payload(weights, candidates, order=np.array([5]))


def test_rows_carry_the_beginnings_of_their_texts():
    weights, candidates = weighted(40, 4)
    order = heatmap_order(weights, candidates)[:3]
    payload = heatmap_payload(weights, candidates, order=order, texts=[f"text {i}" for i in range(40)])
    assert payload["texts"] == [f"text {i}" for i in order]
    assert "texts" not in heatmap_payload(weights, candidates, order=order)

"""The heatmap's pure half: which rows and columns, in which order, and what is sent."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from pll.synthesis import flip_binomial
from pll.ui.components.canvas import Presentation
from pll.ui.components.heatmap import (
    MOST_HEATMAP_ROWS,
    heatmap_cells,
    heatmap_order,
    heatmap_payload,
)
from pll.weights import dense, restricted_softmax, sharpness


def weighted(n: int, c: int, q: float = 0.7, seed: int = 0):
    rng = np.random.default_rng(seed)
    candidates = flip_binomial(rng.integers(0, c, n), c, q, seed)
    return restricted_softmax(3 * rng.normal(size=candidates.nnz), candidates), candidates


def decoded(content: bytes, dtype: str) -> np.ndarray:
    return np.frombuffer(content, dtype=dtype)


def test_rows_go_from_sure_to_unsure():
    weights, candidates = weighted(200, 8)
    order = heatmap_order(sharpness(weights, candidates))
    assert sorted(order.tolist()) == list(range(200))
    assert np.all(np.diff(sharpness(weights, candidates).top[order]) <= 0)


@given(some.integers(MOST_HEATMAP_ROWS + 1, 3000), some.integers(0, 50))
def test_the_rows_shown_keep_the_quantiles_of_confidence(n, seed):
    weights, candidates = weighted(n, 5, seed=seed)
    confidence = sharpness(weights, candidates).top
    order = heatmap_order(sharpness(weights, candidates))
    assert len(order) == len(set(order.tolist())) == MOST_HEATMAP_ROWS
    for level in (0.5, 0.7, 0.9, 0.99):
        share, shown = np.mean(confidence >= level), np.mean(confidence[order] >= level)
        assert abs(share - shown) <= 1 / MOST_HEATMAP_ROWS + 1e-9


@given(some.integers(0, 10**6), some.integers(2, 9))
def test_cells_are_the_weights_on_the_candidates_and_nothing_off_them(seed, c):
    weights, candidates = weighted(15, c, 0.4, seed)
    rows = np.random.default_rng(seed).permutation(15)[:9]
    columns = np.arange(c)[1:]
    mask, values = heatmap_cells(weights, candidates, rows, columns)
    assert mask.tolist() == candidates.mask()[rows][:, columns].tolist()
    wanted = dense(weights, candidates)[rows][:, columns][mask]  # row-major, as boolean indexing is
    assert values / 255 == pytest.approx(wanted, abs=0.5 / 255 + 1e-6)


def test_the_payload_can_be_read_back():
    weights, candidates = weighted(40, 5)
    order = heatmap_order(sharpness(weights, candidates))
    payload = heatmap_payload(weights, candidates, Presentation(selected=3))
    assert payload["exampleSize"] == 2 and payload["selected"] == 3
    assert decoded(payload["examples"], "<u2").tolist() == order.tolist()
    mask = np.unpackbits(decoded(payload["mask"], "u1"))[: 40 * 5].reshape(40, 5).astype(bool)
    assert mask.tolist() == candidates.mask()[order].tolist()
    assert len(decoded(payload["values"], "u1")) == mask.sum()

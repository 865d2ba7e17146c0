"""The forest of the queue: leaves that no tree learnt from the example itself."""

from __future__ import annotations

import numpy as np
import pytest

from pll.review.forest import TREES, grow_forest, leave_one_out
from pll.synthesis import flip_binomial
from pll.weights import identified_labels, normalise


@pytest.mark.usefixtures("whole_forest")
def test_leaves_are_of_halves_and_predict_labels_that_distances_hide() -> None:
    """The first column decides, at a threshold; nineteen columns of noise hide that from neighbours."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 20)).astype(np.float32)
    y = (points[:, 0] > 0.3).astype(np.int64) + (points[:, 0] > 1)
    sets = flip_binomial(y, 3, 0.5, seed=0)
    weights = normalise(sets.uniform_weights() + 0.5 * (sets.indices == y[sets.rows]), sets)
    leaves = grow_forest(points, sets, weights)
    assert leaves.shape == (400, TREES) and ((leaves < 0).sum(axis=0) == 200).all()
    np.testing.assert_array_equal(leaves, grow_forest(points, sets, weights))
    said = leave_one_out(leaves, sets, weights, np.ones(400))
    assert (identified_labels(said, sets) == y).mean() > 0.9


def test_own_label_says_nothing_and_decisions_count_more() -> None:
    rng = np.random.default_rng(1)
    sets = flip_binomial(rng.integers(0, 3, 60), 3, 0.6, seed=1)
    weights = normalise(rng.random(sets.nnz), sets)
    leaves = rng.integers(-3, 3, (60, 8)).astype(np.int16)
    counts = np.ones(60)
    before = leave_one_out(leaves, sets, weights, counts)
    row = int(np.flatnonzero(sets.sizes == 2)[0])
    own = slice(sets.indptr[row], sets.indptr[row + 1])
    weights[own], counts[row] = [0, 1], 10
    after = leave_one_out(leaves, sets, weights, counts)
    np.testing.assert_allclose(after[own], before[own], rtol=1e-4)
    near = (np.where(leaves < 0, -1 - leaves, leaves)[row] == leaves).any(axis=1)
    label = sets.indices[own][1]
    with_label = near[sets.rows] & (sets.indices == label) & (sets.sizes[sets.rows] > 1) & (sets.rows != row)
    assert with_label.any() and (after[with_label] >= before[with_label] - 1e-6).all()

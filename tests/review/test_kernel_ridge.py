"""The kernel ridge: its leave-one-out reading against fits that leave the example out."""

from __future__ import annotations

import numpy as np

from pll.review.kernel_ridge import leave_one_out
from pll.synthesis import flip_binomial
from pll.weights import dense, normalise


def test_it_reads_what_a_fit_without_the_example_says() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    sets = flip_binomial(y, 3, 0.6, seed=0)
    weights = normalise(rng.random(sets.nnz), sets)
    phi = rng.normal(size=(40, 6))
    values, axes = np.linalg.eigh(phi.T @ phi)
    factor = (phi @ axes / np.sqrt(values + 2.0)).astype(np.float16)
    counts = np.where(rng.random(40) < 0.3, 10, 1)
    result = leave_one_out(factor, sets, weights, counts)

    table = dense(weights, sets).astype(float)
    for i in range(40):
        others = np.repeat(np.arange(40), np.where(np.arange(40) == i, 0, counts))
        gram = phi[others].T @ phi[others] + 2.0 * np.eye(6)
        said = np.maximum(phi[i] @ np.linalg.solve(gram, phi[others].T @ table[others]), 0)[sets[i]]
        expected = said / said.sum() if said.sum() else np.full(len(said), 1 / len(said))
        np.testing.assert_allclose(result[sets.indptr[i] : sets.indptr[i + 1]], expected, atol=5e-3)

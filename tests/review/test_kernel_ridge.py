"""The kernel ridge: its leave-one-out reading against fits that leave the example out."""

from __future__ import annotations

import numpy as np

from pll.candidates import CandidateSets
from pll.review.kernel_ridge import fit_factor, leave_one_out
from pll.synthesis import flip_binomial
from pll.weights import dense, identified_labels, normalise


def test_it_reads_what_a_fit_without_the_example_says() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    sets = flip_binomial(y, 3, 0.6, seed=0)
    weights = normalise(rng.random(sets.nnz), sets)
    phi = rng.normal(size=(40, 6))
    values, axes = np.linalg.eigh(phi.T @ phi)
    factor = (phi @ axes / np.sqrt(values + 2.0)).astype(np.float16)
    found = leave_one_out(factor, sets, weights)

    table = dense(weights, sets).astype(float)
    for i in range(40):
        others = np.arange(40) != i
        gram = phi[others].T @ phi[others] + 2.0 * np.eye(6)
        said = np.maximum(phi[i] @ np.linalg.solve(gram, phi[others].T @ table[others]), 0)[sets[i]]
        expected = said / said.sum() if said.sum() else np.full(len(said), 1 / len(said))
        np.testing.assert_allclose(found[sets.indptr[i] : sets.indptr[i + 1]], expected, atol=5e-3)


def test_it_corrects_labels_that_the_shape_of_the_data_contradicts() -> None:
    """Two rings, a fifth of the labels wrong: no line tells them apart, the kernel does."""
    rng = np.random.default_rng(1)
    y, angle = np.arange(600) % 2, rng.uniform(0, 2 * np.pi, 600)
    points = ((1 + y)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)).astype(np.float32)
    sets = CandidateSets.from_lists([[0, 1]] * 600, n_classes=2)
    labels = np.where(rng.random(600) < 0.2, 1 - y, y)
    weights = dense_to_flat(labels)
    factor = fit_factor(points, sets, weights)
    assert factor.dtype == np.float16 and factor.shape[0] == 600
    leverage = (factor.astype(float) ** 2).sum(axis=1)
    assert ((leverage >= 0) & (leverage < 1)).all()
    assert (identified_labels(leave_one_out(factor, sets, weights), sets) == y).mean() > 0.97


def dense_to_flat(labels: np.ndarray) -> np.ndarray:
    return np.eye(2, dtype=np.float32)[labels].ravel()
